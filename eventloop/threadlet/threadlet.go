package threadlet

// The threadlet: how it begins, what may end its wait, how it ends.

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/turnloop/turnloop/eventloop"
)

var (
	// ErrSignaled is returned by what waited when its threadlet was signaled.
	ErrSignaled = errors.New("threadlet: signaled")
	// ErrNotThreadlet is returned to callers that cannot wait: they are no threadlet, or none of the loop in question.
	ErrNotThreadlet = errors.New("threadlet: the caller is not a threadlet of this loop")
)

// phase is what a threadlet is doing. Only the loop, on which everything of a threadlet happens, moves it:
//
//	fresh ──▶ running ──▶ ended
//	           │ ▲  │ ▲
//	     Yield ▼ │  ▼ └── ready ◀── wake ── waiting
//	          ready └──────────────────────▶
//
// What waits is woken by whoever comes first, and is not waiting any more for those that come later.
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
	co       *coroutine // on which it runs; nil before it has begun and after its end
	next     *Threadlet // in the queue of those that are ready
	elder    *Threadlet // in the scheduler's list of all, as is younger
	younger  *Threadlet
	joiners  waitlist[struct{}] // threadlets of the loop
	timer    *timer             // made when it is needed first
	since    int64              // the tick in which its wait began
	serial   uint64
	waits    uint32 // how many there have been: what may end one late carries its number
	refused  uint16 // since the loop's end was heard of
	phase    phase
	reason   reason // what it waits for
	drains   bool   // it is waited for before the loop ends
	boundary bool   // it has read nothing since it said so

	// signaled is set by Signal, on any goroutine, and taken back by the wait that hears of it, on the loop.
	signaled atomic.Bool

	// outside is closed at the end, for those who wait elsewhere. The first of them makes it; the end replaces it by one
	// that is closed, so nobody makes one later.
	outside atomic.Pointer[chan struct{}]

	// result is that of the last wait, and at last of the threadlet itself, which is written before outside.
	result error
}

var closed = make(chan struct{})

func init() { close(closed) }

// Go calls fn in a new threadlet of the loop. Any goroutine may call it, also before Run.
//
// From elsewhere it is a task, with the order, the promises and the errors of [eventloop.Loop.Submit]. From a callback or
// a threadlet of the loop it allocates the Threadlet and nothing else in the steady state (four at a time, so whoever keeps
// one keeps the memory of four); fn begins soon after the
// caller has returned or waits; and it returns eventloop.ErrLoopTerminated once the end of the loop was asked for. A nil
// fn is eventloop.ErrNilCallback.
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

// Current returns the threadlet that calls it, and nil if the caller is none. It costs a few nanoseconds.
func Current() *Threadlet {
	if c := current(); c != nil {
		return c.t
	}
	return nil
}

// Loop returns the loop that the threadlet belongs to.
func (t *Threadlet) Loop() *eventloop.Loop { return t.s.loop }

// Signal ends the wait of the threadlet with ErrSignaled: the one it is in, or the next one if it is in none, or one that
// is about to end for another reason. Several signals before it hears of one are one. Any goroutine may call it; from
// elsewhere than the loop it costs an internal task. To a threadlet that has ended it does nothing.
func (t *Threadlet) Signal() {
	if t.signaled.Swap(true) {
		return // who set it tells the loop
	}
	if t.s.loop.OnLoop() {
		t.hear()
	} else {
		_ = t.s.loop.SubmitInternal(t.hear) // refused only by an end that every wait hears of
	}
}

// hear ends a wait for a signal that nobody has taken. What wakes a threadlet has its reason then, and the signal is for
// the next wait.
func (t *Threadlet) hear() {
	if t.phase == waiting && t.signaled.Load() {
		t.signaled.Store(false)
		t.wake(ErrSignaled)
	}
}

// Join waits until fn has returned, and returns nil, or its panic as a *eventloop.PanicError (for runtime.Goexit with
// eventloop.ErrGoexit in it), or eventloop.ErrLoopTerminated if the end of the loop has kept fn from running or has unwound it. If
// ctx ends first it returns ctx.Err().
//
// Any goroutine may call it. In a threadlet it suspends that, and returns what ends other waits too. In a callback of the
// loop, and in the threadlet itself, it could only wait for ever, and returns eventloop.ErrAwaitOnLoop.
func (t *Threadlet) Join(ctx context.Context) error {
	self := Current()
	switch {
	case self == t, self == nil && t.s.loop.OnLoop():
		return eventloop.ErrAwaitOnLoop
	case self == nil:
		return t.joinOutside(ctx)
	case self.s != t.s:
		return Do(ctx, t.joinOutside)
	case t.phase == ended:
		return t.result
	}
	if err := self.enter(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if ctx.Done() != nil {
		stop := self.wakeAfter(ctx)
		defer stop()
	}
	node := &waiter[struct{}]{t: self}
	t.joiners.push(node)
	if err := self.wait(joining); err != nil {
		node.leave()
		return err
	}
	return t.result
}

// joinOutside is Join for whoever may block.
func (t *Threadlet) joinOutside(ctx context.Context) error {
	done := t.outside.Load()
	if done == nil {
		made := make(chan struct{})
		t.outside.CompareAndSwap(nil, &made)
		done = t.outside.Load()
	}
	select {
	case <-*done:
		return t.result
	case <-ctx.Done():
		return ctx.Err()
	case <-t.s.loop.Done():
	}
	select {
	case <-*done:
		return t.result
	default:
		return eventloop.ErrLoopTerminated // dropped before it was the scheduler's
	}
}

// finish is the end of a threadlet, on the loop.
func (t *Threadlet) finish(err error) {
	t.phase, t.co, t.fn, t.timer, t.result = ended, nil, nil, nil, err
	t.s.forget(t)
	if t.drains {
		t.s.drained()
	}
	for node := t.joiners.pop(); node != nil; node = t.joiners.pop() {
		node.t.wake(nil)
	}
	if done := t.outside.Swap(&closed); done != nil {
		close(*done)
	}
}
