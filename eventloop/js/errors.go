package js

// Errors: sentinels, and the DOM's named exceptions.

import (
	"context"
	"errors"
)

// The errors of this package besides those of the loop; test for them with errors.Is.
var (
	// ErrIDsExhausted is returned when an adapter has used all of its 2^53-1 ids: make another with New.
	ErrIDsExhausted = errors.New("js: timer ids are exhausted")

	// ErrNotOnLoop is returned by DispatchEvent of another goroutine than the loop's: dispatch in a task of the loop.
	ErrNotOnLoop = errors.New("js: not called on the loop")

	// ErrNoTimer is returned by Refresh of a timer that is over: set a new one.
	ErrNoTimer = errors.New("js: no such timer")

	// ErrNoMark is wrapped by the error of Measure with a name that no mark has: call Mark first.
	ErrNoMark = errors.New("js: no such mark")

	// ErrTime is wrapped by the errors of MarkAt, MeasureTimes and TimeoutSignal: check what the time was computed from.
	ErrTime = errors.New("js: time is negative, not a number or too far")
)

// The reasons of signals that are aborted without one of their own.
var (
	// ErrAbort is the DOM's AbortError. It is a context.Canceled.
	ErrAbort error = &DOMException{Name: "AbortError", Message: "the operation was aborted", Err: context.Canceled}
	// ErrTimeout is the DOM's TimeoutError. It is a context.DeadlineExceeded.
	ErrTimeout error = &DOMException{Name: "TimeoutError", Message: "the operation timed out",
		Err: context.DeadlineExceeded}
)

// DOMException is an error with one of JavaScript's names for errors, most of which the Web IDL standard lists.
type DOMException struct {
	Name    string // "AbortError", "TimeoutError", "InvalidStateError", "SyntaxError", "TypeError"
	Message string
	Err     error // the Go error that it stands for; may be nil
}

// Error returns name and message.
func (e *DOMException) Error() string { return e.Name + ": " + e.Message }

// Unwrap returns Err.
func (e *DOMException) Unwrap() error { return e.Err }
