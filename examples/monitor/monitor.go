package main

// The monitor: the figures of a loop for the page, expvar and Prometheus.

import (
	_ "embed"
	"encoding/json"
	"expvar"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/turnloop/turnloop/eventloop"
)

// monitor is the handler of the page. It never waits for the loop, so it answers while a callback blocks the loop.
type monitor struct {
	loop *eventloop.Loop

	mu      sync.Mutex // guards what follows
	stalls  []stall    // the latest ones
	stalled uint64     // how many there were
	past    []latencies
}

// latencies are what the loop had measured at some time.
type latencies struct {
	At                   time.Time
	Callback, QueueDelay eventloop.Latency
}

// recent is the time whose latencies the page shows, as far as somebody looks at it.
const recent = 10 * time.Second

// stall is a callback that has blocked the loop.
type stall struct {
	At      time.Time
	Kind    string
	Running time.Duration // at least, until it has ended
	Ended   bool
	From    string
	Stack   string
}

const (
	mostStalls = 20
	threshold  = 50 * time.Millisecond
)

// options returns the options of a loop that the figures need.
func (m *monitor) options() []eventloop.Option {
	return []eventloop.Option{
		eventloop.WithMetrics(true),
		eventloop.WithFlightRecorder(4096),
		eventloop.WithStallThreshold(threshold, m.noteStall),
	}
}

func (m *monitor) noteStall(s eventloop.Stall) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s.Ended { // the last one that was told
		last := &m.stalls[len(m.stalls)-1]
		last.Running, last.Ended = s.Running, true
		return
	}
	m.stalled++
	m.stalls = append(m.stalls, stall{time.Now(), s.Kind, s.Running, false, s.From, string(s.Stack)})
	m.stalls = m.stalls[max(0, len(m.stalls)-mostStalls):]
}

// figures are the data of the page.
type figures struct {
	At      time.Time
	Loop    uint64
	State   string
	Metrics eventloop.Metrics
	Recent  latencies
	Active  []string
	Stalls  []stall
	Stalled uint64
}

func (m *monitor) figures() figures {
	f := figures{At: time.Now(), Loop: m.loop.ID(), State: fmt.Sprint(m.loop.State()), Metrics: m.loop.Metrics(), Active: []string{}, Stalls: []stall{}}
	for _, a := range m.loop.Active() {
		f.Active = append(f.Active, a.String())
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	f.Stalls, f.Stalled = append(f.Stalls, m.stalls...), m.stalled
	f.Recent = m.since(latencies{f.At, f.Metrics.Callback, f.Metrics.QueueDelay})
	return f
}

// since returns the latencies since those of ten seconds ago, or of New if nobody has looked before, and notes those of now. The
// caller holds mu.
func (m *monitor) since(now latencies) latencies {
	for len(m.past) > 1 && now.At.Sub(m.past[1].At) >= recent {
		m.past = m.past[1:]
	}
	var before latencies
	if len(m.past) != 0 {
		before = m.past[0]
	}
	if n := len(m.past); n == 0 || now.At.Sub(m.past[n-1].At) >= recent/10 {
		m.past = append(m.past, now)
	}
	return latencies{before.At, now.Callback.Since(before.Callback), now.QueueDelay.Since(before.QueueDelay)}
}

// publish makes the figures a variable of expvar.
func (m *monitor) publish(name string) {
	expvar.Publish(name, expvar.Func(func() any { return m.figures() }))
}

//go:embed page.html
var page []byte

func (m *monitor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/":
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(page)
	case "/figures":
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(m.figures())
	case "/metrics":
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		m.prometheus(w)
	case "/debug/vars":
		expvar.Handler().ServeHTTP(w, r)
	case "/events":
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		if err := m.loop.DumpEvents(w); err != nil {
			fmt.Fprintln(w, err)
		}
	case "/trace":
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Disposition", `attachment; filename="loop.json"`)
		_ = m.loop.DumpTrace(w)
	default:
		http.NotFound(w, r)
	}
}

