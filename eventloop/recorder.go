package eventloop

// The flight recorder: the last few thousand things that the loop has done.

import (
	"io"

	"github.com/turnloop/turnloop/internal/observe"
)

// WithFlightRecorder keeps the last n events, for [Loop.DumpEvents] and [Loop.DumpTrace]: ticks, callbacks and handlers
// with their durations, sleeps and what ended them, stalls, the end. The default is 0: none. It takes 24 bytes for
// each and the 30 KiB of [WithMetrics], and times all callbacks, also with WithMetricsSampling. A dump copies all of them,
// and a loop that has something to record may have to wait for that: ten microseconds for some thousands. n must be from
// 0 to 2^20.
func WithFlightRecorder(n int) Option {
	return func(c *config) error { return within("WithFlightRecorder", n, 0, 1<<20, &c.events) }
}

// wakeReason returns the kind of work that a loop finds after its park; observe.None if it finds none, as at the end.
func (l *Loop) wakeReason() observe.Kind {
	switch {
	case l.urgent.Raised():
		return observe.Internal
	case l.foreign.Raised():
		return observe.Microtask
	case l.inbox.MayHaveWork():
		return observe.Task
	case l.fds.Pending():
		return observe.Descriptor
	case l.park.ByTimer():
		return observe.Timer
	}
	return observe.None
}

// DumpEvents writes the flight recorder's events as text, oldest first, a line for each: its begin, its duration, its
// kind. The last line is what the loop is doing now, or its end. It works also while a callback blocks the loop, in the
// report of a stall, and when the loop has ended. It returns an error if there is no recorder, if w returns one, or,
// with everything written, if the recorder has missed something.
func (l *Loop) DumpEvents(w io.Writer) error {
	ended := l.State() == StateTerminated // first: then all that follows is final
	return l.probe.DumpEvents(w, ended, uint64(l.park.Ticks.Load()))
}

// DumpTrace writes the same events as a trace in the JSON format that Perfetto (ui.perfetto.dev) and Chrome (about:tracing) read.
func (l *Loop) DumpTrace(w io.Writer) error {
	ended := l.State() == StateTerminated
	return l.probe.DumpTrace(w, ended, uint64(l.park.Ticks.Load()))
}
