package eventloop

// The inboxes: where work from any goroutine enters the loop.

import (
	"runtime"

	"github.com/turnloop/turnloop/internal/goroutine"
	"github.com/turnloop/turnloop/internal/sched"
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

// The values of inbox.lock.
const (
	freeEmpty = 0 // free, and every lane is empty
	locked    = 1
	freeWork  = 2 // free, and some lane is not empty
)

// inbox holds what was accepted and has not been taken by the loop. One spin lock guards all of it. It is held for a
// handful of instructions, never over an allocation or a callback: producers append under it, and the loop exchanges a
// whole lane for an empty one.
type inbox struct {
	// lock tells the loop, without taking it, whether there may be work. Taking it is the "write" of a producer's
	// write-then-check; wait.go says what that pairs with.
	lock atomic.Uint32

	sealed bool // nothing is accepted any more
	lane   [2]queue
	taken  [2]int // what the loop had from each lane, and had not run, when it took the last; tells of a backlog
}

// urgent is the inbox of the two lanes that external work waits for. It shares neither lock nor cache line with that,
// so a flood of tasks keeps no completion waiting.
type urgent struct {
	inbox

	// flags has a bit for each lane that is not empty. Written under the lock, and read by the loop before each callback.
	flags atomic.Uint32

	holds int // see Hold
	late  int // what an ending loop still accepts from elsewhere; see admit

	// begun counts the calls of Promisify from elsewhere than the loop, under the lock. heard is how many outcomes the loop
	// has heard of, less the calls that it made itself; nobody else writes it.
	begun uint32
	heard atomic.Uint32
}

func (b *inbox) acquire() {
	if !b.tryAcquire() {
		b.acquireSlow(patience, wait)
	}
}

// tryAcquire takes the lock if it is free. An exchange does that whatever the lock said before, and changes nothing if
// it was taken.
func (b *inbox) tryAcquire() bool { return b.lock.Swap(locked) != locked }

// acquireSlow looks at the lock for as long as a holder that is running needs, then lets other goroutines run, of which
// it may be one, then other threads: a holder whose thread the system has preempted gets on only when this one stops
// burning its time. It returns false if it has given up.
func (b *inbox) acquireSlow(looks int, quit func() bool) bool {
	sched.Until(func() bool { return b.lock.Load() != locked || quit() })
	for spins := 1; b.lock.Load() == locked || !b.tryAcquire(); spins++ {
		switch {
		case spins%looks != 0:
		case quit():
			return false
		case spins < yieldLimit*looks:
			runtime.Gosched()
		default:
			nap()
		}
	}
	return true
}

// wait is for who does not give up.
func wait() bool { return false }

// External work comes in streams: the sooner one of their producers gives way, the less it disturbs another, that has
// the lock in its cache; and the longer they keep the loop away, the more it takes at once. Everything else is urgent,
// also what the loop submits to itself: while it gives way, nothing runs.
const (
	patience   = 512 // looks at a taken lock between two yields
	brief      = 64  // the same, of a stream
	yieldLimit = 16  // yields before the holder is taken to be preempted by the system
)

func (b *inbox) release() {
	if b.empty() {
		storeRelease(&b.lock, freeEmpty)
	} else {
		storeRelease(&b.lock, freeWork)
	}
}

func (b *inbox) empty() bool { return b.lane[0].n+b.lane[1].n == 0 }

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
	if !b.tryAcquire() {
		l.acquireFor(at)
	}
	state := l.state.load() // after taking the lock: the "check" of write-then-check
	err := l.admit(at, state, owed)
	backlog := 0
	for err == nil && q.full() {
		backlog = q.n + b.taken[at&1]
		b.release()
		c := chunks.Get().(*chunk)
		if !b.tryAcquire() {
			l.acquireFor(at)
		}
		state = l.state.load()
		if err = l.admit(at, state, owed); err == nil && q.full() {
			q.grow(c)
		} else {
			chunks.Put(c)
		}
	}
	if err != nil {
		sealed := b.sealed
		b.release()
		return l.refuse(at, fn, err, sealed || owed)
	}
	q.push(fn)
	if at != external {
		if state.ending() {
			l.charge(owed)
		}
		l.urgent.flags.Store(l.urgent.flags.Load() | 1<<at) // a fence: once this call has returned, no external task starts
	} else if l.queueLimit > 0 {
		l.waiting.Add(1)
	}
	storeRelease(&b.lock, freeWork)
	if state.sleeping() {
		l.unpark()
	}
	if backlog >= crowd && !l.OnLoop() {
		giveWay(backlog)
	}
	return nil
}

