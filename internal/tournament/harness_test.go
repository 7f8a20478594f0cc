package tournament

// Tests of the harness: it notices a loop that loses tasks.

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/turnloop/turnloop/eventloop/looptest"
)

// forgetful accepts every task and forgets those after the first.
type forgetful struct {
	looptest.EventLoop
	accepted atomic.Int64
}

func (f *forgetful) Submit(fn func()) error {
	if f.accepted.Add(1) > 1 {
		return nil
	}
	return f.EventLoop.Submit(fn)
}

// TestLostTask: a loop that loses a task fails its cell, in bounded time.
func TestLostTask(t *testing.T) {
	defer func(d time.Duration) { hung = d }(hung)
	hung = 20 * time.Millisecond
	c := Own().Contestants[0]
	honest := c.New
	c.New = func(cfg looptest.Config) (looptest.EventLoop, error) {
		loop, err := honest(cfg)
		return &forgetful{EventLoop: loop}, err
	}
	for name, cell := range map[string]func(*testing.B){
		"Submit":    func(b *testing.B) { submit(b, c) },
		"PingPong":  func(b *testing.B) { pingPong(b, c) },
		"Produce":   func(b *testing.B) { produce(b, c, 3) },
		"Footprint": func(b *testing.B) { footprint(b, c, queuedTasks) },
	} {
		if result := testing.Benchmark(cell); result.N != 0 {
			t.Errorf("%s: a loop that forgets tasks has a result: %v", name, result)
		}
	}
}
