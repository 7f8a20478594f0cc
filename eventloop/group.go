package eventloop

// Groups: loops that share the tasks that are given to all of them.

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	plain "sync/atomic"

	"github.com/turnloop/turnloop/internal/inbox"
	"github.com/turnloop/turnloop/internal/sched"
	"github.com/turnloop/turnloop/internal/sched/atomic"
)

// Group is several loops, one goroutine each, that begin and end together: to end one of them ends all. Timers,
// descriptors, threadlets, and what is submitted to one of the loops, stay on that loop. What is submitted to the group
// runs on any of them: a loop that has nothing to do takes tasks from one that has. [NewGroup] makes one.
type Group struct {
	loops    []*Loop
	shares   []share
	sleepers atomic.Int32 // loops that sleep
	limit    int          // the most tasks in a share; 0 for no limit

	mu      sync.Mutex // guards running, ending, closed and expired
	running bool
	ending  bool          // the end was asked for
	closed  bool          // Close was called
	expired error         // the error of Run's context, if the end of that context began the end of the group
	done    chan struct{} // closed when all loops have ended
	watched sync.Once     // starts watch, once
}

// share is the part of the group's tasks that one of its loops is to run, unless another takes them.
//
// A share that has tasks has runners: tasks, accepted by the loop, that run them. So tasks that were accepted here run,
// also if the loop ends. There is a runner for every groupRun tasks, posted with the first of them: so they have their turn
// among the tasks that are submitted to the loop itself, however many these are.
//
// No task waits while a loop sleeps, whatever keeps its own loop busy. A loop that has committed to sleep counts itself
// among the sleepers, and then reads all lengths. A producer stores the length, and then looks for sleepers, to post a
// runner to one. So one of the two sees the other. A task whose own loop slept wakes only that one, and if that has other callbacks
// to run first, it wakes another; see passOn.
type share struct {
	_      [64]byte
	group  *Group // this and loop are fixed
	loop   *Loop
	n      atomic.Int32 // tasks; written under mu
	behind plain.Int64  // about how many tasks, runners included, the loop has taken and not begun; 0 if there is none; only the loop writes it
	ahead  plain.Int64  // how many the inbox had when its last chunk was begun, and 0 once they were taken; written under the lock of the inbox
	queued atomic.Int32 // runners that wait in the loop's queue, where Metrics must not count them as tasks
	sealed atomic.Bool  // nothing is accepted any more; written under mu
	run    func()       // the runner; fixed
	left   int          // tasks that the runner at the head of the loop's queue may still run, 0 for groupRun of them; only the loop touches it

	mu      sched.Mutex // guards what follows
	tasks   inbox.Queue
	runners int  // runners that have been posted and are not done
	first   bool // the runner that was posted last found its loop asleep, with nothing else to do; enqueue writes it
	room    int  // tasks that they may still run; less than there are only where some were stolen
}

const (
	groupRun   = 64 // the most tasks that a runner runs, unless the loop is ending
	groupSteal = 32 // the most tasks that are taken from another share at once, never more than half of them
)

// NewGroup makes n loops with the same options; 0 is GOMAXPROCS of them. It returns an error for a negative n and for
// WithAutoExit, which is for single loops, and New's errors. WithQueueLimit limits the queue of each loop and, apart
// from that, its share of the group's tasks.
func NewGroup(n int, opts ...Option) (*Group, error) {
	if n < 0 {
		return nil, fmt.Errorf("eventloop: NewGroup(%d): negative", n)
	}
	if n == 0 {
		n = runtime.GOMAXPROCS(0)
	}
	g := &Group{shares: make([]share, n), done: make(chan struct{})}
	for i := range n {
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
		g.limit = l.queueLimit
		l.share = &g.shares[i]
		l.share.group, l.share.loop, l.share.run = g, l, func() { g.run(i) }
		g.loops = append(g.loops, l)
	}
	return g, nil
}

// watch shuts all loops down when one has ended, and closes done when all have. It runs on a goroutine of its own, from
// Run, Done or the beginning of the end on.
func (g *Group) watch() {
	var all sync.WaitGroup
	var first sync.Once
	for _, l := range g.loops {
		all.Go(func() {
			<-l.Done()
			first.Do(func() {
				g.beginEnd(false)
				for _, other := range g.loops {
					go other.Shutdown(context.Background())
				}
			})
		})
	}
	all.Wait()
	close(g.done)
}

// Len returns how many loops there are.
func (g *Group) Len() int { return len(g.loops) }

// Loop returns the loop with the number i, from 0 to Len.
func (g *Group) Loop(i int) *Loop { return g.loops[i] }

// Least returns a loop that has the least to do, for what must stay on one loop. It adds up a loop's descriptors, its threadlets
// that have not ended, and its tasks: those of the group, and those that were submitted to the loop itself. Of the latter it
// knows whether there are any, but their number only within some hundred: it takes no lock, and costs a few atomic loads for
// each loop. It does not count timers, internal tasks and microtasks, nor how long callbacks take. If several loops have the
// least, it returns any of them.
func (g *Group) Least() *Loop {
	from := rand.IntN(len(g.loops))
	least, load := from, g.load(from)
	for k := 1; k < len(g.loops) && load > 0; k++ {
		i := (from + k) % len(g.loops)
		if other := g.load(i); other < load {
			least, load = i, other
		}
	}
	return g.loops[least]
}

// load is how much loop i has to do, as Least counts it.
func (g *Group) load(i int) int {
	l, s := g.loops[i], &g.shares[i]
	tasks := int(s.behind.Load() + s.ahead.Load())
	if l.inbox.MayHaveWork() {
		tasks = max(tasks, 1)
	}
	// A runner that waits in the loop's queue is counted twice: there, and by the tasks that it is for.
	return l.fds.Len() + l.guest.count() + max(tasks+s.waiting(), 0)
}

