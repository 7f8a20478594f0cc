package looptest

// Leaks: many loops, made and ended in every way, leave no goroutine and no descriptor behind.

import (
	"context"
	"runtime"
	"time"

	"github.com/turnloop/turnloop/internal/loopapi"
)

// lives are the ways to make, use and end a loop.
var lives = []struct {
	name string
	live func(t *trial)
}{
	{"Run, work, Shutdown", func(t *trial) {
		l := t.start(Config{})
		l.busy()
		_ = l.shutdown()
		t.wait(l.ended, "Run to return")
	}},
	{"Run, work, Close", func(t *trial) {
		l := t.start(Config{})
		l.busy()
		_ = l.Close()
		t.wait(l.ended, "Run to return")
	}},
	{"Run, the end of its context", func(t *trial) {
		l := t.make(Config{})
		ctx, cancel := context.WithCancel(context.Background())
		l.launch(ctx)
		l.busy()
		cancel()
		t.wait(l.ended, "Run to return")
	}},
	{"Run with a context that outlives the loop", func(t *trial) {
		l := t.make(Config{})
		ctx, cancel := context.WithCancel(context.Background())
		t.onCleanup(cancel)
		l.launch(ctx)
		l.busy()
		_ = l.shutdown()
		t.wait(l.ended, "Run to return")
	}},
	{"Shutdown whose context ends first", func(t *trial) {
		l := t.start(Config{})
		g := l.hold()
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = l.Shutdown(ctx)
		g.open()
		t.wait(l.ended, "Run to return")
	}},
	{"Shutdown without Run", func(t *trial) {
		l := t.make(Config{})
		t.must("Submit", l.Submit(noop))
		_ = l.shutdown()
	}},
	{"Shutdown of an unused loop", func(t *trial) { _ = t.make(Config{}).shutdown() }},
	{"Close without Run", func(t *trial) {
		l := t.make(Config{})
		t.must("Submit", l.Submit(noop))
		_ = l.Close()
	}},
	{"Goexit in a callback, Shutdown", func(t *trial) {
		l := t.startHandled()
		if !l.hooks.hasPanic {
			return
		}
		l.do(runtime.Goexit)
		l.sync()
		_ = l.shutdown()
		t.wait(l.ended, "the goroutine of Run")
	}},
}

// busy uses all lanes once, and leaves a timer pending and a descriptor registered.
func (l *loop) busy() {
	for _, k := range l.available() {
		l.doIn(k, noop)
	}
	if l.timers != nil {
		l.timer(time.Hour, noop)
	}
	if ioLane.has(l) {
		l.watch(l.trial.sockets().near, loopapi.EventRead, nil)
	}
}

// leaks counts goroutines and descriptors before and after many lives of each kind.
func leaks(t *trial) {
	for _, life := range lives {
		life.live(t) // before the count: whatever a process makes once is made now
		t.cleanup()
		awaitStable(runtime.NumGoroutine)
		goroutines, descriptors := runtime.NumGoroutine(), openDescriptors()
		n := t.scale(160)
		for range n {
			life.live(t)
		}
		t.cleanup()
		if !t.reaches(runtime.NumGoroutine, goroutines) {
			t.Errorf("%d lives (%s): %d goroutines before, %d after\n%s", n, life.name, goroutines, runtime.NumGoroutine(), stacks())
		}
		if !t.reaches(openDescriptors, descriptors) {
			t.Errorf("%d lives (%s): %d open descriptors before, %d after", n, life.name, descriptors, openDescriptors())
		}
		if t.failed() {
			return
		}
	}
}

// reaches waits for the count to fall to limit, and reports whether it did within the trial's patience.
func (t *trial) reaches(count func() int, limit int) bool {
	for begin := time.Now(); time.Since(begin) < t.patience; time.Sleep(5 * time.Millisecond) {
		if count() <= limit {
			return true
		}
	}
	return false
}

// awaitStable waits until the count stays the same for a moment.
func awaitStable(count func() int) {
	for last, same := count(), 0; same < 5; {
		time.Sleep(time.Millisecond)
		if now := count(); now == last {
			same++
		} else {
			last, same = now, 0
		}
	}
}

// openDescriptors returns the number of this process's open descriptors, 0 where the kit cannot list them.
func openDescriptors() int {
	time.AfterFunc(time.Hour, func() {}).Stop() // the first timer makes the runtime open two descriptors of its own
	return len(listDescriptors())
}
