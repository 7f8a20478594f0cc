package eventloop_test

// The steps of the protocol's loop, in the order of its code.

import "github.com/turnloop/turnloop/eventloop"

// The places of the loop. Those that end a name in Late are of mistakes.
const (
	// Run, tick
	loopStart point = loopPlaces + iota
	loopTick
	loopTimersLock
	loopTimersPop
	loopTimersLook
	loopInternal
	loopInternalLook
	loopInternalTake
	loopInternalTaken
	loopUrgentLate
	loopExternal
	loopExternalTake
	loopExternalTaken
	loopExternalInternal
	loopExternalAgain
	loopExternalLook
	loopDecide
	loopHasWork
	loopPendingReady
	loopPendingChanged
	loopExit
	loopExitDecide
	// sleep, park
	loopEarliest
	loopCommit
	loopArm
	loopArmRang
	loopArmClear
	loopCheckLock
	loopCheckReady
	loopCheckChanged
	loopCheckNeeded
	loopCheckNeededDecide
	loopParkLate
	loopPark
	loopWake
	// runIO
	loopIO
	loopRethink
	loopRethinkClear
	loopRethinkRead
	loopRethinkPlace
	loopRethinkBlock
	loopCollect
	loopWait
	loopWaited
	loopReadyLate
	loopLookUp
	loopCall
	// finish, rest
	loopWorking
	loopWorkingCount
	loopRest
	loopRestPlace
	loopRestCommit
	loopRestCheck
	loopRestPark
	loopRestWake
	loopSeal
	loopSealDecide
	// end
	loopEnd
	loopEndDiscard
	loopEndTimers
	loopEndWatch
	loopEndPoller
	loopTerminated
	loopDone
)

func (at point) loopLoads() bool {
	switch at {
	case loopTick, loopTimersLook, loopInternal, loopInternalLook, loopExternal, loopExternalInternal, loopExternalAgain,
		loopExternalLook, loopDecide, loopHasWork, loopPendingReady, loopPendingChanged, loopEarliest, loopArm, loopArmRang,
		loopCheckLock, loopCheckReady, loopCheckChanged, loopIO, loopRethink, loopCollect, loopCall,
		loopRestCheck:
		return true
	}
	return false
}

// What the loop's note says.
const (
	withinExternal = 1 + iota // runInternal was called by runExternal
	polled                    // the sleep has asked the poller
	toWatch                   // there are descriptors to watch
	rangBefore                // the alarm had rung before the loop committed to sleep
)

