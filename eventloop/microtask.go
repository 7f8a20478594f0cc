package eventloop

// Microtasks: functions that run right after the current callback, before anything else.

// ScheduleMicrotask queues fn to run on the loop after the current callback returns and before the next one starts;
// from another goroutine, after the callback that is running, or as soon as the loop wakes, before any other callback.
// Microtasks run in the order of scheduling, and one that is scheduled by a microtask runs in the same checkpoint (the
// "perform a microtask checkpoint" of the HTML standard). More than [WithMicrotaskBudget] in one checkpoint wait, in
// order, for the next tick.
//
// Any goroutine may call it, and gives way as in [Loop.Submit] when it is far ahead. On the loop it costs a few
// nanoseconds and takes no lock. It returns ErrNilCallback, or ErrLoopTerminated when the loop has ended, or is ending and
// has taken as much as [Loop.Shutdown] says.
func (l *Loop) ScheduleMicrotask(fn func()) error {
	if fn == nil {
		return ErrNilCallback
	}
	if !l.OnLoop() {
		return l.enqueue(microtask, fn, false)
	}
	if l.state.load().ending() && !l.admitOwn() {
		return ErrLoopTerminated
	}
	if l.urgent.has(microtask) {
		l.adoptMicrotasks() // they were scheduled before
	}
	l.micro.add(fn)
	return nil
}

// NextTick queues fn to run like a microtask, but before all microtasks that wait; scheduled by a microtask, behind
// them (Node's process.nextTick). What it queues itself that way runs before them too: a chain of ticks that does not end
// keeps all microtasks from running, and with them the handlers of promises, as in Node.
//
// Any goroutine may call it; from another one, it is as if a microtask did. It counts for the microtask budget, costs
// what ScheduleMicrotask costs, and returns the same errors.
func (l *Loop) NextTick(fn func()) error {
	if fn == nil {
		return ErrNilCallback
	}
	if !l.OnLoop() {
		return l.enqueue(microtask, func() { l.ticks.add(fn) }, false)
	}
	if l.state.load().ending() && !l.admitOwn() {
		return ErrLoopTerminated
	}
	if !l.draining { // the caller is no microtask; what a spent budget holds back does not go first
		l.inMicro = false
	}
	l.ticks.add(fn)
	return nil
}

// admitOwn is admit for what an ending loop schedules itself.
func (l *Loop) admitOwn() bool {
	if l.state.load().closing() || !l.grace.accepts() {
		return false
	}
	l.grace.charge()
	return true
}

// checkpoint runs ticks and microtasks until none is left or the budget is spent, and then reports the rejections that
// nobody has handled. What a spent budget holds back waits for the next tick, so that timers, tasks and I/O progress
// under an endless chain.
func (l *Loop) checkpoint() {
	for more := !l.bounds.held; more; {
		if l.urgent.has(microtask) {
			l.adoptMicrotasks()
		}
		l.inMicro = l.inMicro && l.micro.len() != 0
		switch {
		case l.ticks.len() != 0 && !l.inMicro:
			more = l.drain(&l.ticks)
		case l.micro.len() != 0:
			l.inMicro = true
			more = l.drain(&l.micro)
		case l.promises.Unhandled():
			for reports := true; more && reports; { // a round of them, before what the first one queues
				if more = l.spend(); more {
					reports = l.promises.Checkpoint()
				}
			}
		default:
			l.bounds.microtasks, l.chain = l.microtaskBudget, 0
			l.breach.over()
			return
		}
	}
}

// drain runs functions from q until none is left, or the rest must wait; it tells whether to go on.
func (l *Loop) drain(q *queue) bool {
	l.draining, l.calling.kind = true, aMicrotask
	if l.probe != nil {
		l.drainObserved(q)
	} else {
		for q.len() != 0 && l.spend() {
			if l.grace.counts {
				l.runsJob(q)
			}
			q.pop()()
		}
	}
	l.draining = false
	return q.len() == 0
}

func (l *Loop) drainObserved(q *queue) {
	for q.len() != 0 && l.spend() {
		if l.grace.counts {
			l.runsJob(q)
		}
		l.probe.next(aMicrotask, q)
	}
}

// spend takes one microtask from the budget, and tells whether it may run. A budget that is spent is reported if it was
// a chain that did it, and not many goroutines with a little each.
func (l *Loop) spend() bool {
	if l.state.load().closing() {
		return false
	}
	if l.bounds.microtasks == 0 {
		l.bounds.held, l.bounds.full = true, true
		l.draining = false // who hears of it is no microtask
		budget := int64(l.microtaskBudget)
		if l.chain += budget; l.chain >= budget {
			l.breach.report(l, ErrMicrotaskBudget)
		}
		return false
	}
	l.bounds.microtasks--
	return true
}

// adoptMicrotasks appends what other goroutines scheduled to the loop's own. It takes as long for a million as for one.
func (l *Loop) adoptMicrotasks() {
	n := l.adopt()
	l.chain -= int64(n) * foreignShare
	t := &l.bounds
	t.adopted += min(n, l.microtaskBudget)
	t.crowded = t.adopted > mostAdopted
}

const (
	// foreignShare is how many microtasks one that another goroutine has scheduled accounts for, itself and what it brings.
	foreignShare = 64

	// mostAdopted microtasks of other goroutines make a tick crowded: then it goes on to timers and I/O after a callback
	// of each kind, for between any two callbacks there may be as many again.
	mostAdopted = 1 << 13
)

// microtasksDue tells whether a microtask goes before the next callback: those that the last callback has left, and
// those that came from elsewhere since. It is asked when it is known what the callback is, and right before it: of one
// goroutine's microtask and later task, the microtask then comes first.
func (l *Loop) microtasksDue() bool {
	return l.micro.len()+l.ticks.len() != 0 || l.urgent.has(microtask)
}

// foreignDue tells whether microtasks have come from elsewhere that go before the next callback. It is asked under the lock
// under which the callback is found, which may have been long in coming, and again when that has been taken anew.
func (l *Loop) foreignDue() bool {
	return l.urgent.has(microtask) && !l.bounds.held && !l.bounds.crowded
}
