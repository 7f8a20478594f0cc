package eventloop

// Microtasks: functions that run right after the current callback, before anything else.

import (
	"github.com/turnloop/turnloop/internal/inbox"
	"github.com/turnloop/turnloop/internal/observe"
	"github.com/turnloop/turnloop/internal/quota"
)

// ScheduleMicrotask queues fn to run on the loop after the current callback returns and before the next one starts;
// from another goroutine, after the callback that is running, or as soon as the loop wakes, before any other callback.
// Microtasks run in the order of scheduling, and one that is scheduled by a microtask runs in the same checkpoint (the
// "perform a microtask checkpoint" of the HTML standard). More than [WithMicrotaskBudget] in one checkpoint wait, in
// order, for the next tick, or until 128 callbacks have run.
//
// A caller that is far ahead of the loop gives way as in [Loop.Submit]. On the loop it costs a few nanoseconds and
// takes no lock. It returns ErrNilCallback, or ErrLoopTerminated when the loop has ended, or is ending and has taken as
// much as [Loop.Shutdown] says.
func (l *Loop) ScheduleMicrotask(fn func()) error {
	if fn == nil {
		return ErrNilCallback
	}
	if !l.express && l.debug {
		fn = l.placed(fn)
	}
	if !l.OnLoop() {
		return l.enqueue(microtask, fn, false)
	}
	if l.state.Load().Ending() && !l.admitOwn() {
		return ErrLoopTerminated
	}
	if l.foreign.Raised() {
		l.adoptMicrotasks() // those were scheduled before fn
	}
	if l.micro.Full() { // the method add, inlined by hand
		l.micro.Extend()
	}
	l.micro.Push(fn)
	return nil
}

// NextTick queues fn to run like a microtask, but before all microtasks that wait; or after them, if a microtask calls
// NextTick (Node's process.nextTick). Functions that fn queues with NextTick go before those microtasks, too: an endless
// chain keeps all microtasks from running, and with them the handlers of promises, as in Node.
//
// A call off the loop counts as one by a microtask. fn counts for the microtask budget. It costs what ScheduleMicrotask
// costs, and returns the same errors.
func (l *Loop) NextTick(fn func()) error {
	if fn == nil {
		return ErrNilCallback
	}
	if !l.express && l.debug {
		fn = l.placed(fn)
	}
	if !l.OnLoop() {
		return l.enqueue(microtask, func() { l.ticks.Add(fn) }, false)
	}
	if l.state.Load().Ending() && !l.admitOwn() {
		return ErrLoopTerminated
	}
	if l.current.kind != observe.Microtask { // the caller is no microtask: fn goes before microtasks that a spent budget holds back
		l.inMicro = false
	}
	l.ticks.Add(fn)
	return nil
}

// admitOwn does what admit does, for a microtask that a callback of an ending loop schedules; it also charges the microtask.
func (l *Loop) admitOwn() bool {
	l.noticeEnd()
	if l.state.Load().Closing() || !l.bounds.account.Accepts() {
		return false
	}
	l.bounds.account.Accept()
	return true
}

// checkpoint runs functions of NextTick and microtasks until none is left or the budget is spent, and then reports the
// rejections without a handler. What a spent budget holds back waits for the next tick, or for mostBehind callbacks, so
// that timers, tasks and I/O make progress beside an endless chain.
func (l *Loop) checkpoint() {
	for more := l.bounds.mayRunMicrotasks(l.microtaskBudget); more; {
		if l.foreign.Raised() {
			l.adoptMicrotasks()
		}
		l.inMicro = l.inMicro && l.micro.Len() != 0
		switch {
		case l.ticks.Len() != 0 && !l.inMicro:
			more = l.runFrom(&l.ticks, quota.Ticks)
		case l.micro.Len() != 0:
			l.inMicro = true
			more = l.runFrom(&l.micro, quota.Microtasks)
		case l.promises.Unhandled() != 0:
			for reports := true; more && reports; { // all of them, before functions that the first one queues
				if more = l.spend(); more {
					reports = l.promises.Checkpoint()
				}
			}
		default:
			l.bounds.microtasks, l.bounds.chain = l.microtaskBudget, 0
			l.bounds.breach.end()
			return
		}
	}
}

