package eventloop

// Groups: loops that share the tasks that are given to all of them.

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"

	"github.com/turnloop/turnloop/internal/sched/atomic"
)

// Group is several loops, one goroutine each, that begin and end together. What belongs to one of them stays there: timers,
// descriptors, threadlets, and what is submitted to the loop itself. What is submitted to the group runs on any of them: a loop
// that has nothing to do takes tasks from one that has. [NewGroup] makes one. All methods may be called from any goroutine.
//
// The loops of a group end with it: whoever ends one of them ends all.
type Group struct {
	loops  []*Loop
	shares []share
	idle   atomic.Int32 // how many shares are idle
	limit  int          // of a share; 0 is none

	mu      sync.Mutex
	running bool
	ending  bool // the end was asked for, and by whom: by Close, by Run's context
	closed  bool
	expired error
	done    chan struct{} // closed when all loops have ended
	watched sync.Once
}

// share is what of the group's tasks one of its loops is to run, unless another takes it.
//
// A share that has tasks has a runner: a task, accepted by the loop, that runs them. So what was accepted here is run, also by a loop that
// ends. A share without a runner is idle when its runner has found nothing anywhere: who brings tasks then wakes one that is, to look
// again. The runner says that it is idle and then looks at all lengths; who brings a task counts it and then looks who is idle.
type share struct {
	_      [64]byte
	n      atomic.Int32 // tasks; written under mu
	idle   atomic.Bool
	queued atomic.Bool // the runner waits in the loop's queue, where it is no task of anybody's
	mu     sync.Mutex  // guards what follows
	tasks  queue
	posted bool // there is a runner
	sealed bool // nothing is accepted any more
	run    func()
}

const (
	groupRun   = 64 // tasks that a runner runs before the loop does something else
	groupSteal = 32 // tasks that are taken at once, at most half of what there is
)

// NewGroup makes n loops with the same options; 0 is GOMAXPROCS of them. It returns an error for a negative n and for
// WithAutoExit, which is for single loops, and New's errors. With WithQueueLimit each loop has that limit, and as many of the
// group's tasks.
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
		g.loops = append(g.loops, l)
		g.shares[i].run = func() { g.run(i) }
		g.shares[i].idle.Store(true)
	}
	g.idle.Store(int32(n))
	return g, nil
}

// watch ends all loops when one has ended, and tells when all have. Whoever runs the group, or ends it, starts it.
func (g *Group) watch() {
	var all sync.WaitGroup
	for _, l := range g.loops {
		all.Go(func() {
			<-l.Done()
			g.begin(false)
			for _, other := range g.loops {
				go other.Shutdown(context.Background())
			}
		})
	}
	all.Wait()
	close(g.done)
}

// Len returns how many loops there are.
func (g *Group) Len() int { return len(g.loops) }

// Loop returns the loop with the number i, from 0 to Len.
func (g *Group) Loop(i int) *Loop { return g.loops[i] }

// Least returns the loop that has the least to do: the fewest descriptors and tasks of the group. Of several it is any.
func (g *Group) Least() *Loop {
	from := rand.IntN(len(g.loops))
	least, load := from, g.load(from)
	for k := 1; k < len(g.loops) && load > 0; k++ {
		if i := (from + k) % len(g.loops); g.load(i) < load {
			least, load = i, g.load(i)
		}
	}
	return g.loops[least]
}

func (g *Group) load(i int) int32 { return g.loops[i].fds.size.Load() + g.shares[i].n.Load() }

// Submit queues fn to run on one of the loops, once, unless the group is closed. Tasks may run at the same time, and in any
// order; with one loop, in theirs. It costs what [Loop.Submit] costs and a lock, and returns the same errors.
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
	waits, err := g.put(i, fn)
	if err != nil {
		return err
	}
	if waits && g.idle.Load() > 0 {
		g.wakeIdle()
	}
	return nil
}

