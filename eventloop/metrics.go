package eventloop

// Metrics: figures of a loop, and how those of several add up.

import (
	"time"

	"github.com/turnloop/turnloop/internal/histogram"
	"github.com/turnloop/turnloop/internal/observe"
	"github.com/turnloop/turnloop/internal/place"
)

// Metrics are figures of a loop at one moment. Ticks, Wakes, Sleeps, Pauses, and the numbers from Timers to Promises are
// always there. The other figures are measured with [WithMetrics] only.
type Metrics struct {
	TPS         float64 // tasks, timers, microtasks and callbacks of descriptors that have run, per second over the last 10 s
	Run         uint64  // how many of these have run since New
	Ticks       uint64  // ticks since New
	Wakes       uint64  // sleeps that a wake-up has ended
	Sleeps      uint64  // times that the loop has parked, for want of work
	Pauses      uint64  // times that the loop had no work and let other goroutines run before it parked, since they may submit some
	Utilization float64 // 0 to 1: the share of the last 10 s that the loop was not parked

	Callback   Latency // durations of the callbacks that Run counts
	QueueDelay Latency // from a task's acceptance, or the start of the callback that submitted it, to its start

	// Functions that wait, without the microtasks that the running callback has scheduled. Without WithMetrics, Current is
	// what the loop has not taken yet, and the rest is 0.
	External, Internal, Microtasks Depth

	Timers      int // pending timers
	Descriptors int // registered descriptors
	Workers     int // functions of Promisify whose outcome the loop has not received; none if it has ended
	Waiting     int // those of Workers that have not begun, for want of a worker (WithWorkerLimit) or of a processor
	Holds       int // holds that are not released; none if the loop has ended
	Promises    int // pending promises with handlers, as of the last tick; only the first of a chain; none of Promisify

	loops int // number of loops whose figures these are
}

// Latency is a distribution of durations, since New or as Since says. Count, Mean and Max are exact for what was measured; the
// rest is within two per cent. A Latency does not change, and any goroutine may read it.
type Latency struct {
	Count                         uint64
	Mean, P50, P90, P95, P99, Max time.Duration

	of *histogram.Histogram // read only; nil if nothing was measured
}

// Depth tells how many functions wait in a queue.
type Depth struct {
	Current int
	Max     int     // the most that the loop has found when it looked at the queue, or Metrics when it was called
	EMA     float64 // moving average, in which the depth of a second ago counts half or less
}

// AtMost returns how many of the durations were at most d, within two per cent of d. The cumulative buckets of
// monitoring systems count in this way.
func (t Latency) AtMost(d time.Duration) uint64 {
	if t.of == nil {
		return 0
	}
	return t.of.AtMost(int64(d))
}

// Sum returns the sum of the durations.
func (t Latency) Sum() time.Duration {
	if t.of == nil {
		return 0
	}
	return time.Duration(t.of.Sum())
}

// Since returns the distribution of the durations since before, which is an earlier one of the same loops: quantiles of a time
// that has passed, and not since New. Its Max is within two per cent.
func (t Latency) Since(before Latency) Latency {
	if t.of == nil || before.of == nil {
		return t
	}
	h := *t.of
	h.Sub(before.of)
	return latency(&h)
}

func latency(h *histogram.Histogram) Latency {
	q := func(q float64) time.Duration { return time.Duration(h.Quantile(q)) }
	return Latency{Count: h.Count(), Mean: time.Duration(h.Mean()), P50: q(0.5), P90: q(0.9), P95: q(0.95), P99: q(0.99),
		Max: time.Duration(h.Max()), of: h}
}

