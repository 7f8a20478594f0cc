package eventloop

// The probe: what a loop notes of its own callbacks when somebody wants to know.

import (
	"math"
	"sync"
	"sync/atomic"

	"github.com/turnloop/turnloop/internal/histogram"
)

// probe is there if an option asks for it, and nil otherwise: that is all that a loop without it looks at.
//
// The loop writes what it has measured into the journal, and publishes how much is valid: no lock, no atomic
// read-modify-write. Now and then, under mu, it empties the journal into what is kept. Whoever wants a figure takes mu,
// empties the journal as far as it is published, and so finds everything up to some callback, and nothing of the next.
type probe struct {
	// Read by producers for each function that they bring, and so apart from what the loop writes for each that it runs. Of
	// these, New fixes the first three.
	loop   *Loop
	every  uint32 // one in so many callbacks is timed
	stamps bool   // producers say when a function was accepted

	// flood tells producers that so many functions come to their lane that not each need look at the clock. Who makes a
	// chunk decides, by when the last one was made, which is grown; the loop ends it.
	flood [2]atomic.Bool
	grown [2]atomic.Int64
	until [2]uint32 // with sampling, functions until the next that says so; under the lock of the inbox
	_     [64]byte

	stalls

	// The loop's alone.
	last    int64 // when the last callback returned, which is when the next begins; 0 if something came in between
	skip    uint32
	number  int64 // of callbacks that were not timed
	exact   bool  // every callback is timed, and its place is nobody's concern
	now     current
	handler int64    // when the handler began that is running; 0 if none is
	behind  [2]int64 // queue delay of the last function of each lane that knows when it was accepted
	sampled [3]int64 // when the depth of each queue was last noted

	// Written by the loop with publish, read by anyone.
	valid    atomic.Int64          // entries of the journal, and, above lengthBits, callbacks that were not timed since the last
	running  atomic.Int64          // the running callback, or the one that ran last before a sleep; see runs
	left     [3]atomic.Int64       // functions that wait in the loop's own queues: tasks, internal tasks, microtasks
	accepted [3]atomic.Int64       // when the last of those that have begun, and of which it is known, was accepted
	place    atomic.Pointer[place] // in debug mode, where the running callback comes from
	most     [3]atomic.Int64       // of these, and of what had come to the inbox when the loop took it

	journal [journalLength]event

	mu       sync.Mutex // guards what follows, and the emptying of the journal
	consumed int        // entries of the journal that are in what follows
	untimed  int64      // callbacks that were not timed, likewise
	total    uint64
	callback histogram.Histogram
	delay    histogram.Histogram
	window   window
	ring     ring
	depth    [3]average
	parkedAt int64 // when the loop went to sleep, -1 while it is awake
}

// current is the callback that is running.
type current struct {
	kind         kind
	timed        bool
	start, delay int64
}

// event is an entry of the journal: a callback that was timed.
type event struct {
	end, took, delay int64 // delay is -1 if it is not known
	runs             uint32
	kind             kind
}