// put gives a task to a share, and tells whether it may have to wait there.
func (g *Group) put(i int, fn func()) (waits bool, err error) {
	s := &g.shares[i]
	p := g.loops[i].probe
	m := p.markShared()
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.sealed:
		return false, ErrLoopTerminated
	case g.limit > 0 && s.tasks.len() >= g.limit:
		return false, ErrLoopOverloaded
	}
	if waits = s.posted; !waits {
		if err := g.post(i); err != nil {
			return false, err
		}
	}
	s.add(fn, m, p)
	s.n.Store(int32(s.tasks.len()))
	return waits, nil
}

// post gives a share a runner. The caller holds its lock.
func (g *Group) post(i int) error {
	s := &g.shares[i]
	s.queued.Store(true)
	if err := g.loops[i].Submit(s.run); err != nil {
		s.queued.Store(false)
		return err
	}
	s.posted = true
	g.busy(s)
	return nil
}

// busy says that a share is not idle, and tells whether it was.
func (g *Group) busy(s *share) bool {
	if s.idle.Swap(false) {
		g.idle.Add(-1)
		return true
	}
	return false
}

// wakeIdle has one that is idle look for tasks.
func (g *Group) wakeIdle() {
	for i := range g.shares {
		if s := &g.shares[i]; s.idle.Load() && g.busy(s) {
			s.mu.Lock()
			if !s.posted && !s.sealed {
				_ = g.post(i) // what ends does not take from others
			}
			s.mu.Unlock()
			return
		}
	}
}

// Run runs all loops, each on a goroutine of its own, and blocks until all have ended. A group runs once. It returns what
// [Loop.Run] returns; of what made a loop end by itself, the first.
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
			err := ErrGoexit // what ends the goroutine ends no loop
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
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.closed:
		return ErrLoopTerminated
	case failure != nil:
		return failure
	}
	return g.expired
}

// expire is the end of Run's context.
func (g *Group) expire(ctx context.Context) {
	g.mu.Lock()
	if !g.ending {
		g.expired = ctx.Err()
	}
	g.mu.Unlock()
	_ = g.Shutdown(ctx)
}

// begin marks the beginning of the end, and tells whether it is that.
func (g *Group) begin(closing bool) (first bool) {
	g.mu.Lock()
	first = !g.ending || closing && !g.closed
	g.ending = true
	g.closed = g.closed || closing
	g.mu.Unlock()
	g.watched.Do(func() { go g.watch() })
	for i := range g.shares {
		s := &g.shares[i]
		s.mu.Lock()
		s.sealed = true
		g.busy(s)
		if closing {
			s.tasks = queue{}
			s.n.Store(0)
		}
		s.mu.Unlock()
	}
	return first
}

// Shutdown ends the group gracefully: it accepts nothing more, and each loop ends as with [Loop.Shutdown], at the same
// time. It returns what that returns; from a callback of one of the loops it only asks for the end.
func (g *Group) Shutdown(ctx context.Context) error {
	_ = ctx.Done() // before the end begins: a nil context panics here
	first := g.begin(false)
	inside := false
	var all sync.WaitGroup
	waits := make([]string, len(g.loops))
	for i, l := range g.loops {
		inside = inside || l.OnLoop()
		all.Go(func() { waits[i] = waitsFor(l.Shutdown(ctx)) })
	}
	if !inside {
		all.Wait() // until they have ended, or ctx has
		if ctx.Err() != nil && !g.over() {
			return &unfinished{ctx.Err(), strings.Join(waits, "")}
		}
		<-g.done
		g.mu.Lock()
		first = first && !g.closed
		g.mu.Unlock()
	}
	if !first {
		return ErrLoopTerminated
	}
	return nil
}

// Close ends the group at once: what is queued is dropped, and when Close has returned nothing further starts. See
// [Loop.Close].
func (g *Group) Close() error {
	if g.over() {
		return ErrLoopTerminated
	}
	first := g.begin(true)
	for _, l := range g.loops {
		_ = l.Close()
	}
	if !first {
		return ErrLoopTerminated
	}
	return nil
}

// over tells whether all loops have ended.
func (g *Group) over() bool {
	for _, l := range g.loops {
		if l.State() != StateTerminated {
			return false
		}
	}
	return true
}

// Done returns a channel that is closed when all loops have ended.
func (g *Group) Done() <-chan struct{} { return g.done }
