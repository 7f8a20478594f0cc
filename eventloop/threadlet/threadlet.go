package threadlet

// The threadlet: how it begins, what may end its wait, how it ends.

import (
	"cmp"
	"context"
	"errors"
	"sync/atomic"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/promise"
)

var (
	// ErrSignaled is the error of a wait whose threadlet or connection was signaled: look for what the signal was to tell.
	ErrSignaled = errors.New("threadlet: signaled")
	// ErrNotThreadlet is returned to a caller that cannot wait: it is no threadlet, or a threadlet of another loop. Start one
	// with Go.
	ErrNotThreadlet = errors.New("threadlet: the caller is not a threadlet of this loop")
)

// phase is what a threadlet is doing. It changes on the loop only:
//
//	fresh ──▶ running ──▶ ended
//	          │  ▲   │
//	    Yield │  │   │ wait
//	          ▼  │   ▼
//	         ready ◀── waiting
//	             wake
//
// The first wake of a wait makes the threadlet ready; later ones find it not waiting, and do nothing. The end of the loop
// moves a fresh threadlet to ended.
type phase uint8

const (
	fresh   phase = iota // has not begun
	running              // on its coroutine
	waiting              // for wake
	ready                // in the scheduler's queue, to be resumed
	ended
)

// Threadlet is a function that runs on a loop, and may wait without blocking it. [Go] makes one.
type Threadlet struct {
	s  *scheduler
	fn func()

	// Touched on the loop alone, by the scheduler and by the threadlet itself.
	co       *coroutine // the coroutine that runs it; nil before it begins and after its end
	next     *Threadlet // the next one in the scheduler's queue, or in the list of the side that it waits for
	before   *Threadlet // the one before it in the latter list
	at       *side      // the side that it waits for; nil otherwise
	elder    *Threadlet // the one before it in the scheduler's list of all
	younger  *Threadlet // the next one in that list
	extra    *extra     // nil until it is needed
	since    int64      // time of the tick in which its last wait began, or else it was made; see guest.Host.Tick
	serial   uint64     // its number on the loop, from 1
	waits    uint32     // waits so far; a wake for one wait carries its number, and does nothing in a later one
	refused  uint16     // waits refused because the loop had ended
	phase    phase
	reason   reason // what it waits for
	woken    bool   // wakeFirst has woken it, and it has not run yet
	drains   bool   // it has called Draining: Shutdown waits for its end
	boundary bool   // it has read nothing since its last call of Draining

	// signaled is set by Signal, on any goroutine, and cleared on the loop by the wait that it ends.
	signaled atomic.Bool

	// outside is for Join outside of the loop, and nil before the first. The end replaces it by told.
	outside atomic.Pointer[outside]

	// result is the result of the last wait, and after the end the result of Join. The result of Join is written before
	// outside is replaced, so whoever has heard of the end may read it.
	result error
}

// outside tells goroutines of the end by done, which is closed then, and threadlets of other loops, if any wait, by a promise.
type outside struct {
	done chan struct{}
	*promise.Promise
	settle func(value any, err error)
}

// extra is the part of a threadlet that few need.
type extra struct {
	joiners waitlist[struct{}] // threadlets of the loop that wait in Join
	timer   eventloop.TimerID  // the timer that ends the wait with timeout; 0 unless it is pending
	fire    func()             // called by the timer; made when it is first needed
	timeout error
	because string // why it pauses; "" if there is no error
}

func (t *Threadlet) more() *extra {
	if t.extra == nil {
		t.extra = new(extra)
	}
	return t.extra
}

// told is the outside of every threadlet that has ended.
var told = &outside{done: make(chan struct{})}

func init() { close(told.done) }

// Go calls fn in a new threadlet of the loop. Any goroutine may call it, also before Run.
//
// Called in a callback or a threadlet of the loop, it starts fn soon after the caller has returned or waits. It returns
// eventloop.ErrLoopTerminated once the end of the loop was asked for. It allocates the Threadlet and, in the steady state,
// nothing else. Threadlets are allocated four at a time, so a pointer to one keeps the memory of four.
//
// Called elsewhere, it submits a task that begins fn, with the order, the guarantees and the errors of
// [eventloop.Loop.Submit]. For a nil fn it returns eventloop.ErrNilCallback.
func Go(l *eventloop.Loop, fn func()) (*Threadlet, error) {
	if fn == nil {
		return nil, eventloop.ErrNilCallback
	}
	s := schedulerOf(l)
	if l.OnLoop() {
		if s.host.Ending() {
			return nil, eventloop.ErrLoopTerminated
		}
		t := s.make()
		t.fn = fn
		s.enter(t)
		return t, nil
	}
	t := &Threadlet{s: s, fn: fn}
	enter := func() { s.enter(t) }
	if s.seen.places {
		enter = s.seen.from(t)
	}
	if err := l.Submit(enter); err != nil {
		return nil, err
	}
	return t, nil
}

