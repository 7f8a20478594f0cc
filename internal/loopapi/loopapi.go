// Package loopapi has the interfaces of the tournament's contestants: EventLoop, the optional capabilities, and the types
// in their signatures. Package looptest re-exports the interfaces, package eventloop the types.
package loopapi

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// EventLoop is the interface that every contestant has. All methods may be called from any goroutine.
type EventLoop interface {
	// Run runs the loop on the calling goroutine and blocks until the loop has fully stopped. A loop runs once. Run returns nil
	// after Shutdown, ErrLoopTerminated after Close, and ctx.Err() when the end of ctx, which is a graceful shutdown, has ended
	// the loop. It returns at once with ErrReentrantRun from one of the loop's own callbacks, with ErrLoopAlreadyRunning, or
	// with ErrLoopTerminated. When a callback calls runtime.Goexit, the calling goroutine ends without returning from Run, and
	// the loop goes on without it.
	Run(ctx context.Context) error
	// Shutdown stops accepting external work and timers, runs all accepted work with what this brings, and blocks until the loop
	// has stopped or ctx is done, which ends the waiting only. Called from one of the loop's own callbacks it only asks for the
	// end and returns nil at once. A loop that never ran runs its work on a goroutine of its own.
	//
	// The call that brings the end about returns nil, ctx.Err(), or ErrLoopTerminated when a Close came in between. All others
	// wait likewise and return ErrLoopTerminated or ctx.Err().
	Shutdown(ctx context.Context) error
	// Submit queues fn behind everything submitted before. It never waits for the loop to run anything. When it returns nil, fn
	// runs exactly once unless Close ends the loop. It returns ErrNilCallback, ErrLoopTerminated once the end was asked for, or
	// ErrLoopOverloaded at the queue limit.
	Submit(fn func()) error
	// SubmitInternal queues fn ahead of all external work. It is never refused for load, and is accepted until an ending loop
	// has run out of work. It returns ErrNilCallback or ErrLoopTerminated.
	SubmitInternal(fn func()) error
	// Close ends the loop and drops queued work: nothing starts after it has returned, except the callback that the loop was
	// about to call. It does not wait for a running callback, so it may be called under any lock. It returns ErrLoopTerminated
	// when the loop has ended or was closed before.
	Close() error
}

// MicrotaskScheduler is the capability to run a function right after the current callback, in the order of scheduling, and
// within the budget of microtasks. ScheduleMicrotask returns ErrNilCallback, or ErrLoopTerminated when the loop has ended.
type MicrotaskScheduler interface {
	ScheduleMicrotask(fn func()) error
}

// TimerID names a scheduled timer. The zero TimerID names none.
type TimerID uint64

// TimerScheduler is the capability to run a function once, after a delay. A timer never fires early. Timers fire in order of
// their deadlines, equal deadlines in order of scheduling. Zero and negative delays mean now, in a later tick; one beyond the
// range of the clock never fires. ScheduleTimer returns ErrNilCallback, or ErrLoopTerminated once the end was asked for.
// CancelTimer returns ErrTimerNotFound if no pending timer has the ID: it has fired, is firing, was cancelled or was dropped
// at the end.
type TimerScheduler interface {
	ScheduleTimer(delay time.Duration, fn func()) (TimerID, error)
	CancelTimer(id TimerID) error
}

// TimerTier is the urgency of a timer.
type TimerTier uint8

// The tiers. Of the timers that are due critical ones fire first. Background timers wait until the loop has no other work,
// or until they are a second late.
const (
	TimerNormal TimerTier = iota // the tier of ScheduleTimer
	TimerCritical
	TimerBackground
)

// String is the tier's name: normal, critical or background.
func (t TimerTier) String() string {
	switch t {
	case TimerNormal:
		return "normal"
	case TimerCritical:
		return "critical"
	case TimerBackground:
		return "background"
	}
	return fmt.Sprintf("TimerTier(%d)", uint8(t))
}

// TierScheduler is the capability to choose a timer's tier.
type TierScheduler interface {
	ScheduleTimerAs(tier TimerTier, delay time.Duration, fn func()) (TimerID, error)
}

// TimerReferencer is the capability to choose which pending timers keep an auto-exit loop alive.
type TimerReferencer interface {
	RefTimer(id TimerID) error
	UnrefTimer(id TimerID) error
}

// IOEvents is a set of readiness events of a descriptor.
type IOEvents uint32

// The readiness events. EventError and EventHangup are delivered whether or not they were asked for, as far as the system
// reports them then.
const (
	EventRead IOEvents = 1 << iota
	EventWrite
	EventError
	EventHangup
)

