package looptest

// Whose turn it is: the part of the reference that follows a loop through its ticks.

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/turnloop/turnloop/internal/loopapi"
)

// place is where in a tick the loop may be. A tick is timers, internal tasks, tasks up to the budget, microtasks;
// descriptors, microtasks; with microtasks before the first callback and after each.
//
// A tick runs all timers that were due when it began, all internal tasks, and tasks up to the budget, unless it takes too
// long: what has not had its turn after about 10 ms waits for the next one, behind descriptors, and in front of external
// tasks if it is internal; and the budget of tasks may then be that of both ticks. On a machine that stalls, or under the
// race detector, that can happen at any moment; on virtual time, in which no callback of a program takes any, it does not
// happen. No other bound of a tick comes into play: a program has too few functions for that (mostFunctions).
//
// What the specification leaves open it leaves open: what a panic does to the timers that are due behind it, and when
// exactly a deadline is noticed in real time. Where two ways lead on from a place and look the same for now, the rules
// follow both: what happens later has to be right for one of them, and not now for the one and then for the other.
type place struct {
	phase     phase
	known     int       // timers that were scheduled when the tick began, at least
	most      int       // and at most
	began     time.Time // the tick began no earlier; zero if that is not known
	since     time.Time // nor did it begin before this, which is always known
	unsure    bool      // the next tick may have begun already
	stale     bool      // the tick may be that of an earlier round still, and its budget of tasks half spent
	cut       bool      // the tick, or the one before, was long: how much of that budget is left is not known
	draining  bool      // microtasks run before anything else
	held      bool      // the microtask budget is spent, the rest waits for the next tick
	microLeft int
	taskLeft  int
	sinceRun  int // callbacks of descriptors since the last checkpoint
}

type phase int

const (
	resting phase = iota // the next tick has not begun
	timing
	tasking
	polling
)

// ran books the begin of a function and says whether it was its turn.
func (r *rules) ran(id int, now time.Time) {
	if r.closed && !r.t.suite.exempt("D16_CloseDrops") {
		r.t.Errorf("function %d began after Close", id)
		return
	}
	r.now = now
	if err := r.move(func(p place) ([]place, error) { return r.turn(p, id, 0) }); err != nil {
		r.t.Errorf("function %d began: %v", id, err)
	}
	if i := r.timerOf(id); i >= 0 {
		if err := r.fired(i, now); err != nil {
			r.t.Errorf("function %d began: %v", id, err)
		}
	}
	for lane, q := range r.queue {
		if i := slices.Index(q, id); i >= 0 {
			r.queue[lane] = slices.Delete(q, i, i+1)
		}
	}
	r.last = now
	r.steps++
}

// move goes on from each place to those that step says. It returns an error when no place allows it, and stays.
func (r *rules) move(step func(p place) ([]place, error)) error {
	var to []place
	var wrong error
	for _, p := range r.places {
		next, err := step(p)
		if wrong == nil {
			wrong = err
		}
		for _, q := range next {
			to = add(to, q)
		}
	}
	if len(to) == 0 {
		return wrong
	}
	r.places = to
	return nil
}

// mostPlaces is how many places are told apart by the timers that were scheduled when the tick began.
const mostPlaces = 16

// add adds a place to others. Of two that differ only in when the tick began, the earlier one allows all that the later
// one does.
func add(places []place, p place) []place {
	for i := range places {
		q, alike := &places[i], p
		alike.began, alike.since = q.began, q.since
		if len(places) >= mostPlaces {
			alike.known, alike.most = q.known, q.most
		}
		if alike == *q {
			if p.began.Before(q.began) {
				q.began = p.began
			}
			if p.since.Before(q.since) {
				q.since = p.since
			}
			q.known, q.most = min(p.known, q.known), max(p.most, q.most)
			return places
		}
	}
	return append(places, p)
}