// Call runs fn in a new threadlet of l and returns its results. It is for state that another loop has: a threadlet that calls
// it waits, and its loop goes on, where flow.Call would block it. On l itself it calls fn at once. Any goroutine may call it.
// Its own errors are those of [Go] and [Threadlet.Join]. When ctx ends, an fn that has begun goes on, and one that has not is
// not called. It costs a wake-up of l, and one of a calling threadlet's loop; it needs no worker.
func Call[T any](ctx context.Context, l *eventloop.Loop, fn func() (T, error)) (T, error) {
	if err := ctx.Err(); err != nil || fn == nil {
		return *new(T), cmp.Or(err, eventloop.ErrNilCallback)
	}
	if l.OnLoop() {
		return fn()
	}
	var value T
	var failure error
	t, err := Go(l, func() {
		if failure = ctx.Err(); failure == nil {
			value, failure = fn()
		}
	})
	if err == nil {
		err = t.Join(ctx)
	}
	if err != nil {
		return *new(T), err // value and failure may be written at this moment
	}
	return value, failure
}

// Current returns the threadlet that calls it, and nil if the caller is none. It costs a few nanoseconds.
func Current() *Threadlet {
	if c := current(); c != nil {
		return c.t
	}
	return nil
}

// Loop returns the loop that the threadlet belongs to.
func (t *Threadlet) Loop() *eventloop.Loop { return t.s.loop }

// Signal ends the current wait of the threadlet with ErrSignaled. If the threadlet does not wait, or its wait is already
// ending for another reason, the signal ends the next wait. Signals count as one until a wait has ended with it. Any
// goroutine may call it; outside of the loop it costs an internal task. After the end of the threadlet it does nothing.
func (t *Threadlet) Signal() {
	if t.signaled.Swap(true) {
		return // the call that set the flag tells the loop
	}
	if t.s.loop.OnLoop() {
		t.deliverSignal()
	} else {
		_ = t.s.loop.SubmitInternal(t.deliverSignal) // refused only at the end of the loop, which ends every wait
	}
}

// deliverSignal ends the current wait if a signal is pending. A threadlet that does not wait keeps the signal for its next
// wait.
func (t *Threadlet) deliverSignal() {
	if t.phase == waiting && t.signaled.Load() {
		t.signaled.Store(false)
		t.wake(ErrSignaled)
	}
}

// Join waits until fn has ended. It returns nil if fn has returned; a *eventloop.PanicError if fn has panicked or called
// runtime.Goexit (then with eventloop.ErrGoexit in it); eventloop.ErrLoopTerminated if the end of the loop has kept fn from
// running or has unwound it; ctx.Err() if ctx ends first.
//
// Any goroutine may call it. In a threadlet it suspends the caller, and may also return ErrSignaled or
// eventloop.ErrLoopTerminated for the caller's own wait. In a callback of the loop, and in the threadlet itself, the wait
// could never end: it returns eventloop.ErrAwaitOnLoop. A deadline of ctx keeps the caller's loop alive (WithAutoExit).
func (t *Threadlet) Join(ctx context.Context) error {
	_ = ctx.Done() // a nil context panics here
	self := Current()
	switch {
	case self == t, self == nil && t.s.loop.OnLoop():
		return eventloop.ErrAwaitOnLoop
	case self == nil:
		return t.joinOutside(ctx)
	case self.s == t.s && t.phase == ended:
		return t.result
	}
	if err := self.enter(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if ctx.Done() != nil {
		defer self.wakeAfter(ctx)()
	}
	if self.s != t.s {
		return t.joinAcross(self)
	}
	node := &waiter[struct{}]{t: self}
	t.more().joiners.push(node)
	if err := self.wait(joining); err != nil {
		node.leave()
		return err
	}
	return t.result
}

// joinOutside does what Join does, for a caller that may block its goroutine.
func (t *Threadlet) joinOutside(ctx context.Context) error {
	select {
	case <-t.tells(false).done:
	case <-ctx.Done():
		return ctx.Err()
	case <-t.s.loop.Done():
	}
	if t.outside.Load() != told {
		return eventloop.ErrLoopTerminated // the loop has dropped the task that was to begin the threadlet
	}
	return t.result
}

// joinAcross does what Join does, for a threadlet of another loop.
func (t *Threadlet) joinAcross(self *Threadlet) error {
	if o := t.tells(true); o != told {
		defer self.s.loop.HoldNamed("Join of another loop's threadlet")()
		if _, err := self.await(joining, o.Promise); err != nil {
			return err
		}
	}
	return t.result
}

func (t *Threadlet) tells(promised bool) *outside {
	for {
		switch o := t.outside.Load(); {
		case o == nil:
			t.outside.CompareAndSwap(nil, &outside{done: make(chan struct{})})
		case promised && o != told && o.Promise == nil:
			p, settle := t.s.loop.NewWorkPromise() // which stays pending until the end of the loop
			t.outside.CompareAndSwap(o, &outside{o.done, p, settle})
		default:
			return o
		}
	}
}

// finish ends a threadlet with err as its result, and every Join that waits for it. On the loop.
func (t *Threadlet) finish(err error) {
	x := t.extra
	t.phase, t.co, t.fn, t.extra, t.result = ended, nil, nil, nil, err
	t.s.forget(t)
	if t.drains {
		t.s.drained()
	}
	if x != nil {
		for node := x.joiners.pop(); node != nil; node = x.joiners.pop() {
			node.t.wake(nil)
		}
	}
	if o := t.outside.Swap(told); o != nil {
		close(o.done)
		if o.Promise != nil {
			o.settle(nil, nil)
		}
	}
}