func (p *protocol) loopStep(w *world, a *actor) (does, wrong string) {
	state := word(w.word)
	switch a.at {
	case loopStart:
		next, ok := p.start(state)
		if !ok {
			return "", "" // Run returns, or is told to come later
		}
		w.word, a.at = uint16(next), p.nextTick()
		return "starts", ""
	case loopTick:
		w.tick = w.now
		if a.at = loopInternal; w.tick >= w.earliest {
			a.at = loopTimersLock
		}
		return "loads the earliest deadline", ""
	case loopTimersLock:
		switch {
		case w.timersMu:
			return "", ""
		case state.Ending():
			a.at, w.tick = loopInternal, 0
			return "takes the timers' lock, looks at the state, and releases the lock", ""
		}
		w.timersMu, a.at = true, loopTimersPop
		return "takes the timers' lock, and looks at the state", ""
	case loopTimersPop:
		w.timersMu = false
		if first := w.pending & -w.pending; first != 0 && first <= w.tick {
			w.pending &^= first
			if a.at = loopTimersLook; p.mistake == timerUnseen {
				a.at = loopTimersLock
				return "fires a timer", w.starts(p)
			}
			return "takes a timer that is due", ""
		}
		w.earliest = deadlineNever
		if w.pending != 0 {
			w.earliest = w.pending & -w.pending
		}
		a.at, w.tick = loopInternal, 0
		return "stores the next deadline", ""
	case loopTimersLook:
		if state.Closing() {
			a.at, w.tick = loopInternal, 0
			return "looks at the state", ""
		}
		a.at = loopTimersLock
		return "looks at the state and fires the timer", w.starts(p)

	case loopInternal:
		switch {
		case w.urgent || w.holdsTask(p, false, taskTaken):
			a.at = loopInternalLook
		case a.note == withinExternal:
			a.note, a.at = 0, loopExternalAgain
		default:
			a.at = loopExternal
		}
		return "loads whether there is internal work", ""
	case loopInternalLook:
		switch {
		case state.Closing() && a.note == withinExternal:
			a.note, a.at = 0, loopExternalAgain
		case state.Closing():
			a.at = loopExternal
		case w.holdsTask(p, false, taskTaken):
			a.at = loopInternal
			return "looks at the state and runs an internal task", w.run(p, false)
		default:
			a.at = loopInternalTake
		}
		return "looks at the state", ""
	case loopInternalTake:
		if !w.acquire(loop) {
			return "", ""
		}
		a.at = loopInternalTaken
		return "takes the inbox's lock", ""
	case loopInternalTaken:
		w.move(p, false, taskQueued, taskTaken)
		w.release(p, loop)
		if a.at = loopInternal; p.mistake == urgentClearedLate {
			a.at = loopUrgentLate
		} else {
			w.urgent = false
		}
		return "takes the internal lane, and releases the lock", ""
	case loopUrgentLate:
		w.urgent, a.at = false, loopInternal
		return "says that there is no internal work", ""

	case loopExternal:
		if a.at = loopDecide; w.holdsTask(p, true, taskTaken) {
			a.at = loopExternalInternal
		} else if w.mayHaveWork() {
			a.at = loopExternalTake
		}
		return "loads whether there is work", ""
	case loopExternalTake:
		if p.mistake == takeUnlocked {
			w.move(p, true, taskQueued, taskQueued|taskTaken)
			a.at = loopExternalTaken
			return "takes the external lane", ""
		}
		if !w.acquire(loop) {
			return "", ""
		}
		a.at = loopExternalTaken
		return "takes the inbox's lock", ""
	case loopExternalTaken:
		if p.mistake == takeUnlocked {
			w.move(p, true, taskQueued, 0)
		} else {
			w.move(p, true, taskQueued, taskTaken)
		}
		w.release(p, loop)
		if a.at = loopDecide; w.holdsTask(p, true, taskTaken) {
			a.at = loopExternalInternal
		}
		return "takes the external lane, and releases the lock", ""
	case loopExternalInternal, loopExternalAgain:
		switch {
		case !w.urgent && !w.holdsTask(p, false, taskTaken):
			if a.at = loopExternalLook; p.mistake == closeSeenLate {
				a.at = loopExternal
				return "runs an external task", w.run(p, true)
			}
		case a.at == loopExternalAgain:
			a.at = loopDecide
		default:
			a.at, a.note = loopInternal, withinExternal
		}
		return "loads whether there is internal work", ""
	case loopExternalLook:
		if state.Closing() {
			a.at = loopDecide
			return "looks at the state", ""
		}
		a.at = loopExternal
		return "looks at the state and runs an external task", w.run(p, true)

	case loopDecide:
		if a.from, a.at = w.word, loopHasWork; state.Closing() {
			a.from, a.at = 0, loopEnd
		}
		return "loads the state", ""
	case loopHasWork:
		switch {
		case w.mayHaveWork() || w.holdsTask(p, true, taskTaken) || w.holdsTask(p, false, taskTaken):
			a.at = p.afterSleep()
		case word(a.from).Ending():
			if a.at = loopSeal; p.has(worker) {
				a.at = loopWorking
			}
		case p.descriptors():
			a.at = loopPendingReady
		default:
			a.at = p.goToSleep()
		}
		a.from = 0
		return "loads whether there is work", ""
	case loopPendingReady:
		if a.at = loopPendingChanged; w.ready {
			a.at = loopIO
		}
		return "loads whether the watch has told of events", ""
	case loopPendingChanged:
		if a.at = p.goToSleep(); w.changed || w.watched && !w.drained {
			a.at = loopIO
		}
		return "loads whether descriptors have changed", ""
	case loopExit:
		if w.mu || w.timersMu || !w.acquire(loop) {
			return "", ""
		}
		w.mu, w.timersMu, a.at = true, true, loopExitDecide
		return "takes all locks", ""
	case loopExitDecide:
		a.at = p.sleeps()
		if next, ok := p.exit(state); ok && !w.needed(p) {
			w.word, a.at = uint16(next), p.nextTick()
		}
		w.mu, w.timersMu = false, false
		w.release(p, loop)
		return "ends unless it is needed, and releases them", ""
	}
	return p.sleepStep(w, a)
}

