package eventloop

// A question to the loop, and its answer.

import (
	"context"
	"runtime/debug"
)

// Call runs fn on the loop, as a task, and returns its results: other goroutines use it to get at state that only the
// loop may touch. On the loop itself it calls fn at once.
//
// A panic of fn comes back as a *PanicError, and is not reported otherwise; so does a runtime.Goexit, which the loop also
// logs, but on the loop itself that ends the caller. When ctx ends first Call returns ctx.Err(), or an error that wraps it
// and the cause; an fn that has begun goes on, and one that has not is not called. Call returns Submit's error if the task
// is not accepted, and ErrLoopTerminated if the loop is closed before the task has run. It costs a wake-up there and back,
// and some small allocations.
func Call[T any](ctx context.Context, l *Loop, fn func() (T, error)) (value T, err error) {
	if fn == nil {
		return value, ErrNilCallback
	}
	ask := func() (any, error) { return call(ctx, func(context.Context) (any, error) { return fn() }) }
	if l.OnLoop() {
		got, err := ask()
		value, _ = got.(T)
		return value, err
	}
	type answer struct {
		value any
		err   error
	}
	answers := make(chan answer, 1)
	err = l.Submit(func() {
		a := answer{err: &PanicError{Value: ErrGoexit, Stack: debug.Stack()}}
		defer func() { answers <- a }()
		a.value, a.err = ask()
	})
	if err != nil {
		return value, err
	}
	var a answer
	select {
	case a = <-answers:
	case <-ctx.Done():
		return value, cancelled(ctx)
	case <-l.done:
		select {
		case a = <-answers:
		default:
			return value, ErrLoopTerminated
		}
	}
	value, _ = a.value.(T) // the form that does not panic: a nil value is no T, even if T is an interface
	return value, a.err
}
