package promise_test

// The loop that the tests run promises on.

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/turnloop/turnloop/eventloop/promise"
	"github.com/turnloop/turnloop/internal/goroutine"
	"github.com/turnloop/turnloop/internal/loopapi"
)

// fake is a queue of microtasks and the goroutine that runs them.
type fake struct {
	owner atomic.Uintptr

	mu    sync.Mutex
	queue []func()
	ended bool

	local []func() // scheduled on the loop; the owner's alone
	wake  chan struct{}

	calls  atomic.Int64          // of ScheduleMicrotask
	refuse func(call int64) bool // tells which calls are refused, counted from 1; nil refuses none
}

func newFake() *fake { return &fake{wake: make(chan struct{}, 1)} }

// newOwner returns the owner of a realm on a fake whose loop is the calling goroutine.
func newOwner(c promise.Config) (*fake, *promise.Owner) {
	f := newFake()
	f.owner.Store(goroutine.ID())
	return f, promise.NewOwner(f, c)
}

func (f *fake) OnLoop() bool { return f.owner.Load() == goroutine.ID() }

func (f *fake) ScheduleMicrotask(fn func()) error {
	if call := f.calls.Add(1); f.refuse != nil && f.refuse(call) {
		return loopapi.ErrLoopTerminated
	}
	if f.OnLoop() {
		if f.ended { // written by the owner
			return loopapi.ErrLoopTerminated
		}
		f.local = append(f.local, fn)
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended {
		return loopapi.ErrLoopTerminated
	}
	f.queue = append(f.queue, fn)
	select {
	case f.wake <- struct{}{}:
	default:
	}
	return nil
}

// drain runs microtasks until there are none.
func (f *fake) drain() {
	for {
		f.mu.Lock()
		f.local = append(f.local, f.queue...)
		clear(f.queue)
		f.queue = f.queue[:0]
		f.mu.Unlock()
		if len(f.local) == 0 {
			return
		}
		for i := 0; i < len(f.local); i++ {
			fn := f.local[i]
			f.local[i] = nil
			fn()
		}
		f.local = f.local[:0]
	}
}

// step runs the first n microtasks that other goroutines have scheduled.
func (f *fake) step(n int) {
	for range n {
		f.mu.Lock()
		fn := f.queue[0]
		f.queue = f.queue[1:]
		f.mu.Unlock()
		fn()
	}
}

// tick is a tick of a loop that has only microtasks.
func (f *fake) tick(r *promise.Owner) {
	f.drain()
	r.Scavenge()
}

// checkpoint is what a loop does after each callback that has left it microtasks.
func (f *fake) checkpoint(r *promise.Owner) {
	f.mu.Lock()
	idle := len(f.queue) == 0 && len(f.local) == 0
	f.mu.Unlock()
	if idle {
		return
	}
	for f.drain(); r.Unhandled() != 0; f.drain() {
		for r.Checkpoint() {
		}
	}
}

// seal refuses everything from now on, and drops what is queued.
func (f *fake) seal() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended = true
	f.queue, f.local = nil, nil
}

// finish is what an ending loop does before it waits for its workers, on the loop.
func (f *fake) finish(r *promise.Owner) {
	for f.checkpoint(r); r.RejectAll(loopapi.ErrLoopTerminated); f.checkpoint(r) {
	}
}

// shutdown ends the loop gracefully, on the loop.
func (f *fake) shutdown(r *promise.Owner) {
	f.finish(r)
	f.close(r)
}

// close ends the loop at once, on the loop.
func (f *fake) close(r *promise.Owner) {
	f.seal()
	r.End()
	f.owner.Store(0)
}

// run starts the loop until the test ends or the returned function is called.
func (f *fake) run(tb testing.TB, r *promise.Owner) (stop func()) {
	stop = f.start(r)
	tb.Cleanup(stop)
	return stop
}

// start starts a goroutine that is the loop, until the returned function is called.
func (f *fake) start(r *promise.Owner) (stop func()) {
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		f.owner.Store(goroutine.ID())
		for {
			select {
			case <-f.wake:
				f.checkpoint(r)
				r.Scavenge()
			case <-quit:
				f.shutdown(r)
				return
			}
		}
	}()
	return sync.OnceFunc(func() { close(quit); <-done })
}
