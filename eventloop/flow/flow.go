// Package flow has what most programs build on an event loop: to ask it, to wait, to try again, to repeat, and to stop in time.
// It is written on the public API of package eventloop, so it is also an example of it.
//
// Any goroutine may call its functions, also callbacks of the loop. A nil context panics, a nil function is refused with
// eventloop.ErrNilCallback.
package flow

// Asking the loop, and its answer.

import (
	"context"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/internal/outcome"
)

// Call runs fn on the loop, as a task, and returns its results: other goroutines use it to get at state that only the loop may
// touch. On the loop itself it calls fn at once. In a callback or a threadlet of another loop it blocks that loop, and two loops
// that ask each other wait for ever: in threadlets use threadlet.Call, in callbacks a promise.
//
// A panic of fn comes back as a *eventloop.PanicError, and is not reported otherwise; so does a runtime.Goexit, which the loop
// also logs, but on the loop itself that ends the caller. When ctx ends first Call returns ctx.Err(), or an error that wraps it
// and the cause; an fn that has begun goes on, and one that has not is not called. Call returns Submit's error if the task
// is not accepted, and ErrLoopTerminated if the loop is closed before the task has run. It costs a wake-up there and back,
// and three small allocations.
func Call[T any](ctx context.Context, l *eventloop.Loop, fn func() (T, error)) (T, error) {
	ended := ctx.Done() // a nil context panics here
	if fn == nil {
		return answer[T]{err: eventloop.ErrNilCallback}.parts()
	}
	if l.OnLoop() {
		var a answer[T]
		outcome.Of(ctx, func(context.Context) (T, error) { return fn() }, a.set)
		return a.parts()
	}
	if ctx.Err() != nil {
		return answer[T]{err: outcome.Cancelled(ctx)}.parts()
	}
	answers := make(chan answer[T], 1)
	if err := l.Submit(func() {
		outcome.Of(ctx, func(context.Context) (T, error) { return fn() }, func(value T, err error) { answers <- answer[T]{value, err} })
	}); err != nil {
		return answer[T]{err: err}.parts()
	}
	select {
	case a := <-answers:
		return a.parts()
	case <-ended:
		return answer[T]{err: outcome.Cancelled(ctx)}.parts()
	case <-l.Done():
	}
	select {
	case a := <-answers:
		return a.parts()
	default:
		return answer[T]{err: eventloop.ErrLoopTerminated}.parts()
	}
}

// Exec is Call for a function without a result. It costs one allocation more.
func Exec(ctx context.Context, l *eventloop.Loop, fn func() error) error {
	ask := func() (struct{}, error) { return struct{}{}, fn() }
	if fn == nil {
		ask = nil
	}
	_, err := Call(ctx, l, ask)
	return err
}

type answer[T any] struct {
	value T
	err   error
}

func (a *answer[T]) set(value T, err error) { a.value, a.err = value, err }
func (a answer[T]) parts() (T, error)       { return a.value, a.err }
