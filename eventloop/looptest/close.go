package looptest

// Close (D16): the end at once. Queued functions do not start, and Close does not wait for the running callback.

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/turnloop/turnloop/internal/loopapi"
)

// closeDrops closes a loop with work in all lanes, to which the running callback adds more.
func closeDrops(t *trial) {
	l := t.start(Config{})
	started := func(what string) func() {
		return func() { t.Errorf("a %s started after Close", what) }
	}
	g, inside, added := t.gate(), make(chan struct{}), make(chan struct{})
	t.must("SubmitInternal", l.SubmitInternal(func() {
		if l.micro != nil {
			l.microtask(started("microtask of the running callback"))
		}
		close(inside)
		g.wait()
		for _, k := range l.available() {
			_ = k.run(l, started(k.name+" that the running callback added"))
		}
		close(added)
	}))
	t.wait(inside, "an internal callback to run")
	for range 200 {
		for _, k := range l.available() {
			t.must(k.name, k.run(l, started(k.name)))
		}
	}
	t.want("Close", l.Close(), nil)
	g.open()
	t.wait(added, "the running callback to finish")
	l.returns(" after Close", loopapi.ErrLoopTerminated)
	l.over("after Close")
	time.Sleep(time.Millisecond)
}

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

// closeBeforeRun closes loops that never ran.
func closeBeforeRun(t *trial) {
	l := t.make(Config{})
	for range 10 {
		for _, k := range l.available() {
			t.must(k.name, k.run(l, func() { t.Errorf("a %s ran although the loop was closed before Run", k.name) }))
		}
	}
	t.want("Close before Run", l.Close(), nil)
	t.want("Run after Close", l.runAgain(), loopapi.ErrLoopTerminated)
	t.want("Shutdown after Close", l.shutdown(), loopapi.ErrLoopTerminated)
	t.want("the second Close", l.Close(), loopapi.ErrLoopTerminated)
	l.over("after Close before Run")
	time.Sleep(time.Millisecond)
}

// closeWhileSleeping closes a parked loop: Close must wake it.
func closeWhileSleeping(t *trial) {
	t.rounds(t.scale(100), func(int) {
		l := t.start(Config{})
		if l.timers != nil {
			l.timer(time.Hour, func() { t.Errorf("a timer fired after Close") })
		}
		l.rest()
		l.close()
	})
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

// runResults are the ways to end a loop, one or two after each other, with the result of Run (bug 18 of docs/reliability.md).
var runResults = []struct {
	name string
	end  func(l *loop, cancel func())
	want error
}{
	{"Shutdown", func(l *loop, cancel func()) { _ = l.shutdown() }, nil},
	{"Close", func(l *loop, cancel func()) { _ = l.Close() }, loopapi.ErrLoopTerminated},
	{"the context", func(l *loop, cancel func()) { cancel() }, context.Canceled},
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
	for _, row := range runResults {
		for range 5 {
			l := t.make(Config{})
			cancel := l.launchUntil()
			l.sync()
			row.end(l, cancel)
			l.returns(", ended by "+row.name+",", row.want)
		}
	}
}