// prometheus writes the figures in the text format: counters, gauges, and histograms with cumulative buckets.
func (m *monitor) prometheus(w io.Writer) {
	f := m.figures()
	one := func(name, kind, help string, value float64, labels string) {
		if help != "" {
			fmt.Fprintf(w, "# HELP turnloop_%s %s\n# TYPE turnloop_%s %s\n", name, help, name, kind)
		}
		fmt.Fprintf(w, "turnloop_%s{loop=\"%d\"%s} %s\n", name, f.Loop, labels, strconv.FormatFloat(value, 'g', -1, 64))
	}
	s := &f.Metrics
	one("callbacks_total", "counter", "Tasks, timers, microtasks and descriptor callbacks that have run.", float64(s.Run), "")
	one("ticks_total", "counter", "Turns of the loop.", float64(s.Ticks), "")
	one("wakes_total", "counter", "Sleeps that a wake-up has ended.", float64(s.Wakes), "")
	one("sleeps_total", "counter", "Sleeps.", float64(s.Sleeps), "")
	one("pauses_total", "counter", "Times that the loop let others run instead of sleeping.", float64(s.Pauses), "")
	one("stalls_total", "counter", fmt.Sprintf("Callbacks that ran for more than %v.", threshold), float64(f.Stalled), "")
	one("utilization", "gauge", "Share of the last ten seconds that the loop was not parked.", s.Utilization, "")
	depths := []struct {
		queue string
		eventloop.Depth
	}{{"external", s.External}, {"internal", s.Internal}, {"microtasks", s.Microtasks}}
	help := "Functions that wait."
	for _, d := range depths {
		one("queue_depth", "gauge", help, float64(d.Current), fmt.Sprintf(",queue=%q", d.queue))
		help = ""
	}
	help = "The most that have waited."
	for _, d := range depths {
		one("queue_depth_max", "gauge", help, float64(d.Max), fmt.Sprintf(",queue=%q", d.queue))
		help = ""
	}
	one("timers", "gauge", "Pending timers.", float64(s.Timers), "")
	one("descriptors", "gauge", "Registered descriptors.", float64(s.Descriptors), "")
	one("workers", "gauge", "Functions of Promisify under way.", float64(s.Workers), "")
	one("holds", "gauge", "Holds that are not released.", float64(s.Holds), "")
	one("promises", "gauge", "Pending promises that have handlers.", float64(s.Promises), "")
	histogram(w, f.Loop, "callback_seconds", "How long callbacks take.", s.Callback)
	histogram(w, f.Loop, "queue_delay_seconds", "How long tasks wait.", s.QueueDelay)
}

func histogram(w io.Writer, loop uint64, name, help string, t eventloop.Latency) {
	fmt.Fprintf(w, "# HELP turnloop_%s %s\n# TYPE turnloop_%s histogram\n", name, help, name)
	for _, d := range bounds {
		fmt.Fprintf(w, "turnloop_%s_bucket{loop=\"%d\",le=\"%g\"} %d\n", name, loop, d.Seconds(), t.AtMost(d))
	}
	fmt.Fprintf(w, "turnloop_%s_bucket{loop=\"%d\",le=\"+Inf\"} %d\n", name, loop, t.Count)
	fmt.Fprintf(w, "turnloop_%s_sum{loop=\"%d\"} %g\n", name, loop, t.Sum().Seconds())
	fmt.Fprintf(w, "turnloop_%s_count{loop=\"%d\"} %d\n", name, loop, t.Count)
}

// bounds are the upper bounds of the buckets. Any may be chosen: the loop's own buckets are finer.
var bounds = []time.Duration{
	time.Microsecond, 10 * time.Microsecond, 100 * time.Microsecond, time.Millisecond, 5 * time.Millisecond,
	10 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond, 500 * time.Millisecond, time.Second, 10 * time.Second,
}
