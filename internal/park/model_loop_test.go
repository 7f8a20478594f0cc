package park_test

// The steps of the protocol's loop, in the order of its code: a tick, up to the decision what to do next.

import "github.com/turnloop/turnloop/internal/loopapi"

// What the loop's note says.
const (
	withinExternal = 1 + iota // runInternal was called by runExternal
	polled                    // the sleep has asked the poller
	toWatch                   // there are descriptors to watch
	rangBefore                // the alarm had rung before the loop committed to sleep
	toSleep                   // needed was called by park, and not by exit
	justNoticed               // renew was called by a tick that has noticed the end
	everythingRan             // of a mistake: renew was called by finish, before it looks for workers

	haveFirst = 1 << 7 // of the two locks; also in the note of who seals or discards
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
	case loopBegin:
		switch a.at = p.runTimers(); {
		case !state.Ending():
		case !w.noticed, p.mistake == renewsEachTick:
			a.at, a.note, w.noticed = loopRenew, justNoticed, true
		}
		return "loads the state, and begins a tick", ""
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
				return "fires a timer", p.starts(w)
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
		return "looks at the state and fires the timer", p.starts(w)

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
			return "looks at the state and runs an internal task", p.run(w, false)
		default:
			a.at = loopInternalTake
		}
		return "looks at the state", ""
	case loopInternalTake:
		if !w.acquire(loop, inner) {
			return "", ""
		}
		a.at = loopInternalTaken
		return takesLock(inner), ""
	case loopInternalTaken:
		w.move(p, false, taskQueued, taskTaken)
		w.release(p, loop, inner)
		if a.at = loopInternal; p.mistake == urgentClearedLate {
			a.at = loopUrgentLate
		} else {
			w.urgent = false
		}
		return "takes the internal lane, and releases the lock", ""
	case loopUrgentLate:
		w.urgent, a.at = false, loopInternal
		return "says that there is no internal work", ""
	case loopServe:
		if !w.acquire(loop, inner) {
			return "", ""
		}
		a.at = loopServeAgain
		return takesLock(inner) + ", to go on", ""
	case loopServeAgain:
		return p.serveStep(w, a)
	case loopFollow:
		if w.mu {
			return "", ""
		}
		a.at = loopInternal
		return "calls what follows the registration, as the table says", p.follow(w)

	case loopExternal:
		if w.urgent || w.holdsTask(p, false, taskTaken) {
			a.at, a.note = loopInternal, withinExternal
			return "loads whether there is internal work", ""
		}
		return "loads whether there is internal work", p.nextExternal(w, a)
	case loopExternalAgain:
		if a.at = loopDecide; !w.urgent && !w.holdsTask(p, false, taskTaken) {
			wrong = p.nextExternal(w, a)
		}
		return "loads whether there is internal work", wrong
	case loopExternalLook:
		if state.Closing() && p.mistake != closeSeenLate {
			a.at = loopDecide
			return "looks at the state", ""
		}
		a.at = loopExternal
		return "looks at the state and runs an external task", p.run(w, true)
	case loopDecide:
		switch a.from, a.at = 0, loopHasWork; {
		case state.Closing():
			a.at = loopEnd
		case state.Ending():
			a.from = uint16(loopapi.StateTerminating)
		}
		return "loads the state", ""
	case loopHasWork, loopHasWorkInner:
		return p.hasWorkStep(w, a), ""
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
	}
	if a.at >= loopRefill && a.at <= loopRefillEnd {
		return p.refillStep(w, a), ""
	}
	return p.sleepStep(w, a)
}

// nextExternal is where runExternal goes on when the loop has seen nothing that goes before external tasks. It tells
// what is wrong with that.
func (p *protocol) nextExternal(w *world, a *actor) (wrong string) {
	if a.at = loopRefill; !w.holdsTask(p, true, taskTaken) {
		return ""
	}
	a.at = loopExternalLook
	for i, k := range p.kinds {
		if a := w.actors[i+1]; k.task() && !k.external() && a.at == atGone && a.task&taskQueued != 0 {
			return "an external task goes before an internal one that was accepted"
		}
	}
	return ""
}

