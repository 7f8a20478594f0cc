package js_test

// Promises beside what the adapter adds to a loop. What they are by themselves is compared in package promise.

import (
	"errors"
	"fmt"
	"testing"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/js"
)

// then returns a handler that says a word.
func (w *world) then(s string) func(any) (any, error) {
	return func(any) (any, error) { w.say(s); return nil, nil }
}

// value returns a handler that says a word and the value, and passes that on.
func (w *world) value(s string) func(any) (any, error) {
	return func(v any) (any, error) { w.say(fmt.Sprint(s, v)); return v, nil }
}

// caught returns a handler that says a word and the error.
func (w *world) caught(s string) func(error) (any, error) {
	return func(err error) (any, error) { w.say(s + err.Error()); return nil, nil }
}

// doing returns a handler that does something.
func doing(fn func()) func(any) (any, error) {
	return func(any) (any, error) { fn(); return nil, nil }
}

// finally returns a function for Finally that says a word.
func (w *world) finally(s string) func() error { return func() error { w.say(s); return nil } }

func (w *world) failed(s string) *eventloop.Promise { return w.Reject(errors.New(s)) }

// sleep returns a promise that a timer fulfils.
func (w *world) sleep(ms float64, v any) *eventloop.Promise {
	w.t.Helper()
	p, resolve, _ := w.WithResolvers()
	w.timeout(ms, func() { resolve(v) })
	return p
}

// Try's function runs where and when it is called.
func TestTryRunsAtOnce(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		where := func() (any, error) { w.say(fmt.Sprint("on the loop: ", w.loop.OnLoop())); return nil, nil }
		w.Try(where)
		w.say("outside")
		w.run(func() {
			w.Try(where).Then(w.then("then"), nil)
			w.say("inside")
		})
		w.want("on the loop: false", "outside", "on the loop: true", "inside", "then")
	})
}

// A rejection in a callback of the adapter's own is reported once, after the ticks and microtasks of that callback and before the
// next one. Those in others are in the random programs.
func TestUnhandledRejections(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(w *world, callback, next func())
	}{
		{"interval", func(w *world, callback, next func()) {
			var id js.ID
			id = w.interval(5, func() { callback(); w.ClearInterval(id) })
			w.timeout(5, next)
		}},
		{"event listener", func(w *world, callback, next func()) {
			target := w.NewEventTarget()
			target.AddEventListener("x", js.NewEventListener(func(*js.Event) { callback() }))
			w.timeout(5, func() { target.DispatchEvent(js.NewEvent("x")) })
			w.timeout(5, next)
		}},
		{"abort listener", func(w *world, callback, next func()) {
			w.timeoutSignal(5).OnAbort(func(error) { callback() })
			w.timeout(5, next)
		}},
		{"abort listener, from elsewhere", func(w *world, callback, next func()) {
			c := w.NewAbortController()
			c.Signal().OnAbort(func(error) { callback() })
			release := w.loop.Hold()
			go func() {
				c.Abort(nil)
				w.loop.Submit(next)
				release()
			}()
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			virtual(t, func(t *testing.T, w *world) {
				w.run(func() {
					c.set(w, func() {
						w.say("callback")
						w.failed("e")
						w.microtask(func() { w.tick(w.says("last")) })
					}, w.says("next"))
				})
				w.want("callback", "last", "unhandled e", "next")
			})
		})
	}
}
