package eventloop

// Metrics: figures of a loop, and how those of several add up.

import (
	"time"

	"github.com/turnloop/turnloop/internal/histogram"
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
	Holds       int // holds that are not released; none if the loop has ended
	Promises    int // pending promises with handlers, as of the last tick; only the first of a chain; none of Promisify

	loops int // number of loops whose figures these are
}

// Latency is a distribution of durations, since New or as Since says. Count, Mean and Max are exact for what was measured; the rest is
// within two per cent. A Latency does not change, and any goroutine may read it.
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

// Since returns the distribution of the durations since before, which is an earlier one of the same loops: quantiles of a time that has
// passed, and not since New. Its Max is within two per cent.
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
		Ticks:       uint64(l.counters.ticks.Load()),
		Wakes:       uint64(l.counters.wakes.Load()),
		Sleeps:      uint64(l.counters.sleeps.Load()),
		Pauses:      uint64(l.counters.pauses.Load()),
		Descriptors: int(l.fds.size.Load()),
		Promises:    l.promises.Pending(),
		loops:       1,
	}
	l.lock(&l.timers.mu)
	m.Timers = l.timers.wheel.Len()
	l.timers.mu.Unlock()
	l.timers.mu.yieldIfWanted()

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
	l.inbox.yieldIfWanted()
	u := &l.urgent
	l.lock(&u.spinLock)
	queued(internal)
	queued(microtask)
	if l.State() != StateTerminated { // nothing of these is left, whatever goes on elsewhere
		m.Workers, m.Holds = int(u.begun-u.delivered.Load()), u.holds
	}
	u.Unlock()
	u.yieldIfWanted()
	if p != nil && l.metrics {
		p.measure(&m, depth)
	}
	l.yieldOffLoop() // for its locks, which the loop wants in each tick
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
		p.asked[i] = max(p.asked[i], d.Current)
		d.Max = max(int(p.most[i].Load()), p.asked[i])
		d.EMA = p.depth[i].at(now, d.Current)
	}
}

// The window of rates: the last ten seconds, a tenth of a second each.
const (
	slots10s = 100
	slotTime = int64(100 * time.Millisecond)
)

// window counts what has happened in each slot of the last ten seconds. The probe's mu guards it.
type window struct {
	newest int64            // number of the slot that is being filled, in slotTime since the loop's anchor
	begins int64            // when that slot begins, in nanoseconds since the anchor
	runs   [slots10s]uint64 // callbacks that have run
	asleep [slots10s]int64  // nanoseconds that the loop was parked
}

// slot moves the window forward to a moment, and returns the index of the moment's slot; false if the moment lies
// before the window.
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

// rates returns callbacks per second, and the share of the time that the loop was awake, over the last ten seconds or
// since New. parkedAt is when the loop went to sleep, or -1.
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
	when  int64 // time of the last note, in nanoseconds since the anchor
}

const (
	depthTau   = float64(time.Second)
	depthEvery = int64(50 * time.Microsecond) // between two looks at a queue
)

func (a *average) note(now int64, n int) {
	a.value, a.when = a.at(now, n), now
}

// at returns the average at now, if n functions have waited since the last note.
func (a *average) at(now int64, n int) float64 {
	passed := float64(max(now-a.when, 0))
	return a.value + (float64(n)-a.value)*passed/(depthTau+passed)
}
