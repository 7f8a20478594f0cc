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
// A producer that reads Sleeping and raises the flag waking writes the eventfd; a producer that finds it raised leaves the
// write to the other one. The loop lowers the flag after each wait and before it looks for work. So the loop then finds the
// work of a producer that found the flag raised. A write that arrives late ends the next wait early, which does no harm.

import (
	"log/slog"
	"runtime"
	"time"

	"github.com/turnloop/turnloop/internal/rival"
)

const (
	pollInterval = 10_000    // nanoseconds between two looks at the descriptors of a loop that has other work
	mostYields   = 128       // the most yields of a tick
	mostLulls    = 8         // the most of these that lull spends, without reading the clock
	lingerTime   = 20_000    // nanoseconds: about what a blocking wait and the wake from it cost
	gatherTime   = 2_000     // nanoseconds that a stream of tasks is given to get ahead
	nearTimer    = 1_000_000 // nanoseconds: there are no lulls this close to a timer
	slowYield    = 100_000   // nanoseconds: yields are slow if a tick takes longer for each, its callbacks included
	slowBan      = 4         // for so many times its duration no tick yields after one with slow yields: they take a fifth at most
)

// lingering is the budget of yields before the loop blocks: a goroutine that has waited for the last callback then finds
// the loop awake. It grows while yields bring work, and shrinks to one yield while they do not, so that it never costs much
// more than the wait that it saves. On busy processors a yield takes long, and work cannot wake a loop that yields: then
// there are no yields for a while.
type lingering struct {
	yields int   // the yields of each tick
	left   int   // the yields that this tick has left
	hits   int   // the yields of this tick that brought work
	banned int64 // there are no yields until this time, in nanoseconds since anchor
}

// setBudget sets the budget of the tick that begins now, from the hits of the last tick and the time that it took.
func (p *lingering) setBudget(now, took int64) {
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

// lull is called when ran tasks have run and no external task is left. It yields, and reports whether there is work of any
// kind afterwards. It does not yield if timers are near or descriptors are registered, because the tick goes on and looks at
// neither. If ran is more than one, the tasks come as a stream; lull then yields for a moment, because a loop that follows
// its producer too closely makes both wait for each other's cache lines.
func (l *Loop) lull(ran int) bool {
	p := &l.linger
	if p.left == 0 || p.yields-p.left >= mostLulls || !l.micro.empty() || l.table.watched.Load() != 0 ||
		l.timers.earliest.Load()-l.TickTime() < nearTimer {
		return false
	}
	p.left--
	runtime.Gosched()
	if ran > 1 {
		for begin := l.Now(); l.Now()-begin < gatherTime; {
			runtime.Gosched()
		}
	}
	if !l.hasWork() {
		return false
	}
	p.hits++
	return true
}

// lingered yields as often as the tick may while no timer is due, and reports whether there is something to do after all.
func (l *Loop) lingered() bool {
	p := &l.linger
	begin := l.Now()
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
		now = l.Now()
	}
	p.setBudget(now, now-begin)
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
	l.state.swap(sleeping, running) // no effect if the loop is ending
	l.SetTickTime(l.Now())
}

// timeout returns the time until the first timer; a negative one means for ever. It is computed for each wait, so a wait
// that a signal ended early moves no deadline.
func (l *Loop) timeout() time.Duration {
	deadline := l.timers.earliest.Load()
	if deadline == rival.Never {
		return -1
	}
	return time.Duration(max(deadline-l.Now(), 0))
}

// poll collects the ready descriptors.
func (l *Loop) poll(timeout time.Duration) {
	events, err := l.poller.Wait(timeout)
	if l.waking.Load() {
		l.waking.Store(false)
	}
	if err != nil {
		time.Sleep(time.Millisecond) // the error may persist, and must not keep a processor busy
		slog.Default().Error("alternatetwo: wait failed", "error", err)
	}
	l.events, l.next = events, 0
	l.polled = l.TickTime()
	l.ghost.waits++
}

// wake ends the loop's wait, or the next one. After a failure the flag stays raised, as another write follows.
func (l *Loop) wake() {
	if !l.waking.Load() && !l.waking.Swap(true) {
		l.Wake(l.poller, func(err error) { slog.Default().Error("alternatetwo: wake failed", "error", err) })
	}
}
