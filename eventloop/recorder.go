package eventloop

// The flight recorder: the last few thousand things that the loop has done.

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
)

// WithFlightRecorder keeps the last n events, for [Loop.DumpEvents] and [Loop.DumpTrace]: ticks, callbacks and handlers
// with their durations, sleeps and what ended them, stalls, the end. The default is 0: none. It takes 24 bytes for
// each and the 30 KiB of [WithMetrics], and times all callbacks, also with WithMetricsSampling. A dump copies all of them,
// and a loop that has something to record may have to wait for that: ten microseconds for some thousands. n must be from
// 0 to 2^20.
func WithFlightRecorder(n int) Option {
	return func(c *config) error {
		if n < 0 || n > mostEvents {
			return fmt.Errorf("eventloop: WithFlightRecorder(%d): not from 0 to %d", n, mostEvents)
		}
		c.events = n
		return nil
	}
}

const mostEvents = 1 << 20

// ring holds the last events. The probe's mu guards it.
type ring struct {
	events []record
	next   int
	total  uint64 // events added since New
	ticks  uint64 // ticks among them
}

// record is an event.
type record struct {
	end, took int64 // when it ended, in nanoseconds since the anchor, and its duration in nanoseconds
	kind, by  kind  // by is what ended a sleep
}

func (r *ring) add(e record) {
	if len(r.events) == 0 {
		return
	}
	r.events[r.next] = e
	r.next = (r.next + 1) % len(r.events)
	r.total++
	if e.kind == aTick {
		r.ticks++
	}
}

// all returns the events, oldest first.
func (r *ring) all() []record {
	if r.total < uint64(len(r.events)) {
		return slices.Clone(r.events[:r.next])
	}
	return slices.Concat(r.events[r.next:], r.events[:r.next])
}

// wakeReason returns the kind of work that a loop finds after its park; noCallback if it finds none, as at the end.
func (l *Loop) wakeReason() kind {
	switch {
	case l.urgent.has(internal):
		return anInternal
	case l.urgent.has(microtask):
		return aMicrotask
	case l.inbox.mayHaveWork():
		return aTask
	case l.fds.pending():
		return aDescriptor
	case l.alarm.rang.Load() || l.earliest.Load() < max(l.alarm.at, l.now()+1):
		return aTimer
	}
	return noCallback
}

var (
	errNoRecorder = errors.New("eventloop: there is no flight recorder: see WithFlightRecorder")
	errRecorder   = errors.New("eventloop: the flight recorder has not recorded what the loop has done")
)

// recorded returns the recorder's events, and as the last one what the loop is doing now. The error says that there is no
// recorder, or that the recorder has fewer ticks than the loop has counted: without that check a recorder that records
// nothing would look like an idle loop.
func (l *Loop) recorded() ([]record, error) {
	p := l.probe
	if p == nil || len(p.ring.events) == 0 {
		return nil, errNoRecorder
	}
	ended := l.State() == StateTerminated // first: then all that follows is final
	counted := uint64(l.counters.ticks.Load())
	p.mu.Lock()
	p.read()
	events, ticks, parkedAt := p.ring.all(), p.ring.ticks, p.parkedAt
	p.mu.Unlock()
	// Events may be added late, since the loop, and the timer that notices stalls, read the clock before they take mu.
	slices.SortStableFunc(events, func(a, b record) int { return cmp.Compare(a.end, b.end) })
	now := l.now()
	running := p.runningID()
	switch k, since := running.kind(), running.since(); {
	case ended:
		if n := len(events); n > 0 {
			parkedAt = max(parkedAt, events[n-1].end) // a stall may have been noticed late
		}
		events = append(events, record{parkedAt, 0, anEnd, noCallback})
	case parkedAt >= 0:
		events = append(events, record{now, now - parkedAt, aPark, noCallback})
	case k != noCallback && since > 0 && !slices.ContainsFunc(events, func(e record) bool { return e.kind == k && e.end > since }):
		events = append(events, record{now, now - since, k, noCallback})
	}
	if ticks+1 < counted { // the last tick may just have begun
		return events, fmt.Errorf("%w: %d ticks of %d", errRecorder, ticks, counted)
	}
	return events, nil
}

// DumpEvents writes the flight recorder's events as text, oldest first, a line for each: its begin, its duration, its
// kind. The last line is what the loop is doing now, or its end. It works also while a callback blocks the loop, in the
// report of a stall, and when the loop has ended. It returns an error if there is no recorder, if w returns one, or,
// with everything written, if the recorder has missed something.
func (l *Loop) DumpEvents(w io.Writer) error {
	events, missed := l.recorded()
	if events == nil && missed != nil {
		return missed
	}
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "loop %d, %d events; time is since %s\n", l.id, len(events), l.anchor.Format(time.RFC3339Nano))
	for _, e := range events {
		fmt.Fprintf(b, "%16v %12v %s\n", time.Duration(e.end-e.took), time.Duration(e.took), e.name())
	}
	return errors.Join(b.Flush(), missed)
}

func (e record) name() string {
	if e.kind == aPark && e.by != noCallback {
		return e.kind.String() + ", woken by " + e.by.String()
	}
	return e.kind.String()
}

// DumpTrace writes the same events as a trace in the JSON format that Perfetto (ui.perfetto.dev) and Chrome
// (about:tracing) read.
func (l *Loop) DumpTrace(w io.Writer) error {
	type traced struct {
		Name  string            `json:"name"`
		Phase string            `json:"ph"`
		At    float64           `json:"ts"`            // microseconds
		Took  *float64          `json:"dur,omitempty"` // Perfetto leaves out an event with a duration, ph X, that does not say it
		PID   int               `json:"pid"`
		TID   uint64            `json:"tid"`
		Scope string            `json:"s,omitempty"`
		Args  map[string]string `json:"args,omitempty"`
	}
	events, missed := l.recorded()
	if events == nil && missed != nil {
		return missed
	}
	all := []traced{{Name: "thread_name", Phase: "M", PID: 1, TID: l.id, Args: map[string]string{"name": fmt.Sprint("loop ", l.id)}}}
	for _, e := range events {
		took := float64(e.took) / 1000
		t := traced{Name: e.kind.String(), Phase: "X", At: float64(e.end-e.took) / 1000, Took: &took, PID: 1, TID: l.id}
		if e.kind == aTick || e.kind == aStall || e.kind == anEnd {
			t.Phase, t.Took, t.Scope = "i", nil, "t"
		}
		if e.kind == aPark && e.by != noCallback {
			t.Args = map[string]string{"woken by": e.by.String()}
		}
		all = append(all, t)
	}
	err := json.NewEncoder(w).Encode(map[string]any{"traceEvents": all, "displayTimeUnit": "ns"})
	return errors.Join(err, missed)
}
