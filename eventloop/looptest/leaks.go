package looptest

// Leaks: many loops, made and ended in every way, leave no goroutine and no descriptor behind.

import (
	"context"
	"runtime"
	"time"

	"github.com/turnloop/turnloop/internal/beat"
	"github.com/turnloop/turnloop/internal/loopapi"
)

// lives returns the ways to make, use and end a loop.
func lives() map[string]func(t *trial) *loop {
	all := map[string]func(t *trial) *loop{
		"Shutdown whose context ends first": func(t *trial) *loop {
			l := t.start(Config{})
			g := l.hold()
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			_ = l.Shutdown(ctx)
			g.open()
			return l
		},
		"Shutdown of an unused loop": func(t *trial) *loop {
			l := t.make(Config{})
			_ = l.shutdown()
			return l
		},
		"Goexit in a callback, Shutdown": func(t *trial) *loop {
			l := t.startHandled()
			if l.hooks.hasPanic {
				l.do(runtime.Goexit)
				l.sync()
			}
			_ = l.shutdown()
			return l
		},
	}
	for _, way := range ends {
		all["Run with a context that may outlive the loop, work, "+way.name] = func(t *trial) *loop {
			l := t.make(Config{})
			cancel := l.launchUntil()
			l.work()
			way.end(l, cancel)
			return l
		}
		if way.want != context.Canceled {
			all[way.name+" without Run"] = func(t *trial) *loop {
				l := t.make(Config{})
				t.must("Submit", l.Submit(noop))
				way.end(l, noop)
				return l
			}
		}
	}
	return all
}

// work uses all lanes once, and leaves a timer pending and a descriptor registered.
func (l *loop) work() {
	l.serve("")
	if l.timers != nil {
		l.timer(time.Hour, noop)
	}
	if ioLane.has(l) {
		l.watch(l.trial.sockets().near, loopapi.EventRead, nil)
	}
}

// leaks counts goroutines and descriptors before and after many lives of each kind.
func leaks(t *trial) {
	for name, life := range lives() {
		live := func() {
			if l := life(t); l.launched.Load() {
				t.wait(l.ended, "the goroutine of Run")
			}
		}
		live() // before the count: whatever a process makes once is made now
		t.cleanup()
		awaitStable(runtime.NumGoroutine)
		goroutines, descriptors := runtime.NumGoroutine(), openDescriptors()
		n := t.scale(160)
		t.rounds(n, func(int) { live() })
		t.cleanup()
		for _, count := range []struct {
			what   string
			before int
			now    func() int
		}{{"goroutines", goroutines, runtime.NumGoroutine}, {"open descriptors", descriptors, openDescriptors}} {
			if !t.reaches(func() bool { return count.now() <= count.before }) {
				t.Fatalf("%d lives (%s): %d %s before, %d after\n%s", n, name, count.before, count.what, count.now(), beat.Stacks())
			}
		}
	}
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
