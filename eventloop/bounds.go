package eventloop

// What bounds a tick: how many callbacks of each kind, and how long they may take.

import "math/bits"

// bounds is what is left of the budgets of a tick. When a budget is spent, the callbacks of its kind that are left wait for
// the next tick, and all other kinds run in between. Only the loop's goroutine touches bounds.
type bounds struct {
	tasks      int // external tasks left of the tick budget; kept for the next tick if this one ran out of time
	internal   int // internal tasks left of internalBudget; kept for the next tick while some are waiting
	microtasks int // left of the budget of a checkpoint
	used
}

// used is what a tick has done so far; each tick begins with a zero one.
type used struct {
	due     due
	outer   pace       // when to read the clock between external tasks
	held    bool       // the budget of a checkpoint is spent: microtasks wait for the next tick, or for mostBehind callbacks
	behind  int        // callbacks that have run while microtasks were held back
	adopted int        // microtasks of other goroutines that were adopted
	crowded bool       // so many microtasks were adopted that the tick is to end soon
	inner   stint      // how long internal tasks have run
	stopped bool       // a bound of internal tasks is reached: they wait for the next tick
	turns   guestTurns // the turns that the guest has had
	events  stint      // how long callbacks of descriptors have run
	late    uint8      // the kinds of callbacks that have run for as long as they may: the bits 1<<kind
	before  uint8      // those that had in the tick before
	full    bool       // one of the bounds is reached: something is left for the next tick
}

// renewBounds renews the bounds for a tick that begins now.
func (l *Loop) renewBounds(now int64) {
	t := &l.bounds
	if t.internal == 0 || !l.internalWaiting() {
		t.internal = internalBudget
	}
	if !t.outer.outOfTime {
		t.tasks = l.tickBudget
	}
	if t.held {
		t.microtasks = l.microtaskBudget
	}
	t.used = used{before: t.late}
	t.outer.at = max(0, t.tasks-fewTasks)
	if now >= l.earliest.Load() {
		t.due = dueAt(now)
	} else {
		t.due.done = true
	}
}

// pace says when to read the clock between external tasks. Most tasks are so short that a counter for this would be felt.
// So bounds.tasks, which counts down anyway, is compared with pace.at: when it gets there, tasksSpent is called.
type pace struct {
	at        int   // bounds.tasks at the next reading of the clock; 0 if the budget is spent before
	from      int   // bounds.tasks at the first reading
	began     int64 // time of the first reading; 0 before
	outOfTime bool  // the tasks have taken too long, and some are left
}

const (
	fewTasks  = 3  // the first tasks of a tick, which run without a look at the clock
	mostTasks = 64 // the most tasks between two looks at the clock
)

// tasksSpent tells whether the tasks that are left have to wait for the next tick, and reports a spent budget. runExternal
// asks when the budget is spent, and when it is time to read the clock.
func (l *Loop) tasksSpent() bool {
	t := &l.bounds
	p := &t.outer
	l.share.noteLeft(l.externals.len())
	if t.tasks == 0 {
		t.full = true
		l.overload.report(l, ErrLoopOverloaded)
		return true
	}
	now := l.now()
	if p.began == 0 {
		p.from, p.began = t.tasks, now
	}
	took := now - p.began
	if t.tooLong(took, aTask) {
		t.full, p.outOfTime = true, true
		return true
	}
	p.at = max(0, t.tasks-stretch(p.from-t.tasks, took, mostTasks))
	return false
}

// stretch returns how many callbacks may run before the next look at the clock: about as many as run in a tenth of
// longestStint, if they are like those measured. Slow ones may follow fast ones: so at most twice those measured, and most.
func stretch(measured int, took int64, most int) int {
	like := longestStint / 10 * int64(measured) / (took + 1)
	return max(1, int(min(like, 2*int64(measured), int64(most))))
}

// stint measures how long callbacks of one kind have run. It reads the clock rarely, and not at all for the first few
// callbacks.
type stint struct {
	began int64 // time of the first look at the clock; 0 before
	n     int   // callbacks so far
	next  int   // value of n at which to look at the clock again
}

// expired tells whether the stint, of callbacks of a kind, has lasted long enough. It counts its calls: there must be one before
// each callback.
func (s *stint) expired(l *Loop, k kind) bool {
	if s.n++; s.n < 4 || s.n < s.next {
		return false
	}
	now := l.now()
	if s.began == 0 {
		s.began, s.n = now, 1
		return false
	}
	took := now - s.began
	s.next = s.n + stretch(s.n-1, took, 16)
	return l.bounds.tooLong(took, k)
}

// guestTurns counts the guest's turns in a tick.
type guestTurns struct {
	taken int   // turns so far
	look  int   // value of taken at which to look at the clock
	began int64 // time of the first look; 0 before
}

// longestStint is about how long, in nanoseconds, the due timers of a tier, internal tasks, external tasks, the guest's turns,
// and callbacks of descriptors together keep everything else waiting: kinds that have no end share it. In the tick in which
// they come upon the loop it is about twice as long.
const longestStint = 10_000_000

// tooLong tells whether callbacks of a kind have run for long enough if they took so long, and notes it.
func (t *used) tooLong(took int64, k kind) bool {
	if took < longestStint/int64(bits.OnesCount8(t.before|t.late|1<<k)) {
		return false
	}
	t.late |= 1 << k
	return true
}
