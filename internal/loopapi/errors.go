package loopapi

// The errors: sentinels, PanicError, and what wraps them.

import (
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
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
	return inOneLine.Replace(textOf(prefix+"callback panicked: %v", e.Value))
}

var inOneLine = strings.NewReplacer("\n", `\n`, "\r", `\r`)

// Unwrap returns Value when it is an error, so that errors.Is and errors.As see through the panic.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// Fault is the value of a threadlet's panic that was caught where its stack still was, and goes on. The loop reports the error in it.
type Fault struct {
	*PanicError
	Threadlet uint64 // the number of the threadlet that has failed
}

// FaultOf returns what to report of a panic. One that was caught where its stack still was goes on as its Fault or its PanicError. Call it
// in the deferred function that has recovered the value.
func FaultOf(value any) Fault {
	f, _ := value.(Fault)
	if f.PanicError == nil {
		f.PanicError, _ = value.(*PanicError)
	}
	if f.PanicError == nil {
		f.PanicError = &PanicError{Value: value, Stack: debug.Stack()}
	}
	return f
}

// Errorf returns an error that wraps all errors among args. Its text is that of format, in which the prefix of this package
// stands once; the verb for an error is %v. The text is made when it is asked for, by whoever asks: methods of users' errors may
// panic, block or end the goroutine. It does not panic itself.
func Errorf(format string, args ...any) error { return &wrapper{format, args} }

// Wrap returns an error that wraps err and says what was attempted, as Errorf does. err must not be nil.
func Wrap(err error, format string, args ...any) error {
	return Errorf(prefix+format+": %v", append(slices.Clip(args), err)...)
}

// wrapper is an error of Errorf.
type wrapper struct {
	format string
	args   []any
}

func (e *wrapper) Error() string { return textOf(e.format, e.args...) }

func (e *wrapper) Unwrap() (errs []error) {
	for _, arg := range e.args {
		if err, ok := arg.(error); ok {
			errs = append(errs, err)
		}
	}
	return errs
}

// textOf formats as package fmt does, with the prefix once. When a value's method panics, package fmt says so in the text; but fmt
// panics itself when it cannot write what the method has panicked with, as when that is the value. Then textOf has types for values.
func textOf(format string, args ...any) (text string) {
	defer func() {
		if recover() != nil {
			text = fmt.Sprintf(strings.ReplaceAll(format, "%v", "%T")+", whose text panics", args...)
		}
		if rest, is := strings.CutPrefix(text, prefix); is {
			text = prefix + strings.ReplaceAll(rest, ": "+prefix, ": ")
		}
	}()
	return fmt.Sprintf(format, args...)
}
