package park_test

// What the protocol's actors share: the inboxes, and the memory that has them.

import (
	"slices"

	"github.com/turnloop/turnloop/internal/inbox"
	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/park"
)

// holdsTask tells whether a lane, or another place of its tasks, holds any.
func (w *world) holdsTask(p *protocol, external bool, where uint8) bool {
	for i, k := range p.kinds {
		if k.task() && k.external() == external && w.actors[i+1].task&where != 0 {
			return true
		}
	}
	return false
}

func (w *world) empty(p *protocol, box uint8) bool { return !w.holdsTask(p, box == outer, taskQueued) }

// move takes the tasks of a lane from one place to another.
func (w *world) move(p *protocol, external bool, from, to uint8) {
	for i, k := range p.kinds {
		if a := &w.actors[i+1]; k.task() && k.external() == external && a.task&from != 0 {
			a.task = a.task&^from | to
		}
	}
}

// needed is neededLocked.
func (w *world) needed(p *protocol) bool {
	return w.holds || w.workers != 0 || !w.empty(p, outer) || !w.empty(p, inner) || w.table || w.pending != 0
}

// seal is what seal does under the locks.
func (p *protocol) seal(w *world) bool {
	sealed := w.sealed[outer] || (w.empty(p, outer) || p.mistake == sealIgnoresExternal) &&
		(w.empty(p, inner) || p.mistake == sealIgnoresInternal) && (w.workers == 0 || p.mistake == sealIgnoresWorkers)
	w.sealed = [2]bool{sealed, sealed}
	return sealed
}

// discard is what discard does under the locks.
func (p *protocol) discard(w *world) {
	if p.mistake != discardForgetsExternal {
		w.sealed[outer] = true
		w.move(p, true, taskQueued, 0)
	}
	if p.mistake != discardForgetsInternal {
		w.sealed[inner] = true
		w.move(p, false, taskQueued, 0)
	}
}

// The stores that a buffer holds, the first in the lowest bits: nothing, a value of one of the locks, or a flag.
const (
	lockStore = 1 + iota // and one for work, and two for the second lock
	_
	_
	_
	rangStore
	urgentStore

	storeBits = 3
	storeMask = 1<<storeBits - 1
)

func storeOf(box, value uint8) uint8 {
	store := lockStore + 2*box
	if value == inbox.FreeWork {
		store++
	}
	return store
}

// later stores in an actor's buffer.
func (a *actor) later(store uint8) {
	for shift := 0; ; shift += storeBits {
		if a.buffer>>shift == 0 {
			a.buffer |= store << shift
			return
		}
	}
}

// flush has the first of an actor's stores reach the memory.
func (w *world) flush(i int) {
	a := &w.actors[i]
	switch store := a.buffer & storeMask; store {
	case rangStore:
		w.rang = true
	case urgentStore:
		w.urgent = true
	default:
		box, value := (store-lockStore)/2, uint8(inbox.FreeEmpty)
		if store != storeOf(box, value) {
			value = inbox.FreeWork
		}
		w.lock[box] = value
	}
	a.buffer >>= storeBits
}

// flushUnseen has an actor's stores reach the memory at once, where nobody could tell whether it comes later.
func (w *world) flushUnseen(i int) {
	a := &w.actors[i]
	if i != loop && (a.at.plain() || a.buffer&storeMask >= rangStore) {
		return
	}
	for a.buffer != 0 {
		w.flush(i)
	}
}

// acquire takes an inbox's lock for an actor, if it is free. An actor with a store in its buffer takes no such step.
func (w *world) acquire(i int, box uint8) bool {
	if w.lock[box] == inbox.Locked {
		return false
	}
	w.lock[box] = inbox.Locked
	return true
}

// acquireBoth takes the next of the locks for an actor that takes both, one in a step, and tells whether it has them.
func (w *world) acquireBoth(p *protocol, i int) (ok, both bool) {
	a := &w.actors[i]
	first, last := p.boxes[0], p.boxes[len(p.boxes)-1]
	if p.mistake == otherWayRound && i != loop {
		first, last = last, first
	}
	next := first
	if a.note&haveFirst != 0 {
		next = last
	}
	if !w.acquire(i, next) {
		return false, false
	}
	if next != last {
		a.note |= haveFirst
		return true, false
	}
	a.note &^= haveFirst
	return true, true
}

// release gives a lock back, in a plain store.
func (w *world) release(p *protocol, i int, box uint8) {
	value := uint8(inbox.FreeWork)
	if w.empty(p, box) {
		value = inbox.FreeEmpty
	}
	w.actors[i].later(storeOf(box, value))
}

func (w *world) releaseBoth(p *protocol, i int) {
	for _, box := range slices.Backward(p.boxes) {
		w.release(p, i, box)
	}
}

// peek is the loop's look at an inbox without its lock; it sees its own stores at once.
func (w *world) peek(p *protocol, box uint8) bool {
	value := w.lock[box]
	for buffer := w.actors[loop].buffer; buffer != 0; buffer >>= storeBits {
		switch buffer & storeMask {
		case storeOf(box, inbox.FreeEmpty):
			value = inbox.FreeEmpty
		case storeOf(box, inbox.FreeWork):
			value = inbox.FreeWork
		}
	}
	if value == inbox.Locked {
		p.marks &^= sure
	}
	return value != inbox.FreeEmpty
}

// mayHaveWork looks at the inboxes, one in a step: at the first in the place first, at the second in the place behind it.
// It tells whether it is known whether there may be work.
func (w *world) mayHaveWork(p *protocol, first point) (work, known bool) {
	a := &w.actors[loop]
	n := int(a.at - first)
	box := p.boxes[n]
	work = w.peek(p, box) && !(p.mistake == looksAtExternalOnly && box == inner) &&
		!(p.mistake == looksAtInternalOnly && box == outer)
	if work || n == len(p.boxes)-1 {
		return work, true
	}
	a.at++
	return false, false
}

func takesLock(box uint8) string {
	if box == outer {
		return "takes the inbox's lock"
	}
	return "takes the urgent inbox's lock"
}

// relevant is what of a state that was read makes a difference later: to who submits, whether the loop sleeps or is
// ending, of which external work, when it is ending, needs no more; to who ends it, whether it never ran.
func (p *protocol) relevant(state uint16, k kind) uint16 {
	w := word(state)
	relevant := word(loopapi.StateRunning)
	switch {
	case !k.task():
		if w.State() == loopapi.StateAwake {
			relevant = w
		}
		return uint16(relevant)
	case w.Ending():
		relevant = word(loopapi.StateTerminating)
	case w.Sleeping():
		relevant = word(loopapi.StateSleeping)
	}
	if w.Sleeping() && !k.external() {
		relevant |= park.Resting
	}
	return uint16(relevant)
}
