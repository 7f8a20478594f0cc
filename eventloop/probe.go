package eventloop

// The probe: what a loop measures of its callbacks, if an option asks for it.

import (
	"math"
	"sync"
	"sync/atomic"

	"github.com/turnloop/turnloop/internal/histogram"
	"github.com/turnloop/turnloop/internal/place"
)

// probe is nil unless an option asks for it: a loop without it looks at that pointer and nothing else.
//
// The loop writes each measurement into the journal, then publishes the number of valid entries: no lock, no atomic
// read-modify-write. When the journal is full, the loop adds it to the totals, under mu. A reader takes mu and adds
// what is published first, so it finds everything up to some callback, and nothing of the next.
type probe struct {
	// Fixed by New. The loop reads these for each function that it runs, and producers for some that they submit: so they are
	// apart from what either writes.
	loop   *Loop
	every  uint32 // one in so many callbacks is timed
	stamps bool   // producers note when a function was accepted
	exact  bool   // every callback is timed, and no place is noted
	_      [64]byte

	stalls

	// Owned by the loop's goroutine. Times are nanoseconds since the loop's anchor.
	last      int64  // when the last callback returned, which is when the next starts; 0 if the loop did something else since
	skip      uint32 // callbacks since the last that was timed
	number    int64  // callbacks that were not timed, since New
	now       current
	handler   int64    // when the running handler began; 0 if none runs
	sampled   [3]int64 // when the depth of each queue was last noted

	// Written by the loop with publish, read by anyone.
	valid    atomic.Int64                // lower lengthBits: number of journal entries; above: of callbacks since the last entry that were not timed
	running  atomic.Int64                // callbackID of the running callback; when none runs, of the last one since the loop woke
	left     [3]atomic.Int64             // functions in the loop's own queues: tasks, internal tasks, microtasks
	accepted [3]atomic.Int64             // for each queue: acceptance time of the last function begun that has one noted
	place    atomic.Pointer[place.Place] // in debug mode, where the running callback was submitted
	most     [3]atomic.Int64             // the most functions that were found in each queue

	journal journal

	mu       sync.Mutex // guards what follows, and the emptying of the journal
	consumed int        // journal entries that are in the totals below
	untimed  int64      // callbacks counted in valid's upper bits that are in the totals below
	total    uint64
	callback histogram.Histogram
	delay    histogram.Histogram
	window   window
	ring     ring
	depth    [3]average
	asked    [3]int // the most functions that measure has found in each queue
	parkedAt int64  // when the loop went to sleep, -1 while it is awake
}

// current is the callback that is running.
type current struct {
	kind         kind
	timed        bool
	start, delay int64 // nanoseconds; delay is -1 if it is not known
}

// journal holds timed callbacks, in nanoseconds. An entry has the same index in each array, so that a column is added
// up in one pass.
type journal struct {
	end, took, delay [journalLength]int64 // took is -1 for what is no callback; delay is -1 if it is not known
	runs             [journalLength]runs
}

// runs has in its lowest bits the kind of a journal entry, and above them how many callbacks the entry counts: its own, and
// those since the entry before that were not timed.
type runs uint64

func runsOf(k kind, n int64) runs { return runs(n<<kindBits | int64(k)) }

func (r runs) kind() kind { return kind(r & (1<<kindBits - 1)) }

func (r runs) count() int64 { return int64(r >> kindBits) }

const (
	journalLength = 64 // at most half of what lengthBits bits can count
	lengthBits    = 8
)

// newProbe returns the probe that the options ask for, or nil.
func newProbe(l *Loop) *probe {
	if !l.metrics && !l.debug && l.events == 0 && l.onStall == nil {
		return nil
	}
	p := &probe{loop: l, every: math.MaxUint32, stamps: l.metrics || l.debug}
	switch {
	case l.debug || l.events > 0:
		p.every = 1
	case l.metrics:
		p.every = uint32(max(l.sampling, 1))
	}
	p.exact = p.every == 1 && !l.debug
	p.ring.events = make([]record, l.events)
	p.watchStalls()
	return p
}

// took notes that the loop has taken n functions from a lane.
func (p *probe) took(at lane, n int) {
	if at == external {
		n = max(n+p.loop.share.waiting(), 0)
	}
	p.noteDepth(int(at>>1), n)
}

// glanceDepth calls noteDepth if there is something to note. It is for use at each callback, where mostly there is not.
func (p *probe) glanceDepth(i, n int) {
	if int64(n) > p.most[i].Load() || p.last-p.sampled[i] >= depthEvery {
		p.noteDepth(i, n)
	}
}

