// The driver that all benchmarks share: every contestant in turn, a loop at work, and waits that end.

package tournament

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/turnloop/turnloop/eventloop/looptest"
	"github.com/turnloop/turnloop/internal/loopapi"
)

// bench is a running loop under measurement. The benchmark's goroutine waits on a channel. Tasks send to it when they are
// done, and a watchdog sends to it when they will not be: so waiting costs one receive, and always ends.
type bench struct {
	looptest.EventLoop
	b        *testing.B
	verdicts chan bool
	watchdog *time.Timer
	stopped  chan struct{}
	stop     func() // ends the loop; the end of the benchmark calls it if nothing else has
}

// start makes c's loop and runs it until it has run a task. The loop ends with the benchmark, untimed.
func start(b *testing.B, c Contestant) *bench {
	b.Helper()
	loop, err := c.New(looptest.Config{})
	if err != nil {
		b.Fatal(err)
	}
	r := &bench{EventLoop: loop, b: b, verdicts: make(chan bool, 1), stopped: make(chan struct{})}
	r.watchdog = time.AfterFunc(patience(b), r.giveUp)
	r.stop = sync.OnceFunc(r.shutdown)
	b.Cleanup(r.stop)
	go func() {
		defer close(r.stopped)
		if err := loop.Run(context.Background()); err != nil {
			r.fail(err)
		}
	}()
	r.submit(r.done)
	r.wait()
	return r
}

// patience is how long a benchmark of b.N operations may take before its loop counts as hung: far longer than any loop
// that works needs.
func patience(b *testing.B) time.Duration {
	return hung + time.Duration(b.N)*200*time.Microsecond
}

var hung = time.Minute // a variable so that the harness's own test need not wait as long

func (r *bench) shutdown() {
	r.watchdog.Stop()
	limit := time.Minute
	if r.b.Failed() {
		limit = time.Second
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if err := r.Shutdown(ctx); err != nil {
		r.b.Errorf("Shutdown: %v", err)
		return
	}
	select {
	case <-r.stopped:
	case <-ctx.Done():
		r.b.Error("Run has not returned after Shutdown")
	}
}

// done is called by a task when all is done. It ends one call of wait.
func (r *bench) done() { r.verdicts <- true }

// fail is for errors on goroutines other than the benchmark's. It ends the call of wait, which then fails the benchmark.
func (r *bench) fail(err error) {
	r.b.Error(err)
	r.giveUp()
}

func (r *bench) giveUp() {
	select {
	case r.verdicts <- false:
	default: // a verdict is waiting already
	}
}

// wait waits for done. It fails the benchmark when a task was lost.
func (r *bench) wait() {
	if !<-r.verdicts {
		r.b.Helper()
		r.b.Fatal("gave up waiting: a task failed, was lost or never ran")
	}
}

// submit is Submit from the benchmark's goroutine.
func (r *bench) submit(fn func()) {
	if err := r.Submit(fn); err != nil {
		r.b.Helper()
		r.b.Fatal(err)
	}
}

// onLoop is for calls from callbacks.
func (r *bench) onLoop(err error) {
	if err != nil {
		r.fail(err)
	}
}

// countdown returns a prebuilt task that says done on its n-th run. It needs no atomics: a loop runs one task at a time.
func (r *bench) countdown(n int) func() {
	return func() {
		if n--; n == 0 {
			r.done()
		}
	}
}

// skipIfUnsupported skips the cell if err says that the loop does not have the capability.
func skipIfUnsupported(b *testing.B, what string, err error) {
	if errors.Is(err, errors.ErrUnsupported) {
		b.Helper()
		b.Skip("n/a: no " + what)
	}
}

// timers returns the loop's timers, or skips the cell.
func (r *bench) timers() loopapi.TimerScheduler {
	timers, ok := r.EventLoop.(loopapi.TimerScheduler)
	if !ok {
		r.b.Helper()
		r.b.Skip("n/a: no TimerScheduler")
	}
	return timers
}

// descriptors returns the loop's descriptors, or skips the cell.
func (r *bench) descriptors() loopapi.FDRegistrar {
	descriptors, ok := r.EventLoop.(loopapi.FDRegistrar)
	if !ok {
		r.b.Helper()
		r.b.Skip("n/a: no FDRegistrar")
	}
	return descriptors
}

// microtasks returns the loop's microtasks, or skips the cell.
func (r *bench) microtasks() loopapi.MicrotaskScheduler {
	microtasks, ok := r.EventLoop.(loopapi.MicrotaskScheduler)
	if !ok {
		r.b.Helper()
		r.b.Skip("n/a: no MicrotaskScheduler")
	}
	return microtasks
}

// skipIfBounded is for benchmarks that pile up more work than a bounded queue holds.
func skipIfBounded(b *testing.B, c Contestant) {
	if c.Bounded {
		b.Helper()
		b.Skip("n/a: the queue is bounded")
	}
}
