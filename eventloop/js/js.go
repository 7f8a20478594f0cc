package js

// The adapter itself: what it needs of a loop, and what it is made of.

import (
	"container/list"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"time"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/promise"
)

// Loop is what the adapter needs of a loop. *eventloop.Loop is one.
type Loop interface {
	Submit(fn func()) error
	SubmitInternal(fn func()) error
	eventloop.MicrotaskScheduler
	NextTick(fn func()) error
	Promises() *promise.Realm
	eventloop.TimerScheduler
	eventloop.TimerReferencer
	eventloop.Clock
	eventloop.OwnerReporter
	eventloop.StateReporter
	eventloop.Completer
}

var _ Loop = (*eventloop.Loop)(nil)

// JS is the JavaScript side of one loop. Create one with [New]. Several may share a loop; each has ids and immediates
// of its own. It starts no goroutine and needs no closing: it ends with its loop.
type JS struct {
	loop        Loop
	performance Performance
	onPanic     func(*eventloop.PanicError)
	nodeTimers  bool
	level       int // timer nesting level of the callback that runs, 0 if it is no timer's; touched on the loop alone

	// The functions that the loop is given again and again, made once.
	startCheck, nextImmediate, nextTurn, nextLate, timersOver func()

	mu         sync.Mutex // guards what follows, and the timers; held over the loop's locks, never over callbacks
	lastID     ID
	timers     map[ID]*timer
	inTimers   bool      // the loop is running due timers; set by the first of ours
	timersIn   time.Time // the tick that it is, if it is
	late       list.List // of *timer: due, but behind immediates
	phase      phase
	checks     int              // calls of check that the loop owes; all but the last were overtaken
	setIn      time.Time        // the tick in which the loop's callbacks first set one of immediates; zero if none did
	pending    *promise.Promise // is rejected when the loop shuts down; nil until somebody has to know
	immediates []immediate      // wait for the next check phase
	batch      []immediate      // of the check phase that runs; batch[:started] have started
	started    int
}

// New creates an adapter for loop, whose time origin is now. It may be called before the loop runs. It returns an error
// when loop or an option is nil.
func New(loop Loop, opts ...Option) (*JS, error) {
	if v := reflect.ValueOf(loop); loop == nil || v.Kind() == reflect.Pointer && v.IsNil() {
		return nil, errors.New("js: nil loop")
	}
	j := &JS{loop: loop, timers: map[ID]*timer{}}
	j.performance.start()
	j.startCheck, j.nextImmediate = j.check, j.step
	j.nextTurn, j.nextLate, j.timersOver = j.turn, j.runLate, j.leaveTimers
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

// Option configures an adapter; see the With functions.
type Option func(*JS) error

// WithPanicHandler sets a function that the loop calls, as a callback of its own, for each listener that panicked or
// called runtime.Goexit. By default the loop is made to report it as a panic whose value is the *eventloop.PanicError.
// It must not be nil.
func WithPanicHandler(f func(*eventloop.PanicError)) Option {
	return func(j *JS) error {
		if f == nil {
			return fmt.Errorf("js: WithPanicHandler: %w", eventloop.ErrNilCallback)
		}
		j.onPanic = f
		return nil
	}
}

// WithNodeTimers makes delays those of Node instead of the HTML standard: what is less than one millisecond, more than
// 2^31-1 or no number is one millisecond, and timers that nest wait no longer. It costs nothing.
func WithNodeTimers() Option {
	return func(j *JS) error {
		j.nodeTimers = true
		return nil
	}
}

// ID names a timer or an immediate. IDs are positive, at most 2^53-1, so that JavaScript can represent them, and never
// used again.
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
