package eventloop

// The vocabulary that users need, so that they import one package.

import (
	"fmt"

	"github.com/turnloop/turnloop/internal/loopapi"
)

// EventLoop is the interface that Loop shares with the other contestants of the tournament.
type EventLoop = loopapi.EventLoop

// The capabilities beyond EventLoop, each an interface of its own, so that one that a loop lacks is told by a type assertion.
// Loop has them all.
type (
	MicrotaskScheduler = loopapi.MicrotaskScheduler
	TimerScheduler     = loopapi.TimerScheduler
	TimerReferencer    = loopapi.TimerReferencer
	StateReporter      = loopapi.StateReporter
	Completer          = loopapi.Completer
	OwnerReporter      = loopapi.OwnerReporter
	Clock              = loopapi.Clock
	Holder             = loopapi.Holder
)

var _ interface {
	EventLoop
	MicrotaskScheduler
	TimerScheduler
	TimerReferencer
	StateReporter
	Completer
	OwnerReporter
	Clock
	Holder
} = (*Loop)(nil)

// TimerID names a scheduled timer. The zero TimerID names none.
type TimerID = loopapi.TimerID

// PanicError reports a callback that panicked or called runtime.Goexit.
type PanicError = loopapi.PanicError

// The errors of a loop; test for them with errors.Is.
var (
	ErrLoopAlreadyRunning = loopapi.ErrLoopAlreadyRunning // Run: the loop is running
	ErrLoopTerminated     = loopapi.ErrLoopTerminated     // the loop has ended, or does not accept this any more
	ErrLoopOverloaded     = loopapi.ErrLoopOverloaded     // Submit: the queue limit is reached; OnOverload: the tick budget is spent
	ErrReentrantRun       = loopapi.ErrReentrantRun       // Run: called from one of the loop's own callbacks
	ErrTimerNotFound      = loopapi.ErrTimerNotFound      // the timer is not pending
	ErrMicrotaskBudget    = loopapi.ErrMicrotaskBudget    // OnOverload: the microtask budget is spent
	ErrNilCallback        = loopapi.ErrNilCallback        // a callback is nil
	ErrGoexit             = loopapi.ErrGoexit             // PanicError: the callback called runtime.Goexit
)

// errRunaway is reported when a tick's internal work does not come to an end.
var errRunaway = fmt.Errorf("%w: more than %d internal tasks in one tick", ErrLoopOverloaded, internalBudget)
