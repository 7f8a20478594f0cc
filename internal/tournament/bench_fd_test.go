//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package tournament

// That the benchmarks of descriptors notice a loop that watches none.

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

// TestLostReadiness: a loop that does not notice a message fails its cell, in bounded time.
func TestLostReadiness(t *testing.T) {
	defer func(d time.Duration) { hung = d }(hung)
	hung = 20 * time.Millisecond
	c := Own().Contestants[0]
	honest := c.New
	c.New = func(cfg looptest.Config) (looptest.EventLoop, error) {
		loop, err := honest(cfg)
		return deaf{loop}, err
	}
	if result := testing.Benchmark(func(b *testing.B) { fdRoundTrip(b, c) }); result.N != 0 {
		t.Errorf("a loop that watches nothing has a result: %v", result)
	}
}
