package alternateone

// Errors that say what happened where: LoopError for the loop's own, PanicError for callbacks that did not return.

import (
	"errors"
	"fmt"

	"github.com/turnloop/turnloop/internal/loopapi"
)

// ErrInvariant is in the chain of every LoopError that the loop panics with: a belief of the loop about itself turned
// out to be false. That is a defect of the loop, never of its user.
var ErrInvariant = errors.New("invariant violated")

// LoopError is the type of every error of this package but those of a context, and what a violated invariant panics
// with. The sentinel errors of package loopapi are found in it with errors.Is.
type LoopError struct {
	Op      string         // what was being done: the method's name, or the loop's own step
	Phase   string         // in which state of the loop
	Cause   error          // what was wrong
	Context map[string]any // what one would ask next: the loop's id, lengths, limits
}

// Error returns all four fields in one line.
func (e *LoopError) Error() string {
	return fmt.Sprintf("alternateone: %s while %s: %v %v", e.Op, e.Phase, e.Cause, e.Context)
}

// Unwrap returns the cause.
func (e *LoopError) Unwrap() error { return e.Cause }

// Kind is what a callback was called as.
type Kind string

// The kinds of callbacks.
const (
	KindTask            Kind = "task"
	KindInternal        Kind = "internal task"
	KindMicrotask       Kind = "microtask"
	KindTimer           Kind = "timer"
	KindIO              Kind = "I/O callback"
	KindOverloadHandler Kind = "overload handler"
	KindPanicHandler    Kind = "panic handler"
	KindLogger          Kind = "logger"
)

// PanicError tells about a callback that did not return, whose it was and where. The *loopapi.PanicError in it, which
// errors.As finds too, has the value and the stack.
type PanicError struct {
	*loopapi.PanicError
	Kind   Kind
	TaskID uint64 // counts what the loop accepted, a timer's is its TimerID; of I/O, registrations; 0 for handlers
	LoopID uint64 // counts the loops of this process
}

// Error returns all but the stack in one line.
func (e *PanicError) Error() string {
	return fmt.Sprintf("alternateone: %s %d of loop %d panicked: %v", e.Kind, e.TaskID, e.LoopID, e.Value)
}

// Unwrap returns the *loopapi.PanicError.
func (e *PanicError) Unwrap() error { return e.PanicError }

// fail makes the error of an operation. The context is pairs of key and value. After a violated invariant it tells of
// that, too.
func (l *Loop) fail(op string, cause error, context ...any) *LoopError {
	if broken := l.broken.Load(); broken != nil {
		cause = fmt.Errorf("%w: %w", cause, broken)
	}
	e := &LoopError{Op: op, Phase: l.state.load().String(), Cause: cause, Context: map[string]any{"loop": l.id}}
	for i := 0; i < len(context); i += 2 {
		e.Context[context[i].(string)] = context[i+1]
	}
	return e
}

// violated panics: an invariant does not hold. The loop is not to be trusted from here on, so it accepts nothing any
// more, and panics on its own goroutine as well: whoever recovers from this panic does not save it.
func (l *Loop) violated(op string, what error, context ...any) {
	e := l.fail(op, fmt.Errorf("%w: %w", ErrInvariant, what), context...)
	l.broken.CompareAndSwap(nil, e)
	_ = l.poller.Wake() // a sleeping loop hears of it; that this fails matters less than e
	panic(e)
}
