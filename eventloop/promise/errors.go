package promise

// The errors of promises, and their texts.

import (
	"errors"
	"fmt"
	"strings"

	"github.com/turnloop/turnloop/internal/loopapi"
)

// AggregateError is the error of Any when all promises are rejected: their errors, in the order of the promises.
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

// ErrNilReason is the error of a promise that was rejected with a nil reason: pass an error that says why.
var ErrNilReason = errors.New("promise: rejected with a nil error")

// mustReason returns err, or ErrNilReason for nil: a rejection must have an error.
func mustReason(err error) error {
	if err == nil {
		return ErrNilReason
	}
	return err
}

// explained returns err with a text of where p was created, if that was recorded.
func (p *Promise) explained(err error) error {
	if p.origin == nil {
		return err
	}
	return loopapi.Errorf("%v%v", err, p.origin)
}
