package eventloop

// Metrics: figures of a loop, and how those of several add up.

import (
	"time"

	"github.com/turnloop/turnloop/internal/histogram"
)

// Metrics are figures of a loop at one moment. What is measured is there with [WithMetrics] only; Ticks, Wakes, Sleeps,
// Pauses and the last five are always.
type Metrics struct {
	TPS         float64 // tasks, timers, microtasks and callbacks of descriptors that have run, per second over the last 10 s
	Run         uint64  // the same, since New
	Ticks       uint64  // turns of the loop since New
	Wakes       uint64  // sleeps that somebody's wake-up has ended
	Sleeps      uint64  // how often the loop has parked, for want of work
	Pauses      uint64  // how often it has let other goroutines run instead, for them to bring some
	Utilization float64 // 0 to 1: the share of the last 10 s that the loop was not parked

	Callback   Latency // how long the callbacks that Run counts took
	QueueDelay Latency // how long tasks, external and internal, waited from acceptance, or the start of the callback that submitted them, to their start

	// Functions that wait. Microtasks that the running callback has scheduled are not among them. Without WithMetrics,
	// Current is what the loop has not taken yet, and the rest is 0.
	External, Internal, Microtasks Depth

	Timers      int // that are pending
	Descriptors int // that are registered
	Workers     int // functions of Promisify of which the loop has not heard the outcome
	Holds       int // that are not released
	Promises    int // that are pending, and have handlers; of a chain, that at which it begins. As of the last turn; those of Promisify are Workers

	loops int // that these are the figures of
}

// Latency is a distribution of durations. Count, Mean and Max are exact for what was measured, the rest is within two per
// cent.
type Latency struct {
	Count                         uint64
	Mean, P50, P90, P95, P99, Max time.Duration

	of *histogram.Histogram // never written once it is here
}

// Depth tells how many functions wait in a queue.
type Depth struct {
	Current int
	Max     int     // the most that the loop has found when it came to the queue, or Metrics when it was called
	EMA     float64 // moving average, in which what was a second ago counts half or less
}

// AtMost returns how many of the durations did not exceed d, within two per cent of d: what the cumulative buckets of a
// monitoring system count.
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

func latency(h *histogram.Histogram) Latency {
	q := func(q float64) time.Duration { return time.Duration(h.Quantile(q)) }
	return Latency{Count: h.Count(), Mean: time.Duration(h.Mean()), P50: q(0.5), P90: q(0.9), P95: q(0.95), P99: q(0.99),
		Max: time.Duration(h.Max()), of: h}
}

// Merge adds the figures of another loop, or of other loops, also to none, which is the zero Metrics: counts, depths and rates add up, the largest is the largest of
// all, Utilization is that of the average loop, and quantiles are those of all callbacks together.
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

// Metrics returns the figures of the loop. Any goroutine may call it, at any time, also while a callback blocks the loop
// and when the loop has ended; it waits for no callback. It takes some microseconds, and allocates some 20 KiB if there is
// something to measure. The snapshot is coherent: it holds what all callbacks up to one have left, and nothing of the next.
func (l *Loop) Metrics() Metrics {
	m := Metrics{
		Ticks:       uint64(l.turned.ticks.Load()),
		Wakes:       uint64(l.turned.wakes.Load()),
		Sleeps:      uint64(l.turned.sleeps.Load()),
		Pauses:      uint64(l.turned.pauses.Load()),
		Descriptors: int(l.fds.size.Load()),
		Promises:    l.promises.Pending(),
		loops:       1,
	}
	l.lock(&l.timers.mu)
	m.Timers = l.timers.wheel.Len()
	l.timers.mu.Unlock()
	l.timers.mu.courtesy()

	p := l.probe
	depth := [...]*Depth{&m.External, &m.Internal, &m.Microtasks}
	queued := func(at lane) {
		d := depth[max(int(at)-1, 0)]
		if d.Current = l.inboxOf(at).lane[at&1].len(); p != nil {
			d.Current += int(p.left[max(int(at)-1, 0)].Load())
		}
	}
	l.lock(&l.inbox.spinLock)
	queued(external)
	m.External.Current = max(m.External.Current+l.share.waiting(), 0)
	l.inbox.Unlock()
	l.inbox.courtesy()
	u := &l.urgent
	l.lock(&u.spinLock)
	queued(internal)
	queued(microtask)
	m.Workers, m.Holds = int(u.begun-u.heard.Load()), u.holds
	u.Unlock()
	u.courtesy()
	if p != nil && l.metrics {
		p.measure(&m, depth)
	}
	return m
}

