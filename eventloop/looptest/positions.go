package looptest

// The part of the reference that follows a loop through its ticks and decides which function may run next.

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/turnloop/turnloop/internal/loopapi"
)

// position is a position in a tick at which the loop may be. A tick runs timers, internal tasks, tasks up to the budget, and
// microtasks; then descriptors and microtasks. A microtask checkpoint comes before the first callback and after each.
//
// A tick runs all timers that were due when it began, all internal tasks, and tasks up to the budget, unless it takes too
// long. After about 2 ms of its kind what is left waits for the next tick, behind descriptors; internal tasks still run
// before external ones, and the budget of tasks may then be that of both ticks. On a machine that stalls, or under the
// race detector, a tick may become long at any moment. On virtual time none does, as no callback of a program takes time.
// No other bound of a tick matters: programs have too few functions to reach one (mostFunctions).
//
// docs/requirements.md leaves open what a panic does to the timers that are due behind it, and when exactly a deadline is
// noticed in real time; so do the rules. Where two positions can follow from one and cannot be told apart yet, the rules keep
// both, and each later event removes the positions that it contradicts. At least one must be left.
type position struct {
	phase     phase
	known     int       // the least number of timers that were scheduled when the tick began
	most      int       // the largest number of timers that were scheduled when the tick began
	began     time.Time // the tick began no earlier; zero if that is not known
	since     time.Time // the same, less exact, and always known
	unsure    bool      // the next tick may have begun already
	stale     bool      // the tick may be that of an earlier round, with part of its budget of tasks spent
	cut       bool      // this tick or the one before was long: the rest of the budget of tasks is not known
	draining  bool      // microtasks run before all other functions
	held      bool      // the microtask budget is spent, the rest waits for the next tick, or for many callbacks
	behind    int       // timers and tasks that have run while microtasks were held, at most manyBehind
	microLeft int       // microtasks left in the budget of the checkpoint
	taskLeft  int       // tasks left in the budget of the tick
	sinceRun  int       // callbacks of descriptors since the last checkpoint
}

type phase int

const (
	resting phase = iota // the next tick has not begun
	timing
	tasking
	polling
)

// ran records that a function has begun, and reports a failure if the function may not run now.
func (r *rules) ran(id int, now time.Time) {
	if r.closed && !r.t.exempt("D16_CloseDrops") {
		r.t.Errorf("function %d began after Close", id)
		return
	}
	r.now = now
	err := r.move(func(p position) ([]position, error) { return r.follow(p, id, 0) })
	if i := r.timerOf(id); i >= 0 {
		err = errors.Join(err, r.fired(i, now))
	}
	if err != nil { // and it is no step: one that should not run may do so for ever
		r.t.Errorf("function %d began: %v", id, err)
	} else {
		r.t.steps.Add(1)
	}
	for lane, q := range r.queue {
		if i := slices.Index(q, id); i >= 0 {
			r.queue[lane] = slices.Delete(q, i, i+1)
		}
	}
	r.last = now
}

