// Package outcome calls a function so that somebody always hears how the call ended: with a value, an error, a panic, a
// runtime.Goexit, or with the end of its context. The module's own parts share it.
package outcome

// Calls, and the errors of contexts.

import (
	"context"
	"errors"
	"reflect"
	"runtime/debug"

	"github.com/turnloop/turnloop/internal/loopapi"
)

// Of calls fn, unless ctx has ended, and then calls tell, once, on the same goroutine. tell gets what fn has returned; or a
// *PanicError, if fn has panicked or called runtime.Goexit; or the error of Cancelled, if ctx has ended before fn was called, or
// fn returns the error or the cause of that end.
func Of[T any](ctx context.Context, fn func(context.Context) (T, error), tell func(T, error)) {
	var value T
	var err error
	returned := false
	defer func() {
		if !returned {
			var none T
			fault := recover()
			if fault == nil { // also a panic with nil has a value
				fault = loopapi.ErrGoexit
			}
			value, err = none, &loopapi.PanicError{Value: fault, Stack: debug.Stack()}
		}
		tell(value, err)
	}()
	if ctx.Err() != nil {
		err = Cancelled(ctx)
	} else {
		value, err = fn(ctx)
		if err != nil && ctx.Err() != nil && (Is(err, ctx.Err()) || Is(err, context.Cause(ctx))) {
			err = Cancelled(ctx) // the same error as from whoever heard of the end first
		}
	}
	returned = true
}

// Cancelled is the error of a context that has ended.
func Cancelled(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if comparable := reflect.ValueOf(cause).Comparable(); cause == nil || comparable && cause == err {
		return err
	}
	return loopapi.Errorf("%v: %v", err, cause)
}

// Is is errors.Is, but false if that panics: methods of err may, and the error of a context may have a type that cannot be
// compared.
func Is(err, target error) (is bool) {
	defer func() { _ = recover() }()
	return target != nil && errors.Is(err, target)
}

// Refusal is the error of work that a running loop refuses: ErrLoopTerminated, of the loop with this number.
type Refusal struct{ Loop uint64 }

func (Refusal) Error() string { return loopapi.ErrLoopTerminated.Error() }

// Unwrap returns ErrLoopTerminated.
func (Refusal) Unwrap() error { return loopapi.ErrLoopTerminated }
