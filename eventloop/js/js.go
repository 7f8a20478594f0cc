package js

// The adapter itself: the loop that it needs, and its parts.

import (
	"container/list"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"time"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/promise"
	"github.com/turnloop/turnloop/internal/slim"
)

// Loop is the part of a loop that the adapter needs. *eventloop.Loop is one.
type Loop interface {
	Submit(fn func()) error
	SubmitInternal(fn func()) error
	ScheduleMicrotask(fn func()) error
	NextTick(fn func()) error
	Promises() *promise.Realm
	ScheduleTimer(delay time.Duration, fn func()) (eventloop.TimerID, error)
	CancelTimer(id eventloop.TimerID) error
	RefTimer(id eventloop.TimerID) error
	UnrefTimer(id eventloop.TimerID) error
	CurrentTickTime() time.Time
	OnLoop() bool
	State() eventloop.State
	Done() <-chan struct{}
}

// JS is the JavaScript side of one loop. Create one with [New]. Several may share a loop; each has ids and immediates
// of its own. It starts no goroutine and needs no closing: it ends with its loop.
type JS struct {
	loop        Loop
	performance Performance
	onPanic     func(*eventloop.PanicError)
	nodeTimers  bool
	level       int // nesting level of the timer whose callback runs, 0 if another callback runs; touched on the loop alone
	steps       int // how many calls of the method step are queued at the loop; touched on the loop alone

	// Functions that are given to the loop again and again: method values, made once.
	startCheck, nextImmediate, nextArm, nextLate, timersEnded func()

	mu         sync.Mutex // guards what follows, and the timers; only callbacks of the loop hold it while they call the loop
	lastID     ID
	timers     slim.Map[ID, *timer]
	inTimers   bool      // the loop is running due timers; set by the first of ours
	timersIn   time.Time // time of the tick in which the loop does so
	late       list.List // of *timer: timers that are due and have to wait for immediates
	phase      phase
	round      uint64           // number of the last round; phase says what rounds and checks are
	named      bool             // the checks of the last round are made by checkOfRound, and so name the round
	checks     int              // checks without a round's name that are queued at the loop, or will be; only the last of them counts
	unsent     int              // goroutines other than the loop that are about to give the loop a check
	setIn      time.Time        // time of the tick in which a callback first set one of the immediates that wait; zero if none did
	pending    *promise.Promise // rejected when the loop shuts down; nil before watchEnd
	immediates []immediate      // of the next check phase
	batch      []immediate      // of the check phase that runs; the loop alone changes it, and reads it without the lock
	started    int              // batch[:started] have started; the loop alone touches it
}

// New creates an adapter for loop, with now as its time origin. It may be called before the loop runs. It returns an error
// when loop or an option is nil.
func New(loop Loop, opts ...Option) (*JS, error) {
	if v := reflect.ValueOf(loop); loop == nil || v.Kind() == reflect.Pointer && v.IsNil() {
		return nil, errors.New("js: nil loop")
	}
	j := &JS{loop: loop}
	j.performance.start()
	j.startCheck, j.nextImmediate = j.checkLast, j.step
	j.nextArm, j.nextLate, j.timersEnded = j.armCheck, j.runLate, j.leaveTimers
	for i, opt := range opts {
		if opt == nil {
			return nil, fmt.Errorf("js: option %d is nil", i)
		}
		if err := opt(j); err != nil {
			return nil, err
		}
	}
	return j, nil
}

// Option configures an adapter; see the With functions. One that names no cost has none.
type Option func(*JS) error

// WithPanicHandler sets a function that the loop calls, as a callback of its own, for each listener that panicked or
// called runtime.Goexit. By default the loop reports the fault, as it reports a callback's. f must not be nil.
func WithPanicHandler(f func(*eventloop.PanicError)) Option {
	return func(j *JS) error {
		if f == nil {
			return fmt.Errorf("js: WithPanicHandler: %w", eventloop.ErrNilCallback)
		}
		j.onPanic = f
		return nil
	}
}

// WithNodeTimers makes delays those of Node instead of the HTML standard: a delay that is less than one millisecond, more
// than 2^31-1 or no number is one millisecond, and nested timers need not wait longer. It costs nothing.
func WithNodeTimers() Option {
	return func(j *JS) error {
		j.nodeTimers = true
		return nil
	}
}

// ID names a timer or an immediate. IDs are positive, are never used again, and are at most 2^53-1, so that JavaScript can
// represent them.
type ID uint64

const maxID ID = 1<<53 - 1

// newID returns the next id; mu is held.
func (j *JS) newID() (ID, error) {
	if j.lastID == maxID {
		return 0, ErrIDsExhausted
	}
	j.lastID++
	return j.lastID, nil
}
