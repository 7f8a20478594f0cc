package eventloop

// The inboxes: where work from any goroutine enters the loop.

import (
	"math"
	"runtime"

	"github.com/turnloop/turnloop/internal/goroutine"
	"github.com/turnloop/turnloop/internal/observe"
	"github.com/turnloop/turnloop/internal/place"
	"github.com/turnloop/turnloop/internal/quota"
	"github.com/turnloop/turnloop/internal/release"
	"github.com/turnloop/turnloop/internal/sched/atomic"
)

// lane is where work waits for the loop. Everything in the internal lane runs before anything in the external one. The
// microtask lane has the microtasks of other goroutines, and joins the loop's own at the next checkpoint. The lowest bit
// of the number is the lane's index in its inbox.
type lane uint8

const (
	external  lane = 0 // in Loop.inbox
	internal  lane = 2 // these two in Loop.urgent
	microtask lane = 3
)

// inbox holds functions that were accepted and that the loop has not taken. One spin lock guards all of it. It is held for
// a handful of instructions, never over an allocation or a callback: producers append under it, and the loop exchanges a
// whole lane for an empty one.
type inbox struct {
	// The value of the lock tells the loop, without taking it, whether there may be work. By taking it a producer publishes
	// its work: this is the "write" of write-then-check in wait.go.
	spinLock

	sealed bool // nothing is accepted any more, for good
	lane   [2]queue
	// taken is, for each lane, the length of the loop's own queue when the loop last took functions. Only the loop writes
	// it, under the lock; producers add it to the lane's length to get the backlog.
	taken [2]int32
}

// urgent is the inbox of the two lanes that go before external work. It shares neither lock nor cache line with the external
// inbox, so a flood of tasks keeps no completion waiting.
type urgent struct {
	inbox

	// flags has a bit for each lane that is not empty. It is written under the lock, and the loop reads it before each callback.
	flags atomic.Uint32

	// Guarded by the lock.
	holds         int // calls of Hold that are not released
	foreignCredit int // how many functions an ending loop still accepts from other goroutines; see admit

	// begun counts the calls of Promisify on other goroutines, under the lock. delivered counts the outcomes that the loop
	// has received, less the calls on the loop; only the loop writes it. They are equal when no worker is under way.
	begun     uint32
	delivered atomic.Uint32
}

// Unlock releases the lock; its value then says whether there is work.
func (b *inbox) Unlock() {
	if b.empty() {
		release.Store(&b.lock, freeEmpty)
	} else {
		release.Store(&b.lock, freeWork)
	}
}

func (b *inbox) empty() bool { return b.lane[0].len()+b.lane[1].len() == 0 }

// mayHaveWork looks at an inbox without its lock. Only while a producer holds the lock can it be wrong, and then it
// errs towards yes.
func (b *inbox) mayHaveWork() bool { return b.lock.Load() != freeEmpty }

func (l *Loop) mayHaveWork() bool { return l.inbox.mayHaveWork() || l.urgent.mayHaveWork() }

// has tells whether a function waits in a lane. It may miss only functions whose submitting calls have not returned.
func (u *urgent) has(at lane) bool { return u.flags.Load()&(1<<at) != 0 }

// kindOf returns the kind of the functions in a lane.
func kindOf(at lane) observe.Kind { return observe.Task + observe.Kind(max(int(at)-1, 0)) }

func (l *Loop) inboxOf(at lane) *inbox {
	if at == external {
		return &l.inbox
	}
	return &l.urgent.inbox
}

// enqueue puts fn into a lane, or returns why the lane does not accept it. This is decided under the lock that the loop
// takes to seal the inbox, so the loop finds all that was accepted. owed says that a worker submits fn: an ending loop
// accepts any number of such functions. In the external lane it says that fn is the runner of a group, which WithQueueLimit
// neither refuses nor counts: its share has a limit of its own, and the caller holds the share's lock.
func (l *Loop) enqueue(at lane, fn func(), owed bool) error {
	if fn == nil {
		return ErrNilCallback
	}
	b := l.inboxOf(at)
	q := &b.lane[at&1]
	var from *place.Place
	if l.debug && at != microtask {
		from = l.here()
	}
	if at != external && l.state.load().ending() {
		if !owed && l.OnLoop() {
			l.noticeEnd()
		} else if owed || l.crew.Load().has() {
			owed, fn = true, after(l.account.FromWorker, fn)
		}
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
		c := l.newChunk(at)
		if !b.tryAcquire() {
			l.lockFor(at)
		}
		state = l.state.load()
		if err = l.admit(at, state, owed); err == nil && q.full() {
			if c.marks != nil {
				q.growMarked(c, l.probe.Every())
			} else {
				q.grow(c)
			}
			if at == external && l.share != nil {
				release.Publish(&l.share.ahead, int64(q.len()))
			}
		} else {
			c.recycle()
		}
	}
	if err != nil {
		sealed := b.sealed
		b.Unlock()
		if !owed && !sealed && at != external && l.crew.Load().has() { // a loop that is not sealed refuses no worker
			return l.enqueue(at, fn, true)
		}
		if !owed {
			l.yieldOffLoop()
		}
		return err
	}
	if q.written == int(q.stampAt) {
		q.stamp(l.probe.Accepted(l.OnLoop()), l.probe.Every())
	}
	q.push(fn)
	if from != nil {
		q.mark(mark{place: from})
	}
	if at != external {
		switch {
		case owed, !state.ending():
		case l.OnLoop():
			l.account.Accept()
		default:
			l.urgent.foreignCredit--
		}
		l.urgent.flags.Store(l.urgent.flags.Load() | 1<<at) // a full fence: the loop then starts no external task before fn
	} else if owed {
		l.share.first = q.len() == 1 && state.sleeping()
	} else if l.queueLimit > 0 {
		l.waiting.Add(1)
	}
	wanted := b.wanted.Load() // before the release, while this processor has the cache line
	release.Store(&b.lock, freeWork)
	if state.sleeping() {
		l.unparkFor(!owed)
	}
	if (wanted != 0 || backlog >= yieldBacklog && !l.OnLoop()) && !owed { // who has owed work may hold a lock that the loop wants
		giveWay(backlog)
	}
	return nil
}

