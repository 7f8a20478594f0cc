package observe

// Figures over the last seconds: rates, and how many functions wait.

import (
	"time"

	"github.com/turnloop/turnloop/internal/histogram"
)

// Figures are what was measured, up to some callback.
type Figures struct {
	Run              uint64 // callbacks that have run
	TPS, Utilization float64
	Callback, Delay  *histogram.Histogram
	Depth            [3]Depth // of the queues of tasks, internal tasks and microtasks
}

// Depth tells how many functions have waited in a queue: the most, and the moving average.
type Depth struct {
	Max int
	EMA float64
}

// Figures returns the figures. waiting is how many functions wait in each queue. Any goroutine may ask.
func (p *Probe) Figures(waiting [3]int) (f Figures) {
	f.Callback, f.Delay = new(histogram.Histogram), new(histogram.Histogram)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.read()
	*f.Callback, *f.Delay = p.callback, p.delay
	now := p.now()
	f.Run = p.total
	f.TPS, f.Utilization = p.window.rates(now, p.parkedAt)
	for i, n := range waiting {
		p.asked[i] = max(p.asked[i], n)
		f.Depth[i] = Depth{max(int(p.most[i].Load()), p.asked[i]), p.depth[i].at(now, n)}
	}
	return f
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