// move replaces each position by those that step returns for it. If step allows no position, move changes nothing and returns
// step's error for the first position.
func (r *rules) move(step func(p position) ([]position, error)) error {
	var to []position
	var wrong error
	for _, p := range r.positions {
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
	r.positions = to
	return nil
}

// mostPositions is the number of positions from which on add merges positions that differ only in known and most.
const mostPositions = 16

// add adds a position to others. If one of them differs only in when the tick began, the two are merged into the one with the
// earlier begin, which allows everything that the later begin allows.
func add(positions []position, p position) []position {
	for i := range positions {
		q, alike := &positions[i], p
		alike.began, alike.since = q.began, q.since
		if len(positions) >= mostPositions {
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
			return positions
		}
	}
	return append(positions, p)
}

// follow returns the positions that can follow p when function id begins, or an error if it may not begin. ticks is the number
// of ticks that have begun since the caller's position.
func (r *rules) follow(p position, id, ticks int) ([]position, error) {
	timer := r.timerOf(id)
	if timer >= 0 && r.t.exempt("Timers_Order") {
		return r.checkpoint(p)
	}
	for {
		if p.draining && r.waits(microtask) && p.microLeft > 0 {
			if p.microLeft--; !r.first(microtask, id) {
				return nil, r.comesBefore(microtask)
			}
			return []position{p}, nil
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
				if !r.t.exempt("D02_ForeignFirst") {
					return nil, r.comesBefore(microtask)
				}
			}
			i := r.overdue(p)
			if r.long(p) {
				i = -1 // all due timers may have to wait for the next tick
			}
			if timer >= 0 && timer < p.most && r.earliest(p, timer) {
				positions, _ := r.checkpoint(p)
				if i < 0 && ticks == 0 { // the timer may also have waited for the next tick
					p.phase = tasking
					later, _ := r.follow(p, id, 1)
					positions = append(positions, later...)
				}
				return positions, nil
			}
			if i >= 0 {
				return nil, fmt.Errorf("function %d, a timer that was due when the tick began, comes before it", r.scheduled[i].fn)
			}
			p.phase = tasking
		case tasking:
			if r.waits(internal) && (r.internalFirst(p) || r.first(internal, id)) {
				return r.takenOrLater(p, p, internal, id, ticks)
			}
			if r.waits(external) && p.taskLeft > 0 && !((p.stale || p.cut) && !r.first(external, id)) {
				now := p
				now.cut = p.cut || r.long(p)
				if now.taskLeft--; now.cut {
					now.taskLeft = r.cfg.TickBudget - 1
				}
				return r.takenOrLater(now, p, external, id, ticks)
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

// waited returns the positions at which a microtask that waited for the tick can begin: before all other functions, or at
// the end of a tick that has no timers and tasks to run.
func (r *rules) waited(p position) []position {
	r.drain(&p)
	p.microLeft--
	positions := []position{p}
	if !r.waits(internal) && !r.waits(external) && r.overdue(p) < 0 {
		p.phase = polling
		positions = append(positions, p)
	}
	return positions
}

// newTick moves p to the begin of the next tick.
func (r *rules) newTick(p *position) {
	p.phase, p.held, p.behind, p.taskLeft, p.stale, p.cut = timing, false, 0, r.cfg.TickBudget, false, r.long(*p)
	p.known, p.most, p.began = len(r.scheduled), len(r.scheduled), r.last
	if p.unsure {
		p.began, p.unsure = time.Time{}, false
	} else {
		p.since = r.last
	}
	p.sinceRun = 0
}

// firstTick does what newTick does, for the first tick of a round, which may have begun before the latest entry.
func (r *rules) firstTick(p *position) {
	since := p.since
	r.newTick(p)
	p.stale, p.since = true, since
}

// drain begins a microtask checkpoint, such as the one behind a callback, unless microtasks are held.
func (r *rules) drain(p *position) {
	if p.sinceRun = 0; !p.held {
		p.draining, p.microLeft, p.behind = true, r.cfg.MicrotaskBudget, 0
	}
}

// stopped ends a checkpoint whose microtasks have run, or whose budget is spent while others wait.
func (p *position) stopped(others bool) {
	p.held = p.held || p.draining && others
	p.draining = false
}

// manyBehind is the least number of timers and tasks behind which microtasks that a spent budget holds may go on in the
// same tick. A loop may also let them wait for the next tick.
const manyBehind = 100

// checkpoint returns the positions behind a timer or a task: its microtask checkpoint, or none while microtasks are held.
func (r *rules) checkpoint(p position) ([]position, error) {
	if !p.held {
		r.drain(&p)
		return []position{p}, nil
	}
	p.sinceRun, p.behind = 0, min(p.behind+1, manyBehind)
	positions := []position{p}
	if p.behind == manyBehind {
		p.held = false
		r.drain(&p)
		positions = append(positions, p)
	}
	return positions, nil
}

// internalFirst reports whether waiting internal tasks must run in this tick: no external task has run in it yet, or the
// next one would otherwise start before them.
func (r *rules) internalFirst(p position) bool {
	return p.taskLeft == r.cfg.TickBudget || r.waits(external) && p.taskLeft > 0 && !p.cut
}

// waits reports whether a function is queued in a lane.
func (r *rules) waits(lane int) bool { return len(r.queue[lane]) > 0 }

// first reports whether a function is the first of a lane.
func (r *rules) first(lane, id int) bool { return r.waits(lane) && r.queue[lane][0] == id }

// taken returns the positions that follow when function id begins as the first of its lane, or an error if it is not the first.
func (r *rules) taken(p position, lane, id int) ([]position, error) {
	if !r.first(lane, id) {
		return nil, r.comesBefore(lane)
	}
	return r.checkpoint(p)
}

// takenOrLater does what taken does, for the position now. If the tick of p may be long, tasks may also have waited for the
// next tick: then the result includes what follow returns for that one.
func (r *rules) takenOrLater(now, p position, lane, id, ticks int) ([]position, error) {
	positions, err := r.taken(now, lane, id)
	if r.long(p) && ticks <= 1 {
		p.phase = polling
		later, _ := r.follow(p, id, ticks)
		positions = append(positions, later...)
	}
	if len(positions) > 0 {
		return positions, nil
	}
	return nil, err
}

// comesBefore returns the error that the first function of a lane must run before.
func (r *rules) comesBefore(lane int) error {
	return fmt.Errorf("function %d, the first %s, comes before it", r.queue[lane][0], lanes[lane].name)
}

// aborted records that a callback panics or exits. The timers that are due behind it may then have to wait for the next tick.
func (r *rules) aborted() {
	for i := range r.positions {
		r.positions[i].began = time.Time{}
	}
}

// rest records that the loop rests, so that the next function runs in another tick.
func (r *rules) rest() {
	_ = r.move(func(p position) ([]position, error) { return []position{{unsure: p.unsure, since: p.since}}, nil })
}

func (r *rules) timerOf(id int) int {
	return slices.IndexFunc(r.scheduled, func(c clocked) bool { return c.fn == id && !c.gone })
}

// earliest reports whether no other timer must fire before timer i.
func (r *rules) earliest(p position, i int) bool {
	for j := range r.scheduled[:p.known] {
		if c := &r.scheduled[j]; j != i && !c.gone && c.precedes(&r.scheduled[i], j < i) {
			return false
		}
	}
	return true
}

// clockStep is the step in which the system's clock moves: the loop may see a deadline pass later by as much.
var clockStep = func() time.Duration {
	if runtime.GOOS == "windows" {
		return 16 * time.Millisecond
	}
	return 0
}()

// long reports whether the tick may have taken so long that the rest of its timers and tasks waits for the next one.
func (r *rules) long(p position) bool { return !r.t.virtual && r.now.Sub(p.since) >= longTick }

// longTick is half of the share of a kind, because a loop chooses itself how often it reads its clock.
const longTick = time.Millisecond

// overdue returns the index of a timer that must fire in the tick unless the tick is long, or -1.
func (r *rules) overdue(p position) int {
	if r.ending || r.t.exempt("Timers_Order") {
		return -1
	}
	return slices.IndexFunc(r.scheduled[:p.known], func(c clocked) bool {
		return !c.gone && !c.due(c.after).Add(clockStep).After(p.began)
	})
}

// fired records that a timer has fired, and returns an error if it was early, late or not allowed.
func (r *rules) fired(i int, now time.Time) error {
	c := &r.scheduled[i]
	c.gone = true
	switch late := now.Sub(c.due(c.after)); {
	case r.ending && !r.t.exempt("D16_ShutdownDropsTimers"):
		return errors.New("it is a timer, and the loop is ending")
	case now.Before(c.due(c.before)):
		return fmt.Errorf("it is a timer of %v, %v early", c.delay, c.due(c.before).Sub(now))
	case r.t.virtual && late > time.Millisecond:
		return fmt.Errorf("it is a timer of %v, %v late", c.delay, late)
	}
	return nil
}

// ready records the call of a descriptor's callback.
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
	} else {
		r.t.steps.Add(1)
	}
	w.unread--
	r.last = r.now
}

// poll returns the position that follows p when a descriptor's callback begins, or an error if it may not begin.
func (r *rules) poll(p position) ([]position, error) {
	const batch = 64
	if p.draining && p.microLeft == 0 {
		p.stopped(r.waits(microtask))
	}
	if p.phase == resting {
		r.firstTick(&p)
	}
	long := r.long(p) // timers and tasks may then be left for the next tick
	if p.phase == timing && r.overdue(p) >= 0 && !long {
		return nil, errors.New("a timer that was due when the tick began comes before it")
	}
	inBatch := p.phase == polling && !p.draining // microtasks wait for the end of a batch
	switch p.sinceRun++; {
	case r.waits(microtask) && !p.held && (!inBatch || p.sinceRun > batch):
		return nil, fmt.Errorf("microtasks come before it: %v", r.queue[microtask])
	case r.waits(internal) && p.phase != polling && r.internalFirst(p) && !long:
		return nil, fmt.Errorf("it is the turn of function %d, an internal task", r.queue[internal][0])
	case r.waits(external) && p.phase != polling && p.taskLeft > 0 && !p.stale && !p.cut && !long:
		return nil, fmt.Errorf("it is the turn of function %d, a task", r.queue[external][0])
	}
	p.phase, p.draining = polling, false
	p.unsure = true // the callback may also run after the next tick has read the clock
	return []position{p}, nil
}
