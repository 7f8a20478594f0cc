package eventloop

// What bounds a tick, and what bounds the end: the loop's use of package quota.

import "github.com/turnloop/turnloop/internal/quota"

// bounds is what a tick may still do. When the allowance of a kind is spent, the callbacks of that kind that are left wait for
// the next tick, and all other kinds run in between. Only external tasks wait for all internal ones. Only the loop's goroutine
// touches bounds.
type bounds struct {
	tasks      quota.Allowance // external tasks: WithTickBudget
	shared     quota.Allowance // tasks of the queue that the loop shares: the same
	internal   quota.Allowance // internal tasks: internalBudget
	turns      quota.Allowance // the guest's turns
	events     quota.Allowance // callbacks of descriptors
	microtasks int             // left of the budget of a checkpoint
	chain      int64           // microtask budgets spent since the queue was last empty, less what is attributed to other goroutines
	used

	overload, breach, runaway episode // the budget of a tick, of microtasks, of internal tasks is exceeded

	account quota.Account // what an ending loop still accepts from its own callbacks
}

// used is what a tick has done so far; each tick begins with a zero one.
type used struct {
	due     due
	held    bool // the budget of a checkpoint is spent: microtasks wait for the next tick, or for mostBehind callbacks
	behind  int  // callbacks that have run while microtasks were held back
	adopted int  // microtasks of other goroutines that were adopted
	crowded bool // so many microtasks were adopted that the tick is to end soon
	stopped bool // a bound of internal tasks is reached: they wait for the next tick
	polled  bool // the tick has collected events; it does so once, also when it is resumed
	full    bool // one of the bounds is reached: something is left for the next tick
}

// mostTurns is how many turns the guest has in a tick.
const mostTurns = 512

// renewBounds renews the bounds for a tick that begins now.
func (l *Loop) renewBounds(now int64) {
	t := &l.bounds
	t.tasks.Renew(l.tickBudget)
	t.shared.Renew(l.tickBudget)
	t.internal.Renew(internalBudget)
	t.turns.Renew(mostTurns)
	t.events.Renew(quota.Unlimited)
	if t.held {
		t.microtasks = l.microtaskBudget
	}
	t.used = used{}
	if now >= l.earliest.Load() {
		t.due.begin(now)
	} else {
		t.due.done = true
	}
}

// tasksSpent tells whether the tasks of which a is the allowance have to wait for the next tick, and reports a spent budget. It
// is called when the allowance is due.
func (l *Loop) tasksSpent(a *quota.Allowance) bool {
	l.noteBacklog()
	if !a.Out() && !a.Spent(l.now()) {
		return false
	}
	if l.bounds.full = true; a.Out() && !l.Closed() {
		l.bounds.overload.report(l, ErrLoopOverloaded)
	}
	return true
}

// noticeEnd opens the account of the end: before the first callback that starts, or the first function that a callback submits,
// since the end was asked for. What waits then was accepted before.
func (l *Loop) noticeEnd() {
	if l.bounds.account.Open {
		return
	}
	l.bounds.account = quota.Opened(quota.Functions, l.queued(internal), l.queued(microtask)-l.ticks.Len(), l.ticks.Len(), l.promises.Unhandled())
	l.promises.NoticeEnd()
}

// starts counts a callback that an ending loop starts, and tells whether the account accepts it.
func (l *Loop) starts(q quota.Queue) bool {
	l.noticeEnd()
	accepted := l.bounds.account.Start(q, l.now())
	l.refuseOthers()
	return accepted
}

// charged is starts for a loop that is not closed. It looks again, since the locks may have taken long.
func (l *Loop) charged(q quota.Queue) bool {
	if !l.Closed() {
		l.starts(q)
	}
	return !l.Closed()
}

// refuseOthers has a loop whose account has no time left accept nothing more from goroutines that are neither its own nor its
// workers'.
func (l *Loop) refuseOthers() {
	if l.bounds.account.Over() {
		l.foreign.credit.Store(0)
	}
}

// scheduler is the loop as the realm of its promises sees it.
type scheduler struct{ *Loop }

// ScheduleAwaited queues fn, for a handler that was attached before the end, which the account does not refuse.
func (l scheduler) ScheduleAwaited(fn func()) error {
	if l.state.Load().Closing() {
		return ErrLoopTerminated
	}
	if l.foreign.Raised() {
		l.adoptMicrotasks()
	}
	l.micro.Add(after(l.bounds.account.Before, fn))
	return nil
}

// after returns fn behind tell, which tells the account of an ending loop whose function runs.
func after(tell, fn func()) func() {
	return func() {
		tell()
		fn()
	}
}
