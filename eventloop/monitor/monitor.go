// Package monitor shows running loops over HTTP: a page that renews itself, the page's figures as JSON, Prometheus' text format,
// and what the flight recorder has kept.
//
//	m := new(monitor.Monitor)
//	loop, err := eventloop.New(m.Options()...)
//	...
//	m.Watch(loop)
//	http.Handle("/loops/", http.StripPrefix("/loops", m)) // the page
//	http.Handle("/metrics", m.Prometheus())
//
// No answer waits for a loop, so all come while a callback blocks it. The page names functions and shows stacks: serve it where
// only operators look. Any goroutine may call anything here.
package monitor

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/turnloop/turnloop/eventloop"
)

// Monitor is the handler of the page. The zero Monitor is ready, and watches no loop. It must not be copied.
type Monitor struct {
	mu    sync.Mutex // guards what follows
	loops []*watched
}

// watched is a loop, what it had measured before, and what has blocked it.
type watched struct {
	*eventloop.Loop
	past    []Recent
	stalls  []Stall // the latest ones, the oldest first
	stalled uint64  // how many there were
}

// Recent are the latencies of the callbacks since At.
type Recent struct {
	At                   time.Time
	Callback, QueueDelay eventloop.Latency
}

// window is the time whose latencies the page shows, as far as somebody looks at it.
const window = 10 * time.Second

// Stall is a callback that blocks a loop or has blocked it.
type Stall struct {
	At      time.Time
	Loop    uint64
	Kind    string
	Running time.Duration // at least, until it has ended
	Ended   bool
	From    string
	Hint    string
	Stack   string
}

const (
	mostStalls = 20
	threshold  = 50 * time.Millisecond
)

// Options returns what [eventloop.New] or [eventloop.NewGroup] needs for the loops that are watched: WithMetrics, a flight recorder
// of 4 096 events, and stalls from 50 ms on. What they cost is said there. An option behind these replaces its kind:
//
//	eventloop.New(append(m.Options(), eventloop.WithWorkerLimit(4))...)
func (m *Monitor) Options() []eventloop.Option {
	return []eventloop.Option{
		eventloop.WithMetrics(true),
		eventloop.WithFlightRecorder(4096),
		eventloop.WithStallThreshold(threshold, m.stall),
	}
}

// Watch shows a loop, until it has ended.
func (m *Monitor) Watch(l *eventloop.Loop) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forget()
	m.loops = append(m.loops, &watched{Loop: l})
}

// forget drops the loops that have ended. The caller holds mu.
func (m *Monitor) forget() {
	m.loops = slices.DeleteFunc(m.loops, func(w *watched) bool { return w.State() == eventloop.StateTerminated })
}

// WatchGroup shows the loops of a group.
func (m *Monitor) WatchGroup(g *eventloop.Group) {
	for i := range g.Len() {
		m.Watch(g.Loop(i))
	}
}

// stall notes what blocks a loop that is watched, and how long it has when that has ended.
func (m *Monitor) stall(s eventloop.Stall) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, w := range m.loops {
		switch n := len(w.stalls); {
		case w.ID() != s.Loop:
		case !s.Ended:
			w.stalled++
			w.stalls = append(w.stalls, Stall{time.Now(), s.Loop, s.Kind, s.Running, false, s.From, s.Hint, string(s.Stack)})
			w.stalls = w.stalls[max(0, n+1-mostStalls):]
		case n != 0: // reports of one loop come one at a time: it is the latest one that has ended
			w.stalls[n-1].Running, w.stalls[n-1].Ended = s.Running, true
		}
	}
}

// Figures are what the page shows of a loop.
type Figures struct {
	At      time.Time
	Loop    uint64
	State   string
	Metrics eventloop.Metrics
	Recent  Recent // the last ten seconds, as far as somebody has looked; else since New
	Active  []string
	Stalls  []Stall // the latest ones
	Stalled uint64  // how many there were
}

// Figures returns the figures of the loops that have not ended, in the order in which they came. For package expvar:
//
//	expvar.Publish("loops", expvar.Func(func() any { return m.Figures() }))
func (m *Monitor) Figures() []Figures {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forget()
	all := []Figures{}
	for _, w := range m.loops {
		f := Figures{At: time.Now(), Loop: w.ID(), State: fmt.Sprint(w.State()), Metrics: w.Metrics(), Active: []string{}, Stalled: w.stalled}
		f.Stalls = append([]Stall{}, w.stalls...)
		for _, a := range w.Active() {
			f.Active = append(f.Active, a.String())
		}
		f.Recent = w.since(Recent{f.At, f.Metrics.Callback, f.Metrics.QueueDelay})
		all = append(all, f)
	}
	return all
}

// since returns the latencies since those of ten seconds ago, or of New if nobody has looked before, and notes those of now.
func (w *watched) since(now Recent) Recent {
	for len(w.past) > 1 && now.At.Sub(w.past[1].At) >= window {
		w.past = w.past[1:]
	}
	var before Recent
	if len(w.past) != 0 {
		before = w.past[0]
	}
	if n := len(w.past); n == 0 || now.At.Sub(w.past[n-1].At) >= window/10 {
		w.past = append(w.past, now)
	}
	return Recent{before.At, now.Callback.Since(before.Callback), now.QueueDelay.Since(before.QueueDelay)}
}

//go:embed page.html
var page []byte

// ServeHTTP answers with the page at "/", and with its parts beside it: "figures" as JSON, "metrics" for Prometheus, and "events" and
// "trace" with what the flight recorder has kept of the loop whose ID the parameter "loop" says, or of the first one.
func (m *Monitor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/":
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(page)
	case "/figures":
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(m.Figures())
	case "/metrics":
		m.Prometheus().ServeHTTP(w, r)
	case "/events", "/trace":
		m.dump(w, r)
	default:
		http.NotFound(w, r)
	}
}

// dump writes a loop's record.
func (m *Monitor) dump(w http.ResponseWriter, r *http.Request) {
	id := r.FormValue("loop")
	m.mu.Lock()
	i := slices.IndexFunc(m.loops, func(w *watched) bool { return id == "" || id == strconv.FormatUint(w.ID(), 10) })
	if i < 0 {
		m.mu.Unlock()
		http.NotFound(w, r)
		return
	}
	loop := m.loops[i].Loop
	m.mu.Unlock()
	var err error
	if path.Base(r.URL.Path) == "trace" {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Disposition", `attachment; filename="loop.json"`)
		err = loop.DumpTrace(w)
	} else {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		err = loop.DumpEvents(w)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}
