package js_test

// Tests of the adapter as a whole, and what the other tests of package js share.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/js"
)

// world is a loop with an adapter, whose program is a task of the loop, and which ends when nothing is left to do.
type world struct {
	*js.JS
	t      testing.TB
	loop   *eventloop.Loop
	begin  time.Time
	log    []string
	faults []*eventloop.PanicError // that the loop reported
	heard  []*eventloop.PanicError // that the adapter reported
}

func newWorld(t testing.TB, opts ...eventloop.Option) *world {
	t.Helper()
	w := &world{t: t, begin: time.Now()}
	opts = append([]eventloop.Option{
		eventloop.WithAutoExit(true),
		eventloop.WithPanicHandler(func(e *eventloop.PanicError) { w.faults = append(w.faults, e) }),
		eventloop.WithUnhandledRejection(func(_ *eventloop.Promise, err error) { w.say("unhandled " + err.Error()) }),
	}, opts...)
	loop, err := eventloop.New(opts...)
	if err != nil {
		t.Fatal(err)
	}
	w.loop = loop
	w.JS, err = js.New(loop, js.WithPanicHandler(func(e *eventloop.PanicError) { w.heard = append(w.heard, e) }))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// run runs the program as the loop's first task, and the loop until nothing is left to do.
func (w *world) run(program func()) {
	w.t.Helper()
	if err := w.loop.Submit(program); err != nil {
		w.t.Fatal(err)
	}
	go w.loop.Run(context.Background()) // on a goroutine of its own, which callbacks may end
	<-w.loop.Done()
}

func (w *world) say(s string)         { w.log = append(w.log, s) }
func (w *world) says(s string) func() { return func() { w.say(s) } }

// sayTime notes a word and the milliseconds since the beginning.
func (w *world) sayTime(s string) {
	w.say(fmt.Sprintf("%s@%v", s, float64(time.Since(w.begin))/float64(time.Millisecond)))
}

// busy keeps the loop's callback for a virtual while.
func (w *world) busy(ms int) { time.Sleep(time.Duration(ms) * time.Millisecond) }

// io has fn called as the completion of something that happens elsewhere.
func (w *world) io(fn func()) {
	release := w.loop.Hold()
	go func() {
		w.loop.Submit(fn)
		release()
	}()
}

func (w *world) timeout(ms float64, fn func()) js.ID {
	w.t.Helper()
	return w.must(w.SetTimeout(fn, ms))
}

func (w *world) interval(ms float64, fn func()) js.ID {
	w.t.Helper()
	return w.must(w.SetInterval(fn, ms))
}

func (w *world) immediate(fn func()) js.ID {
	w.t.Helper()
	return w.must(w.SetImmediate(fn))
}

func (w *world) tick(fn func())      { w.must(0, w.NextTick(fn)) }
func (w *world) microtask(fn func()) { w.must(0, w.QueueMicrotask(fn)) }

func (w *world) must(id js.ID, err error) js.ID {
	w.t.Helper()
	if err != nil {
		w.t.Error(err)
	}
	return id
}

func (w *world) want(log ...string) {
	w.t.Helper()
	if !slices.Equal(w.log, log) {
		w.t.Errorf("got  %q\nwant %q", w.log, log)
	}
}

// virtual runs a test on virtual time.
func virtual(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, newWorld(t)) })
}

func TestNewRefuses(t *testing.T) {
	loop, err := eventloop.New()
	if err != nil {
		t.Fatal(err)
	}
	defer loop.Close()
	if j, err := js.New(nil); j != nil || err == nil {
		t.Errorf("New(nil) = %v, %v", j, err)
	}
	if j, err := js.New((*eventloop.Loop)(nil)); j != nil || err == nil {
		t.Errorf("New of a nil *Loop = %v, %v", j, err)
	}
	if j, err := js.New(loop, nil); j != nil || err == nil {
		t.Errorf("New with a nil option = %v, %v", j, err)
	}
	if _, err := js.New(loop, js.WithPanicHandler(nil)); !errors.Is(err, eventloop.ErrNilCallback) {
		t.Errorf("a nil handler: %v", err)
	}
}

func TestNilCallbacks(t *testing.T) {
	w := newWorld(t)
	defer w.loop.Close()
	_, timeout := w.SetTimeout(nil, 0)
	_, interval := w.SetInterval(nil, 0)
	_, immediate := w.SetImmediate(nil)
	add := w.NewEventTarget().AddEventListener("x", nil)
	addEmpty := w.NewEventTarget().AddEventListener("x", js.NewEventListener(nil))
	for i, err := range []error{timeout, interval, immediate, w.NextTick(nil), w.QueueMicrotask(nil), add, addEmpty} {
		if !errors.Is(err, eventloop.ErrNilCallback) {
			t.Errorf("%d: %v", i, err)
		}
	}
	w.NewAbortController().Signal().OnAbort(nil)()
}

// After the end of the loop everything returns, with an error where something would have to run.
func TestAfterTheEnd(t *testing.T) {
	for _, end := range []string{"exit", "shutdown", "close", "close unrun"} {
		t.Run(end, func(t *testing.T) {
			w := newWorld(t)
			c := w.NewAbortController()
			c.Signal().OnAbort(func(error) { t.Error("a listener ran after the end") })
			ctx, cancel := c.Signal().Context(context.Background())
			defer cancel()
			switch end {
			case "close unrun":
				w.immediate(func() { t.Error("ran after Close") })
				w.loop.Close()
			case "close":
				w.loop.Submit(func() {
					w.immediate(func() { t.Error("ran after Close") })
					w.loop.Close()
				})
				w.loop.Run(context.Background())
			case "shutdown":
				w.run(func() {
					w.timeout(1e9, func() {})
					w.loop.Shutdown(context.Background())
				})
			default:
				w.run(func() {})
			}
			<-w.loop.Done()
			fn := func() { t.Error("ran after the end") }
			_, timeout := w.SetTimeout(fn, 0)
			_, interval := w.SetInterval(fn, 0)
			_, immediate := w.SetImmediate(fn)
			_, signal := w.TimeoutSignal(1)
			for i, err := range []error{timeout, interval, immediate, signal, w.NextTick(fn), w.QueueMicrotask(fn), c.Abort(nil)} {
				if !errors.Is(err, eventloop.ErrLoopTerminated) {
					t.Errorf("%d: %v", i, err)
				}
			}
			if !c.Signal().Aborted() || ctx.Err() == nil {
				t.Error("signal or context did not hear of the abort")
			}
			if _, err := w.NewEventTarget().DispatchEvent(js.NewEvent("x")); !errors.Is(err, js.ErrNotOnLoop) {
				t.Errorf("DispatchEvent: %v", err)
			}
			w.ClearTimeout(1)
			w.ClearImmediate(1)
		})
	}
}
