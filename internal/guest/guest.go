// Package guest is what a loop and a scheduler that is built on it know of each other. The scheduler that there is is
// that of package threadlet; users of the loop see nothing of this.
package guest

import (
	"log/slog"
	"time"

	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/sched/atomic"
)

// Guest has turns of its own on a loop. The loop alone calls its methods.
type Guest interface {
	// Ready tells whether it wants a turn.
	Ready() bool
	// Turn is one, as a callback is one: other work goes on between two of them. It may panic with a Fault.
	Turn()
	// Drain says that the loop is about to end. The guest brings what it serves to an end, and calls done when it has, maybe at
	// once. It may be called more than once.
	Drain(done func())
	// Count is how many there are that have not ended. Any goroutine may call it.
	Count() int
	// Unneeded returns how many descriptors the guest has registered, if nothing waits for any of them: these keep no loop
	// alive.
	Unneeded() int
	// Stuck says that a loop ends because nothing can happen any more.
	Stuck()
	// Reject says that a loop that ends has run everything. Whoever still waits hears it in the turns that follow. It
	// tells whether there will be some.
	Reject() bool
	// End releases what the guest holds of the system: the loop has ended. It is the last call, also of a loop that never
	// ran, and then by whoever has ended it.
	End()
	// Leave is the last call but that of End; or, when it panics with a Fault, it is called again. Nothing further may start, and what has
	// started comes to its end.
	Leave()
}

// Host is the guest's side of a loop. Its methods are for callbacks of the loop.
type Host interface {
	// Owner is where the loop has the identity of the goroutine that runs it; see SetOwner.
	Owner() *atomic.Uintptr
	// Pressed tells whether there is something that goes before the guest's next turn.
	Pressed() bool
	// Ending tells whether the end was asked for.
	Ending() bool
	// Tick is the time of the current tick, on a clock that When reads.
	Tick() int64
	// When may be called from anywhere.
	When(tick int64) time.Time
	// Log is the loop's logger.
	Log() *slog.Logger
	// Looks tells what somebody wants to know; see Looks. It does not change.
	Looks() Looks
	// Here is where the caller is, for Note. Any goroutine may call it.
	Here() any
	// Note says of one of those that Count counts, by its number, where it was made, and what it is doing; Runs, that it goes
	// on; Forget, that it has ended. They are for Looks.Places.
	Note(serial uint64, from any, doing string)
	Runs(serial uint64)
	Forget(serial uint64)
	// Switch says on which goroutine the turn goes on, by the number that Number returns to it, and returns on which it was.
	// They are for Looks.Stacks.
	Switch(goroutine uint64) (before uint64)
	Number() uint64
}

// Looks are what somebody wants to know of a guest.
type Looks struct {
	Turns  bool // how long each turn takes: so no two should share one
	Places bool // where each comes from, and what it is doing
	Stacks bool // where a turn blocks
}

// Fault is what Turn and Leave panic with: the loop reports the error that is in it, which has the stack of its origin.
type Fault struct {
	*loopapi.PanicError
	Serial uint64 // of whose it is
}

// Seat returns the guest of a loop, which take makes if there is none. Any goroutine may call it; of several that take
// makes at the same time all but one are forgotten. Package eventloop sets it.
var Seat func(loop any, take func(loop any, h Host) Guest) Guest