// acquireFor takes an inbox's lock from whoever has it, for work of a lane.
func (l *Loop) acquireFor(at lane) {
	looks := patience
	if at == external && !l.OnLoop() {
		looks = brief
	}
	l.inboxOf(at).acquireSlow(looks, wait)
}

// giveWay is for a producer that may be ahead of the loop: it lets others run, of which the loop may be one, and more than
// once if very much waits. It waits for nobody, but a hundred producers for ever would have the processors to themselves.
func giveWay(backlog int) {
	if backlog < crowd {
		return
	}
	for range min(1+backlog/mob, mostYields) {
		runtime.Gosched()
	}
}

// How many functions wait when their producers give way, and for how many more they do so once more.
const (
	crowd      = 1 << 12
	mob        = 1 << 16
	mostYields = 16
)

// admit tells whether the lane accepts work in a state that was read under the lock, which the caller holds.
//
// An ending loop takes no external work. What its own callbacks and its workers bring it takes, since there lies the
// sense of a graceful end; but not for ever: callbacks that begin anew whatever happens, and goroutines that go on and
// on, would keep it from ending. So there is a bound to each, which starts over whenever the loop has run everything and
// waits for workers; see renew.
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
	case owed || l.OnLoop() && l.credit > 0 || !l.OnLoop() && l.urgent.late > 0:
		return nil
	}
	return ErrLoopTerminated
}

// charge counts what an ending loop has accepted. The caller holds the lock of the urgent inbox.
func (l *Loop) charge(owed bool) {
	switch {
	case owed:
	case l.OnLoop():
		l.credit--
	default:
		l.urgent.late--
	}
}

const (
	mostLate = 1 << 16 // functions that an ending loop accepts from elsewhere
	mostOwn  = 1 << 18 // and from its own callbacks, besides
	perOwn   = 64      // so many for each function that waited already
)

// renew sets what the loop accepts from now on, if it is ending.
func (l *Loop) renew() {
	u := &l.urgent
	u.acquire()
	u.late = mostLate
	l.credit = mostOwn + perOwn*(l.micro.n+l.ticks.n+l.batch.n+l.priority.n+u.lane[0].n+u.lane[1].n)
	u.release()
	l.inbox.acquire()
	l.credit += perOwn * l.inbox.lane[0].n
	l.inbox.release()
}

// refuse returns why work was refused, or has it accepted after all if a worker brings it. Who is refused again and
// again should not keep the loop from what it does.
func (l *Loop) refuse(at lane, fn func(), err error, final bool) error {
	if !final && at != external && l.workers.has(goroutine.ID()) {
		return l.enqueue(at, fn, true)
	}
	if !l.OnLoop() && l.State() != StateTerminated {
		runtime.Gosched()
	}
	return err
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
		if !b.acquireSlow(brief, quit) {
			return false
		}
	}
	*into, b.lane[at&1] = b.lane[at&1], *into
	b.taken[at&1] = into.n
	if at != external {
		storeRelease(&l.urgent.flags, l.urgent.flags.Load()&^(1<<at))
	}
	b.release()
	return true
}

// adopt appends the microtasks that other goroutines have scheduled to the loop's own, and returns how many.
func (l *Loop) adopt() int {
	u := &l.urgent
	u.acquire()
	from := &u.lane[microtask&1]
	n := from.n
	l.micro.join(from)
	u.taken[microtask&1] = l.micro.n
	storeRelease(&u.flags, u.flags.Load()&^(1<<microtask))
	u.release()
	return n
}

// seal closes the inboxes for good if they are empty and nobody works for the loop, and tells whether they are closed.
func (l *Loop) seal() bool {
	l.acquireBoth()
	sealed := l.inbox.sealed || l.inbox.empty() && l.urgent.empty() && !l.urgent.workers()
	l.inbox.sealed, l.urgent.sealed = sealed, sealed
	l.releaseBoth()
	return sealed
}

// discard closes the inboxes for good and drops what is in them.
func (l *Loop) discard() {
	l.acquireBoth()
	for _, b := range []*inbox{&l.inbox, &l.urgent.inbox} {
		b.sealed = true
		b.lane = [2]queue{}
	}
	l.releaseBoth()
}

// acquireBoth takes the locks of both inboxes, in the order in which everybody does who needs both.
func (l *Loop) acquireBoth() {
	l.inbox.acquire()
	l.urgent.acquire()
}

func (l *Loop) releaseBoth() {
	l.urgent.release()
	l.inbox.release()
}