func (p *probe) noteDepth(i, n int) {
	if int64(n) > p.most[i].Load() {
		publish(&p.most[i], int64(n))
	}
	now := p.last
	if now-p.sampled[i] < depthEvery {
		return
	}
	p.sampled[i] = now
	p.mu.Lock()
	p.depth[i].note(now, n)
	p.mu.Unlock()
}

// next runs the first function of one of the loop's queues, and measures it.
func (p *probe) next(k kind, q *queue) {
	i := k - aTask
	if k == aMicrotask {
		n := p.loop.micro.len() + p.loop.ticks.len()
		p.glanceDepth(int(i), n)
		publish(&p.left[i], int64(n-1))
		p.call(k, mark{}, q.pop())
		return
	}
	fn, m := q.popMarked()
	if m.accepted != 0 {
		publish(&p.accepted[i], m.accepted)
	}
	publish(&p.left[i], int64(q.len()))
	p.call(k, m, fn)
}

// call runs a function and measures it. For the usual case begin and end are written out here: calling them would be a
// good part of what measuring costs.
func (p *probe) call(k kind, m mark, fn func()) {
	start := p.last
	if !p.exact || start == 0 {
		p.begin(k, m)
		fn()
		p.end()
		return
	}
	publish(&p.running, int64(startedAt(k, start)))
	delay := int64(-1)
	if m.accepted != 0 {
		delay = max(start-m.accepted, 0)
	}
	p.now = current{k, true, start, delay}
	fn()
	if !p.now.timed { // fn was a group's runner, which is no callback itself
		p.end()
		return
	}
	now := p.loop.now()
	p.last = now
	if n := uint64(p.valid.Load()); n < journalLength { // no callbacks are counted in the upper bits, and the journal has room
		j := &p.journal
		j.end[n], j.took[n], j.delay[n], j.runs[n] = now, now-start, delay, runsOf(k, 1)
		publish(&p.valid, int64(n+1))
	} else {
		p.note(now, now-start, delay, 1, k)
	}
	p.now.kind = noCallback
}

func (p *probe) begin(k kind, m mark) {
	start := p.last
	if !p.exact || start == 0 {
		if start = p.beginSlow(k, m); start < 0 {
			return
		}
	}
	publish(&p.running, int64(startedAt(k, start)))
	delay := int64(-1)
	if m.accepted != 0 {
		delay = max(start-m.accepted, 0)
	}
	c := &p.now
	c.kind, c.timed, c.start, c.delay = k, true, start, delay
}

// beginSlow begins a callback in debug mode, with sampling, or when the loop has done something else since the last
// one. It returns the start, or -1 if this callback is not timed.
func (p *probe) beginSlow(k kind, m mark) (start int64) {
	if p.loop.debug {
		publish(&p.running, 0) // so that no reader takes the new place for that of the last callback
		p.place.Store(m.place)
	}
	if p.skip++; p.skip < p.every {
		p.number++
		publish(&p.running, int64(numbered(k, p.number)))
		c := &p.now
		if c.kind, c.timed, c.delay = k, false, -1; m.accepted != 0 {
			c.start = p.loop.now()
			c.delay = max(c.start-m.accepted, 0)
		}
		return -1
	}
	p.skip = 0
	if start = p.last; p.every > 1 || start == 0 {
		start = p.loop.now()
	}
	return start
}

func (p *probe) end() {
	c := &p.now
	if !c.timed {
		switch {
		case c.kind == noCallback:
			return
		case c.delay >= 0:
			p.note(c.start, -1, c.delay, 1, noCallback)
		default:
			publish(&p.valid, p.valid.Load()+1<<lengthBits)
		}
		c.kind = noCallback
		return
	}
	now := p.loop.now()
	p.last = now
	p.note(now, now-c.start, c.delay, 1, c.kind)
	c.kind = noCallback
}

// beginRunner notes that the running function is a group's runner. A runner is no callback itself, but calls several; so
// the sampling does not count it.
func (p *probe) beginRunner() {
	if p.now.timed {
		p.skip = p.every
	}
	p.skip--
	p.clearRunning()
}

// clearRunning notes that no callback runs, but a group's runner, which is about to call the next.
func (p *probe) clearRunning() {
	p.now.timed, p.now.kind = false, noCallback
	publish(&p.running, 0)
}