// newChunk returns a chunk for a lane, with room for marks if the probe wants some.
func (l *Loop) newChunk(at lane) *chunk {
	if at == microtask || !l.probe.Stamps() {
		return chunks.Get().(*chunk)
	}
	return l.markedChunk()
}

// lockFor takes the lock of a lane's inbox, after tryAcquire has found it taken.
func (l *Loop) lockFor(at lane) {
	looks := patience
	if at == external && !l.OnLoop() {
		looks = brief
	}
	l.lockSlow(&l.inboxOf(at).spinLock, looks, neverQuit)
}

// giveWay lets other goroutines run, more often the larger the backlog is.
func giveWay(backlog int) { goroutine.GiveWay(backlog / backlogPerYield) }

const (
	yieldBacklog    = 1 << 12 // functions that wait when producers begin to give way, once for each chunk
	backlogPerYield = 1 << 16 // functions that wait for each further yield
)

// admit returns nil if the lane accepts work, or else the reason for refusing it. The caller holds the lock of the lane's
// inbox, and has read state under that lock.
//
// An ending loop accepts no external work. It accepts all urgent work of its workers. Of its own callbacks it accepts what
// its account allows, and of other goroutines a number of functions, a few at a time, while the account has time: without these
// limits they could keep it from ending.
func (l *Loop) admit(at lane, state word, owed bool) error {
	switch {
	case !state.ending() && at != external: // sealed loops are ending
		return nil
	case !state.ending():
		if l.queueLimit > 0 && !owed && l.waiting.Load() >= int64(l.queueLimit) {
			return ErrLoopOverloaded
		}
		return nil
	case at == external || l.urgent.sealed:
		return ErrLoopTerminated
	case owed || l.OnLoop() && l.account.Accepts():
		return nil
	case !l.OnLoop() && l.urgent.foreignCredit > 0 && l.urgent.lane[at&1].len() < quota.Each:
		return nil
	}
	return ErrLoopTerminated
}

// yieldOffLoop yields, unless the caller is on the loop or the loop has ended. It follows refusals and calls that cost the
// loop much: a goroutine that makes them again and again should not keep the loop from its work or its end.
func (l *Loop) yieldOffLoop() {
	if !l.OnLoop() && l.State() != StateTerminated {
		runtime.Gosched()
	}
}

// take exchanges a lane for the queue into, which is the loop's own and has been read to its end. If the lane is external
// and urgent work comes while take waits for the lock, it takes nothing and returns false.
func (l *Loop) take(at lane, into *queue) bool {
	into.rewind()
	b := l.inboxOf(at)
	if !b.tryAcquire() {
		quit := neverQuit
		if at == external {
			quit = l.urgentDue
		}
		if !l.lockSlow(&b.spinLock, brief, quit) {
			return false
		}
	}
	*into, b.lane[at&1] = b.lane[at&1], *into
	b.taken[at&1] = int32(min(into.len(), math.MaxInt32))
	if at != external {
		release.Store(&l.urgent.flags, l.urgent.flags.Load()&^(1<<at))
	} else if l.share != nil {
		l.share.noteLeft(into.len())
		release.Publish(&l.share.ahead, 0)
	}
	if l.probe != nil { // under the lock, so that Metrics finds each function in exactly one place
		l.probe.Left(kindOf(at), into.len())
		b.lane[at&1].restamp(into, l.probe.Every())
	}
	b.Unlock()
	if l.probe != nil {
		n := into.len()
		if at == external {
			n = max(n+l.share.waiting(), 0)
		}
		l.probe.Found(kindOf(at), n)
	}
	return true
}

// adopt appends the microtasks that other goroutines have scheduled to the loop's own, and returns how many.
func (l *Loop) adopt() int {
	u := &l.urgent
	l.lock(&u.spinLock)
	from := &u.lane[microtask&1]
	n := from.len()
	l.micro.join(from)
	u.taken[microtask&1] = int32(min(l.micro.len(), math.MaxInt32))
	l.probe.Left(observe.Microtask, l.micro.len()+l.ticks.len())
	release.Store(&u.flags, u.flags.Load()&^(1<<microtask))
	u.Unlock()
	return n
}

// caughtUp tells producers that the loop has run all that it has taken. It is called before a sleep, and takes a lock
// only after a burst.
func (l *Loop) caughtUp() {
	for _, b := range [...]*inbox{&l.inbox, &l.urgent.inbox} {
		if max(b.taken[0], b.taken[1]) >= yieldBacklog { // read without the lock: only the loop writes it
			l.lock(&b.spinLock)
			b.taken = [2]int32{}
			b.Unlock()
		}
	}
}

// seal closes the inboxes for good if they are empty and no worker is under way, and tells whether they are closed.
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

// lockBoth takes the locks of both inboxes, always in this order.
func (l *Loop) lockBoth() {
	l.lock(&l.inbox.spinLock)
	l.lock(&l.urgent.spinLock)
}

func (l *Loop) unlockBoth() {
	l.urgent.Unlock()
	l.inbox.Unlock()
}
