package js_test

// Promises beside what the adapter adds to a loop. What they are by themselves is compared in package promise.

import (
	"errors"
	"fmt"
	"testing"

	"github.com/turnloop/turnloop/eventloop"
)

// then returns a handler that says a word.
func (w *world) then(s string) func(any) (any, error) {
	return func(any) (any, error) { w.say(s); return nil, nil }
}

// caught returns a handler that says a word and the error.
func (w *world) caught(s string) func(error) (any, error) {
	return func(err error) (any, error) { w.say(s + err.Error()); return nil, nil }
}

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