// Merge adds the figures of one or more other loops; the zero Metrics are those of none. Counts, depths and rates add
// up, a maximum is the largest of all, Utilization is that of the average loop, and quantiles are those of all
// callbacks together.
func (m *Metrics) Merge(o Metrics) {
	m.TPS += o.TPS
	m.Run += o.Run
	m.Ticks += o.Ticks
	m.Wakes += o.Wakes
	m.Sleeps += o.Sleeps
	m.Pauses += o.Pauses
	if all := m.loops + o.loops; all > 0 {
		m.Utilization = (m.Utilization*float64(m.loops) + o.Utilization*float64(o.loops)) / float64(all)
		m.loops = all
	}
	m.Callback.merge(o.Callback)
	m.QueueDelay.merge(o.QueueDelay)
	m.External.merge(o.External)
	m.Internal.merge(o.Internal)
	m.Microtasks.merge(o.Microtasks)
	m.Timers += o.Timers
	m.Descriptors += o.Descriptors
	m.Workers += o.Workers
	m.Waiting += o.Waiting
	m.Holds += o.Holds
	m.Promises += o.Promises
}

func (t *Latency) merge(o Latency) {
	both := new(histogram.Histogram)
	for _, h := range []*histogram.Histogram{t.of, o.of} {
		if h != nil {
			both.Merge(h)
		}
	}
	*t = latency(both)
}

func (d *Depth) merge(o Depth) {
	d.Current += o.Current
	d.Max = max(d.Max, o.Max)
	d.EMA += o.EMA
}

// Metrics returns the figures of the loop, also while a callback blocks it and when it has ended. It takes some
// microseconds, and allocates some 20 KiB if there is something to measure. The snapshot is coherent: it has everything
// of all callbacks up to one, and nothing of the next. Elsewhere than on the loop it lets other goroutines run before it
// returns.
func (l *Loop) Metrics() Metrics {
	m := Metrics{
		Ticks:       uint64(l.park.Ticks.Load()),
		Wakes:       uint64(l.park.Wakes.Load()),
		Sleeps:      uint64(l.park.Sleeps.Load()),
		Pauses:      uint64(l.park.Pauses.Load()),
		Descriptors: l.fds.Len(),
		Promises:    l.promises.Pending(),
		loops:       1,
	}
	l.lock(&l.timers.mu)
	m.Timers = l.timers.wheel.Len()
	l.timers.mu.UnlockAndYield()

	for at, d := range [...]*Depth{&m.External, &m.Internal, &m.Microtasks} {
		b := l.inboxOf(lane(at))
		l.lock(&b.Lock)
		left, _ := l.probe.Waiting(kindOf(lane(at)))
		d.Current = left + b.Len()
		if u := &l.urgent; b == &u.Inbox && l.State() != StateTerminated { // nothing of these is left, whatever goes on elsewhere
			m.Workers, m.Holds = int(u.begun-u.delivered.Load()), u.holds
			m.Waiting = min(l.crew.Waiting(), m.Workers)
		}
		b.UnlockAndYield()
	}
	if l.metrics {
		f := l.probe.Figures([...]int{m.External.Current, m.Internal.Current, m.Microtasks.Current})
		m.Run, m.TPS, m.Utilization, m.Callback, m.QueueDelay = f.Run, f.TPS, f.Utilization, latency(f.Callback), latency(f.Delay)
		for i, d := range []*Depth{&m.External, &m.Internal, &m.Microtasks} {
			d.Max, d.EMA = f.Depth[i].Max, f.Depth[i].EMA
		}
	}
	l.yieldOffLoop() // for its locks, which the loop wants in each tick
	return m
}

// seen is what is noted of a loop, beside the probe.
type seen struct {
	regions observe.Regions // of a trace, if one is being written; only the loop's
	notes   *place.Ledger   // nil without debug mode; has a lock of its own
}

// newProbe returns the probe that the options ask for, or nil.
func (l *Loop) newProbe() *observe.Probe {
	c := observe.Config{Anchor: l.park.Anchor, Loop: l.id, Metrics: l.metrics, Sampling: l.sampling, Events: l.events, Places: l.debug}
	if l.onStall != nil {
		c.Threshold, c.Report = l.stallThreshold, l.reportStall
	}
	return observe.New(c)
}
