package eventloop

// Stalls: callbacks that block the loop for too long, reported while they do.

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/turnloop/turnloop/internal/observe"
)

// Stall tells of a callback that blocks its loop.
type Stall struct {
	Loop    uint64        // ID of the loop
	Kind    string        // of the callback, as in [Activity]; "handler" for a handler or a logger
	Running time.Duration // how long it has run, at least; how long it ran, if it has returned
	Ended   bool          // it has returned
	Stack   []byte        // of the loop's goroutine, when the stall was first reported
	From    string        // in debug mode, where the callback was submitted: the function, "at", file and line
	Hint    string        // what to do about it, if the stack shows that
}

// WithStallThreshold has report called for each callback that runs for longer than d, while it still runs: at most a quarter
// of d later. When the callback has returned, it is called again, with Ended set and with how long the callback ran, to a quarter
// of d or to a second if that is less. Handlers and loggers count as callbacks here.
//
// report is called on a goroutine of its own, not on the loop, and may call any method of the loop. Reports come one at a
// time. When one has returned, the callback that blocks the loop then is next; callbacks that have begun and ended during a
// report are not reported, and a report that never returns is the last. A panic in report is logged. d must be positive,
// report not nil.
//
// While the loop is awake a timer looks at it four times in d, but at most every 100 microseconds and at least every
// second; while it is parked there is none. A callback costs two nanoseconds, and a loop the 30 KiB of [WithMetrics]. To
// take the stack of one goroutine, the runtime stops all of them, for a time that depends on how many there are.
func WithStallThreshold(d time.Duration, report func(Stall)) Option {
	return func(c *config) error {
		if c.stallThreshold, c.onStall = d, report; d <= 0 {
			return fmt.Errorf("eventloop: WithStallThreshold(%v): not positive", d)
		}
		return callable("WithStallThreshold", report == nil)
	}
}

// reportStall calls the user's function. A panic in it, or Goexit, is logged.
func (l *Loop) reportStall(stall observe.Stall) {
	fault := &PanicError{Value: ErrGoexit}
	defer func() {
		if fault != nil {
			l.logLater(slog.LevelError, "the report of a stall panicked", fault, "kind", observe.Stalled.String(), "of", stall.Kind, "stack", string(fault.Stack))
		}
	}()
	fault = guarded(func() { l.onStall(Stall(stall)) })
}
