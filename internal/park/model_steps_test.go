package park_test

// The steps of the protocol's actors, in the order of the code that they are of.

import (
	"github.com/turnloop/turnloop/internal/inbox"
	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/park"
)

// step takes the next step of an actor, and tells what it does, or "" if it cannot; and what is wrong with that.
func (p *protocol) step(w *world, i int) (does, wrong string) {
	a := &w.actors[i]
	switch {
	case a.at == atGone || a.buffer != 0 && !a.at.plain():
		return "", ""
	case i == loop:
		does, wrong = p.loopStep(w, a)
	case a.at == atBegin:
		does = p.first(w, i, a, p.kinds[i-1])
	default:
		does, wrong = p.callerStep(w, i, a, p.kinds[i-1])
	}
	if p.eager {
		w.flushUnseen(i)
	}
	return does, wrong
}

// first is the first step of all but Shutdown and Close, and of the watch and the alarm each time.
func (p *protocol) first(w *world, i int, a *actor, k kind) (does string) {
	switch k {
	case submitter, grower, insider, server, flooder, worker, holder:
		if p.mistake == checkBeforeLock && k.task() && k != worker {
			a.from, a.at = p.relevant(w.word, k), atAcquireUnseen
			return "loads the state"
		}
		if !w.acquire(i, k.box()) {
			return ""
		}
		a.at = atAdmit
		if k == worker {
			a.at = atCount
		} else if k == holder {
			a.at = atRelease
		}
		return takesLock(k.box())
	case registrar:
		if w.mu {
			return ""
		}
		w.mu, a.from, a.at = true, w.word, atOpen
		return "takes the table's lock and loads the state"
	case leaver:
		if w.mu || !w.table {
			return ""
		}
		w.mu, a.at = true, atUnregister
		return "takes the table's lock"
	case descriptor:
		if !w.table || w.closed {
			return ""
		}
		w.fd, a.at = true, atGone
		return "gets ready"
	case watcher:
		if !w.watched || !(w.tell == atOnce || w.tell == whenReady && w.fd && w.table) {
			return ""
		}
		w.tell, a.at = afterWait, atNotify
		return "finds that there may be events"
	case scheduler:
		if w.timersMu {
			return ""
		}
		w.timersMu, a.from, a.at = true, w.word, atSchedule
		return "takes the timers' lock and loads the state"
	case ringer:
		if w.runtime == deadlineNever {
			return ""
		}
		w.now, w.runtime, a.at = max(w.now, w.runtime), deadlineNever, atRings
		return "its time has come"
	}
	return ""
}

