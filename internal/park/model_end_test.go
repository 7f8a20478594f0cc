package park_test

// The steps of the protocol's loop when it ends: finish, rest and end.

// finish is where a loop goes on that is ending and has run everything.
func (p *protocol) finish(a *actor) {
	if p.mistake == renewsBeforeSeal {
		a.at, a.note = loopRenew, everythingRan
		return
	}
	p.looksForWorkers(a)
}

func (p *protocol) looksForWorkers(a *actor) {
	if a.at = loopSeal; p.workers {
		a.at = loopWorking
	}
}

// renewedOrNextTick is what follows a rest.
func (p *protocol) renewedOrNextTick(a *actor) {
	if a.at = p.nextTick(); p.counts {
		a.at = loopRenew
	}
}

// endStep is a step of finish, rest or end.
func (p *protocol) endStep(w *world, a *actor) (does, wrong string) {
	state := word(w.word)
	switch a.at {
	case loopRenew:
		if !w.acquire(loop, inner) {
			return "", ""
		}
		a.at = loopRenewed
		return takesLock(inner), ""
	case loopRenewed:
		w.late, w.credit = few, few
		w.release(p, loop, inner)
		switch a.note {
		case justNoticed:
			a.at = p.runTimers()
		case everythingRan:
			p.looksForWorkers(a)
		default:
			a.at = p.nextTick()
		}
		a.note = 0
		return "renews what it accepts, and releases the lock", ""

	case loopWorking:
		if !w.acquire(loop, inner) {
			return "", ""
		}
		a.at = loopWorkingCount
		return takesLock(inner), ""
	case loopWorkingCount:
		switch a.at = loopSeal; {
		case w.workers != 0 && p.mistake == sealIgnoresWorkers:
		case w.workers != 0 && p.descriptors:
			a.at = loopRest
		case w.workers != 0:
			a.at = loopRestCommit
		}
		w.release(p, loop, inner)
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
			p.renewedOrNextTick(a)
			return "cannot commit to rest", ""
		}
		w.word, w.claims = uint16(next), 0
		if a.at = loopRestCheck; p.mistake == noSecondLook {
			a.at = loopRestPark
		}
		return "commits to rest", ""
	case loopRestCheck, loopRestCheckInner:
		switch work, known := w.mayHaveWork(p, loopRestCheck); {
		case work:
			a.at = loopRestWake
		case known:
			a.at = loopRestPark
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
		p.renewedOrNextTick(a)
		return "is awake", ""
	case loopSeal:
		ok, both := w.acquireBoth(p, loop)
		if !ok {
			return "", ""
		} else if both {
			a.at = loopSealDecide
		}
		return "takes an inbox's lock, to seal it", ""
	case loopSealDecide:
		if a.at = p.nextTick(); p.seal(w) {
			a.at = loopEnd
		}
		w.releaseBoth(p, loop)
		return "seals the inboxes if they are empty, and releases the locks", ""

	case loopEnd:
		ok, both := w.acquireBoth(p, loop)
		if !ok {
			return "", ""
		} else if both {
			a.at = loopEndDiscard
		}
		return "takes an inbox's lock, to discard what is in it", ""
	case loopEndDiscard:
		p.discard(w)
		w.releaseBoth(p, loop)
		w.move(p, true, taskTaken, 0)
		w.move(p, false, taskTaken, 0)
		switch a.at = loopTerminated; {
		case p.timers:
			a.at = loopEndTimers
		case p.descriptors:
			a.at = loopEndWatch
		}
		return "discards what is queued, and releases the locks", ""
	case loopEndTimers:
		if w.timersMu {
			return "", ""
		}
		w.timersClosed, w.pending, w.runtime = true, 0, deadlineNever
		if a.at = loopTerminated; p.descriptors {
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
		return "drops the table, has what follows registrations called elsewhere, and closes the poller", p.orphans(w)
	case loopTerminated:
		w.word, a.at = uint16(p.terminated(state)), loopDone
		return "has ended", ""
	case loopDone:
		w.done, a.at = true, atGone
		return "closes done", ""
	}
	panic(a.at)
}

// orphans has what follows registrations, and the loop has not called, called by somebody else.
func (p *protocol) orphans(w *world) (wrong string) {
	for i, k := range p.kinds {
		a := &w.actors[i+1]
		if k != leaver || a.task&taskAccepted == 0 || a.task&taskRan != 0 || p.mistake == forgetsWhatFollows {
			continue
		}
		if a.task |= taskRan; !p.has(ender, closer) {
			wrong = "the loop has ended by itself before what follows a registration"
		}
	}
	return wrong
}