// note appends an entry to the journal. The entry also counts the callbacks since the entry before that were not timed.
func (p *probe) note(end, took, delay, runs int64, k kind) {
	v := p.valid.Load()
	n := v & (1<<lengthBits - 1)
	if n >= journalLength {
		p.mu.Lock()
		p.empty()
		p.mu.Unlock()
		v, n = 0, 0
	}
	j := &p.journal
	j.end[n], j.took[n], j.delay[n], j.runs[n] = end, took, delay, runsOf(k, runs+v>>lengthBits)
	publish(&p.valid, n+1)
}

// empty adds the journal to the totals, and begins it anew. Only the loop calls it, holding mu.
func (p *probe) empty() {
	p.read()
	p.consumed, p.untimed = 0, 0
	publish(&p.valid, 0)
}

// read adds the published part of the journal to the totals. The caller holds mu.
func (p *probe) read() {
	v := p.valid.Load()
	j, from, to := &p.journal, p.consumed, int(v&(1<<lengthBits-1))
	p.consumed = to
	if from < to {
		total := -p.untimed // these are in the totals already, and the first entry counts them, too
		p.untimed = 0
		if len(p.ring.events) != 0 || !p.window.current(j.end[from]) || !p.window.current(j.end[to-1]) {
			p.readOneByOne(from, to, total)
		} else {
			if p.exact { // an entry for each callback, and no others
				total += int64(to - from)
			} else {
				for _, r := range j.runs[from:to] {
					total += r.count()
				}
			}
			p.ran(j.end[to-1], total)
		}
		p.callback.RecordAll(j.took[from:to])
		p.delay.RecordRuns(j.delay[from:to])
	}
	if untimed := v >> lengthBits; untimed != p.untimed {
		p.ran(p.loop.now(), untimed-p.untimed)
		p.untimed = untimed
	}
}

// readOneByOne counts each entry at the time of its end, and adds it to the ring. It also sets took to -1 for entries that
// are no callbacks, so that they are not counted as durations.
func (p *probe) readOneByOne(from, to int, total int64) {
	j := &p.journal
	for i := from; i < to; i++ {
		p.ran(j.end[i], total+j.runs[i].count())
		total = 0
		k := j.runs[i].kind()
		if k != noCallback {
			p.ring.add(record{end: j.end[i], took: j.took[i], kind: k})
		}
		if k > lastCallback {
			j.took[i] = -1
		}
	}
}

// ran adds to the totals n callbacks that had run by the given time. The caller holds mu.
func (p *probe) ran(by, n int64) {
	p.total += uint64(n)
	p.window.ran(by, uint64(n))
}

// park notes that the loop goes to sleep, or has ended.
func (p *probe) park() {
	now := p.loop.now()
	publish(&p.running, 0)
	p.mu.Lock()
	p.empty()
	for i := range p.depth {
		p.depth[i].note(now, 0)
		p.sampled[i] = now
		publish(&p.left[i], 0)
	}
	p.parkedAt = now
	p.mu.Unlock()
	p.stalls.sleeps()
}

// tick notes that a tick begins.
func (p *probe) tick(now int64) {
	p.last = now
	if len(p.ring.events) != 0 {
		p.note(now, 0, -1, 0, aTick)
	}
}

// unpark notes that the loop begins, or goes on after a sleep; by is what has ended the sleep.
func (p *probe) unpark(by kind) {
	now := p.loop.now()
	p.mu.Lock()
	if p.parkedAt >= 0 {
		if p.loop.counters.sleeps.Load() != 0 {
			p.ring.add(record{now, now - p.parkedAt, aPark, by})
		}
		p.window.parked(p.parkedAt, now)
		for i := range p.depth {
			p.depth[i].note(now, 0)
		}
	}
	p.parkedAt = -1
	p.mu.Unlock()
	p.stalls.wakes(p.loop)
}

// counters count what the loop has done since New. The loop writes them with publish; any goroutine may read them.
type counters struct{ ticks, sleeps, wakes, pauses atomic.Int64 }

// noteSleep counts a sleep. The loop calls it right before it parks.
func (l *Loop) noteSleep() {
	publish(&l.counters.sleeps, l.counters.sleeps.Load()+1)
	if l.probe != nil {
		l.probe.park()
	}
}

// noteWake notes the end of a sleep. woken says that a wake-up has ended it.
func (l *Loop) noteWake(woken bool) {
	if woken {
		publish(&l.counters.wakes, l.counters.wakes.Load()+1)
	}
	if p := l.probe; p != nil {
		by := noCallback
		if len(p.ring.events) != 0 {
			by = l.wakeReason()
		}
		p.unpark(by)
	}
}
