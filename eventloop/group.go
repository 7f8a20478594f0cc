package eventloop

// Groups: loops that share the tasks that are given to all of them.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/turnloop/turnloop/internal/inbox"
	"github.com/turnloop/turnloop/internal/observe"
	"github.com/turnloop/turnloop/internal/quota"
	"github.com/turnloop/turnloop/internal/release"
	"github.com/turnloop/turnloop/internal/shared"
)

// Group is several loops, one goroutine each, that begin and end together: to end one of them ends all. Timers,
// descriptors, threadlets, and what is submitted to one of the loops, stay on that loop. What is submitted to the group
// waits in one queue, and runs on the first loop that comes to it: it waits for no loop while another has nothing to do.
// [NewGroup] makes one.
type Group struct {
	loops []*Loop
	seed  maphash.Seed  // of LoopFor
	tasks *shared.Queue // nil in a group of one loop, which has a queue of its own
	alive atomic.Int32  // loops that have not ended

	mu      sync.Mutex // guards running, ending, closed and expired
	running bool
	ending  bool          // the end was asked for
	closed  bool          // Close was called
	expired error         // the error of Run's context, if the end of that context began the end of the group
	first   sync.Once     // shuts the other loops down when the first has ended
	done    chan struct{} // closed when all loops have ended
}

// NewGroup makes n loops with the same options; 0 is GOMAXPROCS of them. It returns an error for a negative n and for
// WithAutoExit, which is for single loops, and New's errors. WithQueueLimit limits the queue of each loop and, apart from that,
// the tasks of the group that wait: as many for each loop.
func NewGroup(n int, opts ...Option) (*Group, error) {
	if n < 0 {
		return nil, fmt.Errorf("eventloop: NewGroup(%d): negative", n)
	}
	n = cmp.Or(n, runtime.GOMAXPROCS(0))
	g := &Group{done: make(chan struct{}), seed: maphash.MakeSeed()}
	for range n {
		l, err := New(opts...)
		if err == nil && l.autoExit {
			err = errors.New("eventloop: NewGroup: WithAutoExit is not for groups")
		}
		if err != nil {
			for _, l := range g.loops {
				_ = l.Close()
			}
			return nil, err
		}
		g.loops = append(g.loops, l)
	}
	if n > 1 {
		g.tasks = shared.New(n*g.loops[0].queueLimit, g.wake)
	}
	g.alive.Store(int32(n))
	for _, l := range g.loops {
		l.shared = g.tasks
		l.AfterEnd(g.loopEnded)
	}
	return g, nil
}

// loopEnded shuts all loops down when the first of them has ended, and ends the group when the last has.
func (g *Group) loopEnded() {
	g.first.Do(func() {
		g.beginEnd(false)
		for _, l := range g.loops {
			if l.State() != StateTerminated {
				go l.Shutdown(context.Background())
			}
		}
	})
	if g.alive.Add(-1) == 0 {
		g.tasks.Drop() // if loops were closed
		close(g.done)
	}
}

// Len returns how many loops there are.
func (g *Group) Len() int { return len(g.loops) }

// Loop returns the loop with the number i, from 0 to Len.
func (g *Group) Loop(i int) *Loop { return g.loops[i] }

// LoopFor returns the loop for a key: always the same, so that what belongs to the key needs no lock. Keys spread evenly.
func (g *Group) LoopFor(key string) *Loop {
	return g.loops[maphash.String(g.seed, key)%uint64(len(g.loops))]
}

// Least returns a loop that has the least to do, for what must stay on one loop. It adds up a loop's descriptors, its threadlets
// that have not ended, and the tasks that were submitted to the loop itself, of which it knows the number within some hundred. It
// does not count the group's tasks, which wait for any loop, nor timers, internal tasks and microtasks, nor how long callbacks
// take. It costs an instant under the lock of each loop's queue. If several loops have the least, it returns any of them.
func (g *Group) Least() *Loop {
	from := rand.IntN(len(g.loops))
	least := g.loops[from]
	load := least.load()
	for k := 1; k < len(g.loops) && load > 0; k++ {
		l := g.loops[(from+k)%len(g.loops)]
		if other := l.load(); other < load {
			least, load = l, other
		}
	}
	return least
}

