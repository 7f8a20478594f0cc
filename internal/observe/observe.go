// Package observe measures what a loop does, if somebody asks for it: figures, a flight recorder, stalls, places. The loop tells
// it what happens; it asks the loop nothing.
package observe

// The probe: what is measured of each callback.

import (
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/turnloop/turnloop/internal/histogram"
	"github.com/turnloop/turnloop/internal/place"
	"github.com/turnloop/turnloop/internal/release"
	"github.com/turnloop/turnloop/internal/sched"
)

// Config says what is to be measured.
type Config struct {
	Anchor    time.Time     // the beginning of all times, which are in nanoseconds since then
	Loop      uint64        // ID of the loop, for stalls and dumps
	Metrics   bool          // figures
	Sampling  int           // with Metrics, one in so many callbacks is timed; 0 is 1
	Events    int           // how many events the flight recorder keeps
	Places    bool          // where callbacks were submitted
	Threshold time.Duration // with Report, how long a callback may run
	Report    func(Stall)   // is called for callbacks that run for longer, on a goroutine of its own; nil if nobody asks for that
}

// Probe is nil unless something is to be measured: a loop without it looks at that pointer and nothing else. Of the methods,
// Call and those of handlers need one. The loop's goroutine calls all but those that say otherwise.
//
// The loop writes each measurement into the buffer, then publishes the number of valid entries: no lock, no atomic
// read-modify-write. When the buffer is full, the loop adds it to the totals, under mu. A reader takes mu and adds
// what is published first, so it finds everything up to some callback, and nothing of the next.
type Probe struct {
	// Fixed by New. The loop reads these for each function that it runs, and producers for some that they submit: so they are
	// apart from what either writes.
	anchor time.Time
	loop   uint64 // its ID
	places bool
	every  uint32 // one in so many callbacks is timed
	stamps bool   // producers note when a function was accepted
	exact  bool   // every callback is timed, and no place is noted
	_      [64]byte

	stalls

	// Owned by the loop's goroutine. Times are nanoseconds since the loop's anchor.
	last    int64  // when the last callback returned, which is when the next starts; 0 if the loop did something else since
	skip    uint32 // callbacks since the last that was timed
	number  int64  // callbacks that were not timed, since New
	current current
	handler int64    // when the running handler began; 0 if none runs
	sampled [3]int64 // when the depth of each queue was last noted

	// Written by the loop with release.Publish, read by anyone.
	valid    atomic.Int64                // lower lengthBits: number of buffer entries; above: of callbacks since the last entry that were not timed
	running  atomic.Int64                // callbackID of the running callback; when none runs, of the last one since the loop woke
	left     [3]atomic.Int64             // functions in the loop's own queues: tasks, internal tasks, microtasks
	accepted [3]atomic.Int64             // for each queue: acceptance time of the last function begun that has one noted
	place    atomic.Pointer[place.Place] // in debug mode, where the running callback was submitted
	most     [3]atomic.Int64             // the most functions that were found in each queue

	buffer buffer

	mu       sync.Mutex // guards what follows, and the emptying of the buffer
	consumed int        // buffer entries that are in the totals below
	untimed  int64      // callbacks counted in valid's upper bits that are in the totals below
	total    uint64
	callback histogram.Histogram
	delay    histogram.Histogram
	window   window
	ring     ring
	depth    [3]average
	asked    [3]int // the most functions that Figures was told of
	parkedAt int64  // when the loop went to sleep, -1 while it is awake
}

// current is the callback that is running.
type current struct {
	kind         Kind
	timed        bool
	start, delay int64 // nanoseconds; delay is -1 if it is not known
}

// buffer holds timed callbacks, in nanoseconds. An entry has the same index in each array, so that a column is added
// up in one pass.
type buffer struct {
	end, took, delay [bufferLength]int64 // took is -1 for what is no callback; delay is -1 if it is not known
	runs             [bufferLength]runs
}

// runs has in its lowest bits the kind of a buffer entry, and above them how many callbacks the entry counts: its own, and
// those since the entry before that were not timed.
type runs uint64

func runsOf(k Kind, n int64) runs { return runs(n<<kindBits | int64(k)) }

func (r runs) kind() Kind { return Kind(r & (1<<kindBits - 1)) }

func (r runs) count() int64 { return int64(r >> kindBits) }

const (
	bufferLength = 64 // at most half of what lengthBits bits can count
	lengthBits   = 8
)

// New returns what measures what c asks for, or nil if that is nothing.
func New(c Config) *Probe {
	if !c.Metrics && !c.Places && c.Events == 0 && c.Report == nil {
		return nil
	}
	p := &Probe{anchor: c.Anchor, loop: c.Loop, places: c.Places, every: math.MaxUint32, stamps: c.Metrics || c.Places}
	switch {
	case c.Places || c.Events > 0:
		p.every = 1
	case c.Metrics:
		p.every = uint32(max(c.Sampling, 1))
	}
	p.exact = p.every == 1 && !c.Places
	p.ring.events = make([]record, c.Events)
	p.watchStalls(c.Threshold, c.Report)
	return p
}

