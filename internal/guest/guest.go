// Package guest is the interface between a loop and a scheduler that is built on it, the guest. Package threadlet is the
// only guest. Users of the loop do not see this package.
package guest

import (
	"context"
	"log/slog"
	"time"

	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/sched/atomic"
)

// Guest runs threadlets in turns on a loop. Unless a method says otherwise, only the loop calls it.
type Guest interface {
	// Ready reports whether the guest wants a turn.
	Ready() bool
	// Turn runs one turn. It counts as a callback: other work runs between two turns. It may panic with a Fault.
	Turn()
	// Drain announces that the loop is about to end. The guest ends the work that it serves, and then calls done, which may
	// be at once. Drain may be called more than once.
	Drain(done func())
	// Count returns the number of threadlets that have not ended. Any goroutine may call it.
	Count() int
	// Unneeded returns the number of registered descriptors that do not keep the loop alive: all that the guest has
	// registered if no threadlet waits for any of them, and otherwise none.
	Unneeded() int
	// Stuck announces that the loop ends because nothing can happen any more.
	Stuck()
	// Reject announces that an ending loop has run everything, or that its threadlets have gone on for long enough. All that
	// wait are told in the turns that follow. Reject reports whether there will be such turns.
	Reject() bool
	// End releases the guest's system resources when the loop has ended. It is the last call. On a loop that never ran, the
	// goroutine that has ended it calls End.
	End()
	// Leave ends the threadlets that have started and lets no other start. It is the last call before End. After a panic
	// with a Fault it is called again.
	Leave()
}

// Host is the guest's view of a loop. Unless a method says otherwise, call it in callbacks of the loop only.
type Host interface {
	// Owner returns the variable that holds the identity of the goroutine that runs the loop; see SetOwner.
	Owner() *atomic.Uintptr
	// Another reports whether a turn may go on with one more threadlet. If it returns true, this counts as one more turn.
	Another() bool
	// Ending reports whether the end was asked for.
	Ending() bool
	// Tick returns the time of the current tick, which When converts.
	Tick() int64
	// When converts a time of Tick. Any goroutine may call it.
	When(tick int64) time.Time
	// Log returns the loop's logger.
	Log() *slog.Logger
	// Work is that of the loop. RefuseWork does not refuse it: it is part of a threadlet that runs.
	Work(ctx context.Context, fn func(context.Context) (any, error), done func(value any, err error)) error
	// Watch calls fn with the outcome of a promise, which may be of any loop, when it has settled, unless stop is called before; Has
	// tells whether it is of this loop. They are the methods of promise.Owner, for a *promise.Promise.
	Watch(p any, fn func(value any, err error)) (stop func())
	Has(p any) bool
	// Looks returns what is being observed. It does not change.
	Looks() Looks
	// Here returns the caller's place, for Note. Any goroutine may call it.
	Here() any
	// Note records the place where the threadlet with that serial number was made, and what it is doing; Runs records that
	// it goes on; Forget, that it has ended. They serve Looks.Places.
	Note(serial uint64, from any, doing string)
	Runs(serial uint64)
	Forget(serial uint64)
	// Switch records the goroutine on which the turn goes on, and returns the one before. Number returns the number of the
	// calling goroutine, for Switch. They serve Looks.Stacks.
	Switch(goroutine uint64) (before uint64)
	Number() uint64
}

// Looks says what is being observed of a guest.
type Looks struct {
	Turns  bool // how long each turn takes, so each threadlet should have a turn of its own
	Places bool // the origin of each threadlet, and what it is doing
	Stacks bool // the place where a turn blocks
}

// Fault is the value with which Turn and Leave panic.
type Fault = loopapi.Fault

// Seat returns the guest of a loop. If there is none, take makes it. Any goroutine may call Seat; if several calls make a
// guest at the same time, all but one guest are dropped. Package eventloop sets Seat.
var Seat func(loop any, take func(loop any, h Host) Guest) Guest
