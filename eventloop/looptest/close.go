package looptest

// Close (D16): the end at once. Queued functions do not start, and Close does not wait for the running callback.

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/turnloop/turnloop/internal/loopapi"
)

// wanted is a lock that a callback waits for and the check holds, until release is called.
func (t *trial) wanted() (take, release func()) {
	lock := make(chan struct{}, 1) // full while it is held
	lock <- struct{}{}
	release = sync.OnceFunc(func() { <-lock })
	t.onCleanup(release)
	return func() { lock <- struct{}{} }, release
}

// closeUnderLock calls Close while it holds a lock that the running callback waits for.
func closeUnderLock(t *trial) {
	for _, k := range lanes {
		l := t.start(Config{})
		if !k.has(l) {
			continue
		}
		take, release := t.wanted()
		inside, finished := make(chan struct{}), make(chan struct{})
		t.must(k.name, k.run(l, func() {
			close(inside)
			take()
			close(finished)
		}))
		t.wait(inside, "a %s to run", k.name)
		closing := t.async(func() { t.want("Close", l.Close(), nil) })
		t.wait(closing, "Close, called with a lock that the running %s waits for: Close must not wait for callbacks", k.name)
		release()
		t.wait(finished, "the running callback, which may finish")
		l.returns(" after Close", loopapi.ErrLoopTerminated)
	}
}

// oneEnds has many callers end the loop at once, some of them by Shutdown, of whom one must hear nil.
func (l *loop) oneEnds(shutdown func(p int) bool) {
	t := l.trial
	var wins atomic.Int64
	t.parallel(16, func(p int) {
		call, name := l.Close, "Close"
		if shutdown(p) {
			call, name = l.shutdown, "Shutdown"
		}
		err := call()
		t.want("one of many calls of "+name, err, nil, loopapi.ErrLoopTerminated)
		if err == nil {
			wins.Add(1)
		}
	})
	if wins.Load() != 1 {
		t.Errorf("of 16 concurrent calls of Close and Shutdown %d returned nil, want one: the one that ended the loop", wins.Load())
	}
	t.want("a later Close", l.Close(), loopapi.ErrLoopTerminated)
	t.want("a later Shutdown", l.shutdown(), loopapi.ErrLoopTerminated)
	l.returns("", nil, loopapi.ErrLoopTerminated)
}

// closeOften closes loops again, by many callers at once, and together with Shutdown (bug 30 of docs/reliability.md).
func closeOften(t *trial) {
	t.rounds(t.scale(200), func(i int) {
		l := t.start(Config{})
		for range 20 {
			t.must("Submit", l.Submit(noop))
		}
		l.oneEnds(func(p int) bool { return i%2 == 1 && p%2 == 1 })
	})
}

// closeDuringShutdown calls Close while Shutdown waits behind a callback.
func closeDuringShutdown(t *trial) {
	l := t.start(Config{})
	g := l.hold()
	for range 50 {
		t.must("Submit", l.Submit(func() { t.Errorf("a queued task started after Close overtook Shutdown") }))
	}
	stopped := l.stopping(loopapi.ErrLoopTerminated)
	closing := t.async(func() { t.want("Close during Shutdown", l.Close(), nil) })
	t.wait(closing, "Close during Shutdown to return")
	t.want("Close after Close", l.Close(), loopapi.ErrLoopTerminated)
	g.open()
	stopped()
	l.returns("", loopapi.ErrLoopTerminated)
}

// runContext ends loops through the context of Run.
func runContext(t *trial) {
	// Graceful: accepted functions run.
	l := t.make(Config{})
	cancel := l.launchUntil()
	g := l.hold()
	var seen journal[string]
	var ran atomic.Int64
	const n = 2000
	for range n {
		t.must("Submit", l.Submit(func() { ran.Add(1) }))
	}
	t.must("Submit", l.chain(&seen))
	cancel()
	g.open()
	l.returns(" whose context was cancelled", context.Canceled)
	if ran.Load() != n {
		t.Errorf("%d of %d tasks accepted before the context ended had run when Run returned", ran.Load(), n)
	}
	wantOrder(t, "a chain accepted before the context ended", seen.all(), chainLinks)
	t.want("Submit after the end", l.Submit(noop), loopapi.ErrLoopTerminated)

	// While it sleeps.
	l = t.make(Config{})
	cancel = l.launchUntil()
	l.sync()
	l.rest()
	cancel()
	l.returns(" of a sleeping loop whose context was cancelled", context.Canceled)

	// By a deadline.
	l = t.make(Config{})
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)
	defer cancel()
	l.launch(ctx)
	l.returns(" whose context has a deadline", context.DeadlineExceeded)

	// From the beginning.
	l = t.make(Config{})
	ctx, cancel = context.WithCancel(context.Background())
	cancel()
	ran.Store(0)
	t.must("Submit", l.Submit(func() { ran.Add(1) }))
	l.launch(ctx)
	l.returns(" with a context that was already cancelled", context.Canceled)
	if ran.Load() != 1 {
		t.Errorf("a task accepted before a Run with a cancelled context ran %d times", ran.Load())
	}
	t.want("the next Run", l.runAgain(), loopapi.ErrLoopTerminated)
}

// ending is a way to end a loop from another goroutine; end may return before the loop has ended. want is the result of Run.
type ending struct {
	name string
	end  func(l *loop, cancel func())
	want error
}

// ends are the three ways; cancel ends the context of Run.
var ends = []ending{
	{"Shutdown", func(l *loop, _ func()) { l.trial.want("Shutdown", l.shutdown(), nil) }, nil},
	{"Close", func(l *loop, _ func()) { l.trial.want("Close", l.Close(), nil) }, loopapi.ErrLoopTerminated},
	{"the end of Run's context", func(_ *loop, cancel func()) { cancel() }, context.Canceled},
}

// endsTwice are ways to end a loop, one after the other (bug 18 of docs/reliability.md).
var endsTwice = []ending{
	{"Shutdown from a callback, then the context", func(l *loop, cancel func()) {
		l.do(func() { _ = l.Shutdown(context.Background()); cancel() })
	}, nil},
	{"Shutdown, then the context while a callback still runs", func(l *loop, cancel func()) {
		g := l.hold()
		stopped := l.stopping()
		cancel()
		time.Sleep(time.Millisecond)
		g.open()
		stopped()
	}, nil},
	{"Shutdown, then Close while a callback still runs", func(l *loop, cancel func()) {
		g := l.hold()
		stopped := l.stopping(nil, loopapi.ErrLoopTerminated)
		_ = l.Close()
		g.open()
		stopped()
	}, loopapi.ErrLoopTerminated},
	{"Close, then the context while a callback still runs", func(l *loop, cancel func()) {
		g := l.hold()
		_ = l.Close()
		cancel()
		time.Sleep(time.Millisecond)
		g.open()
	}, loopapi.ErrLoopTerminated},
	{"Close from a callback, then Shutdown", func(l *loop, cancel func()) {
		l.do(func() { _ = l.Close(); _ = l.Shutdown(context.Background()) })
	}, loopapi.ErrLoopTerminated},
}

func runResult(t *trial) {
	for _, way := range slices.Concat(ends, endsTwice) {
		for range 5 {
			l := t.make(Config{})
			cancel := l.launchUntil()
			l.sync()
			way.end(l, cancel)
			l.returns(", ended by "+way.name+",", way.want)
		}
	}
}
