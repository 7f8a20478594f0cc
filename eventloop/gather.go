package eventloop

// How the loop gathers a stream of tasks into batches.

import "github.com/turnloop/turnloop/internal/sched"

// gather decides whether the loop lets a batch of external tasks grow before it takes the batch. The loop and its
// producers share the cache line of the inbox. A loop that is faster than its producers takes task by task, and each
// Submit then waits until the line has come back from the other processor. So when the loop finds few tasks each time
// that it looks, it leaves the line alone for a moment, and then takes many at once.
//
// That pays only if batches do get larger. Those of callbacks that submit to their own loop do not; nor do those of
// producers that mostly do other things. So the loop compares batches that it has waited for with batches that it has
// taken at once, and after waits in vain it waits more rarely.
//
// Only the loop's goroutine touches it.
type gather struct {
	way   gathered // whether the loop waits for the next batch before it takes it
	last  int      // tasks of the last batch
	plain int      // tasks of the last batch that was taken at once
	waits int      // waits that paid, since that batch
	vain  int      // waits in a row that did not pay
	skip  int      // batches to be taken at once before the next wait
	sum   uint32   // uses the result of compute, which the compiler would leave out otherwise
}

// gathered says whether the loop has waited for a batch before it took it, so that learn can compare the two.
type gathered uint8

const (
	unmeasured gathered = iota // after a pause, a large batch or an interruption
	atOnce
	waitedFor
)

const (
	largeBatch = 256 // tasks, over which the cost of the cache line's transfer is spread thin
	fewMore    = 8   // tasks: a wait that brings fewer does not pay
	mostVain   = 12  // the most that vain gets; then the loop waits for one batch in 2^12
	mostWaits  = 64  // waits before a batch is taken at once, to compare
	lingers    = 40  // looks for urgent work in one wait
)

// wait gives the inbox, which has tasks, time to get more of them, if that is likely to pay. It returns early when there is
// urgent work.
func (g *gather) wait(l *Loop) {
	switch {
	case g.last >= largeBatch || sched.Exploring:
		return
	case g.skip > 0:
		g.skip--
		g.way = atOnce
		return
	}
	g.way = waitedFor
	for range lingers {
		if g.sum += compute(); l.urgent.flags.Load() != 0 {
			break
		}
	}
	if l.probe != nil {
		l.probe.last = l.now() // the next callback begins after the wait
	}
}

// took notes the size of each batch, and learns from it unless the batch is unmeasured.
func (g *gather) took(n int) {
	g.last = n
	if g.way != unmeasured {
		g.learn(n)
	}
}

// interrupted marks the next batch as unmeasured: urgent work goes first, and meanwhile the batch grows.
func (g *gather) interrupted() { g.way = unmeasured }

func (g *gather) learn(n int) {
	switch {
	case g.way == atOnce:
		g.plain, g.waits = n, 0
	case n < g.plain+max(g.plain/4, fewMore):
		g.vain = min(g.vain+1, mostVain)
		g.skip = 1 << g.vain
	default:
		g.vain = 0
		if g.waits++; g.waits == mostWaits {
			g.skip = 1
		}
	}
	g.way = unmeasured
}

// compute keeps the processor busy for a moment, and touches no memory.
//
//go:noinline
func compute() uint32 {
	x := uint32(1)
	for range 30 {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
	}
	return x
}