// Submit queues fn to run on one of the loops, once, unless the group is closed. Tasks may run at the same time, and in
// any order. On the loop that fn waits for, it has its turn among the tasks that were submitted to that loop, in about the
// order of submission. In a group of one loop that order is exact, and a task costs what [Loop.Submit] costs. In a larger
// one a task costs several times that, for the choice of a loop and a lock that the others take too: submit tiny tasks to
// one loop. Submit yields when Loop.Submit does, and returns the same errors.
func (g *Group) Submit(fn func()) error {
	if len(g.loops) == 1 {
		return g.loops[0].Submit(fn)
	}
	if fn == nil {
		return ErrNilCallback
	}
	i := rand.IntN(len(g.loops))
	if j := (i + 1) % len(g.loops); g.shares[j].n.Load() < g.shares[i].n.Load() {
		i = j
	}
	return g.submitTo(i, fn)
}

// submitTo is Submit to share i.
func (g *Group) submitTo(i int, fn func()) error {
	l := g.loops[i]
	yields, ticks := l.state.load().sleeping() && l.handover.way.Load() == wakeAndYield, int64(0)
	if yields {
		ticks = l.counters.ticks.Load()
	}
	waits, backlog, err := g.put(i, fn)
	if err != nil {
		if !g.onLoop() {
			l.yieldOffLoop()
		}
		return err
	}
	if waits && g.sleepers.Load() > 0 {
		g.wakeSleeper()
	}
	switch {
	case yields: // post could not yield, since it held the share's lock
		l.yieldTo(ticks)
	case backlog >= inbox.Far && !g.onLoop():
		inbox.GiveWay(backlog)
	}
	return nil
}

// put appends a task to share i, and posts a runner if those that there are have no room for it. waits says that the loop may have other
// things to do before. backlog is how many tasks wait if the task began a chunk, as enqueue counts them.
func (g *Group) put(i int, fn func()) (waits bool, backlog int, err error) {
	s := &g.shares[i]
	// This read takes no lock. The runner locks mu for each task, and would wait for all goroutines that submit again and again.
	if s.sealed.Load() {
		return false, 0, ErrLoopTerminated
	}
	m := s.loop.markShared()
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.sealed.Load(), s.loop.state.load().closing(): // a closed loop runs nothing, also where a runner has room
		return false, 0, ErrLoopTerminated
	case g.limit > 0 && s.tasks.Len() >= g.limit:
		return false, 0, ErrLoopOverloaded
	}
	waits = s.runners > 0
	s.n.Store(int32(s.tasks.Len() + 1)) // before the runner may wake the loop, which then passes on what waits; see passOn
	if s.room <= s.tasks.Len() {
		if err := s.post(); err != nil {
			s.n.Store(int32(s.tasks.Len()))
			return false, 0, err
		}
		waits = waits || !s.first
	}
	if s.tasks.Full() {
		backlog = s.tasks.Len()
	}
	s.add(fn, m)
	return waits, backlog, nil
}

// post submits a runner. The caller holds mu.
func (s *share) post() error {
	s.queued.Add(1)
	if err := s.loop.enqueue(external, s.run, true); err != nil { // owed: enqueue must not yield, as the runner wants the lock
		s.queued.Add(-1)
		return err
	}
	s.runners++
	s.room += groupRun
	return nil
}

// Run runs all loops, each on a goroutine of its own, and blocks until all have ended. A group runs once. It returns
// what [Loop.Run] returns: ErrLoopTerminated after Close of the group or of one of its loops; if several loops failed, the
// error of the first.
func (g *Group) Run(ctx context.Context) error {
	watched := ctx.Done() != nil // a nil context panics here
	for _, l := range g.loops {
		if l.OnLoop() {
			return ErrReentrantRun
		}
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
	g.watched.Do(func() { go g.watch() })
	if watched {
		defer context.AfterFunc(ctx, func() { g.expire(ctx) })()
	}
	errs := make(chan error, len(g.loops))
	for _, l := range g.loops {
		go func() {
			err := ErrGoexit // Goexit ends the goroutine, not the loop
			defer func() { errs <- err }()
			err = l.Run(context.Background())
		}()
	}
	var failure error
	for range g.loops {
		if err := <-errs; failure == nil && !errors.Is(err, ErrLoopTerminated) && err != ErrGoexit {
			failure = err
		}
	}
	<-g.done
	switch {
	case g.cut():
		return ErrLoopTerminated
	case failure != nil:
		return failure
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

// beginEnd seals all shares, and drops their tasks if closing. first says that this call has begun the end, or is the
// first to close.
func (g *Group) beginEnd(closing bool) (first bool) {
	g.mu.Lock()
	first = !g.ending || closing && !g.closed
	g.ending = true
	g.closed = g.closed || closing
	g.mu.Unlock()
	g.watched.Do(func() { go g.watch() })
	for i := range g.shares {
		s := &g.shares[i]
		s.mu.Lock()
		s.sealed.Store(true)
		if closing {
			s.tasks = inbox.Queue{}
			s.n.Store(0)
		}
		s.mu.Unlock()
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
func (g *Group) Done() <-chan struct{} {
	g.watched.Do(func() { go g.watch() }) // the loops may end, or have ended, each by itself
	return g.done
}

// RefuseWork is [Loop.RefuseWork] for all loops.
func (g *Group) RefuseWork() {
	for _, l := range g.loops {
		l.RefuseWork()
	}
}

// onLoop tells whether the caller runs on one of the loops.
func (g *Group) onLoop() bool { return slices.ContainsFunc(g.loops, (*Loop).OnLoop) }
