package eventloop

// The vocabulary that users need, so that they import one package.

import (
	"errors"
	"fmt"

	"github.com/turnloop/turnloop/eventloop/promise"
	"github.com/turnloop/turnloop/internal/loopapi"
)

// EventLoop is the interface that Loop shares with the other contestants of the tournament: Run, Shutdown, Submit,
// SubmitInternal and Close, as those of [Loop].
type EventLoop = loopapi.EventLoop

// The capabilities beyond EventLoop, each an interface of its own, so that one that a loop lacks is told by a type
// assertion. [Loop] has them all; beside each are its methods.
type (
	MicrotaskScheduler = loopapi.MicrotaskScheduler // ScheduleMicrotask
	TimerScheduler     = loopapi.TimerScheduler     // ScheduleTimer, CancelTimer
	TierScheduler      = loopapi.TierScheduler      // ScheduleTimerAs
	TimerReferencer    = loopapi.TimerReferencer    // RefTimer, UnrefTimer
	FDRegistrar        = loopapi.FDRegistrar        // RegisterFD, ModifyFD, UnregisterFD
	StateReporter      = loopapi.StateReporter      // State
	Completer          = loopapi.Completer          // Done
	OwnerReporter      = loopapi.OwnerReporter      // OnLoop
	Clock              = loopapi.Clock              // CurrentTickTime
	Holder             = loopapi.Holder             // Hold
)

var _ interface {
	EventLoop
	MicrotaskScheduler
	TimerScheduler
	TierScheduler
	TimerReferencer
	FDRegistrar
	StateReporter
	Completer
	OwnerReporter
	Clock
	Holder
} = (*Loop)(nil)

// TimerID names a scheduled timer. The zero TimerID names none.
type TimerID = loopapi.TimerID

// IOEvents is a set of readiness events of a descriptor.
type IOEvents = loopapi.IOEvents

// The readiness events. EventError and EventHangup are delivered whether or not they were asked for, but for what
// RegisterFD says of macOS and the BSDs.
const (
	EventRead   = loopapi.EventRead
	EventWrite  = loopapi.EventWrite
	EventError  = loopapi.EventError
	EventHangup = loopapi.EventHangup
)

// What package promise says about promises, and makes of them, is there; these are for users of one package.
type (
	Promise        = promise.Promise        // a value that will be known later, or an error that will be
	Result         = promise.Result         // how a promise settled
	AggregateError = promise.AggregateError // why none of the promises of Any was fulfilled
)

// PanicError reports a callback that panicked or called runtime.Goexit. Its field Value is what was passed to panic, or
// ErrGoexit; Stack is the goroutine's stack then, a []byte. Unwrap returns Value if that is an error.
type PanicError = loopapi.PanicError

// The errors of a loop; test for them with errors.Is.
var (
	ErrLoopAlreadyRunning   = loopapi.ErrLoopAlreadyRunning   // Run: the loop is running
	ErrLoopTerminated       = loopapi.ErrLoopTerminated       // the loop has ended, or does not accept this any more
	ErrLoopOverloaded       = loopapi.ErrLoopOverloaded       // Submit: the queue limit; OnOverload: the tick budget, endless internal work
	ErrReentrantRun         = loopapi.ErrReentrantRun         // Run: called from one of the loop's own callbacks
	ErrFastPathIncompatible = loopapi.ErrFastPathIncompatible // FastPathForced and descriptors exclude each other
	ErrFDAlreadyRegistered  = loopapi.ErrFDAlreadyRegistered  // RegisterFD: the descriptor is registered
	ErrFDNotRegistered      = loopapi.ErrFDNotRegistered      // ModifyFD, UnregisterFD, UnregisterFDThen: the descriptor is not registered
	ErrPollerClosed         = loopapi.ErrPollerClosed         // a poller after its end; the methods of Loop return ErrLoopTerminated
	ErrTimerNotFound        = loopapi.ErrTimerNotFound        // the timer is not pending
	ErrMicrotaskBudget      = loopapi.ErrMicrotaskBudget      // OnOverload: the microtask budget is spent
	ErrAwaitOnLoop          = loopapi.ErrAwaitOnLoop          // Await: called on the loop, which it would block for ever
	ErrPromiseCycle         = loopapi.ErrPromiseCycle         // a promise was resolved so that it would wait for itself
	ErrNilCallback          = loopapi.ErrNilCallback          // a callback is nil
	ErrNilReason            = promise.ErrNilReason            // a promise was rejected with a nil error
	ErrGoexit               = loopapi.ErrGoexit               // PanicError: the callback called runtime.Goexit
)

// errRunaway is reported when a tick's internal work does not come to an end.
var errRunaway = fmt.Errorf("%w: more than %d internal tasks in one tick", ErrLoopOverloaded, internalBudget)

var errNoSuchMode = errors.New("no such mode")
