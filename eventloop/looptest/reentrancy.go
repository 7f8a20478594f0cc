package looptest

// Calls from callbacks (D08): allowed calls, their results, and OnLoop.

import (
	"context"

	"github.com/turnloop/turnloop/internal/loopapi"
)

// reentrantRun calls Run from every kind of callback.
func reentrantRun(t *trial) {
	t.eachKind(func(l *loop, k kind) {
		l.doIn(k, func() {
			t.want("Run from a callback of the kind "+k.name, l.Run(context.Background()), loopapi.ErrReentrantRun)
		})
		l.sync()
		l.finish()
	})
}

// callsFromCallbacks submits from every kind of callback to every lane: accepted at once, and run later.
func callsFromCallbacks(t *trial) {
	t.eachKind(func(l *loop, k kind) {
		all := newLatch(len(l.available()))
		l.doIn(k, func() {
			inside := true
			for _, other := range l.available() {
				t.want(other.name+" submitted from a callback of the kind "+k.name, other.run(l, func() {
					if inside {
						t.Errorf("a %s submitted from a callback of the kind %s ran inside of it", other.name, k.name)
					}
					all.done()
				}), nil)
			}
			inside = false
		})
		t.wait(all.ch, "what a callback of the kind %s submitted", k.name)
		l.finish()
	})
}

// endFromCallback calls Shutdown and Close from every kind of callback.
func endFromCallback(t *trial) {
	t.eachKind(func(l *loop, k kind) {
		var ran journal[string]
		l.doIn(k, func() {
			t.want("Submit", l.Submit(ran.note("accepted before")), nil)
			t.want("Shutdown from a callback of the kind "+k.name, l.Shutdown(context.Background()), nil)
			t.want("Submit after Shutdown", l.Submit(ran.note("refused")), loopapi.ErrLoopTerminated)
			t.want("SubmitInternal after Shutdown", l.SubmitInternal(ran.note("internal")), nil)
		})
		l.returns(" after Shutdown from a callback", nil)
		wantOrder(t, "Shutdown from a callback of the kind "+k.name, ran.all(), []string{"internal", "accepted before"})
	})
	t.eachKind(func(l *loop, k kind) {
		l.doIn(k, func() {
			t.want("Submit", l.Submit(func() { t.Errorf("a task ran after Close from a callback of the kind %s", k.name) }), nil)
			t.want("Close from a callback of the kind "+k.name, l.Close(), nil)
			t.want("the second Close", l.Close(), loopapi.ErrLoopTerminated)
		})
		l.returns(" after Close from a callback", loopapi.ErrLoopTerminated)
	})
}

// onLoop calls OnLoop in callbacks, in other goroutines, on other loops, before Run and after the end.
func onLoop(t *trial) {
	neighbour := t.start(Config{})
	is := func(l *loop, where string, want bool) {
		if got := l.owner.OnLoop(); got != want {
			t.Errorf("OnLoop is %v %s", got, where)
		}
	}
	unstarted := t.make(Config{})
	is(unstarted, "before Run", false)
	is(neighbour, "outside of a running loop", false)
	t.eachKind(func(l *loop, k kind) {
		l.doIn(k, func() {
			is(l, "in a callback of the kind "+k.name, true)
			is(neighbour, "in a callback of another loop", false)
			is(unstarted, "in a callback of another loop", false)
			<-t.async(func() { is(l, "in a goroutine that a callback started and waits for", false) })
			is(l, "in a callback, after one of another goroutine", true)
		})
		after := t.gate()
		var survivor <-chan struct{}
		l.doIn(k, func() {
			survivor = t.async(func() { after.wait(); is(l, "in a goroutine that outlives its callback", false) })
		})
		is(l, "outside of the loop", false)
		after.open()
		t.wait(survivor, "a goroutine that a callback started")
		l.finish()
		is(l, "after the end", false)
	})
	neighbour.finish()

	// Once Run has returned, OnLoop is false on the goroutine that called it.
	l := t.make(Config{})
	t.must("Submit", l.Submit(func() { t.want("Shutdown", l.Shutdown(context.Background()), nil) }))
	done := t.async(func() {
		t.want("Run", l.Run(context.Background()), nil)
		is(l, "on the goroutine whose Run has returned", false)
	})
	t.wait(done, "Run to return")

	// The goroutine that runs the work of a loop which never ran is on the loop.
	l = t.make(Config{})
	t.must("Submit", l.Submit(func() { is(l, "in a callback that Shutdown runs on a loop that never ran", true) }))
	t.want("Shutdown", l.shutdown(), nil)
}