// measure adds what the probe knows.
func (p *probe) measure(m *Metrics, depth [3]*Depth) {
	callback, delay := new(histogram.Histogram), new(histogram.Histogram)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.read()
	*callback, *delay = p.callback, p.delay
	now := p.loop.now()
	m.Run = p.total
	m.TPS, m.Utilization = p.window.rates(now, p.parkedAt)
	m.Callback, m.QueueDelay = latency(callback), latency(delay)
	for i, d := range depth {
		d.Max = max(int(p.most[i].Load()), d.Current)
		d.EMA = p.depth[i].at(now, d.Current)
	}
}

// The window of rates: the last ten seconds, a tenth of a second each.
const (
	slots10s = 100
	slotTime = int64(100 * time.Millisecond)
)

// window counts what has happened in each slot of the last ten seconds.
type window struct {
	newest int64 // number of the slot that is being filled, in slotTime since the loop's anchor
	begins int64 // when that begins
	runs   [slots10s]uint64
	asleep [slots10s]int64
}

// slot returns the place of a moment, or false if it is long past.
func (w *window) slot(at int64) (int, bool) {
	n := at / slotTime
	w.newest = max(w.newest, n-slots10s)
	for w.newest < n {
		w.newest++
		w.runs[w.newest%slots10s], w.asleep[w.newest%slots10s] = 0, 0
	}
	w.begins = w.newest * slotTime
	return int(n % slots10s), n > w.newest-slots10s
}

// current tells whether a moment falls into the slot that is being filled.
func (w *window) current(at int64) bool { return at >= w.begins && at-w.begins < slotTime }

func (w *window) ran(at int64, n uint64) {
	if w.current(at) {
		w.runs[w.newest%slots10s] += n
	} else if i, ok := w.slot(at); ok {
		w.runs[i] += n
	}
}

// parked notes a sleep.
func (w *window) parked(from, to int64) {
	w.slot(to)
	from = max(from, (w.newest-slots10s+1)*slotTime)
	for from < to {
		end := min(to, (from/slotTime+1)*slotTime)
		i, _ := w.slot(from)
		w.asleep[i] += end - from
		from = end
	}
}

// rates returns what has run per second, and the share of the time that the loop was awake, in the last ten seconds or
// since it was made. parkedAt is since when it sleeps, or -1.
func (w *window) rates(now, parkedAt int64) (tps, utilization float64) {
	w.slot(now)
	begin := max((w.newest-slots10s+1)*slotTime, 0)
	runs, asleep := uint64(0), int64(0)
	for i := range w.runs {
		runs += w.runs[i]
		asleep += w.asleep[i]
	}
	if parkedAt >= 0 {
		asleep += max(now-max(parkedAt, begin), 0)
	}
	length := float64(now - begin)
	if length <= 0 {
		return 0, 0
	}
	return float64(runs) / length * float64(time.Second), min(max(1-float64(asleep)/length, 0), 1)
}

// average is a moving average over time of how many functions wait.
type average struct {
	value float64
	when  int64
}

const (
	depthTau   = float64(time.Second)
	depthEvery = int64(50 * time.Microsecond) // between two looks at a queue
)

func (a *average) note(now int64, n int) {
	a.value, a.when = a.at(now, n), now
}

// at returns what the average is when n have waited since it was last noted.
func (a *average) at(now int64, n int) float64 {
	passed := float64(max(now-a.when, 0))
	return a.value + (float64(n)-a.value)*passed/(depthTau+passed)
}
