//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package tournament

// That the cells of echo servers notice a loop that watches nothing, and leave nothing behind.

import (
	"errors"
	"flag"
	"os"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/turnloop/turnloop/eventloop/looptest"
	"github.com/turnloop/turnloop/internal/loopapi"
)

// TestLostConnections: a loop that notices no connection fails its cell, in bounded time.
func TestLostConnections(t *testing.T) {
	defer func(d time.Duration) { hung = d }(hung)
	hung = 500 * time.Millisecond
	c := descriptorLoop(t)
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

// descriptorLoop returns a contestant that watches descriptors, and is not the production loop.
func descriptorLoop(t *testing.T) Contestant {
	for _, c := range Own().Contestants[1:] {
		loop, err := c.New(looptest.Config{})
		if err != nil {
			t.Fatal(err)
		}
		_, watches := loop.(loopapi.FDRegistrar)
		if err := loop.Close(); err != nil {
			t.Fatal(err)
		}
		if watches {
			return c
		}
	}
	t.Fatal("no contestant but the first watches descriptors")
	return Contestant{}
}

// TestEchoLeavesNothing: a cell of any server leaves no descriptor and no goroutine to the next.
func TestEchoLeavesNothing(t *testing.T) {
	benchtime := flag.Lookup("test.benchtime").Value
	defer func(before string) { _ = benchtime.Set(before) }(benchtime.String())
	if err := benchtime.Set("50x"); err != nil {
		t.Fatal(err)
	}
	c := descriptorLoop(t)
	for name, serve := range map[string]echoService{
		c.Name:      func(b *testing.B) string { return serveOnLoop(b, c) },
		NetControl:  serveWithNet,
		GnetControl: serveWithGnet,
	} {
		cell := func(b *testing.B) { runEcho(b, serve, 10) }
		testing.Benchmark(cell) // the first use of anything may open something for good
		before := holdings(t)
		if result := testing.Benchmark(cell); result.N != 50 {
			t.Errorf("%s: %v", name, result)
		}
		after := holdings(t)
		for deadline := time.Now().Add(10 * time.Second); after.exceeds(before) && time.Now().Before(deadline); after = holdings(t) {
			runtime.Gosched() // a goroutine that has closed its last channel needs a moment to end
		}
		if after.exceeds(before) {
			t.Errorf("%s: %+v before, %+v after", name, before, after)
		}
	}
}

type holding struct{ descriptors, goroutines int }

func (h holding) exceeds(other holding) bool {
	return h.descriptors > other.descriptors || h.goroutines > other.goroutines
}

func holdings(t *testing.T) holding {
	h := holding{goroutines: runtime.NumGoroutine()}
	for fd := range 256 {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil {
			h.descriptors++
		} else if !errors.Is(err, unix.EBADF) {
			t.Fatal(os.NewSyscallError("fcntl", err))
		}
	}
	return h
}
