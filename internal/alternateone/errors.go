package alternateone

// The errors: LoopError for failed operations of the loop, and what is known of callbacks that did not return.

import (
	"errors"
	"fmt"

	"github.com/turnloop/turnloop/internal/loopapi"
)

// ErrInvariant is in the chain of every LoopError with which the loop panics: an invariant of the loop does not hold. That
// is a defect of the loop, never of its user.
var ErrInvariant = errors.New("invariant violated")

// LoopError is the type of every error of this package except those of a context, and of the panic value of a violated
// invariant. errors.Is finds the sentinel errors of package loopapi in it.
type LoopError struct {
	Op      string         // the operation: the method's name, or the loop's own step
	Phase   string         // the state of the loop
	Cause   error          // the reason
	Context map[string]any // details: the loop's id, lengths, limits
}

// Error returns all four fields in one line.
func (e *LoopError) Error() string {
	return fmt.Sprintf("alternateone: %s while %s: %v %v", e.Op, e.Phase, e.Cause, e.Context)
}

// Unwrap returns the cause.
func (e *LoopError) Unwrap() error { return e.Cause }

// Kind is the kind of a callback.
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

// fault is a callback that did not return: what it panicked with, its kind, and the number of the accepted task or timer, or of the
// registration; 0 for handlers.
type fault struct {
	*loopapi.PanicError
	kind Kind
	task uint64
}

// fail makes the error of an operation. context is a list of keys and values in turn. After a violated invariant the error
// wraps that, too.
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

// violated panics because an invariant does not hold. The loop is marked as broken: it accepts nothing any more, and panics
// on its own goroutine as well, even if the caller recovers from this panic.
func (l *Loop) violated(op string, what error, context ...any) {
	e := l.fail(op, fmt.Errorf("%w: %w", ErrInvariant, what), context...)
	l.broken.CompareAndSwap(nil, e)
	_ = l.poller.Wake() // so that a sleeping loop sees broken; an error matters less than e
	panic(e)
}