// turn goes on from a place to those where a function has just begun, so many ticks later at least.
func (r *rules) turn(p place, id, ticks int) ([]place, error) {
	timer := r.timerOf(id)
	if timer >= 0 && r.t.suite.exempt("Timers_Order") {
		return r.checkpoint(p)
	}
	for {
		if p.draining && r.waits(microtask) && p.microLeft > 0 {
			if p.microLeft--; !r.first(microtask, id) {
				return nil, r.comesBefore(microtask)
			}
			return []place{p}, nil
		}
		p.stopped(r.waits(microtask))
		switch p.phase {
		case resting:
			r.firstTick(&p)
		case timing:
			if r.waits(microtask) && !p.held {
				if r.first(microtask, id) {
					return r.waited(p), nil
				}
				if !r.t.suite.exempt("D02_ForeignFirst") {
					return nil, r.comesBefore(microtask)
				}
			}
			i := r.overdue(p)
			if r.long(p) {
				i = -1 // all that are due may have to wait for the next tick
			}
			if timer >= 0 && timer < p.most && r.earliest(p, timer) {
				places, _ := r.checkpoint(p)
				if i < 0 && ticks == 0 { // then it may as well have had to wait for the next tick
					p.phase = tasking
					later, _ := r.turn(p, id, 1)
					places = append(places, later...)
				}
				return places, nil
			}
			if i >= 0 {
				return nil, fmt.Errorf("function %d, a timer that was due when the tick began, comes before it", r.scheduled[i].fn)
			}
			p.phase = tasking
		case tasking:
			if r.waits(internal) && (r.internalFirst(p) || r.first(internal, id)) {
				places, err := r.taken(p, internal, id)
				if r.long(p) && ticks <= 1 { // then they may have to wait for the next tick, and tasks with them
					p.phase = polling
					later, _ := r.turn(p, id, ticks)
					places = append(places, later...)
				}
				if len(places) > 0 {
					return places, nil
				}
				return nil, err
			}
			if r.waits(external) && p.taskLeft > 0 && !((p.stale || p.cut) && !r.first(external, id)) {
				now := p
				now.cut = p.cut || r.long(p)
				if now.taskLeft--; now.cut {
					now.taskLeft = r.cfg.TickBudget - 1
				}
				places, err := r.taken(now, external, id)
				if r.long(p) && ticks <= 1 { // as with internal tasks
					p.phase = polling
					later, _ := r.turn(p, id, ticks)
					places = append(places, later...)
				}
				if len(places) > 0 {
					return places, nil
				}
				return nil, err
			}
			p.phase = polling
		case polling:
			if r.waits(microtask) && !p.held {
				r.drain(&p)
				continue
			}
			if ticks++; ticks > 2 {
				return nil, errors.New("nothing of the sort was waiting: it was refused, has run, was cancelled, or is not due")
			}
			r.newTick(&p)
		}
	}
}

// waited is where the loop may be when the first of the microtasks that wait when a tick begins has begun: before all
// else, or at the end of a tick that has no timers and tasks to run.
func (r *rules) waited(p place) []place {
	r.drain(&p)
	p.microLeft--
	places := []place{p}
	if !r.waits(internal) && !r.waits(external) && r.overdue(p) < 0 {
		p.phase = polling
		places = append(places, p)
	}
	return places
}

func (r *rules) newTick(p *place) {
	p.phase, p.held, p.taskLeft, p.stale, p.cut = timing, false, r.cfg.TickBudget, false, r.long(*p)
	p.known, p.most, p.began = len(r.scheduled), len(r.scheduled), r.last
	if p.unsure {
		p.began, p.unsure = time.Time{}, false
	} else {
		p.since = r.last
	}
	p.sinceRun = 0
}

// firstTick is the newTick of a round.
func (r *rules) firstTick(p *place) {
	since := p.since
	r.newTick(p)
	p.stale, p.since = true, since
}

// drain is where microtasks get their turn, behind a callback for one.
func (r *rules) drain(p *place) {
	if p.sinceRun = 0; !p.held {
		p.draining, p.microLeft = true, r.cfg.MicrotaskBudget
	}
}

// stopped ends a checkpoint whose microtasks have run, or whose budget is spent while others wait.
func (p *place) stopped(others bool) {
	p.held = p.held || p.draining && others
	p.draining = false
}

// checkpoint is where a callback leads that is none of a descriptor, and no microtask.
func (r *rules) checkpoint(p place) ([]place, error) {
	r.drain(&p)
	return []place{p}, nil
}

// internalFirst tells whether internal tasks come next if there are some, and cannot wait for the next tick: nothing
// external starts before them.
func (r *rules) internalFirst(p place) bool {
	return p.taskLeft == r.cfg.TickBudget || r.waits(external) && p.taskLeft > 0 && !p.cut
}

// waits tells whether anything is queued in a lane.
func (r *rules) waits(lane int) bool { return len(r.queue[lane]) > 0 }

// first tells whether a function is the first of its lane.
func (r *rules) first(lane, id int) bool { return r.waits(lane) && r.queue[lane][0] == id }

// taken is where the next function of a lane leads, if it is that one.
func (r *rules) taken(p place, lane, id int) ([]place, error) {
	if !r.first(lane, id) {
		return nil, r.comesBefore(lane)
	}
	return r.checkpoint(p)
}

// comesBefore says that it is the turn of a lane's first function.
func (r *rules) comesBefore(lane int) error {
	return fmt.Errorf("function %d, the first %s, comes before it", r.queue[lane][0], laneNames[lane])
}

