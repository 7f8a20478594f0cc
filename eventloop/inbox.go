package eventloop

// The inboxes: where work from any goroutine enters the loop.

import (
	"math"
	"runtime"
	"time"

	"github.com/turnloop/turnloop/internal/sched/atomic"
)

// lane is where work waits for the loop. Everything in the internal lane runs before anything in the external one; the
// microtask lane takes what other goroutines schedule, and joins the loop's own microtasks at the next checkpoint. The
// number's lowest bit is its place in its inbox.
type lane uint8

const (
	external  lane = 0 // in Loop.inbox
	internal  lane = 2 // these two in Loop.urgent
	microtask lane = 3
)

// inbox holds what was accepted and has not been taken by the loop. One spin lock guards all of it. It is held for a
// handful of instructions, never over an allocation or a callback: producers append under it, and the loop exchanges a
// whole lane for an empty one.
type inbox struct {
	// Its value tells the loop, which need not take it for that, whether there may be work. Taking it is the "write" of a
	// producer's write-then-check; wait.go says what that pairs with.
	spinLock

	sealed bool // nothing is accepted any more
	lane   [2]queue
	taken  [2]int32 // what the loop had from each lane, and had not run, when it took the last; tells of a backlog
}

// urgent is the inbox of the two lanes that external work waits for. It shares neither lock nor cache line with that,
// so a flood of tasks keeps no completion waiting.
type urgent struct {
	inbox

	// flags has a bit for each lane that is not empty. Written under the lock, and read by the loop before each callback.
	flags atomic.Uint32

	holds int // see Hold
	late  int // what an ending loop still accepts from elsewhere; see admit
	owed  int // what workers have brought to an ending loop since it last looked

	// begun counts the calls of Promisify from elsewhere than the loop, under the lock. heard is how many outcomes the loop
	// has heard of, less the calls that it made itself; nobody else writes it.
	begun uint32
	heard atomic.Uint32
}

// Unlock says with the lock's value whether there is work.
func (b *inbox) Unlock() {
	if b.empty() {
		storeRelease(&b.lock, freeEmpty)
	} else {
		storeRelease(&b.lock, freeWork)
	}
}

func (b *inbox) empty() bool { return b.lane[0].len()+b.lane[1].len() == 0 }

// mayHaveWork looks at an inbox without its lock. Only while a producer holds the lock can it be wrong, and then it
// errs towards yes.
func (b *inbox) mayHaveWork() bool { return b.lock.Load() != freeEmpty }

func (l *Loop) mayHaveWork() bool { return l.inbox.mayHaveWork() || l.urgent.mayHaveWork() }

// has tells whether something waits in a lane: all that was accepted before, and not what is about to be.
func (u *urgent) has(at lane) bool { return u.flags.Load()&(1<<at) != 0 }

func (l *Loop) inboxOf(at lane) *inbox {
	if at == external {
		return &l.inbox
	}
	return &l.urgent.inbox
}

// enqueue accepts fn into a lane or says why not. Acceptance is decided under the lock that the loop takes to seal the
// inbox, so what was accepted is found by the loop. A worker's work is owed: an ending loop accepts any amount of it.
func (l *Loop) enqueue(at lane, fn func(), owed bool) error {
	if fn == nil {
		return ErrNilCallback
	}
	b := l.inboxOf(at)
	q := &b.lane[at&1]
	var m mark
	if l.probe != nil {
		m = l.probe.mark(at)
	}
	if !b.tryAcquire() {
		l.lockFor(at)
	}
	state := l.state.load() // after taking the lock: the "check" of write-then-check
	var err error
	if state.ending() || l.queueLimit > 0 {
		err = l.admit(at, state, owed)
	}
	backlog := 0
	for err == nil && q.full() {
		backlog = q.len() + int(b.taken[at&1])
		b.Unlock()
		c := l.newChunk(at, backlog, &m)
		if !b.tryAcquire() {
			l.lockFor(at)
		}
		state = l.state.load()
		if err = l.admit(at, state, owed); err == nil && q.full() {
			q.grow(c)
		} else {
			c.recycle()
		}
	}
	if err != nil {
		sealed := b.sealed
		b.Unlock()
		if owed {
			return err
		}
		return l.refuse(at, fn, err, sealed)
	}
	q.push(fn)
	if l.probe != nil {
		l.probe.leave(at, q, m)
	}
	if at != external {
		if state.ending() {
			l.charge(owed)
		}
		l.urgent.flags.Store(l.urgent.flags.Load() | 1<<at) // a fence: once this call has returned, no external task starts
	} else if l.queueLimit > 0 {
		l.waiting.Add(1)
	}
	wanted := b.wanted.Load() // before the release, while the line is here
	storeRelease(&b.lock, freeWork)
	if state.sleeping() {
		l.unpark()
	}
	if (wanted != 0 || backlog >= crowd && !l.OnLoop()) && !owed { // what is owed may come under a lock that the loop wants
		giveWay(backlog)
	}
	return nil
}

// newChunk returns a chunk for a lane in which so many functions wait, with room for marks if there are to be some.
func (l *Loop) newChunk(at lane, backlog int, m *mark) *chunk {
	if l.probe == nil || at == microtask {
		return chunks.Get().(*chunk)
	}
	if backlog >= chunkSize {
		l.probe.markChunk(at, m)
	}
	return l.probe.markedChunk()
}

// lockFor takes an inbox's lock from whoever has it, for work of a lane.
func (l *Loop) lockFor(at lane) {
	looks := patience
	if at == external && !l.OnLoop() {
		looks = brief
	}
	l.lockSlow(&l.inboxOf(at).spinLock, looks, wait)
}