// load is how much the loop has to do, as Least counts it.
func (l *Loop) load() int {
	l.lock(&l.inbox.Lock)
	tasks := l.inbox.Len()
	l.inbox.UnlockAndYield()
	return l.fds.Len() + l.guest.count() + tasks + int(l.backlog.Load())
}

// noteBacklog notes how many external tasks the loop has taken and not begun. Only the loops of a group are asked.
func (l *Loop) noteBacklog() {
	if l.shared != nil {
		release.Publish(&l.backlog, int64(l.externals.Len()))
	}
}

// Submit queues fn to run on one of the loops, once, unless the group is closed. Tasks may run at the same time, and in any
// order. A loop gives those of the group the same allowance in a turn as those that are submitted to the loop itself, see
// [WithTickBudget]: so neither keep the other waiting for longer than that. In a group of one loop the order is exact, and a
// task costs what [Loop.Submit] costs. In a larger one it costs several times that, for a queue that all loops take from: submit
// tiny tasks to one loop. Submit yields when Loop.Submit does, and returns the same errors.
func (g *Group) Submit(fn func()) error {
	if len(g.loops) == 1 {
		return g.loops[0].Submit(fn)
	}
	if fn == nil {
		return ErrNilCallback
	}
	backlog, err := g.tasks.Put(g.loops[0].stamped(fn))
	if (err != nil || backlog >= inbox.Far) && !g.onLoop() && !g.ended() {
		inbox.GiveWay(backlog)
	}
	return err
}

// stamped returns a task for the shared queue. The time is on a clock that all loops share.
func (l *Loop) stamped(fn func()) shared.Task {
	t := shared.Task{Fn: fn}
	if p := l.probe; p.Stamps() {
		t.Place = l.here()
		if p.Every() == 1 || rand.Uint32N(p.Every()) == 0 {
			t.Accepted = p.Accepted(l.OnLoop()) + l.park.Born
		}
	}
	return t
}

// wake wakes a loop that sleeps, if there is one. mayYield says that the caller may let it run.
func (g *Group) wake(mayYield bool) {
	for _, l := range g.loops {
		if l.state.Load().Sleeping() && l.park.WakeFor(mayYield) {
			return
		}
	}
}

// runExternal runs external tasks: those of the shared queue, if there is one, and the loop's own. Each has an allowance. Where
// internal tasks end the tick before both have had a turn, the next tick begins with the other. A loop may go to sleep in
// between, since an inbox whose lock was taken has perhaps no task.
func (l *Loop) runExternal() {
	if l.shared == nil {
		l.runTasks()
		return
	}
	if l.ownFirst {
		l.shared.PassOn()
	} else {
		l.runShared()
	}
	l.runTasks()
	t := &l.bounds
	l.ownFirst = (l.ownFirst || t.shared.Used()) && !t.tasks.Used() && (l.externals.Len() != 0 || l.inbox.MayHaveWork())
}

// runShared runs tasks of the shared queue, with microtasks after each and internal tasks before, as the loop's own external
// tasks run.
func (l *Loop) runShared() {
	for l.shared.MayHaveWork() {
		if l.urgentWaits() && !l.runUrgent() {
			return
		}
		t := &l.bounds
		if l.Closed() || t.shared.Due() && l.tasksSpent(&t.shared) {
			return
		}
		task, ok := l.shared.Take()
		if !ok {
			continue // another loop has taken it
		}
		t.shared.Count()
		if !l.mayStart(quota.External) {
			return // looked at behind Take, which may have taken long: when Close has returned no task starts
		}
		if l.current = (call{kind: observe.Task}); l.probe == nil {
			task.Fn()
		} else {
			if task.Accepted != 0 {
				task.Accepted = max(task.Accepted-l.park.Born, 1)
			}
			l.probe.Found(observe.Task, l.externals.Len()+l.shared.Len()+1)
			l.probe.Call(observe.Task, task.Accepted, task.Place, task.Fn)
		}
		if t.crowded {
			return
		}
	}
}

// Metrics returns the figures of all loops, added up as [Metrics.Merge] does, with the tasks that wait for any of them. Those of
// each loop are coherent. It costs what [Loop.Metrics] costs, for each loop.
func (g *Group) Metrics() (m Metrics) {
	for _, l := range g.loops {
		m.Merge(l.Metrics())
	}
	m.External.Current += g.tasks.Len()
	return m
}

