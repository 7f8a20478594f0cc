package eventloop

// The inboxes: where work from any goroutine enters the loop.

import (
	"runtime"
	"slices"
	plain "sync/atomic"

	"github.com/turnloop/turnloop/internal/inbox"
	"github.com/turnloop/turnloop/internal/observe"
	"github.com/turnloop/turnloop/internal/park"
	"github.com/turnloop/turnloop/internal/place"
	"github.com/turnloop/turnloop/internal/quota"
	"github.com/turnloop/turnloop/internal/sched/atomic"
	"github.com/turnloop/turnloop/internal/shared"
)

// lane says in which inbox work waits. Everything internal runs before anything external. The microtasks of other goroutines
// join the loop's own at the next checkpoint.
type lane uint8

const (
	external  lane = iota // in Loop.inbox
	internal              // in Loop.urgent
	microtask             // in Loop.foreign
)

// urgent is the inbox of internal work. Like that of microtasks, it shares neither lock nor cache line with the external inbox,
// so a flood of tasks keeps no completion waiting.
type urgent struct {
	inbox.Inbox

	// Guarded by the lock.
	holds int   // calls of Hold that are not released
	held  holds // these calls

	// begun counts the calls of Promisify on other goroutines, under the lock. delivered counts the outcomes that the loop
	// has received, less the calls on the loop; only the loop writes it. They are equal when no worker is under way.
	begun     uint32
	delivered atomic.Uint32
}

// tasks is the inbox of external work.
type tasks struct {
	inbox.Inbox

	// Accepted tasks that have not started, counted under a queue limit only. Producers add under the lock, and compare with the
	// limit; the loop subtracts without the lock.
	waiting atomic.Int64
}

// foreign is the inbox of microtasks of other goroutines.
type foreign struct {
	inbox.Inbox
	credit atomic.Int64 // how many functions an ending loop still accepts from other goroutines; see admit
}

// queues are the functions that the loop has taken from its inboxes, or scheduled itself. Only the loop's goroutine touches them.
type queues struct {
	externals inbox.Queue // external tasks
	internals inbox.Queue // internal tasks
	ticks     inbox.Queue // functions of NextTick
	micro     inbox.Queue // microtasks; those of other goroutines once they are adopted
	inMicro   bool        // microtasks run: functions of NextTick wait until none is left
}

// share is a loop's share in the tasks of a group. The loop's goroutine has its fields but shared.
type share struct {
	shared   *shared.Queue // tasks that any loop of the group may run; nil without a group; fixed by NewGroup
	ownFirst bool          // the shared queue has had its turn in the last tick, and the loop's own external tasks had none
	backlog  plain.Int64   // about how many external tasks the loop has taken and not begun; it falls again; any goroutine reads it
}

// inboxes returns the inboxes in the order in which who takes the locks of all does.
func (l *Loop) inboxes() [3]*inbox.Inbox {
	return [...]*inbox.Inbox{&l.inbox.Inbox, &l.urgent.Inbox, &l.foreign.Inbox}
}

func (l *Loop) mayHaveWork() bool {
	return l.inbox.MayHaveWork() || l.urgent.MayHaveWork() || l.foreign.MayHaveWork() || l.shared.MayHaveWork()
}

// kindOf returns the kind of the functions in a lane.
func kindOf(at lane) observe.Kind { return observe.Task + observe.Kind(at) }

func (l *Loop) inboxOf(at lane) *inbox.Inbox {
	switch at {
	case external:
		return &l.inbox.Inbox
	case internal:
		return &l.urgent.Inbox
	}
	return &l.foreign.Inbox
}

// lock takes a lock. Any goroutine may call it, the loop's too.
func (l *Loop) lock(s *inbox.Lock) {
	if !s.TryAcquire() {
		s.Wait(l.OnLoop(), inbox.Patience, inbox.Never)
	}
}