// giveWay is for a producer that may be ahead of the loop: it lets others run, of which the loop may be one, and more than
// once if very much waits. It waits for nobody, but a hundred producers for ever would have the processors to themselves.
// Beside goroutines that compute once takes long, and then it has done what it is for. Its caller holds no lock that the
// loop may want.
func giveWay(backlog int) {
	began := time.Now()
	for range min(1+backlog/mob, mostYields) {
		if runtime.Gosched(); time.Since(began) > longWay {
			return
		}
	}
}

// How many functions wait when their producers give way, once for each chunk of them; for how many more they do so once
// more; and how long it may have taken for that.
const (
	crowd      = 1 << 12
	mob        = 1 << 16
	mostYields = 16
	longWay    = 5 * time.Millisecond
)

// admit tells whether the lane accepts work in a state that was read under the lock, which the caller holds.
//
// An ending loop takes no external work. It takes what its workers bring, what its own callbacks bring as long as grace
// says so, and of what comes from elsewhere only so much: goroutines that go on and on would keep it from ending. Both
// start over whenever the loop has run everything and waits for workers.
func (l *Loop) admit(at lane, state word, owed bool) error {
	switch {
	case !state.ending() && at != external: // sealed loops are ending
		return nil
	case !state.ending():
		if l.queueLimit > 0 && l.waiting.Load() >= int64(l.queueLimit) {
			return ErrLoopOverloaded
		}
		return nil
	case at == external || l.urgent.sealed:
		return ErrLoopTerminated
	case owed || l.OnLoop() && l.grace.accepts() || !l.OnLoop() && l.urgent.late > 0:
		return nil
	}
	return ErrLoopTerminated
}

// charge counts what an ending loop has accepted. The caller holds the lock of the urgent inbox.
func (l *Loop) charge(owed bool) {
	switch {
	case owed:
		l.urgent.owed++
	case l.OnLoop():
		l.grace.charge()
	default:
		l.urgent.late--
	}
}

// refuse returns why work was refused, or has it accepted after all if a worker brings it.
func (l *Loop) refuse(at lane, fn func(), err error, final bool) error {
	if !final && at != external && l.crew.Load().has() {
		return l.enqueue(at, fn, true)
	}
	l.turnAway()
	return err
}

// turnAway lets others run. Who is refused and tries again, and again, should not keep an overloaded loop from its work,
// nor one that is ending from its end.
func (l *Loop) turnAway() {
	if !l.OnLoop() && l.State() != StateTerminated {
		runtime.Gosched()
	}
}

// take exchanges a lane for into, a queue of the loop's own that has been read to its end. It returns false, and has
// taken nothing, if urgent work comes while it waits for a lock that it needs for external.
func (l *Loop) take(at lane, into *queue) bool {
	into.rewind()
	b := l.inboxOf(at)
	if !b.tryAcquire() {
		quit := wait
		if at == external {
			quit = l.pressed
		}
		if !l.lockSlow(&b.spinLock, brief, quit) {
			return false
		}
	}
	*into, b.lane[at&1] = b.lane[at&1], *into
	b.taken[at&1] = int32(min(into.len(), math.MaxInt32))
	if at != external {
		l.collectOwed()
		storeRelease(&l.urgent.flags, l.urgent.flags.Load()&^(1<<at))
	}
	if l.probe != nil {
		publish(&l.probe.left[at>>1], int64(into.len())) // under the lock: Metrics finds each function in one of its places
	}
	b.Unlock()
	if l.probe != nil {
		l.probe.took(at, into.len())
	}
	return true
}

// collectOwed takes note of what workers have brought. The caller holds the lock of the urgent inbox.
func (l *Loop) collectOwed() {
	l.grace.owes(l.urgent.owed)
	l.urgent.owed = 0
}

// adopt appends the microtasks that other goroutines have scheduled to the loop's own, and returns how many.
func (l *Loop) adopt() int {
	u := &l.urgent
	l.lock(&u.spinLock)
	from := &u.lane[microtask&1]
	n := from.len()
	l.micro.join(from)
	l.collectOwed()
	u.taken[microtask&1] = int32(min(l.micro.len(), math.MaxInt32))
	if l.probe != nil {
		publish(&l.probe.left[2], int64(l.micro.len()+l.ticks.len()))
	}
	storeRelease(&u.flags, u.flags.Load()&^(1<<microtask))
	u.Unlock()
	return n
}

// caughtUp says that what the loop has taken has run. It is asked before a sleep, and costs a lock only after a burst.
func (l *Loop) caughtUp() {
	for _, b := range [...]*inbox{&l.inbox, &l.urgent.inbox} {
		if max(b.taken[0], b.taken[1]) >= crowd { // nobody else writes it
			l.lock(&b.spinLock)
			b.taken = [2]int32{}
			b.Unlock()
		}
	}
}

// seal closes the inboxes for good if they are empty and nobody works for the loop, and tells whether they are closed.
func (l *Loop) seal() bool {
	l.lockBoth()
	sealed := l.inbox.sealed || l.inbox.empty() && l.urgent.empty() && !l.urgent.workers()
	l.inbox.sealed, l.urgent.sealed = sealed, sealed
	l.unlockBoth()
	return sealed
}

// discard closes the inboxes for good and drops what is in them.
func (l *Loop) discard() {
	l.lockBoth()
	for _, b := range []*inbox{&l.inbox, &l.urgent.inbox} {
		b.sealed = true
		b.lane = [2]queue{}
	}
	l.unlockBoth()
}

// lockBoth takes the locks of both inboxes, in the order in which everybody does who needs both.
func (l *Loop) lockBoth() {
	l.lock(&l.inbox.spinLock)
	l.lock(&l.urgent.spinLock)
}

func (l *Loop) unlockBoth() {
	l.urgent.Unlock()
	l.inbox.Unlock()
}
