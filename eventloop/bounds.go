package eventloop

// What bounds a tick: how many callbacks of each kind, and how long they may take.

// bounds is what a tick may still do, so that it comes to an end whatever is waiting: what is left waits for the next
// one, and everything else has had its turn by then.
type bounds struct {
	due        due
	tasks      int   // of the budget of external tasks, which goes on in the next tick if this one has had no time for it
	outer      pace  // of external tasks
	internal   int   // of the budget of internal tasks, which goes on as long as they come one after the other
	microtasks int   // of the budget of a checkpoint
	held       bool  // that is spent, and the rest waits for the next tick
	adopted    int   // microtasks of other goroutines that there have been
	crowded    bool  // so many that the tick had better end
	inner      stint // of internal tasks
	stopped    bool  // for that, or for another bound of internal tasks
	turns      int   // of the guest, that there have been
	turned     stint // of these
	full       bool  // something was left for the next tick
}

// renewBounds is for a tick that begins now.
func (l *Loop) renewBounds(now int64) {
	t := &l.bounds
	before := *t
	*t = bounds{due: l.dueAt(now), tasks: l.tickBudget, internal: before.internal, microtasks: before.microtasks}
	if before.internal == 0 || !l.internalWaiting() {
		t.internal = internalBudget
	}
	if before.outer.over {
		t.tasks = before.tasks
	}
	t.outer.at = max(0, t.tasks-fewTasks)
	if before.held {
		t.microtasks = l.microtaskBudget
	}
}

// pace is when to look at the clock for external tasks. There are so many of them, and most are so short, that they pay for
// no counter but that of the budget: it is compared with the next one at which there is something to decide.
type pace struct {
	at    int   // what is left of the budget when to look, or when it is spent
	from  int   // what was left at the first look,
	began int64 // and when that was; 0 before
	over  bool  // they have taken too long, and some are left
}

const (
	fewTasks  = 3  // that cost no look at the clock
	mostTasks = 64 // between two looks: so many that are slow may follow others that were not
)

// tasksOver is asked when the next external task would exceed the budget, or it is time to look at the clock. It tells
// whether the rest waits for the next tick, and of a budget that is spent it tells others.
func (l *Loop) tasksOver() bool {
	t := &l.bounds
	p := &t.outer
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
	if took >= longestStint {
		t.full, p.over = true, true
		return true
	}
	soon := longestStint / 10 * int64(p.from-t.tasks) / (took + 1) // about as many as a tenth of the time is enough for
	p.at = max(0, t.tasks-int(min(max(1, soon), mostTasks)))
	return false
}

// stint measures how long callbacks of a kind have run, and reads the clock as rarely as that allows: a few callbacks
// cost nothing.
type stint struct {
	began   int64
	n, next int // callbacks so far, and those after which to look at the clock
}

// over is asked before each callback, and tells whether the stint has lasted long enough.
func (s *stint) over(l *Loop) bool {
	if s.n++; s.n < 4 || s.n <= s.next {
		return false
	}
	now := l.now()
	if s.began == 0 {
		s.began, s.n = now, 1
		return false
	}
	took := now - s.began
	s.next = s.n + int(min(longestStint/10*int64(s.n)/(took+1), 15))
	return took >= longestStint
}

// longestStint is about how long, in nanoseconds, the due timers of a tier, internal tasks, or external ones keep
// everything else waiting.
const longestStint = 10_000_000