func (p *Probe) now() int64 { return int64(sched.Since(p.anchor)) }

// Stamps tells whether producers are to note when functions are accepted; Every, of how many functions they note it of one. Any
// goroutine may ask.
func (p *Probe) Stamps() bool { return p != nil && p.stamps }
func (p *Probe) Every() uint32 {
	if p == nil {
		return 0
	}
	return p.every
}

// Accepted returns the time to note for a function that is accepted now. For the functions that a callback submits, the start
// of the callback is exact enough, and saves a reading of the clock. Any goroutine may call it; onLoop says whether it is the
// loop's.
func (p *Probe) Accepted(onLoop bool) int64 {
	if onLoop && p.current.kind != None && p.current.timed {
		return max(p.current.start, 1)
	}
	return max(p.now(), 1)
}

// Records tells whether there is a flight recorder.
func (p *Probe) Records() bool { return p != nil && len(p.ring.events) != 0 }

// Show notes where the running callback was submitted, and Place tells it to any goroutine. They serve Config.Places.
func (p *Probe) Show(from *place.Place) { p.place.Store(from) }
func (p *Probe) Place() *place.Place    { return p.place.Load() }

// Running returns the callback that runs: its kind, its start, 0 if that is not known, and where it was submitted, nil if that is
// not known. The kind is None if none runs, or if another has begun meanwhile. Any goroutine may ask.
func (p *Probe) Running() (k Kind, since int64, from *place.Place) {
	running := p.runningID()
	if from = p.place.Load(); p.runningID() != running {
		return None, 0, nil
	}
	return running.kind(), running.since(), from
}

// Left notes how many functions are left in a queue of the loop's own.
func (p *Probe) Left(k Kind, n int) {
	if p != nil {
		release.Publish(&p.left[k-Task], int64(n))
	}
}

// Waiting returns what Left has noted, and when the function of that queue was accepted that has begun last. Any goroutine may ask.
func (p *Probe) Waiting(k Kind) (n int, accepted int64) {
	if p == nil {
		return 0, 0
	}
	return int(p.left[k-Task].Load()), p.accepted[k-Task].Load()
}

// Found notes that so many functions wait in a queue. It is for use at each callback, where mostly there is nothing to note.
func (p *Probe) Found(k Kind, n int) {
	if i := k - Task; int64(n) > p.most[i].Load() || p.last-p.sampled[i] >= depthEvery {
		p.noteDepth(i, n)
	}
}

