// Package rival has the thin mechanism that the tournament's rivals share, so that each of them says only what it bets on: the
// seam to the system's poller, the wake-up through it, the identity of the goroutine that runs the loop, the clock, the end that
// others wait for, callbacks that do not return, and a heap of timers for those that do not bet on another order. There is no policy
// here: no queue, no state, no lock, and no decision about what runs next or when to sleep.
package rival

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/turnloop/turnloop/internal/goroutine"
	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/poller"
)

// Poller has the methods of package poller that a loop uses which sleeps there, with their contract. Tests replace it.
type Poller interface {
	Add(fd int, events loopapi.IOEvents, tag uint32) error
	Modify(fd int, old, events loopapi.IOEvents, tag uint32) error
	Remove(fd int, events loopapi.IOEvents) error
	Wait(timeout time.Duration) ([]poller.Event, error)
	Wake() error
	Reset() error
	Close() error
}

// Watch adds fd to the set of p. If fd was closed while it was watched, and its number stands for a duplicate now, the set still
// has it; Watch then gives it the new events and the new tag.
func Watch(p Poller, fd int, events loopapi.IOEvents, tag uint32) error {
	err := p.Add(fd, events, tag)
	if errors.Is(err, fs.ErrExist) {
		err = p.Modify(fd, 0, events, tag)
	}
	return err
}

// Base is embedded in a loop, which calls Init before everything else. The owner is the goroutine that runs the loop.
type Base struct {
	anchor   time.Time
	done     chan struct{}
	unfollow func() bool // ends the watch of Run's context; the owner's
	retrying atomic.Bool // a wake-up has failed and will be tried again

	// The last fields, so that they share a cache line with what the owner uses most, if a loop has that behind its Base.
	owner    atomic.Uintptr // the owner's identity, or 0; written by the owner, read by any goroutine
	tickTime atomic.Int64   // in nanoseconds since anchor; written by the owner, read by any goroutine
}

// Init makes the base of a new loop. The clock begins.
func (b *Base) Init() { b.anchor, b.done = time.Now(), make(chan struct{}) }

// Own makes the caller the owner. Disown must follow before its goroutine ends, as an identity may be used again.
func (b *Base) Own()    { b.owner.Store(goroutine.ID()) }
func (b *Base) Disown() { b.owner.Store(0) }

// OnLoop reports whether the caller runs on the loop, that is, within one of its callbacks. It is exact and costs a few
// nanoseconds.
func (b *Base) OnLoop() bool { return b.owner.Load() == goroutine.ID() }

// Now reads the clock: nanoseconds since Init, monotonic.
func (b *Base) Now() int64 { return int64(time.Since(b.anchor)) }

// TickTime returns what SetTickTime has stored last.
func (b *Base) TickTime() int64 { return b.tickTime.Load() }

// SetTickTime sets the time that callbacks see. Only the owner calls it, and never with an earlier time.
func (b *Base) SetTickTime(now int64) { b.tickTime.Store(now) }

// CurrentTickTime returns the time at which the current tick began, or at which it has woken from its sleep; off the loop, the
// latest such time. It never goes back. Any goroutine may call it; it reads no clock and does not allocate.
func (b *Base) CurrentTickTime() time.Time { return b.anchor.Add(time.Duration(b.tickTime.Load())) }

// Never is a time that does not come.
const Never = math.MaxInt64

// Deadline returns the time that is delay after now: now itself for a negative delay, Never for one beyond the clock's range.
func Deadline(now int64, delay time.Duration) int64 {
	if deadline := now + int64(max(delay, 0)); deadline >= now {
		return deadline
	}
	return Never
}

// Follow calls end when ctx ends, at once if it has ended.
func (b *Base) Follow(ctx context.Context, end func()) {
	if ctx.Err() != nil {
		end()
	} else if ctx.Done() != nil {
		b.unfollow = context.AfterFunc(ctx, end)
	}
}

// End is the last step of a loop: there is no owner any more, and Done is closed. An ended loop keeps nothing alive.
func (b *Base) End() {
	if b.unfollow != nil {
		b.unfollow()
		b.unfollow = nil
	}
	b.Disown()
	close(b.done)
}

// Done returns a channel that is closed when the loop has ended: nothing will ever run on it again, and all that it held is
// released.
func (b *Base) Done() <-chan struct{} { return b.done }

// Await waits for the end of the loop and returns nil, or for the end of ctx and returns its error. When both have come it
// returns nil.
func (b *Base) Await(ctx context.Context) error {
	select {
	case <-b.done:
		return nil
	default:
	}
	select {
	case <-b.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// retryWake is the time between a wake-up that has failed and the next one.
const retryWake = time.Millisecond

// Wake ends the wait of the loop, or the next one, unless the loop has ended. Any goroutine may call it. A wake-up that fails
// is tried again until one succeeds, once for all callers that fail meanwhile; log gets the first failure only. A panic of
// log, which is the user's code, goes to the standard error: it is nothing to the caller, who may be any producer.
//
// retrying is reset before the next try, so that a caller that finds it set can rely on a try to come.
func (b *Base) Wake(p Poller, log func(error)) {
	err := p.Wake()
	if err == nil || errors.Is(err, loopapi.ErrPollerClosed) || b.retrying.Swap(true) {
		return
	}
	time.AfterFunc(retryWake, func() { b.retrying.Store(false); b.Wake(p, func(error) {}) })
	defer func() {
		if value := recover(); value != nil {
			Print(&loopapi.PanicError{Value: value}, debug.Stack())
		}
	}()
	log(err)
}

// Print is the last resort for a fault of a callback: when the logger fails, it goes to the standard error.
func Print(fault error, stack []byte) { fmt.Fprintf(os.Stderr, "%v\n%s", fault, stack) }
