package loopapi

import (
	"errors"
	"fmt"
)

// The sentinel errors. Contestants return them as they are or wrapped; test with errors.Is.
var (
	ErrLoopAlreadyRunning   = errors.New("eventloop: already running")
	ErrLoopTerminated       = errors.New("eventloop: terminated")
	ErrLoopOverloaded       = errors.New("eventloop: overloaded")
	ErrReentrantRun         = errors.New("eventloop: Run called from one of the loop's own callbacks")
	ErrFastPathIncompatible = errors.New("eventloop: forced fast path and registered descriptors exclude each other")
	ErrFDAlreadyRegistered  = errors.New("eventloop: descriptor already registered")
	ErrFDNotRegistered      = errors.New("eventloop: descriptor not registered")
	ErrPollerClosed         = errors.New("eventloop: poller closed")
	ErrTimerNotFound        = errors.New("eventloop: timer not found")
	ErrMicrotaskBudget      = errors.New("eventloop: microtask budget exceeded")
	ErrNilCallback          = errors.New("eventloop: nil callback")
	ErrAwaitOnLoop          = errors.New("eventloop: await on the loop would deadlock")
	ErrPromiseCycle         = errors.New("eventloop: promise resolved with itself")
	ErrGoexit               = errors.New("eventloop: callback called runtime.Goexit")
)

// PanicError reports a callback that did not return: it panicked, or it called runtime.Goexit, in which case Value is
// ErrGoexit. A panic(nil) under GODEBUG=panicnil=1 has the Value nil.
type PanicError struct {
	Value any    // what was passed to panic
	Stack []byte // the goroutine's stack at the panic, as debug.Stack formats it
}

// Error returns the value in one line; the stack is in the field.
func (e *PanicError) Error() string {
	return fmt.Sprintf("eventloop: callback panicked: %v", e.Value)
}

// Unwrap returns Value when it is an error, so that errors.Is and errors.As see through the panic.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}
