package park_test

// The steps of the protocol's loop from the end of a tick to the next one: exit, sleep, park and descriptors.

import "github.com/turnloop/turnloop/internal/loopapi"

// sleepStep is a step of exit, needed, sleep or park.
func (p *protocol) sleepStep(w *world, a *actor) (does, wrong string) {
	state := word(w.word)
	switch a.at {
	case loopNeedsTable:
		if w.mu {
			return "", ""
		}
		w.mu, a.at = true, p.needs(loopNeedsTimers)
		return "takes the table's lock", ""
	case loopNeedsTimers:
		if w.timersMu {
			return "", ""
		}
		w.timersMu, a.at = true, loopNeedsInbox
		return "takes the timers' lock", ""
	case loopNeedsInbox:
		ok, both := w.acquireBoth(p, loop)
		if !ok {
			return "", ""
		} else if both {
			a.at = loopNeeds
		}
		return "takes an inbox's lock, to see whether it is needed", ""
	case loopNeeds:
		next, ok := p.exit(state)
		switch needed := w.needed(p); {
		case a.note == toSleep && needed:
			a.at = loopPark
		case a.note == toSleep:
			a.at = loopWake
		case ok && !needed:
			w.word, a.at = uint16(next), p.nextTick()
		default:
			a.at = p.sleeps()
		}
		if a.note = 0; p.descriptors {
			w.mu = false
		}
		if p.timers {
			w.timersMu = false
		}
		w.releaseBoth(p, loop)
		return "looks whether it is needed, and releases all locks", ""

	case loopEarliest:
		if a.at = loopCommit; w.earliest <= w.now {
			a.at = p.afterSleep()
		} else if p.mistake == rangSeenEarly && w.rang {
			a.note = rangBefore
		}
		return "loads the earliest deadline, which may have come", ""
	case loopCommit:
		next, ok := p.sleep(state)
		if !ok {
			a.at = p.afterSleep()
			return "cannot commit to sleep", ""
		}
		w.word, w.claims = uint16(next), 0
		if a.at = loopCheckLock; p.mistake == noSecondLook {
			a.at = loopPark
		} else if p.timers {
			a.at = loopArm
		}
		return "commits to sleep", ""
	case loopArm:
		if w.due, a.at = w.earliest, loopArmRang; w.blocked {
			a.at = loopCheckLock
		}
		return "loads the earliest deadline, to arm the alarm", ""
	case loopArmRang:
		rang := w.rang && p.mistake != alarmLeftAlone
		if p.mistake == rangSeenEarly {
			rang = a.note == rangBefore
		}
		if rang {
			a.note, a.at = 0, loopArmClear
			return "sees that the alarm has rung", ""
		}
		w.arm()
		a.at = loopCheckLock
		return "arms the alarm, which has not rung", ""
	case loopArmClear:
		w.rang, w.alarm = false, deadlineNever
		w.arm()
		a.at = loopCheckLock
		return "takes notice of the ringing, and arms the alarm", ""
	case loopCheckLock, loopCheckLockInner:
		switch work, known := w.mayHaveWork(p, loopCheckLock); {
		case work:
			a.at = loopWake
		case known && p.descriptors:
			a.at = loopCheckReady
		case known:
			p.afterNews(a)
		}
		return "looks for work", ""
	case loopCheckReady:
		if a.at = loopCheckChanged; w.ready {
			a.at = loopWake
		}
		return "looks whether the watch has told of events", ""
	case loopCheckChanged:
		if p.afterNews(a); w.changed {
			a.at, a.note = loopWake, 0
		}
		return "looks whether descriptors have changed", ""
	case loopParkLate:
		a.at = loopPark
		return "parks", ""
	case loopPark:
		switch {
		case !w.blocked && !w.token:
			return "", ""
		case !w.blocked:
			w.token = false
		case w.event || w.fd && w.table:
			w.event, w.batch = false, w.fd && w.table
			a.note = polled
		case w.due != deadlineNever:
			w.now = max(w.now, w.due)
			a.note = polled
		default:
			return "", ""
		}
		a.at = loopWake
		return "was parked, and gets on", ""
	case loopWake:
		if next, ok := p.wake(state); ok {
			w.word = uint16(next)
			w.claims++
		} else if p.mistake == wakeByStore {
			w.word = uint16(loopapi.StateRunning)
		}
		w.due = deadlineNever
		switch a.at = p.afterSleep(); {
		case w.batch:
			a.at = loopLookUp
		case a.note == polled:
			a.at = p.nextTick()
		}
		a.note = 0
		return "is awake", ""
	}
	return p.ioStep(w, a)
}