// aborted says that a callback panics or exits: the timers that are due behind it may have to wait for the next tick.
func (r *rules) aborted() {
	for i := range r.places {
		r.places[i].began = time.Time{}
	}
}

// rest says that the loop rests: whatever it does next is in another tick.
func (r *rules) rest() {
	_ = r.move(func(p place) ([]place, error) { return []place{{unsure: p.unsure, since: p.since}}, nil })
}

func (r *rules) timerOf(id int) int {
	return slices.IndexFunc(r.scheduled, func(c clocked) bool { return c.fn == id && !c.gone })
}

// earliest tells whether no other timer has to fire before that one.
func (r *rules) earliest(p place, i int) bool {
	for j := range r.scheduled[:p.known] {
		if c := &r.scheduled[j]; j != i && !c.gone && c.precedes(&r.scheduled[i], j < i) {
			return false
		}
	}
	return true
}

// clockStep is how much later a clock that moves in steps may show a timer to be due than the loop has seen it.
var clockStep = func() time.Duration {
	if runtime.GOOS == "windows" {
		return 16 * time.Millisecond
	}
	return 0
}()

// long tells whether the tick may have taken so long that what is left of its timers and tasks waits for the next one.
func (r *rules) long(p place) bool { return !r.t.virtual && r.now.Sub(p.since) >= longTurn }

// longTurn is half of what "about 10 ms" means: how often a loop looks at its clock is its own affair.
const longTurn = 5 * time.Millisecond

// overdue finds a timer that has to fire in the tick, unless that takes too long.
func (r *rules) overdue(p place) int {
	if r.ending || r.t.suite.exempt("Timers_Order") {
		return -1
	}
	return slices.IndexFunc(r.scheduled[:p.known], func(c clocked) bool {
		return !c.gone && !c.due(c.after).Add(clockStep).After(p.began)
	})
}

// fired books that a timer has fired.
func (r *rules) fired(i int, now time.Time) error {
	c := &r.scheduled[i]
	c.gone = true
	switch late := now.Sub(c.due(c.after)); {
	case r.ending && !r.t.suite.exempt("D16_ShutdownDropsTimers"):
		return errors.New("it is a timer, and the loop is ending")
	case now.Before(c.due(c.before)):
		return fmt.Errorf("it is a timer of %v, %v early", c.delay, c.due(c.before).Sub(now))
	case r.t.virtual && late > time.Millisecond:
		return fmt.Errorf("it is a timer of %v, %v late", c.delay, late)
	}
	return nil
}

// ready books the call of a descriptor's callback.
func (r *rules) ready(n, generation int, events loopapi.IOEvents) {
	w := &r.watches[n]
	switch {
	case r.ending:
		r.t.Errorf("descriptor %d was called although the loop is ending", n)
	case !w.registered || w.generation != generation:
		r.t.Errorf("descriptor %d was called for a registration that had ended", n)
	case !w.reading || w.unread == 0 || events&loopapi.EventRead == 0:
		r.t.Errorf("descriptor %d was called with events %b, with %d bytes to read, watched for reading: %v",
			n, events, w.unread, w.reading)
	}
	r.now = time.Now()
	if err := r.move(r.poll); err != nil {
		r.t.Errorf("descriptor %d was called: %v", n, err)
	}
	w.unread--
	r.last = r.now
	r.steps++
}

// poll goes on from a place to that of descriptors in the tick.
func (r *rules) poll(p place) ([]place, error) {
	const batch = 64
	if p.draining && p.microLeft == 0 {
		p.stopped(r.waits(microtask))
	}
	if p.phase == resting {
		r.firstTick(&p)
	}
	long := r.long(p) // then timers and tasks may be left
	if p.phase == timing && r.overdue(p) >= 0 && !long {
		return nil, errors.New("a timer that was due when the tick began comes before it")
	}
	inBatch := p.phase == polling && !p.draining // then microtasks wait for its end
	switch p.sinceRun++; {
	case r.waits(microtask) && !p.held && (!inBatch || p.sinceRun > batch):
		return nil, fmt.Errorf("microtasks come before it: %v", r.queue[microtask])
	case r.waits(internal) && p.phase != polling && r.internalFirst(p) && !long:
		return nil, fmt.Errorf("it is the turn of function %d, an internal task", r.queue[internal][0])
	case r.waits(external) && p.phase != polling && p.taskLeft > 0 && !p.stale && !p.cut && !long:
		return nil, fmt.Errorf("it is the turn of function %d, a task", r.queue[external][0])
	}
	p.phase, p.draining = polling, false
	p.unsure = true // descriptors may as well be called when the next tick has read the clock
	return []place{p}, nil
}