// callerStep is a step of any actor but the loop.
func (p *protocol) callerStep(w *world, i int, a *actor, k kind) (does, wrong string) {
	switch a.at {
	case atAdmit:
		a.from, a.at = p.relevant(w.word, k), atPush
		if k == grower && a.note == 0 {
			a.at = atGrowRelease
		}
		if p.mistake == placeBeforeClaim && w.blocked {
			a.note = 1
		}
		return "loads the state", ""
	case atGrowRelease:
		if p.refuses(w, k, word(a.from)) {
			return p.push(w, i, a, k)
		}
		w.release(p, i, k.box())
		a.note, a.at = 1, atAcquireAgain
		return "releases the lock, to get a chunk", ""
	case atAcquireAgain:
		if !w.acquire(i, k.box()) {
			return "", ""
		}
		a.at = atAdmit
		if p.mistake == stateOfBeforeGrowing {
			a.at = atPush
		}
		return takesLock(k.box()), ""
	case atAcquireUnseen:
		if !w.acquire(i, k.box()) {
			return "", ""
		}
		a.at = atPush
		return takesLock(k.box()), ""
	case atPush:
		return p.push(w, i, a, k)

	case atLook:
		a.from, a.at = w.word, atWakeLoad
		if !word(a.from).Sleeping() {
			p.after(w, a, k)
		}
		return "loads the state, to see whether the loop sleeps", ""
	case atWakeLoad:
		a.from, a.at = w.word, atWakeSwap
		if _, ok := p.wake(word(a.from)); !ok {
			p.after(w, a, k)
		} else if p.mistake == everybodyWakes {
			w.claims++
			a.at = p.signals()
		}
		return "loads the state, to claim the wake-up", ""
	case atWakeSwap:
		if a.from != w.word {
			p.after(w, a, k)
			return "finds the wake-up claimed", ""
		}
		next, _ := p.wake(word(a.from))
		w.word, a.at = uint16(next), p.signals()
		w.claims++
		return "claims the wake-up", ""
	case atSignal:
		a.at = atSend
		if w.blocked && p.mistake != placeBeforeClaim || a.note != 0 && p.mistake == placeBeforeClaim {
			a.at = atPollerEnter
		}
		return "loads where the loop sleeps", ""
	case atSend:
		if p.mistake != signalToParkedOnly || w.actors[loop].at == loopPark || w.actors[loop].at == loopRestPark {
			w.token = true
		}
		p.after(w, a, k)
		return "signals on the channel", ""
	case atPollerEnter:
		if w.closed {
			p.after(w, a, k)
			return "finds the poller closed", ""
		}
		w.wakers++
		a.at = atPollerWrite
		return "takes the poller's lock", ""
	case atPollerWrite:
		if w.closed {
			wrong = "a wake-up is written to a closed poller"
		}
		w.event = true
		w.wakers--
		p.after(w, a, k)
		return "writes to the poller", wrong

	case atCount:
		a.from, a.at = w.word, atSettle
		if w.sealed[inner] || word(a.from).Ending() {
			a.at = atGone
		} else {
			w.workers++
			a.task |= taskCounted
		}
		a.from = 0
		w.release(p, i, inner)
		return "loads the state, is counted unless it ends, and releases the lock", ""
	case atSettle:
		if !w.acquire(i, inner) {
			return "", ""
		}
		a.at = atAdmit
		return "has an outcome, and takes the urgent inbox's lock", ""

	case atTerminate:
		return p.terminateStep(w, a, k)
	case atSealAwake:
		ok, both := w.acquireBoth(p, i)
		if !ok {
			return "", ""
		} else if both {
			a.at = atSealAwakeDecide
		}
		return "takes an inbox's lock, to seal it", ""
	case atSealAwakeDecide:
		w.actors[loop].at = p.nextTick()
		if p.seal(w) {
			w.actors[loop].at = loopEnd
		}
		w.releaseBoth(p, i)
		a.from, a.at = 0, atGone
		return "seals the inboxes if they are empty, and owns the loop", ""
	case atDiscard:
		ok, both := w.acquireBoth(p, i)
		if !ok {
			return "", ""
		} else if both {
			a.at = atDiscardAll
		}
		return "takes an inbox's lock, to discard what is in it", ""
	case atDiscardAll:
		p.discard(w)
		w.releaseBoth(p, i)
		a.at = atGone
		if word(a.from).State() == loopapi.StateAwake && p.mistake != closeLeavesAwake {
			a.at, w.actors[loop].at = atAwaitDone, loopEnd
		}
		a.from = 0
		return "discards what is queued, and returns unless it owns the loop", ""
	case atAwaitDone:
		if !w.done {
			return "", ""
		}
		a.at = atGone
		return "has ended the loop, and returns", ""

	case atOpen:
		a.at = atInsert
		if !word(a.from).Ending() {
			w.changed = w.changed || !p.blocking
			return "opens the poller", ""
		}
		w.mu = false
		a.from, a.at = 0, atGone
		return "is refused", ""
	case atInsert:
		w.table, w.mu, a.from, a.at = true, false, 0, atLookChanged
		w.changed = p.mistake != publishAfterLook
		return "registers, and says that there is a change", ""
	case atLookChanged:
		if a.at = atLook; !w.changed && p.mistake != publishAfterLook {
			a.at = atGone
		}
		return "looks whether it was noticed already", ""
	case atUnregister:
		w.table, w.changed, a.at = false, true, atFollow
		a.task |= taskAccepted
		if p.mistake == followsBehindTheLock {
			w.mu = false
		}
		return "unregisters, and says that there is a change", ""
	case atFollow:
		if !w.acquire(i, inner) {
			return "", ""
		}
		a.at = atAdmit
		return takesLock(inner), ""
	case atLeave:
		w.mu = w.mu && p.mistake == followsBehindTheLock
		if a.at = atGone; p.autoExit {
			a.at, a.note = atLook, 1
		}
		return "releases the table's lock", ""
	case atSchedule:
		if w.timersMu = false; w.timersClosed || word(a.from).Ending() {
			a.from, a.at = 0, atGone
			return "is refused", ""
		}
		deadline := uint8(deadlineLate)
		if a.note != 0 {
			deadline = deadlineEarly
		}
		w.pending |= deadline
		if a.from, a.at = 0, atLook; deadline >= w.earliest {
			p.after(w, a, k)
		} else if p.mistake != publishAfterLook {
			w.earliest = deadline
		}
		return "inserts a timer, and says if it is the earliest", ""
	case atRings:
		switch a.at = atLook; p.mistake {
		case publishAfterLook:
		case plainRang:
			a.buffer = rangStore
		default:
			w.rang = true
		}
		return "says that it rang", ""
	case atNotify:
		w.ready = p.mistake != publishAfterLook
		a.at = atLook
		return "says that there may be events", ""
	case atRelease:
		w.holds = false
		w.release(p, i, inner)
		a.at = atLook
		return "ends the hold, and releases the lock", ""
	case atPublishLate:
		switch k {
		case registrar:
			w.changed = true
		case scheduler:
			w.earliest = min(w.earliest, w.pending&-w.pending)
		case ringer:
			w.rang = true
		case watcher:
			w.ready = true
		}
		p.next(a, k)
		return "says so only now", ""
	}
	panic(a.at)
}