func (p *Probe) noteDepth(i Kind, n int) {
	if int64(n) > p.most[i].Load() {
		release.Publish(&p.most[i], int64(n))
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

// Call calls fn and measures it. accepted is when fn was accepted, and from where it was submitted; 0 and nil if that is not
// known. For the usual case began and ended are written out here: calling them would be a good part of what measuring costs.
func (p *Probe) Call(k Kind, accepted int64, from *place.Place, fn func()) {
	start := p.last
	if !p.exact || start == 0 {
		p.began(k, accepted, from)
		fn()
		p.ended()
		return
	}
	release.Publish(&p.running, int64(startedAt(k, start)))
	delay := int64(-1)
	if accepted != 0 {
		release.Publish(&p.accepted[k-Task], accepted)
		delay = max(start-accepted, 0)
	}
	p.current = current{k, true, start, delay}
	fn()
	now := p.now()
	p.last = now
	if n := uint64(p.valid.Load()); n < bufferLength { // no callbacks are counted in the upper bits, and the buffer has room
		j := &p.buffer
		j.end[n], j.took[n], j.delay[n], j.runs[n] = now, now-start, delay, runsOf(k, 1)
		release.Publish(&p.valid, int64(n+1))
	} else {
		p.note(now, now-start, delay, 1, k)
	}
	p.current.kind = None
}

// Began notes that a callback begins, as Call does.
func (p *Probe) Began(k Kind, accepted int64, from *place.Place) {
	if p != nil {
		p.began(k, accepted, from)
	}
}

func (p *Probe) began(k Kind, accepted int64, from *place.Place) {
	start := p.last
	if !p.exact || start == 0 {
		if start = p.beginSlow(k, accepted, from); start < 0 {
			return
		}
	}
	release.Publish(&p.running, int64(startedAt(k, start)))
	delay := int64(-1)
	if accepted != 0 {
		release.Publish(&p.accepted[k-Task], accepted)
		delay = max(start-accepted, 0)
	}
	c := &p.current
	c.kind, c.timed, c.start, c.delay = k, true, start, delay
}

// beginSlow begins a callback in debug mode, with sampling, or when the loop has done something else since the last
// one. It returns the start, or -1 if this callback is not timed.
func (p *Probe) beginSlow(k Kind, accepted int64, from *place.Place) (start int64) {
	if p.places {
		release.Publish(&p.running, 0) // so that no reader takes the new place for that of the last callback
		p.place.Store(from)
	}
	if p.skip++; p.skip < p.every {
		p.number++
		release.Publish(&p.running, int64(numbered(k, p.number)))
		c := &p.current
		if c.kind, c.timed, c.delay = k, false, -1; accepted != 0 {
			c.start = p.now()
			release.Publish(&p.accepted[k-Task], accepted)
			c.delay = max(c.start-accepted, 0)
		}
		return -1
	}
	p.skip = 0
	if start = p.last; p.every > 1 || start == 0 {
		start = p.now()
	}
	return start
}

// Ended notes that the callback has returned, or ended otherwise.
func (p *Probe) Ended() {
	if p != nil {
		p.ended()
	}
}

func (p *Probe) ended() {
	c := &p.current
	if !c.timed {
		switch {
		case c.kind == None:
			return
		case c.delay >= 0:
			p.note(c.start, -1, c.delay, 1, None)
		default:
			release.Publish(&p.valid, p.valid.Load()+1<<lengthBits)
		}
		c.kind = None
		return
	}
	now := p.now()
	p.last = now
	p.note(now, now-c.start, c.delay, 1, c.kind)
	c.kind = None
}

// note appends an entry to the buffer. The entry also counts the callbacks since the entry before that were not timed.
func (p *Probe) note(end, took, delay, runs int64, k Kind) {
	v := p.valid.Load()
	n := v & (1<<lengthBits - 1)
	if n >= bufferLength {
		p.mu.Lock()
		p.empty()
		p.mu.Unlock()
		v, n = 0, 0
	}
	j := &p.buffer
	j.end[n], j.took[n], j.delay[n], j.runs[n] = end, took, delay, runsOf(k, runs+v>>lengthBits)
	release.Publish(&p.valid, n+1)
}

// empty adds the buffer to the totals, and begins it anew. Only the loop calls it, holding mu.
func (p *Probe) empty() {
	p.read()
	p.consumed, p.untimed = 0, 0
	release.Publish(&p.valid, 0)
}

// read adds the published part of the buffer to the totals. The caller holds mu.
func (p *Probe) read() {
	v := p.valid.Load()
	j, from, to := &p.buffer, p.consumed, int(v&(1<<lengthBits-1))
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
		p.ran(p.now(), untimed-p.untimed)
		p.untimed = untimed
	}
}

// readOneByOne counts each entry at the time of its end, and adds it to the ring. It also sets took to -1 for entries that
// are no callbacks, so that they are not counted as durations.
func (p *Probe) readOneByOne(from, to int, total int64) {
	j := &p.buffer
	for i := from; i < to; i++ {
		p.ran(j.end[i], total+j.runs[i].count())
		total = 0
		k := j.runs[i].kind()
		if k != None {
			p.ring.add(record{end: j.end[i], took: j.took[i], kind: k})
		}
		if k > lastCallback {
			j.took[i] = -1
		}
	}
}

// ran adds to the totals n callbacks that had run by the given time. The caller holds mu.
func (p *Probe) ran(by, n int64) {
	p.total += uint64(n)
	p.window.ran(by, uint64(n))
}

// Parked notes that the loop goes to sleep, or has ended.
func (p *Probe) Parked() {
	if p == nil {
		return
	}
	now := p.now()
	release.Publish(&p.running, 0)
	p.mu.Lock()
	p.empty()
	for i := range p.depth {
		p.depth[i].note(now, 0)
		p.sampled[i] = now
		release.Publish(&p.left[i], 0)
	}
	p.parkedAt = now
	p.mu.Unlock()
	p.stalls.sleeps()
}

// Tick notes that a tick begins.
func (p *Probe) Tick(now int64) {
	if p != nil {
		p.tick(now)
	}
}

func (p *Probe) tick(now int64) {
	p.last = now
	if len(p.ring.events) != 0 {
		p.note(now, 0, -1, 0, Tick)
	}
}

// Woke notes that the loop begins, or goes on after a sleep, if it has slept; by is what has ended the sleep.
func (p *Probe) Woke(by Kind, slept bool) {
	if p == nil {
		return
	}
	now := p.now()
	p.mu.Lock()
	if p.parkedAt >= 0 {
		if slept {
			p.ring.add(record{now, now - p.parkedAt, Park, by})
		}
		p.window.parked(p.parkedAt, now)
		for i := range p.depth {
			p.depth[i].note(now, 0)
		}
	}
	p.parkedAt = -1
	p.mu.Unlock()
	p.stalls.wakes()
}
