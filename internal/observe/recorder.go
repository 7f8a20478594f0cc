package observe

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
	kind, by  Kind  // by is what ended a sleep
}

func (r *ring) add(e record) {
	if len(r.events) == 0 {
		return
	}
	r.events[r.next] = e
	r.next = (r.next + 1) % len(r.events)
	r.total++
	if e.kind == Tick {
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

var (
	errNoRecorder = errors.New("eventloop: there is no flight recorder: see WithFlightRecorder")
	errRecorder   = errors.New("eventloop: the flight recorder has not recorded what the loop has done")
)

// recorded returns the recorder's events, and as the last one what the loop is doing now. The error says that there is no
// recorder, or that the recorder has fewer ticks than the loop has counted: without that check a recorder that records
// nothing would look like an idle loop.
func (p *Probe) recorded(ended bool, counted uint64) ([]record, error) {
	if p == nil || len(p.ring.events) == 0 {
		return nil, errNoRecorder
	}
	p.mu.Lock()
	p.read()
	events, ticks, parkedAt := p.ring.all(), p.ring.ticks, p.parkedAt
	p.mu.Unlock()
	// Events may be added late, since the loop, and the timer that notices stalls, read the clock before they take mu.
	slices.SortStableFunc(events, func(a, b record) int { return cmp.Compare(a.end, b.end) })
	now := p.now()
	running := p.runningID()
	switch k, since := running.kind(), running.since(); {
	case ended:
		if n := len(events); n > 0 {
			parkedAt = max(parkedAt, events[n-1].end) // a stall may have been noticed late
		}
		events = append(events, record{parkedAt, 0, End, None})
	case parkedAt >= 0:
		events = append(events, record{now, now - parkedAt, Park, None})
	case k != None && since > 0 && !slices.ContainsFunc(events, func(e record) bool { return e.kind == k && e.end > since }):
		events = append(events, record{now, now - since, k, None})
	}
	if ticks+1 < counted { // the last tick may just have begun
		return events, fmt.Errorf("%w: %d ticks of %d", errRecorder, ticks, counted)
	}
	return events, nil
}

// DumpEvents writes the events as text. ended and ticks say whether the loop has ended, and what it had counted then or later.
func (p *Probe) DumpEvents(w io.Writer, ended bool, ticks uint64) error {
	events, missed := p.recorded(ended, ticks)
	if events == nil && missed != nil {
		return missed
	}
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "loop %d, %d events; time is since %s\n", p.loop, len(events), p.anchor.Format(time.RFC3339Nano))
	for _, e := range events {
		fmt.Fprintf(b, "%16v %12v %s\n", time.Duration(e.end-e.took), time.Duration(e.took), e.name())
	}
	return errors.Join(b.Flush(), missed)
}

func (e record) name() string {
	if e.kind == Park && e.by != None {
		return e.kind.String() + ", woken by " + e.by.String()
	}
	return e.kind.String()
}

// DumpTrace writes the events as a trace in JSON.
func (p *Probe) DumpTrace(w io.Writer, ended bool, ticks uint64) error {
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
	events, missed := p.recorded(ended, ticks)
	if events == nil && missed != nil {
		return missed
	}
	all := []traced{{Name: "thread_name", Phase: "M", PID: 1, TID: p.loop, Args: map[string]string{"name": fmt.Sprint("loop ", p.loop)}}}
	for _, e := range events {
		took := float64(e.took) / 1000
		t := traced{Name: e.kind.String(), Phase: "X", At: float64(e.end-e.took) / 1000, Took: &took, PID: 1, TID: p.loop}
		if e.kind == Tick || e.kind == Stalled || e.kind == End {
			t.Phase, t.Took, t.Scope = "i", nil, "t"
		}
		if e.kind == Park && e.by != None {
			t.Args = map[string]string{"woken by": e.by.String()}
		}
		all = append(all, t)
	}
	err := json.NewEncoder(w).Encode(map[string]any{"traceEvents": all, "displayTimeUnit": "ns"})
	return errors.Join(err, missed)
}