// eventNames are the names of the readiness events, from the lowest bit on.
var eventNames = [...]string{"read", "write", "error", "hangup"}

// String returns the events' names, as in "read|write"; "none" for none. Unknown bits are in hexadecimal.
func (e IOEvents) String() string {
	if e == 0 {
		return "none"
	}
	var words []string
	for i, name := range eventNames {
		if bit := IOEvents(1) << i; e&bit != 0 {
			words = append(words, name)
			e &^= bit
		}
	}
	if e != 0 {
		words = append(words, fmt.Sprintf("%#x", uint32(e)))
	}
	return strings.Join(words, "|")
}

// FDRegistrar is the capability to watch raw descriptors for readiness, level-triggered. Errors and hang-ups are delivered
// whether or not they were asked for. The descriptor stays the caller's, who unregisters it before closing it. All methods
// may be called before Run. They return ErrNilCallback, ErrFDAlreadyRegistered, ErrFDNotRegistered, the system's error,
// wrapped, or ErrLoopTerminated: RegisterFD once the end was asked for, the others once the loop has ended.
type FDRegistrar interface {
	RegisterFD(fd int, events IOEvents, callback func(IOEvents)) error
	ModifyFD(fd int, events IOEvents) error
	UnregisterFD(fd int) error
}

// StateReporter is the capability to report the loop's state.
type StateReporter interface {
	State() State
}

// Completer is the capability to report the loop's end: the channel closes when nothing will ever run again and all
// resources are released.
type Completer interface {
	Done() <-chan struct{}
}

// OwnerReporter is the capability to report whether the caller runs on the loop.
type OwnerReporter interface {
	OnLoop() bool
}

// Clock is the capability to report the time of the current tick.
type Clock interface {
	CurrentTickTime() time.Time
}

// Holder is the capability to keep an auto-exit loop alive by hand.
type Holder interface {
	Hold() (release func())
}

// State is a loop's state. The numbers are fixed: they appear in logs and dumps.
type State int32

// The states of a loop.
const (
	StateAwake       State = 0 // created, Run not called yet
	StateTerminated  State = 1 // ended for good
	StateSleeping    State = 2 // parked until there is work
	StateRunning     State = 4 // running callbacks, or about to decide to sleep
	StateTerminating State = 5 // the end was asked for
)

// String returns the state's name; for a number that is no state, the number as in "State(7)".
func (s State) String() string {
	switch s {
	case StateAwake:
		return "awake"
	case StateTerminated:
		return "terminated"
	case StateSleeping:
		return "sleeping"
	case StateRunning:
		return "running"
	case StateTerminating:
		return "terminating"
	}
	return fmt.Sprintf("State(%d)", int32(s))
}

// Config is the configuration of a new loop. A zero value means the loop's own default. The constructor of a loop that does
// not support a field returns an error that wraps errors.ErrUnsupported.
type Config struct {
	AutoExit        bool              // Run returns when nothing can happen any more
	QueueLimit      int               // external tasks that wait before Submit is refused
	TickBudget      int               // external tasks per tick
	MicrotaskBudget int               // microtasks per drain
	OnOverload      func(error)       // overload, microtask budget and runaway reports
	OnPanic         func(*PanicError) // called on the loop for each callback that panicked or exited
}

// IsZero reports whether all fields are zero. Every loop supports the zero Config.
func (c Config) IsZero() bool {
	return !c.AutoExit && c.QueueLimit == 0 && c.TickBudget == 0 && c.MicrotaskBudget == 0 && c.OnOverload == nil && c.OnPanic == nil
}

// Entry is one contestant of a tournament: its name, its constructor, and the checks that it is known to fail.
type Entry struct {
	Name       string // as in reports; letters, digits and dashes
	Philosophy string // one line

	// New makes a loop. It returns an error that wraps errors.ErrUnsupported if the loop does not support the Config.
	New func(Config) (EventLoop, error)

	Divergences map[string]string // check of the conformance kit -> why the loop is known to fail it
	MayDiverge  map[string]string // the same for checks that the loop fails only when it loses a race
	VirtualTime bool              // parks on channels only, so that checks of time may run in a testing/synctest bubble
	Folder      string            // where its package is in this repository, empty for one from elsewhere
}

// NewOf makes an Entry's New from a loop's own constructor. When the constructor fails, the result is a nil interface, not
// an interface that holds a nil loop.
func NewOf[L EventLoop](construct func(Config) (L, error)) func(Config) (EventLoop, error) {
	return func(cfg Config) (EventLoop, error) {
		loop, err := construct(cfg)
		if err != nil {
			return nil, err
		}
		return loop, nil
	}
}