// ioStep is a step of runIO.
func (p *protocol) ioStep(w *world, a *actor) (does, wrong string) {
	state := word(w.word)
	switch a.at {
	case loopIO:
		if a.at = loopChoose; state.Ending() {
			a.at = p.nextTick()
		}
		return "loads the state, to serve descriptors unless it ends", ""
	case loopChoose:
		if a.at = loopCollect; w.changed {
			a.at = loopChooseClear
		}
		return "loads whether descriptors have changed", ""
	case loopChooseClear:
		w.changed, a.at = false, loopChooseRead
		return "takes notice of the change", ""
	case loopChooseRead:
		if w.mu {
			return "", ""
		}
		switch a.at = loopChoosePlace; {
		case !p.blocking && !w.table && w.watched:
			a.at = loopChooseEnd
		case !p.blocking && !w.table:
			a.at = loopCollect // no poller, or nothing to watch and no watch
		case !p.blocking:
			a.note = toWatch
		}
		return "looks at the table, under its lock", ""
	case loopChooseEnd:
		if !w.endWatch(p) {
			return "", ""
		}
		a.at = loopCollect
		return "ends the watch", ""
	case loopChoosePlace:
		if a.at = loopChooseBlock; a.note == toWatch {
			if !w.watched {
				w.watched, w.tell = true, atOnce
			}
			a.at = loopCollect
		}
		w.blocked, a.note = false, 0
		return "begins the watch, if there is something to watch", ""
	case loopChooseBlock:
		w.blocked, a.at = true, loopCollect
		return "will sleep in the poller", ""
	case loopCollect:
		switch a.at = p.nextTick(); {
		case w.watched && (w.ready || !w.drained), w.blocked && w.table:
			a.at = loopWait
		}
		return "loads whether to ask for events", ""
	case loopWait:
		w.ready = w.ready && p.mistake == readyClearedLate
		a.at = loopWaited
		return "forgets what the watch has told", ""
	case loopWaited:
		w.batch = w.fd && w.table
		w.drained, w.event = !w.batch, false
		if w.drained && w.watched {
			w.tell = whenReady
		}
		if a.at = p.nextTick(); w.batch {
			a.at = loopLookUp
		}
		if p.mistake == readyClearedLate {
			a.at = loopReadyLate
		}
		return "asks the poller for events", ""
	case loopReadyLate:
		if w.ready, a.at = false, p.nextTick(); w.batch {
			a.at = loopLookUp
		}
		return "forgets what the watch has told only now", ""
	case loopLookUp:
		if w.mu {
			return "", ""
		}
		if a.at = loopCall; p.mistake == eventUnseen {
			w.batch, w.fd, a.at = false, false, p.nextTick()
			return "looks up who waits for the event, and calls", p.starts(w)
		}
		if !w.table {
			w.batch, a.at = false, p.nextTick()
		}
		return "looks up who waits for the event", ""
	case loopCall:
		w.batch, a.at = false, p.nextTick()
		if !state.Ending() {
			if w.fd = false; p.followed(w) {
				return "looks at the state and calls for an event", "a registration is called behind what follows it"
			}
			return "looks at the state and calls for an event", p.starts(w)
		}
		return "looks at the state", ""
	}
	return p.endStep(w, a)
}

// needs is the next of the locks that exit and needed take.
func (p *protocol) needs(at point) point {
	if at == loopNeedsTable && !p.descriptors {
		at = loopNeedsTimers
	}
	if at == loopNeedsTimers && !p.timers {
		at = loopNeedsInbox
	}
	return at
}

// afterNews is where park goes on when there is no work.
func (p *protocol) afterNews(a *actor) {
	switch a.at = loopPark; {
	case p.autoExit && p.mistake != noLookAtNeeds:
		a.at, a.note = p.needs(loopNeedsTable), toSleep
	case p.mistake == signalToParkedOnly:
		a.at = loopParkLate
	}
}

// arm is the part of alarm.arm that sets the alarm, unless it would ring in time.
func (w *world) arm() {
	if w.due < w.alarm {
		w.alarm, w.runtime = w.due, w.due
	}
	w.due = deadlineNever
}

// endWatch ends the watch when it is not just telling.
func (w *world) endWatch(p *protocol) bool {
	for i, k := range p.kinds {
		if k == watcher && w.actors[i+1].at != atBegin {
			return false
		}
	}
	w.watched, w.ready = false, false
	return true
}