// signals is where an actor goes that has to signal: in most casts it is known where the loop sleeps.
func (p *protocol) signals() point {
	if p.blocking {
		return atSignal
	}
	return atSend
}

// refuses is admit, of work from elsewhere.
func (p *protocol) refuses(w *world, k kind, state word) bool {
	switch {
	case !state.Ending():
		return false
	case k.external():
		return true
	case w.sealed[inner]:
		return p.mistake != sealIgnored
	}
	return p.counts && !(k.owed() && p.mistake != owesNothing) && w.late == 0 && p.mistake != takesAllFromElsewhere
}

// push is the end of enqueue: it accepts the task or not, and releases the lock.
func (p *protocol) push(w *world, i int, a *actor, k kind) (does, wrong string) {
	state := word(a.from)
	if p.refuses(w, k, state) {
		if w.release(p, i, k.box()); p.mistake == refusedLeavesWork {
			a.buffer = storeOf(k.box(), inbox.FreeWork)
		}
		switch a.from, a.note, a.at = 0, 0, atGone; {
		case k == leaver:
			a.at = atLeave
		case k == flooder && !w.sealed[inner]:
			a.at = atBegin
		}
		return "is refused, and releases the lock", ""
	}
	if w.done {
		wrong = "accepted after the end"
	}
	w.accept(p, a, k)
	if state.Ending() {
		p.marks |= accepts
		if p.counts && !k.owed() && w.late > 0 {
			w.late--
		}
	}
	if k.external() || p.mistake != plainFlag {
		w.urgent = w.urgent || !k.external()
	} else {
		a.later(urgentStore)
	}
	if w.release(p, i, k.box()); p.mistake == releaseEmpty {
		a.buffer = storeOf(k.box(), inbox.FreeEmpty)
	}
	if a.at = atWakeLoad; !state.Sleeping() {
		p.after(w, a, k)
	}
	return "is accepted, and releases the lock", wrong
}

// accept queues a task. Of who has more than one it only matters where they are.
func (w *world) accept(p *protocol, a *actor, k kind) {
	if a.task |= taskQueued; !k.again() {
		a.task |= taskAccepted
	}
}

// after is what an actor goes on with when it has woken the loop, or need not.
func (p *protocol) after(w *world, a *actor, k kind) {
	if p.mistake == publishAfterLook && (k == registrar || k == scheduler || k == ringer || k == watcher) {
		a.at = atPublishLate
		return
	}
	p.next(a, k)
}

func (p *protocol) next(a *actor, k kind) {
	switch {
	case k == closer:
		a.at = atDiscard
		return // it wants to know the state that it found
	case k == ringer || k == watcher || k == flooder:
		a.at = atBegin
	case k == scheduler && a.note == 0:
		a.at, a.note = atBegin, 1
	case k == leaver && a.note == 0:
		a.at = atLeave
	default:
		a.at, a.note = atGone, 0
	}
	a.from = 0
}

// terminateStep is the loop of load and compare-and-swap in StateWord.Terminate, of which the load is a step when the
// swap can fail.
func (p *protocol) terminateStep(w *world, a *actor, k kind) (does, wrong string) {
	cause := word(0)
	if k == closer {
		cause = park.CauseClose
	}
	from := word(w.word)
	next, ok := p.terminate(from, cause)
	if !ok {
		a.at = atGone
		return "finds that the loop ends already", ""
	}
	w.word, a.from, a.at = uint16(next), p.relevant(w.word, k), atGone
	switch {
	case from.Sleeping():
		w.claims++
		if a.at = p.signals(); p.mistake == endNotSignalled {
			p.after(w, a, k)
		}
	case k == closer:
		a.at = atDiscard
	case from.State() == loopapi.StateAwake:
		a.at = atSealAwake
	}
	if a.at == atGone {
		a.from = 0
	}
	return "asks for the end", ""
}