// sleepStep is a step of sleep, park or runIO.
func (p *protocol) sleepStep(w *world, a *actor) (does, wrong string) {
	state := word(w.word)
	switch a.at {
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
		} else if p.has(scheduler) {
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
	case loopCheckLock:
		switch {
		case w.mayHaveWork():
			a.at = loopWake
		case p.descriptors():
			a.at = loopCheckReady
		default:
			a.at = p.afterNews()
		}
		return "looks for work", ""
	case loopCheckReady:
		if a.at = loopCheckChanged; w.ready {
			a.at = loopWake
		}
		return "looks whether the watch has told of events", ""
	case loopCheckChanged:
		if a.at = p.afterNews(); w.changed {
			a.at = loopWake
		}
		return "looks whether descriptors have changed", ""
	case loopCheckNeeded:
		if w.mu || w.timersMu || !w.acquire(loop) {
			return "", ""
		}
		w.mu, w.timersMu, a.at = true, true, loopCheckNeededDecide
		return "takes all locks", ""
	case loopCheckNeededDecide:
		if a.at = loopPark; !w.needed(p) {
			a.at = loopWake
		}
		w.mu, w.timersMu = false, false
		w.release(p, loop)
		return "looks whether it is needed, and releases them", ""
	case loopParkLate:
		a.at = loopPark
		return "parks", ""
	case loopPark:
		switch {
		case !w.blocked && !w.token:
			return "", ""
		case !w.blocked:
			w.token = false
		case w.event || w.fd:
			w.event, w.batch = false, w.fd
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
			w.word = uint16(eventloop.StateRunning)
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

	case loopIO:
		if a.at = loopRethink; state.Ending() {
			a.at = p.nextTick()
		}
		return "loads the state, to serve descriptors unless it ends", ""
	case loopRethink:
		if a.at = loopCollect; w.changed {
			a.at = loopRethinkClear
		}
		return "loads whether descriptors have changed", ""
	case loopRethinkClear:
		w.changed, a.at = false, loopRethinkRead
		return "takes notice of the change", ""
	case loopRethinkRead:
		if w.mu {
			return "", ""
		}
		switch a.at = loopRethinkPlace; {
		case !p.blocking && !w.table:
			a.at = loopCollect // no poller, or nothing to watch and no watch
		case !p.blocking:
			a.note = toWatch
		}
		return "looks at the table, under its lock", ""
	case loopRethinkPlace:
		if a.at = loopRethinkBlock; a.note == toWatch {
			if !w.watched {
				w.watched, w.tell = true, atOnce
			}
			a.at = loopCollect
		}
		w.blocked, a.note = false, 0
		return "begins the watch, if there is something to watch", ""
	case loopRethinkBlock:
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
		w.batch, w.drained, w.event = w.fd, !w.fd, false
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
			return "looks up who waits for the event, and calls", w.starts(p)
		}
		return "looks up who waits for the event", ""
	case loopCall:
		w.batch, a.at = false, p.nextTick()
		if !state.Ending() {
			w.fd = false
			return "looks at the state and calls for an event", w.starts(p)
		}
		return "looks at the state", ""
	}
	return p.endStep(w, a)
}

