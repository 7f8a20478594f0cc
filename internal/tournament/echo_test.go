//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package tournament

// That the cells of servers notice a loop that watches nothing.

import (
	"testing"
	"time"

	"github.com/turnloop/turnloop/eventloop/looptest"
	"github.com/turnloop/turnloop/internal/loopapi"
)

// deaf accepts every descriptor and watches none.
type deaf struct{ looptest.EventLoop }

func (deaf) RegisterFD(int, loopapi.IOEvents, func(loopapi.IOEvents)) error { return nil }
func (deaf) ModifyFD(int, loopapi.IOEvents) error                           { return nil }
func (deaf) UnregisterFD(int) error                                         { return nil }

// TestLostConnections: a loop that notices no connection fails its cell, in bounded time.
func TestLostConnections(t *testing.T) {
	defer func(d time.Duration) { hung = d }(hung)
	hung = 500 * time.Millisecond
	c := Own().Contestants[1] // not the production loop
	honest := c.New
	c.New = func(cfg looptest.Config) (looptest.EventLoop, error) {
		loop, err := honest(cfg)
		return deaf{loop}, err
	}
	serve := func(b *testing.B) string { return serveOnLoop(b, c) }
	if result := testing.Benchmark(func(b *testing.B) { runEcho(b, serve, 2) }); result.N != 0 {
		t.Errorf("a loop that watches nothing has a result: %v", result)
	}
}
