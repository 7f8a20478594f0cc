package threadlet

// The two directions of a socket: which threadlets wait, and whose turn it is.

import (
	"sync/atomic"

	"github.com/turnloop/turnloop/eventloop"
)

// side is one direction of a socket.
//
// The threadlets that wait for it are in a list, first come, first served; Threadlet.wake removes them, in any order. The
// list is a ring, linked by Threadlet.next, which has no other use while a threadlet waits, and by Threadlet.before.
//
// Reads go one after the other, and so do writes. One that is done at once needs no turn. One that is not takes the turn,
// and keeps it until it returns; those that begin meanwhile wait for it, in the same list, behind the owner of the turn.
// Accept does without turns.
type side struct {
	last     *Threadlet   // the last in the list, whose next is the first; nil if nobody waits
	turn     *Threadlet   // the threadlet whose turn it is; nil if there is none
	deadline atomic.Int64 // in nanoseconds since epoch, 0 for none; any goroutine may set it
	waking   bool         // wakeFirst has woken a threadlet that has not run yet
	drained  bool         // the last read has emptied the socket, so the next one waits until the system reports data
}

// first returns the first threadlet that waits, or nil.
func (sd *side) first() *Threadlet {
	if sd.last == nil {
		return nil
	}
	return sd.last.next
}

// behind returns the one that waits behind t, or nil.
func (sd *side) behind(t *Threadlet) *Threadlet {
	if t == sd.last {
		return nil
	}
	return t.next
}

// push puts t at the end of the list, or, if it is t's turn, at the beginning.
func (sd *side) push(t *Threadlet) {
	t.at = sd
	if sd.last == nil {
		sd.last, t.next, t.before = t, t, t
		return
	}
	t.next, t.before = sd.last.next, sd.last
	t.next.before, t.before.next = t, t
	if sd.turn != t {
		sd.last = t
	}
}

// pass ends the turn of t, which is running, and gives the turn to the first that waits for it. Without a turn t passes
// nothing on.
func (sd *side) pass(t *Threadlet) {
	if sd.turn == t {
		sd.next()
	}
}

func (sd *side) next() {
	if sd.turn = sd.first(); sd.turn != nil {
		sd.turn.wake(nil)
	}
}

// takeTurn waits until it is the turn of t. It may return an error although it is t's turn; the caller calls pass in any case.
func (d *desc) takeTurn(t *Threadlet, sd *side, why reason, events eventloop.IOEvents) error {
	if sd.turn == nil || sd.turn == t {
		sd.turn = t
		return nil
	}
	if err := d.wait(t, sd, why, events); err != nil {
		return err
	}
	return d.usable(sd)
}

// runs notes that t, which was in the list, runs again: if wakeFirst has woken it, wakeFirst may now wake the next.
func (sd *side) runs(t *Threadlet) {
	if t.woken {
		t.woken, sd.waking = false, false
	}
}

// leave takes t, which is in the list, out of it.
func (sd *side) leave(t *Threadlet) {
	switch {
	case t.next == t:
		sd.last = nil
	case sd.last == t:
		sd.last = t.before
	}
	t.before.next, t.next.before = t.next, t.before
	t.at, t.next, t.before = nil, nil, nil
}

// wakeFirst wakes the first threadlet that waits for an event, and returns false if there is none: those behind the owner of
// the turn wait for the turn. While a threadlet that it has woken has not run yet, it wakes no other and returns true: the
// event is for that threadlet, and if something is left to read or write after it, the loop reports the event again.
func (sd *side) wakeFirst() bool {
	switch t := sd.first(); {
	case sd.waking:
	case t == nil, sd.turn != nil && sd.turn != t:
		return false
	default:
		t.woken, sd.waking = true, true
		t.wake(nil)
	}
	return true
}

// wakeAll ends all waits of a side with err, and tells whether there were any.
func (sd *side) wakeAll(err error) (any bool) {
	for sd.last != nil {
		sd.first().wake(err)
		any = true
	}
	return any
}
