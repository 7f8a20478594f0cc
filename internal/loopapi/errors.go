package loopapi

// The errors: sentinels, PanicError, and what wraps them.

import (
	"errors"
	"fmt"
	"strings"
)

// prefix begins the text of every error of this package, and of every error that wraps one. It appears once in a text.
const prefix = "eventloop: "

// The sentinel errors. Contestants return them, plain or wrapped; test with errors.Is.
var (
	ErrLoopAlreadyRunning   = errors.New(prefix + "already running")
	ErrLoopTerminated       = errors.New(prefix + "terminated")
	ErrLoopOverloaded       = errors.New(prefix + "overloaded")
	ErrReentrantRun         = errors.New(prefix + "Run called from one of the loop's own callbacks")
	ErrFastPathIncompatible = errors.New(prefix + "forced fast path and registered descriptors exclude each other")
	ErrFDAlreadyRegistered  = errors.New(prefix + "descriptor already registered")
	ErrFDNotRegistered      = errors.New(prefix + "descriptor not registered")
	ErrPollerClosed         = errors.New(prefix + "poller closed")
	ErrTimerNotFound        = errors.New(prefix + "timer not found")
	ErrMicrotaskBudget      = errors.New(prefix + "microtask budget exceeded")
	ErrNilCallback          = errors.New(prefix + "nil callback")
	ErrAwaitOnLoop          = errors.New(prefix + "await on the loop would deadlock")
	ErrPromiseCycle         = errors.New(prefix + "promise resolved with itself")
	ErrGoexit               = errors.New(prefix + "callback called runtime.Goexit")
)

// PanicError reports a callback that did not return: it panicked, or it called runtime.Goexit, in which case Value is
// ErrGoexit. A panic(nil) under GODEBUG=panicnil=1 has the Value nil.
type PanicError struct {
	Value any    // the argument of panic
	Stack []byte // the goroutine's stack at the panic, as debug.Stack formats it
}

// Error returns the value in one line; the stack is in the field. It does not panic, whatever the value is.
func (e *PanicError) Error() string {
	return prefix + "callback panicked: " + strings.TrimPrefix(textOf(e.Value), prefix)
}

// textOf returns the text of a panic's value, or its type if there is no text. When a value's method panics, package fmt says
// so in the text; but fmt panics itself when it cannot write what the method has panicked with, as when that is the value.
func textOf(value any) (text string) {
	defer func() {
		if recover() != nil {
			text = fmt.Sprintf("%T, whose text panics", value)
		}
	}()
	return fmt.Sprint(value)
}

// Unwrap returns Value when it is an error, so that errors.Is and errors.As see through the panic.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// Wrap returns an error that wraps err and says what was attempted. err must not be nil. The prefix that both the new text
// and the text of err may have appears once. errors.Is and errors.As find err in it.
func Wrap(err error, format string, args ...any) error {
	text := prefix + fmt.Sprintf(format, args...) + ": "
	return &attempt{text + strings.TrimPrefix(err.Error(), prefix), err}
}

// attempt is an error with its cause.
type attempt struct {
	text  string
	cause error
}

func (e *attempt) Error() string { return e.text }
func (e *attempt) Unwrap() error { return e.cause }