// Run runs all loops, each on a goroutine of its own, and blocks until all have ended. A group runs once. It returns
// what [Loop.Run] returns: ErrLoopTerminated after Close of the group or of one of its loops; if several loops failed, the
// error of one of them.
func (g *Group) Run(ctx context.Context) error {
	_ = ctx.Done() // a nil context panics here
	if g.onLoop() {
		return ErrReentrantRun
	}
	g.mu.Lock()
	switch {
	case g.ending:
		g.mu.Unlock()
		return ErrLoopTerminated
	case g.running:
		g.mu.Unlock()
		return ErrLoopAlreadyRunning
	}
	g.running = true
	g.mu.Unlock()
	defer context.AfterFunc(ctx, func() { g.expire(ctx) })()
	for _, l := range g.loops {
		go l.Run(context.Background()) // the loop tells its end otherwise: runtime.Goexit ends the goroutine and not the loop
	}
	<-g.done
	if g.cut() {
		return ErrLoopTerminated
	}
	for _, l := range g.loops {
		if l.failure != nil {
			return l.failure
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.expired
}

// expire shuts the group down at the end of Run's context.
func (g *Group) expire(ctx context.Context) {
	g.mu.Lock()
	if !g.ending {
		g.expired = ctx.Err()
	}
	g.mu.Unlock()
	_ = g.Shutdown(ctx)
}

// beginEnd has the group accept nothing more, and drops its tasks if closing. first says that this call has begun the end, or is
// the first to close.
func (g *Group) beginEnd(closing bool) (first bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	first = !g.ending || closing && !g.closed
	g.ending = true
	if closing {
		g.closed = true
		g.tasks.Drop()
	} else {
		g.tasks.Seal()
	}
	return first
}

// Shutdown ends the group gracefully: it accepts nothing more, and all loops end at the same time, each as with
// [Loop.Shutdown]. It returns what Loop.Shutdown returns; from a callback of one of the loops it only asks for the end.
func (g *Group) Shutdown(ctx context.Context) error {
	_ = ctx.Done() // before the end begins: a nil context panics here
	first := g.beginEnd(false)
	inside := false
	var all sync.WaitGroup
	waits := make([]string, len(g.loops))
	for i, l := range g.loops {
		inside = inside || l.OnLoop()
		all.Go(func() { waits[i] = waitsFor(l.Shutdown(ctx)) })
	}
	if !inside {
		all.Wait() // until they have ended, or ctx has
		if what := strings.Join(waits, ""); what != "" || ctx.Err() != nil && !g.ended() {
			return &unfinished{ctx.Err(), what}
		}
		<-g.done
		first = first && !g.cut()
	}
	if !first {
		return ErrLoopTerminated
	}
	return nil
}

// Close ends the group at once: what is queued is dropped, and when Close has returned nothing further starts. See [Loop.Close].
func (g *Group) Close() error {
	if g.ended() {
		return ErrLoopTerminated
	}
	first := g.beginEnd(true)
	for _, l := range g.loops {
		_ = l.Close()
	}
	if !first {
		return ErrLoopTerminated
	}
	return nil
}

// cut tells whether the group or one of its loops was closed, so that work may have been dropped.
func (g *Group) cut() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.closed || slices.ContainsFunc(g.loops, (*Loop).Closed)
}

// ended tells whether all loops have ended.
func (g *Group) ended() bool {
	for _, l := range g.loops {
		if l.State() != StateTerminated {
			return false
		}
	}
	return true
}

// Done returns a channel that is closed when all loops have ended.
func (g *Group) Done() <-chan struct{} { return g.done }

// RefuseWork is [Loop.RefuseWork] for all loops.
func (g *Group) RefuseWork() {
	for _, l := range g.loops {
		l.RefuseWork()
	}
}

// onLoop tells whether the caller runs on one of the loops.
func (g *Group) onLoop() bool { return slices.ContainsFunc(g.loops, (*Loop).OnLoop) }

// waitsFor returns the part of a Shutdown's error that lists what the end waits for.
func waitsFor(err error) string {
	if u, ok := errors.AsType[*unfinished](err); ok {
		return u.what
	}
	return ""
}
