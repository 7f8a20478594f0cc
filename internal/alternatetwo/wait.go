package alternatetwo

// Sleep and wake, optimistic: the loop commits to sleep, looks again at everything, and then waits in the poller.
//
// A producer publishes, then reads the state; the loop writes the state, then looks. All of these are sequentially
// consistent atomics, so at most one of the two misses the other:
//
//	work              published by               verified by
//	any lane          adding to the claim word   loading it in lane.empty
//	an earlier timer  storing timers.earliest    loading it for the timeout
//	the end           leaving Sleeping           being the one who wakes
//	a descriptor      the system                 the wait itself
//
// Who reads Sleeping and raises the flag waking writes the eventfd; who finds it raised leaves that to the other. The
// loop lowers it after each wait and before it looks for work. So work whose producer found the flag raised is looked
// for after that, and a write that arrives late ends the next wait early, which does no harm.

import (
	"errors"
	"log/slog"
	"runtime"
	"time"

	"github.com/turnloop/turnloop/internal/loopapi"
)

const (
	pollInterval = 10_000    // nanoseconds between two looks at the descriptors of a loop that has other work
	mostYields   = 128       // granted to a tick
	mostLulls    = 8         // of them spent without a look at the clock
	lingerTime   = 20_000    // nanoseconds: about what a blocking wait and the wake from it cost
	gatherTime   = 2_000     // nanoseconds that a stream of tasks is given to get ahead
	nearTimer    = 1_000_000 // nanoseconds, within which a timer is not kept waiting by lulls
	slowYield    = 100_000   // nanoseconds; what yields took is not told apart from what callbacks took
	slowBan      = 4         // times what a tick with slow yields took, so that they take a fifth of the time at most
)

// lingering is the budget for letting other goroutines run before the loop blocks: whoever waited for its last
// callback then finds it awake. It grows while that brings work, and shrinks to one yield while it does not, so it
// never costs much more than the wait that it spares. On a machine that is busy computing a yield takes long, and a
// loop in it is not woken by work; then there is none for a while.
type lingering struct {
	yields int   // granted to each tick
	left   int   // of this tick's
	hits   int   // of this tick's that brought work
	banned int64 // until then there are none
}

// judge sets the budget of the tick that begins now by what the last one made of its own, and how long it took.
func (p *lingering) judge(now, took int64) {
	used := p.yields - p.left
	switch {
	case used > 0 && took > int64(used)*slowYield:
		p.yields, p.banned = 0, now+took*slowBan
	case p.hits > 0:
		p.yields = min(2*p.yields, mostYields)
	case used > 0:
		p.yields = max(p.yields/2, 1)
	case p.yields == 0 && now >= p.banned:
		p.yields = 1
	}
	p.left, p.hits = p.yields, 0
}

// lull yields when external work has run dry after so many tasks, and tells whether there is work of any kind then. It
// goes on in the same tick, so it leaves timers and descriptors their turn. More than one task in a row is taken for a
// stream: then it yields for a moment, because a loop at its producer's heels has the two of them wait for each other's
// cache lines.
func (l *Loop) lull(ran int) bool {
	p := &l.linger
	if p.left == 0 || p.yields-p.left >= mostLulls || !l.micro.empty() || l.table.watched.Load() != 0 ||
		l.timers.earliest.Load()-l.tickTime.Load() < nearTimer {
		return false
	}
	p.left--
	runtime.Gosched()
	if ran > 1 {
		for begin := l.now(); l.now()-begin < gatherTime; {
			runtime.Gosched()
		}
	}
	if !l.hasWork() {
		return false
	}
	p.hits++
	return true
}

// lingered yields for as long as the tick may and no timer is due, and tells whether there is something to do after
// all.
func (l *Loop) lingered() bool {
	p := &l.linger
	begin := l.now()
	now := begin
	for p.left > 0 && now < min(l.timers.earliest.Load(), begin+lingerTime) {
		p.left--
		runtime.Gosched()
		if l.table.watched.Load() != 0 {
			l.poll(0)
		}
		if len(l.events) != 0 || l.hasWork() || l.state.ending() {
			p.hits++
			return true
		}
		now = l.now()
	}
	p.judge(now, now-begin)
	return false
}

// sleep waits until there may be something to do.
func (l *Loop) sleep() {
	if l.lingered() || !l.state.swap(running, sleeping) {
		return
	}
	timeout := l.timeout()
	if timeout == 0 || l.hasWork() {
		l.state.swap(sleeping, running)
		return
	}
	l.poll(timeout)
	l.state.swap(sleeping, running) // unless it is ending
	l.tickTime.Store(l.now())
}

// timeout is how long until the first timer; negative is for ever. It is computed anew for each wait, so a wait that
// a signal ended early moves no deadline.
func (l *Loop) timeout() time.Duration {
	deadline := l.timers.earliest.Load()
	if deadline == noDeadline {
		return -1
	}
	return time.Duration(max(deadline-l.now(), 0))
}

// poll collects the ready descriptors.
func (l *Loop) poll(timeout time.Duration) {
	events, err := l.poller.Wait(timeout)
	if l.waking.Load() {
		l.waking.Store(false)
	}
	if err != nil {
		time.Sleep(time.Millisecond) // it may last, and must not burn a processor
		slog.Default().Error("alternatetwo: wait failed", "error", err)
	}
	l.events, l.next = events, 0
	l.polled = l.tickTime.Load()
	l.ghost.waits++
}

// wake ends the loop's wait, or the next one.
func (l *Loop) wake() {
	if !l.waking.Load() && !l.waking.Swap(true) {
		l.signal()
	}
}

// signal writes the eventfd. While that fails the flag stays raised, and the attempt is repeated.
func (l *Loop) signal() {
	if err := l.poller.Wake(); err != nil && !errors.Is(err, loopapi.ErrPollerClosed) {
		time.AfterFunc(time.Millisecond, l.signal)
		defer func() { _ = recover() }() // a producer has no part in what the logger does
		slog.Default().Error("alternatetwo: wake failed", "error", err)
	}
}
