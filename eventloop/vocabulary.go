package eventloop

// The names that users need, so that they import one package. The originals are in internal/loopapi, which all
// contestants share. go doc does not look behind an alias, so each is documented here.

import (
	"errors"
	"fmt"

	"github.com/turnloop/turnloop/eventloop/promise"
	"github.com/turnloop/turnloop/internal/loopapi"
)

// State is a loop's state, an int32 whose numbers are fixed, since they appear in logs and dumps.
//
//	func (s State) String() string // as in "running"
type State = loopapi.State

// The states of a loop, and every way from one to the next:
//
//	          Run                  nothing to do
//	Awake ─────────▶ Running ────────────────────▶ Sleeping
//	  │                 │ ▲                            │ │
//	  │                 │ └──── wake, by one waker ────┘ │
//	  │ end             │ end                            │ end
//	  └────────────────▶└────────▶ Terminating ◀─────────┘
//	                                   │ everything accepted has run, or Close
//	                                   ▼
//	                               Terminated
const (
	StateAwake       State = 0 // created, Run not called yet
	StateTerminated  State = 1 // ended for good
	StateSleeping    State = 2 // parked until there is work
	StateRunning     State = 4 // running callbacks, or about to decide to sleep
	StateTerminating State = 5 // the end was asked for
)

// TimerID names a scheduled timer, for CancelTimer and the like. It is a uint64; the zero TimerID names none, and none is
// used again.
type TimerID = loopapi.TimerID

// IOEvents is a set of readiness events of a descriptor, a uint32 whose bits are the events below: test with &, combine
// with |.
//
//	func (e IOEvents) String() string // as in "read|write"
type IOEvents = loopapi.IOEvents

// The readiness events. EventError and EventHangup are delivered whether or not they were asked for; for the
// exceptions on macOS and the BSDs see RegisterFD.
const (
	EventRead   IOEvents = 1 << iota // there is something to read, or the peer has finished sending
	EventWrite                       // there is room to write, or a connect has ended
	EventError                       // the descriptor has failed; a read, write or SO_ERROR tells why
	EventHangup                      // the other side is gone
)

// Promise is a value, or an error, that will be known later: [promise.Promise], whose package documents promises, and
// has the typed [promise.Of].
//
//	func (p *Promise) Await(ctx context.Context) (any, error)
//	func (p *Promise) Catch(onRejected func(error) (any, error)) *Promise
//	func (p *Promise) Finally(onFinally func() error) *Promise
//	func (p *Promise) String() string
//	func (p *Promise) Then(onFulfilled func(any) (any, error), onRejected func(error) (any, error)) *Promise
//	func (p *Promise) ToChannel() <-chan Result
type Promise = promise.Promise

// Result is how a promise settled, [promise.Result]:
//
//	Value any
//	Err   error // nil if and only if it was fulfilled
type Result = promise.Result

// AggregateError is the error when none of the promises of Any was fulfilled, [promise.AggregateError]:
//
//	Errors []error // of the promises, in their order
//
//	func (e *AggregateError) Error() string
//	func (e *AggregateError) Unwrap() []error
type AggregateError = promise.AggregateError

// PanicError reports a callback that panicked or called runtime.Goexit; see [WithPanicHandler].
//
//	Value any    // what was passed to panic, or ErrGoexit
//	Stack []byte // the goroutine's stack at the panic, as debug.Stack formats it
//
//	func (e *PanicError) Error() string // the value in one line, without the stack
//	func (e *PanicError) Unwrap() error // Value, if that is an error
type PanicError = loopapi.PanicError

// The errors of a loop; test for them with errors.Is.
var (
	// ErrLoopAlreadyRunning is returned by Run of a loop that is running. A loop runs once: make another for another goroutine.
	ErrLoopAlreadyRunning = loopapi.ErrLoopAlreadyRunning

	// ErrLoopTerminated is returned by calls that a loop refuses since it is ending or has ended, and pending promises are
	// rejected with it. What was refused has not run and will not: drop it, or keep it for another loop. Run returns it
	// after Close, and for a loop that has run before; Shutdown and Close return it to all callers but the first.
	ErrLoopTerminated = loopapi.ErrLoopTerminated

	// ErrLoopOverloaded is returned by Submit at WithQueueLimit, and by ScheduleTimer when 2^28 timers are pending: answer
	// "busy" to the client, and do not try again at once. The function of WithOnOverload gets it when a tick's budget is
	// spent, or when internal work does not come to an end: look at Metrics for what is too slow or too much.
	ErrLoopOverloaded = loopapi.ErrLoopOverloaded

	// ErrReentrantRun is returned by Run in one of the loop's own callbacks, since the loop runs already: use Submit.
	ErrReentrantRun = loopapi.ErrReentrantRun

	// ErrFastPathIncompatible is returned by RegisterFD under FastPathForced, and by SetFastPathMode with FastPathForced
	// while descriptors are registered. That mode and descriptors exclude each other: use FastPathAuto.
	ErrFastPathIncompatible = loopapi.ErrFastPathIncompatible

	// ErrFDAlreadyRegistered is returned by RegisterFD of a descriptor that is registered: change its events with
	// ModifyFD, or unregister it first. A number that was closed and used again is registered until it is unregistered.
	ErrFDAlreadyRegistered = loopapi.ErrFDAlreadyRegistered

	// ErrFDNotRegistered is returned by ModifyFD, UnregisterFD and UnregisterFDThen of a descriptor that is not
	// registered. Ignore the error if the descriptor only had to be gone.
	ErrFDNotRegistered = loopapi.ErrFDNotRegistered

	// ErrPollerClosed is wrapped by the error of Run when other code has closed the loop's own descriptor: look for code
	// that closes a number twice. Methods of a loop that has ended return ErrLoopTerminated instead.
	ErrPollerClosed = loopapi.ErrPollerClosed

	// ErrTimerNotFound is returned by CancelTimer, RefTimer and UnrefTimer of a timer that has fired, was cancelled, or
	// never was. If it only had not to fire, ignore this.
	ErrTimerNotFound = loopapi.ErrTimerNotFound

	// ErrMicrotaskBudget is passed to the function of WithOnOverload when a checkpoint has spent WithMicrotaskBudget, and
	// the rest is held back: look for promises that resolve each other without end.
	ErrMicrotaskBudget = loopapi.ErrMicrotaskBudget

	// ErrAwaitOnLoop is returned by Await on the promise's own loop, which it would block for ever: use Then there, or
	// threadlet.Await in a threadlet.
	ErrAwaitOnLoop = loopapi.ErrAwaitOnLoop

	// ErrPromiseCycle is the reason of a promise whose resolution would make it wait for itself: return another promise
	// from its handler.
	ErrPromiseCycle = loopapi.ErrPromiseCycle

	// ErrNilCallback is returned for a nil function where one is needed: pass one, if only an empty one.
	ErrNilCallback = loopapi.ErrNilCallback

	// ErrNilReason is the reason of a promise that was rejected with a nil error: pass an error that says why.
	ErrNilReason = promise.ErrNilReason

	// ErrGoexit is the Value of a PanicError for a callback that called runtime.Goexit, as t.FailNow does: return instead.
	ErrGoexit = loopapi.ErrGoexit
)

// errRunaway is reported when a tick's internal work does not come to an end.
var errRunaway = fmt.Errorf("%w: more than %d internal tasks in one tick", ErrLoopOverloaded, internalBudget)

var errNoSuchMode = errors.New("no such mode")