// endStep is a step of finish, rest or end.
func (p *protocol) endStep(w *world, a *actor) (does, wrong string) {
	state := word(w.word)
	switch a.at {
	case loopWorking, loopSeal, loopEnd:
		if !w.acquire(loop) {
			return "", ""
		}
		a.at++
		return "takes the inbox's lock", ""
	case loopWorkingCount:
		switch a.at = loopSeal; {
		case w.workers != 0 && p.mistake == sealIgnoresWorkers:
		case w.workers != 0 && p.descriptors():
			a.at = loopRest
		case w.workers != 0:
			a.at = loopRestCommit
		}
		w.release(p, loop)
		return "looks whether there are workers, and releases the lock", ""
	case loopRest:
		if !w.endWatch(p) {
			return "", ""
		}
		a.at = loopRestPlace
		return "ends the watch", ""
	case loopRestPlace:
		if a.at = loopRestCommit; p.mistake != restInPoller {
			w.blocked = false
		}
		return "will rest on the channel", ""
	case loopRestCommit:
		next, ok := p.transitions.rest(state)
		if !ok {
			a.at = p.nextTick()
			return "cannot commit to rest", ""
		}
		w.word, w.claims = uint16(next), 0
		if a.at = loopRestCheck; p.mistake == noSecondLook {
			a.at = loopRestPark
		}
		return "commits to rest", ""
	case loopRestCheck:
		if a.at = loopRestPark; w.mayHaveWork() {
			a.at = loopRestWake
		}
		return "looks for work", ""
	case loopRestPark:
		if !w.token {
			return "", ""
		}
		w.token, a.at = false, loopRestWake
		return "rested, and gets on", ""
	case loopRestWake:
		if next, ok := p.wake(state); ok {
			w.word = uint16(next)
			w.claims++
		}
		a.at = p.nextTick()
		return "is awake", ""
	case loopSealDecide:
		if a.at = p.nextTick(); p.seal(w) {
			a.at = loopEnd
		}
		w.release(p, loop)
		return "seals the inbox if it is empty, and releases the lock", ""

	case loopEndDiscard:
		w.discard(p, loop)
		w.move(p, true, taskTaken, 0)
		w.move(p, false, taskTaken, 0)
		switch a.at = loopTerminated; {
		case p.has(scheduler):
			a.at = loopEndTimers
		case p.descriptors():
			a.at = loopEndWatch
		}
		return "discards what is queued, and releases the lock", ""
	case loopEndTimers:
		if w.timersMu {
			return "", ""
		}
		w.timersClosed, w.pending, w.runtime = true, 0, deadlineNever
		if a.at = loopTerminated; p.descriptors() {
			a.at = loopEndWatch
		}
		return "drops the timers, and stops the alarm", ""
	case loopEndWatch:
		if !w.endWatch(p) {
			return "", ""
		}
		a.at = loopEndPoller
		return "ends the watch", ""
	case loopEndPoller:
		if w.mu || w.wakers != 0 && p.mistake != closeBeforeJoin {
			return "", ""
		}
		w.table, w.closed, a.at = false, true, loopTerminated
		return "drops the table, and closes the poller", ""
	case loopTerminated:
		w.word, a.at = uint16(p.terminated(state)), loopDone
		return "has ended", ""
	case loopDone:
		w.done, a.at = true, atGone
		return "closes done", ""
	}
	panic(a.at)
}

// Where the loop goes next, past what is not part of the cast.

func (p *protocol) nextTick() point {
	if p.has(scheduler) {
		return loopTick
	}
	return loopInternal
}

func (p *protocol) afterSleep() point {
	if p.descriptors() {
		return loopIO
	}
	return p.nextTick()
}

func (p *protocol) goToSleep() point {
	if p.autoExit {
		return loopExit
	}
	return p.sleeps()
}

func (p *protocol) sleeps() point {
	if p.has(scheduler) {
		return loopEarliest
	}
	return loopCommit
}

func (p *protocol) afterNews() point {
	switch {
	case p.autoExit && p.mistake != noLookAtNeeds:
		return loopCheckNeeded
	case p.mistake == signalToParkedOnly:
		return loopParkLate
	}
	return loopPark
}

// starts tells what is wrong with the start of a callback.
func (w *world) starts(p *protocol) (wrong string) {
	if w.done {
		return "a callback starts after the end"
	}
	for i, k := range p.kinds {
		if k == closer && w.actors[i+1].at == atGone && word(w.word).Closing() {
			return "a callback starts after Close has returned"
		}
	}
	return ""
}

// run runs one of the tasks that the loop has taken from a lane.
func (w *world) run(p *protocol, external bool) (wrong string) {
	wrong = w.starts(p)
	for i, k := range p.kinds {
		a := &w.actors[i+1]
		if !k.task() || k.external() != external || a.task&taskTaken == 0 {
			continue
		}
		if a.task&taskRan != 0 {
			wrong = "a task runs twice"
		}
		a.task = a.task&^taskTaken | taskRan
		if k == worker {
			w.workers--
		}
		break
	}
	return wrong
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
