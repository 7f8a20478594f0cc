package promise

// Errors, and what they tell.

import (
	"errors"
	"fmt"
	"strings"
)

// AggregateError is what Any rejects with: the errors of all promises, in their order.
type AggregateError struct {
	Errors []error
}

// Error returns the errors in one line.
func (e *AggregateError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "promise: none of %d was fulfilled", len(e.Errors))
	sep := ": "
	for _, err := range e.Errors {
		b.WriteString(sep)
		b.WriteString(err.Error())
		sep = "; "
	}
	return b.String()
}

// Unwrap returns the errors, so that errors.Is and errors.As look into each.
func (e *AggregateError) Unwrap() []error { return e.Errors }

// ErrNilReason is what a promise is rejected with when the reason that was given is nil.
var ErrNilReason = errors.New("promise: rejected with a nil error")

// mustReason makes sure that a rejection can be told from a fulfilment by its error.
func mustReason(err error) error {
	if err == nil {
		return ErrNilReason
	}
	return err
}

// originError is the error of an unhandled rejection, with the places that the promise came through.
type originError struct {
	error
	created string
}

func (e *originError) Error() string { return e.error.Error() + e.created }
func (e *originError) Unwrap() error { return e.error }

// explained adds to err where p was created, if that is known.
func (p *Promise) explained(err error) error {
	if p.origin == nil {
		return err
	}
	return &originError{err, p.created()}
}