// enqueue puts fn into a lane, or returns why the lane does not accept it. This is decided under the lock that the loop
// takes to seal the inbox, so the loop finds all that was accepted. always says that an ending loop accepts
// any number of such functions: a worker submits fn, or it follows a registration that has ended.
func (l *Loop) enqueue(at lane, fn func(), always bool) error {
	if fn == nil {
		return ErrNilCallback
	}
	b := l.inboxOf(at)
	var from *place.Place
	if l.debug && at != microtask {
		from = l.here()
	}
	if at != external && l.state.Load().Ending() {
		if !always && l.OnLoop() {
			l.noticeEnd()
		} else if always || l.crew.Has() {
			always, fn = true, after(l.bounds.account.FromWorker, fn)
		}
	}
	l.lockFor(at)
	state := l.state.Load() // after taking the lock: the "check" of write-then-check
	var err error
	if state.Ending() || l.queueLimit > 0 {
		err = l.admit(at, state, always)
	}
	backlog := 0
	for err == nil && b.Full() {
		backlog = b.Backlog()
		b.Unlock()
		c := l.newChunk(at)
		l.lockFor(at)
		state = l.state.Load()
		if err = l.admit(at, state, always); err == nil && b.Full() {
			b.Grow(c, l.probe.Every())
		} else {
			c.Recycle()
		}
	}
	if err != nil {
		sealed := b.Sealed()
		b.Unlock()
		if !always && !sealed && at != external && l.crew.Has() { // a loop that is not sealed refuses no worker
			return l.enqueue(at, fn, true)
		}
		if !always {
			l.yieldOffLoop()
		}
		return err
	}
	if b.Due() {
		b.Stamp(l.probe.Accepted(l.OnLoop()), l.probe.Every())
	}
	b.Push(fn)
	if from != nil {
		b.From(from)
	}
	if at != external {
		switch {
		case always, !state.Ending():
		case l.OnLoop():
			l.bounds.account.Accept()
		default:
			l.foreign.credit.Add(-1)
		}
		b.Raise() // the loop then starts no external task before fn
	} else if l.queueLimit > 0 {
		l.inbox.waiting.Add(1)
	}
	wanted := b.Wanted()
	b.UnlockFull()
	if state.Sleeping() {
		l.park.WakeFor(true)
	}
	if wanted || backlog >= inbox.Far && !l.OnLoop() {
		inbox.GiveWay(backlog)
	}
	return nil
}

// newChunk returns a chunk for a lane, with room for marks if the probe wants some.
func (l *Loop) newChunk(at lane) *inbox.Chunk {
	if at == microtask || !l.probe.Stamps() {
		return inbox.Chunks.Get().(*inbox.Chunk)
	}
	return inbox.MarkedChunk(l.debug)
}

// lockFor takes the lock of a lane's inbox, for who submits to it.
func (l *Loop) lockFor(at lane) {
	if b := l.inboxOf(at); at != external || l.OnLoop() {
		l.lock(&b.Lock)
	} else if !b.TryAcquire() {
		b.Wait(false, inbox.Brief, inbox.Never)
	}
}

// admit returns nil if the lane accepts work, or else the reason for refusing it. The caller holds the lock of the lane's
// inbox, and has read state under that lock.
//
// An ending loop accepts no external work. It accepts all urgent work of its workers. Of its own callbacks it accepts what
// its account allows, and of other goroutines a number of functions, a few at a time, while the account has time: without these
// limits they could keep it from ending.
func (l *Loop) admit(at lane, state park.Word, always bool) error {
	switch {
	case !state.Ending() && at != external: // sealed loops are ending
		return nil
	case !state.Ending():
		if l.queueLimit > 0 && l.inbox.waiting.Load() >= int64(l.queueLimit) {
			return ErrLoopOverloaded
		}
		return nil
	case at == external || l.inboxOf(at).Sealed():
		return ErrLoopTerminated
	case always || l.OnLoop() && l.bounds.account.Accepts():
		return nil
	case !l.OnLoop() && l.foreign.credit.Load() > 0 && l.inboxOf(at).Len() < quota.Each:
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
func (l *Loop) take(at lane, into *inbox.Queue) bool {
	b := l.inboxOf(at)
	if !b.TryAcquire() {
		quit := inbox.Never
		if at == external {
			quit = l.urgentDue
		}
		if !b.Wait(true, inbox.Brief, quit) {
			return false
		}
	}
	b.Take(into, l.probe.Every())
	l.probe.Left(kindOf(at), into.Len()) // under the lock, so that Metrics finds each function in exactly one place
	b.Unlock()
	if l.probe != nil {
		l.probe.Found(kindOf(at), into.Len())
	}
	if at == external {
		l.noteBacklog()
	}
	return true
}

// seal closes the inboxes for good if they and the shared queue are empty and no worker is under way, and tells whether they are
// closed.
func (l *Loop) seal() bool {
	empty := l.shared.Seal()
	l.lockInboxes()
	defer l.unlockInboxes()
	all := l.inboxes()
	if !l.inbox.Sealed() && (!empty || l.urgent.workers() || slices.ContainsFunc(all[:], func(b *inbox.Inbox) bool { return b.Len() != 0 })) {
		return false
	}
	for _, b := range all {
		b.Seal()
	}
	return true
}

// discard closes the inboxes for good and drops what is in them.
func (l *Loop) discard() {
	l.lockInboxes()
	for _, b := range l.inboxes() {
		b.Discard()
	}
	l.unlockInboxes()
}

// lockInboxes takes the locks of all inboxes, always in the same order.
func (l *Loop) lockInboxes() {
	for _, b := range l.inboxes() {
		l.lock(&b.Lock)
	}
}

func (l *Loop) unlockInboxes() {
	all := l.guards()
	unlock(all[1:])
}