const (
	journalLength = 64
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

// took is told that the loop has taken a lane.
func (p *probe) took(at lane, n int) {
	i := at >> 1
	if n <= chunkSize && p.flood[i].Load() {
		p.flood[i].Store(false)
	}
	if at == external {
		n = max(n+p.loop.share.waiting(), 0)
	}
	p.noteDepth(int(i), n)
}

// glanceDepth is noteDepth before each callback: mostly there is nothing to note.
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

// next runs the first function of one of the loop's queues.
func (p *probe) next(k kind, q *queue) {
	i := k - aTask
	var m mark
	var n int
	if k == aMicrotask {
		n = p.loop.micro.len() + p.loop.ticks.len()
		p.glanceDepth(int(i), n)
		n--
	} else {
		n = q.len() - 1
		if m = q.nextMark(); m.accepted != 0 {
			publish(&p.accepted[i], m.accepted)
		}
	}
	publish(&p.left[i], int64(n))
	p.begin(k, m)
	q.pop()()
	p.end()
}

// call runs a function that has waited in no queue.
func (p *probe) call(k kind, m mark, fn func()) {
	p.begin(k, m)
	fn()
	p.end()
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
	if k <= anInternal {
		behind := &p.behind[k-aTask]
		if m.accepted != 0 {
			*behind = max(start-m.accepted, 0)
		}
		if delay = *behind; m.accepted == 0 && p.every > 1 { // else its neighbours were accepted at about the same time
			delay = -1
		}
	}
	c := &p.now
	c.kind, c.timed, c.start, c.delay = k, true, start, delay
}

// beginSlow is for whatever may be different: it returns when the callback has begun, or -1 if that is not to be known.
func (p *probe) beginSlow(k kind, m mark) (start int64) {
	if p.loop.debug {
		publish(&p.running, 0) // so that nobody takes one's place for another's
		p.place.Store(m.place)
	}
	if p.skip++; p.skip < p.every {
		p.number++
		publish(&p.running, int64(numbered(k, p.number)))
		p.now.kind, p.now.timed = k, false
		if m.accepted != 0 {
			p.delayed(k, m)
		}
		return -1
	}
	p.skip = 0
	if start = p.last; p.every > 1 || start == 0 {
		start = p.loop.now()
	}
	return start
}

// delayed notes the queue delay of a function that is not timed itself.
func (p *probe) delayed(k kind, m mark) {
	now := p.loop.now()
	p.note(now, 0, max(now-m.accepted, 0), 0, noCallback)
}

func (p *probe) end() {
	c := &p.now
	if !c.timed {
		if c.kind != noCallback {
			publish(&p.valid, p.valid.Load()+1<<lengthBits)
			c.kind = noCallback
		}
		return
	}
	now := p.loop.now()
	p.last = now
	if n := uint64(p.valid.Load()); n < journalLength { // and nothing untimed above
		e := &p.journal[n] // field by field: the compiler copies a literal of this size
		e.end, e.took, e.delay, e.runs, e.kind = now, now-c.start, c.delay, 1, c.kind
		publish(&p.valid, int64(n+1))
	} else {
		p.note(now, now-c.start, c.delay, 1, c.kind)
	}
	c.kind = noCallback
}

// instead is told by the callback that is running that it is none, but calls some, each of which counts.
func (p *probe) instead() {
	if p.now.timed {
		p.skip = p.every
	}
	p.skip--
	p.none()
}

// none is told by such a callback that it has called the last.
func (p *probe) none() {
	p.now.timed, p.now.kind = false, noCallback
	publish(&p.running, 0)
}

// note appends to the journal, together with the callbacks that were not timed since the last entry.
func (p *probe) note(end, took, delay int64, runs uint32, k kind) {
	v := p.valid.Load()
	n := v & (1<<lengthBits - 1)
	if n >= journalLength {
		p.mu.Lock()
		p.empty()
		p.mu.Unlock()
		v, n = 0, 0
	}
	e := &p.journal[n]
	e.end, e.took, e.delay, e.runs, e.kind = end, took, delay, runs+uint32(v>>lengthBits), k
	publish(&p.valid, n+1)
}

// empty moves what is in the journal to what is kept, and begins it anew. The loop's, under mu.
func (p *probe) empty() {
	for i := range p.flood {
		if p.flood[i].Load() && p.last-p.grown[i].Load() > floodOver {
			p.flood[i].Store(false)
		}
	}
	p.read()
	p.consumed, p.untimed = 0, 0
	publish(&p.valid, 0)
}

// read moves what is in the journal to what is kept. Under mu.
func (p *probe) read() {
	v := p.valid.Load()
	fresh := p.journal[p.consumed : v&(1<<lengthBits-1)]
	p.consumed += len(fresh)
	total := int64(0)
	if len(fresh) > 0 {
		total = -p.untimed // which the first of them counts again
	}
	apart := len(fresh) > 0 && !(p.window.current(fresh[0].end) && p.window.current(fresh[len(fresh)-1].end))
	if apart || len(p.ring.events) != 0 {
		total = p.readOneByOne(fresh, total)
	} else {
		for i := range fresh {
			total += int64(fresh[i].runs)
		}
	}
	for i := range fresh {
		e := &fresh[i]
		if e.kind-1 < lastCallback { // and not noCallback
			p.callback.Record(e.took)
		}
		if e.delay >= 0 {
			p.delay.Record(e.delay)
		}
	}
	if len(fresh) > 0 {
		p.untimed = 0
		p.ran(fresh[len(fresh)-1].end, total)
	}
	if untimed := v >> lengthBits; untimed != p.untimed {
		p.ran(p.loop.now(), untimed-p.untimed)
		p.untimed = untimed
	}
}

// readOneByOne has each counted when it has ended, and recorded, and returns what is left to count at the end of the last.
func (p *probe) readOneByOne(fresh []event, total int64) int64 {
	for i := range fresh {
		e := &fresh[i]
		p.ran(e.end, total+int64(e.runs))
		total = 0
		if e.kind != noCallback {
			p.ring.add(record{end: e.end, took: e.took, kind: e.kind})
		}
	}
	return 0
}

// ran counts callbacks that have run by a moment. Under mu.
func (p *probe) ran(by, n int64) {
	p.total += uint64(n)
	p.window.ran(by, uint64(n))
}

// park is told that the loop goes to sleep, or has ended.
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

// tick is told that a turn begins.
func (p *probe) tick(now int64) {
	p.last = now
	if len(p.ring.events) != 0 {
		p.note(now, 0, -1, 0, aTick)
	}
}

// unpark is told that the loop goes on, or begins, and why.
func (p *probe) unpark(by kind) {
	now := p.loop.now()
	p.mu.Lock()
	if p.parkedAt >= 0 {
		if p.loop.turned.sleeps.Load() != 0 {
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

// turned is what the loop has done since it was made. It writes with publish, and anyone reads.
type turned struct{ ticks, sleeps, wakes, pauses atomic.Int64 }

// noteSleep is for a loop that is about to park.
func (l *Loop) noteSleep() {
	publish(&l.turned.sleeps, l.turned.sleeps.Load()+1)
	if l.probe != nil {
		l.probe.park()
	}
}

// noteWake is for a loop that was parked, and tells whether somebody has woken it.
func (l *Loop) noteWake(woken bool) {
	if woken {
		publish(&l.turned.wakes, l.turned.wakes.Load()+1)
	}
	if p := l.probe; p != nil {
		by := noCallback
		if len(p.ring.events) != 0 {
			by = l.wakeReason()
		}
		p.unpark(by)
	}
}