// runFrom runs functions from q until none is left, or the rest must wait; it tells whether none is left.
func (l *Loop) runFrom(q *inbox.Queue, of quota.Queue) bool {
	l.current.kind = observe.Microtask
	for state := l.state.Load(); q.Len() != 0 && !state.Closing(); state = l.state.Load() {
		if l.bounds.microtasks == 0 {
			l.overspend()
			break
		}
		if l.bounds.microtasks--; state.Ending() && !l.charged(of) {
			break
		}
		if l.probe != nil {
			l.measured(observe.Microtask, q)
			continue
		}
		q.Pop()()
	}
	return q.Len() == 0
}

// spend takes one microtask from the budget, and tells whether it may run.
func (l *Loop) spend() bool {
	if l.state.Load().Closing() {
		return false
	}
	if l.bounds.microtasks == 0 {
		l.overspend()
		return false
	}
	l.bounds.microtasks--
	return true
}

// mayRunMicrotasks tells whether a checkpoint may run microtasks. It counts the checkpoints that may not, one after each callback.
func (t *bounds) mayRunMicrotasks(budget int) bool {
	if !t.held {
		return true
	}
	if t.behind++; t.behind < mostBehind {
		return false
	}
	t.held, t.behind, t.microtasks = false, 0, budget
	return true
}

// overspend ends a checkpoint whose budget is spent while more microtasks wait. It reports a chain of microtasks that
// has spent the budget, but not many goroutines with a few microtasks each.
func (l *Loop) overspend() {
	l.bounds.held, l.bounds.full = true, true
	budget := int64(l.microtaskBudget)
	if l.bounds.chain += budget; l.bounds.chain >= budget {
		l.bounds.breach.report(l, ErrMicrotaskBudget)
	}
}

// adoptMicrotasks appends the microtasks that other goroutines have scheduled to the loop's own, in constant time.
func (l *Loop) adoptMicrotasks() {
	l.lock(&l.foreign.Lock)
	n := l.foreign.Join(&l.micro)
	l.probe.Left(observe.Microtask, l.micro.Len()+l.ticks.Len())
	l.foreign.Unlock()
	l.bounds.chain -= int64(n) * foreignShare
	t := &l.bounds
	t.adopted += min(n, l.microtaskBudget)
	t.crowded = t.adopted > mostAdopted
}

const (
	// foreignShare is how many microtasks are attributed to one microtask that another goroutine has scheduled: that
	// microtask, and those that it schedules in turn.
	foreignShare = 64

	// mostAdopted is how many microtasks of other goroutines a tick adopts before it is crowded. A crowded tick calls at
	// most one more callback of each kind, and then ends. Otherwise other goroutines could schedule as many microtasks
	// again before each further callback, and the tick would take very long.
	mostAdopted = 1 << 13

	// mostBehind is how many callbacks may run while a spent budget holds microtasks back. A tick may run many thousands,
	// and each may schedule microtasks. If all of them waited for the next tick, with one budget a tick, their number would
	// grow for as long as tasks keep coming.
	mostBehind = 128
)

// microtasksDue tells whether microtasks go before the next callback: microtasks that the last callback has left, or that
// other goroutines have scheduled since. The loop calls it after it has found the next callback. So when a goroutine
// schedules a microtask and then submits a task, the microtask runs first.
func (l *Loop) microtasksDue() bool {
	return l.micro.Len()+l.ticks.Len() != 0 || l.foreign.Raised()
}

// foreignDue tells whether microtasks of other goroutines go before the next callback. The caller holds the lock under
// which it finds that callback, and asks again whenever it has taken the lock anew, since waiting for it may take long.
func (l *Loop) foreignDue() bool {
	return l.foreign.Raised() && !l.bounds.held && !l.bounds.crowded
}