// refillStep is a step of refill.
func (p *protocol) refillStep(w *world, a *actor) (does string) {
	afterOuter := loopRefillEnd
	if p.boxes[len(p.boxes)-1] == inner {
		afterOuter = loopRefillUrgent
	}
	switch a.at {
	case loopRefill, loopRefillInner:
		switch work, known := w.mayHaveWork(p, loopRefill); {
		case known && !work:
			a.at = loopDecide
		case known && p.boxes[0] == outer:
			a.at = loopRefillOuter
		case known:
			a.at = loopRefillUrgent
		}
		return "loads whether there is work"
	case loopRefillOuter:
		if a.at = afterOuter; w.peek(p, outer) {
			a.at = loopRefillPressed
		}
		return "loads whether there is external work"
	case loopRefillPressed:
		if a.at = afterOuter; !w.urgent {
			a.at = loopExternalTake
		}
		return "loads whether there is internal work"
	case loopExternalTake:
		switch {
		case p.mistake == takeUnlocked:
			w.move(p, true, taskQueued, taskQueued|taskTaken)
			a.at = loopExternalTaken
			return "takes the external lane"
		case w.acquire(loop, outer):
			a.at = loopExternalTaken
			return takesLock(outer)
		case w.urgent:
			a.at = afterOuter
			return "waits for the lock, sees that there is internal work, and gives up"
		}
		return ""
	case loopExternalTaken:
		if p.mistake == takeUnlocked {
			w.move(p, true, taskQueued, 0)
		} else {
			w.move(p, true, taskQueued, taskTaken)
		}
		w.release(p, loop, outer)
		if a.at = afterOuter; w.holdsTask(p, true, taskTaken) {
			a.at = loopExternal
		}
		return "takes the external lane, and releases the lock"
	case loopRefillUrgent:
		if a.at = loopRefillEnd; w.peek(p, inner) && p.mistake != doesNotWait {
			a.at = loopRefillFlag
		}
		return "loads whether somebody has the urgent lock"
	case loopRefillFlag:
		if a.at = loopRefillEnd; !w.urgent {
			a.at = loopRefillWait
		}
		return "loads whether there is internal work"
	case loopRefillWait:
		if !w.acquire(loop, inner) {
			return ""
		}
		w.release(p, loop, inner)
		a.at = loopRefillEnd
		return "takes the urgent inbox's lock, which says what for, and releases it"
	case loopRefillEnd:
		if a.at = loopDecide; w.urgent {
			a.at = loopExternal
		}
		return "loads whether there is internal work"
	}
	panic(a.at)
}

// serveStep is the end of an enqueue that a callback calls.
func (p *protocol) serveStep(w *world, a *actor) (does, wrong string) {
	a.at = loopInternal
	for i, k := range p.kinds {
		own := &w.actors[i+1]
		if k != server || own.task&taskRan == 0 {
			continue
		}
		own.task &^= taskRan
		if word(w.word).Ending() {
			if w.sealed[inner] || w.credit == 0 && p.mistake != takesAllOfItsOwn {
				w.release(p, loop, inner)
				return "loads the state, is refused, and releases the lock", ""
			}
			p.marks |= accepts
			w.credit = max(w.credit, 1) - 1
		}
		w.accept(p, own, k)
		w.urgent = true
		break
	}
	w.release(p, loop, inner)
	return "loads the state, submits it again, and releases the lock", ""
}

// hasWorkStep is what a tick decides when it has run everything.
func (p *protocol) hasWorkStep(w *world, a *actor) (does string) {
	work, known := w.holdsTask(p, true, taskTaken) || w.holdsTask(p, false, taskTaken), true
	if !work {
		work, known = w.mayHaveWork(p, loopHasWork)
	}
	switch {
	case !known:
		return "loads whether there is work"
	case work:
		a.at = p.afterSleep()
	case word(a.from).Ending():
		p.finish(a)
	case p.descriptors:
		a.at = loopPendingReady
	default:
		a.at = p.goToSleep()
	}
	a.from = 0
	return "loads whether there is work"
}

// Where the loop goes next, past what is not part of the cast.

func (p *protocol) nextTick() point {
	if p.counts {
		return loopBegin
	}
	return p.runTimers()
}

func (p *protocol) runTimers() point {
	if p.timers {
		return loopTick
	}
	return loopInternal
}

func (p *protocol) afterSleep() point {
	if p.descriptors {
		return loopIO
	}
	return p.nextTick()
}

func (p *protocol) goToSleep() point {
	if p.autoExit {
		return p.needs(loopNeedsTable)
	}
	return p.sleeps()
}

func (p *protocol) sleeps() point {
	if p.timers {
		return loopEarliest
	}
	return loopCommit
}

// What runs.

// starts tells what is wrong with the start of a callback.
func (p *protocol) starts(w *world) (wrong string) {
	p.marks &^= idle
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
func (p *protocol) run(w *world, external bool) (wrong string) {
	wrong = p.starts(w)
	for i, k := range p.kinds {
		a := &w.actors[i+1]
		if !k.task() || k.external() != external || a.task&taskTaken == 0 {
			continue
		}
		if a.task&taskRan != 0 {
			wrong = "a task runs twice"
		}
		a.task &^= taskTaken
		switch k {
		case server:
			a.task |= taskRan
			w.actors[loop].at = loopServe
		case flooder:
		case leaver:
			w.actors[loop].at = loopFollow
		case worker:
			w.workers--
			fallthrough
		default:
			a.task |= taskRan
		}
		break
	}
	return wrong
}

// follow calls what follows a registration that has ended.
func (p *protocol) follow(w *world) (wrong string) {
	for i, k := range p.kinds {
		if a := &w.actors[i+1]; k == leaver && a.task&taskAccepted != 0 {
			if a.task&taskRan != 0 {
				wrong = "what follows a registration is called twice"
			}
			a.task |= taskRan
		}
	}
	return wrong
}

// followed tells whether what follows a registration was called.
func (p *protocol) followed(w *world) bool {
	for i, k := range p.kinds {
		if k == leaver && w.actors[i+1].task&taskRan != 0 {
			return true
		}
	}
	return false
}
