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
	t.want("Run after Close", l.result(), loopapi.ErrLoopTerminated)
	if l.comp != nil {
		t.wait(l.comp.Done(), "Done after Close")
	}
	time.Sleep(time.Millisecond)
}

// closeUnderLock calls Close while it holds a lock that the running callback waits for.
func closeUnderLock(t *trial) {
	for _, k := range lanes {
		l := t.start(Config{})
		if !k.has(l) {
			continue
		}
		lock := make(chan struct{}, 1) // full while it is held
		lock <- struct{}{}
		release := sync.OnceFunc(func() { <-lock })
		t.onCleanup(release)
		inside, finished := make(chan struct{}), make(chan struct{})
		t.must(k.name, k.run(l, func() {
			close(inside)
			lock <- struct{}{}
			close(finished)
		}))
		t.wait(inside, "a %s to run", k.name)
		closing := t.async(func() { t.want("Close", l.Close(), nil) })
		t.wait(closing, "Close, called with a lock that the running %s waits for: Close must not wait for callbacks", k.name)
		release()
		t.wait(finished, "the running callback, which may finish")
		t.want("Run after Close", l.result(), loopapi.ErrLoopTerminated)
	}
}

// closeOften closes loops again, by many callers at once, and together with Shutdown (bug 30 of docs/reliability.md).
func closeOften(t *trial) {
	for i := range t.scale(200) {
		l := t.start(Config{})
		for range 20 {
			t.must("Submit", l.Submit(noop))
		}
		var wins atomic.Int64
		count := func(what string, err error) {
			t.want(what, err, nil, loopapi.ErrLoopTerminated)
			if err == nil {
				wins.Add(1)
			}
		}
		t.parallel(16, func(p int) {
			if i%2 == 0 || p%2 == 0 {
				count("one of many Closes", l.Close())
			} else {
				count("one of many Shutdowns", l.shutdown())
			}
		})
		if wins.Load() != 1 {
			t.Errorf("of 16 concurrent calls of Close and Shutdown %d returned nil, want one: the one that ended the loop", wins.Load())
		}
		t.want("a later Close", l.Close(), loopapi.ErrLoopTerminated)
		t.want("a later Shutdown", l.shutdown(), loopapi.ErrLoopTerminated)
		t.want("Run", l.result(), nil, loopapi.ErrLoopTerminated)
		if t.failed() {
			return
		}
	}
}

// closeDuringShutdown calls Close while Shutdown waits behind a callback.
func closeDuringShutdown(t *trial) {
	l := t.start(Config{})
	g := l.hold()
	for range 50 {
		t.must("Submit", l.Submit(func() { t.Errorf("a queued task started after Close overtook Shutdown") }))
	}
	ending := t.async(func() { t.want("the first Shutdown, overtaken by Close", l.shutdown(), loopapi.ErrLoopTerminated) })
	l.refuses()
	closing := t.async(func() { t.want("Close during Shutdown", l.Close(), nil) })
	t.wait(closing, "Close during Shutdown to return")
	t.want("Close after Close", l.Close(), loopapi.ErrLoopTerminated)
	g.open()
	t.wait(ending, "the first Shutdown to return")
	t.want("Run", l.result(), loopapi.ErrLoopTerminated)
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
	if l.comp != nil {
		t.wait(l.comp.Done(), "Done after Close before Run")
	}
	time.Sleep(time.Millisecond)
}

// closeWhileSleeping closes a parked loop: Close must wake it.
func closeWhileSleeping(t *trial) {
	for range t.scale(100) {
		l := t.start(Config{})
		if l.timers != nil {
			l.timer(time.Hour, func() { t.Errorf("a timer fired after Close") })
		}
		l.rest()
		t.want("Close of a sleeping loop", l.Close(), nil)
		t.want("Run", l.result(), loopapi.ErrLoopTerminated)
	}
}

// runContext ends loops through the context of Run.
func runContext(t *trial) {
	// Graceful: accepted functions run.
	l := t.make(Config{})
	ctx, cancel := context.WithCancel(context.Background())
	l.launch(ctx)
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
	t.want("Run whose context was cancelled", l.result(), context.Canceled)
	if ran.Load() != n {
		t.Errorf("%d of %d tasks accepted before the context ended had run when Run returned", ran.Load(), n)
	}
	wantOrder(t, "a chain accepted before the context ended", seen.all(), chainLinks)
	t.want("Submit after the end", l.Submit(noop), loopapi.ErrLoopTerminated)

	// While it sleeps.
	l = t.make(Config{})
	ctx, cancel = context.WithCancel(context.Background())
	l.launch(ctx)
	l.sync()
	l.rest()
	cancel()
	t.want("Run of a sleeping loop whose context was cancelled", l.result(), context.Canceled)

	// By a deadline.
	l = t.make(Config{})
	ctx, cancel = context.WithTimeout(context.Background(), 5*time.Millisecond)
	defer cancel()
	l.launch(ctx)
	t.want("Run whose context has a deadline", l.result(), context.DeadlineExceeded)

	// From the beginning.
	l = t.make(Config{})
	ctx, cancel = context.WithCancel(context.Background())
	cancel()
	ran.Store(0)
	t.must("Submit", l.Submit(func() { ran.Add(1) }))
	l.launch(ctx)
	t.want("Run with a context that was already cancelled", l.result(), context.Canceled)
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
		ending := l.trial.async(func() { _ = l.shutdown() })
		l.refuses()
		cancel()
		time.Sleep(time.Millisecond)
		g.open()
		l.trial.wait(ending, "Shutdown to return")
	}, nil},
	{"Shutdown, then Close while a callback still runs", func(l *loop, cancel func()) {
		g := l.hold()
		ending := l.trial.async(func() { _ = l.shutdown() })
		l.refuses()
		_ = l.Close()
		g.open()
		l.trial.wait(ending, "Shutdown to return")
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
			ctx, cancel := context.WithCancel(context.Background())
			t.onCleanup(cancel)
			l.launch(ctx)
			l.sync()
			row.end(l, cancel)
			t.want("Run, ended by "+row.name+",", l.result(), row.want)
		}
	}
}
