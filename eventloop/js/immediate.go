package js

// Immediates: the check phase, which follows timers and tasks.

import (
	"runtime"
	"sort"
	"sync/atomic"
	"time"

	"github.com/turnloop/turnloop/eventloop"
)

// phase is the state of the immediates; JS.mu guards it. A check is a task of the loop that begins the check phase. A round
// is the time from the first immediate that waits for a check to the end of the phase that this check begins.
//
//	idle ──SetImmediate──▶ armed ──check, or a timer──▶ running ──step, the last──▶ idle
//	                         ▲     that they precede       │
//	                         └── armCheck ── waiting ◀─────┘ if more were set meanwhile
type phase int

const (
	idle    phase = iota // there are none
	armed                // a check is queued at the loop
	running              // the batch runs, an internal task for each; timers of this adapter that come due in between wait
	waiting              // armCheck is a timer of the loop, which fires among the timers of the next tick
)

// keep is the number of immediates for which an idle adapter keeps memory.
const keep = 1024

// immediate is one call of SetImmediate. Its function belongs to whoever sets taken: the loop, to call it, or the caller that
// clears it. So the loop needs no lock for each immediate of a batch, and does not queue behind goroutines that hold it.
type immediate struct {
	id    ID
	fn    func()
	taken atomic.Bool
}

// take returns the function, once, and then nil.
func (im *immediate) take() (fn func()) {
	if !im.taken.Swap(true) {
		fn, im.fn = im.fn, nil
	}
	return fn
}

// SetImmediate runs fn once, on the loop, after the timers that are due and the tasks that are queued now, and returns
// an id for ClearImmediate (Node's setImmediate; there is none in the HTML standard). Immediates run in order, and
// together: an immediate joins those that wait already, so it may run before tasks that were queued earlier than it.
// Immediates that are set while immediates run wait until timers and tasks have run again. An immediate keeps an auto-exit
// loop alive until it has run, and Unref does not change that (in Node it may).
//
// An immediate that a callback of a descriptor has set goes before the timers that are due then, as in Node, and so does one
// that a task has set when more tasks wait than the loop runs in a tick. Both also go before queued tasks, since those
// timers do not wait for tasks. To the loop each immediate is an internal task: if there are more than 100,000 in a tick,
// all of them run, but the function of eventloop.WithOnOverload is called. In debug mode all immediates that run together
// have the place at which the first of them was set.
//
// Any goroutine may call it; it costs a lock. It returns ErrNilCallback, ErrLoopTerminated once the loop is ending,
// ErrLoopOverloaded at the loop's queue limit, or ErrIDsExhausted.
func (j *JS) SetImmediate(fn func()) (ID, error) {
	if fn == nil {
		return 0, eventloop.ErrNilCallback
	}
	if j.ending() {
		return 0, j.refuse()
	}
	id, backlog, err := j.setImmediate(fn)
	if backlog%crowd == crowd-1 && !j.loop.OnLoop() {
		runtime.Gosched() // as Submit does for a producer that is ahead of the loop
	}
	return id, err
}

// refuse yields, and returns the error of an ending loop. Its callers look at the loop's state without taking the lock: the
// loop needs the lock for each immediate that is left, and would queue behind all goroutines that try again and again.
func (j *JS) refuse() error {
	if !j.loop.OnLoop() {
		runtime.Gosched()
	}
	return eventloop.ErrLoopTerminated
}

// crowd is a number of waiting immediates: at each multiple of it, the goroutine that sets one gives way to the loop.
const crowd = 256

func (j *JS) setImmediate(fn func()) (id ID, backlog int, err error) {
	j.mu.Lock()
	if j.ending() {
		j.mu.Unlock()
		return 0, 0, eventloop.ErrLoopTerminated
	}
	if id, err = j.newID(); err != nil {
		j.mu.Unlock()
		return 0, 0, err
	}
	if j.setIn.IsZero() && j.loop.OnLoop() {
		j.setIn = j.loop.CurrentTickTime()
	}
	j.immediates = append(j.immediates, immediate{id: id, fn: fn})
	backlog = len(j.immediates)
	var check func()
	counted := false
	switch {
	case j.phase == idle:
		check = j.arm()
		counted = !j.named
	case j.phase == armed && j.unsent > 0:
		check = j.checkOfRound()
	}
	away := check != nil && !j.loop.OnLoop()
	if away {
		j.unsent++
	}
	j.mu.Unlock()
	if check != nil { // without the lock, since Submit may yield to the loop, which may want the lock
		err = j.submitCheck(id, check, counted)
	}
	if away {
		j.mu.Lock()
		j.unsent--
		j.mu.Unlock()
	}
	return id, backlog, err
}

// arm begins a round, and returns the check that the caller gives to the loop. mu is held.
func (j *JS) arm() (check func()) {
	j.phase, j.round = armed, j.round+1
	if j.named = j.unsent > 0; j.named {
		return j.checkOfRound()
	}
	j.checks++
	return j.startCheck
}

// checkOfRound returns a check that does something in this round only. It is for a goroutine that sets an immediate while
// another one has begun this round, or an earlier one, and has not yet given its check to the loop: that other goroutine
// may be preempted, and the loop may end before it goes on. mu is held.
func (j *JS) checkOfRound() func() {
	round := j.round
	return func() {
		j.mu.Lock()
		j.check(j.round == round)
	}
}

// submitCheck gives a check to the loop, for the immediate with this id; counted says that it is in JS.checks. If the loop
// refuses the check, the immediate is taken back. Others may have been set after it and count on the same check.
func (j *JS) submitCheck(id ID, check func(), counted bool) error {
	err := j.loop.Submit(check)
	if err == nil {
		return nil
	}
	j.mu.Lock()
	if im := j.findImmediate(id); im == nil || im.take() == nil {
		err = nil // the immediate has run already, before a timer, or was cleared
	}
	others := false
	for i := range j.immediates {
		others = others || !j.immediates[i].taken.Load()
	}
	if !others && j.phase == armed {
		j.phase, j.immediates, j.setIn = idle, j.immediates[:0], time.Time{}
		if counted {
			j.checks--
		}
		j.mu.Unlock()
		return err
	}
	j.mu.Unlock()
	_ = j.loop.SubmitInternal(check) // for the others, and because the check may be in JS.checks
	return err
}

// ending tells whether the loop is shutting down or has ended.
func (j *JS) ending() bool {
	s := j.loop.State()
	return s == eventloop.StateTerminating || s == eventloop.StateTerminated
}

// ClearImmediate takes back an immediate that has not started. An id that names none does nothing. Any goroutine may
// call it; it costs the logarithm of the number of immediates.
func (j *JS) ClearImmediate(id ID) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if im := j.findImmediate(id); im != nil {
		im.take()
	}
}

// findImmediate returns the immediate that has the id and has not started, or nil; mu is held. An immediate of the
// batch may start at any time.
func (j *JS) findImmediate(id ID) *immediate {
	for _, list := range [...][]immediate{j.batch, j.immediates} {
		i := sort.Search(len(list), func(i int) bool { return list[i].id >= id })
		if i < len(list) && list[i].id == id && !list[i].taken.Load() {
			return &list[i]
		}
	}
	return nil
}

// checkLast is a check that names no round. Of several that are queued only the last does something, and only if no check
// names the last round. An earlier one was queued for immediates that have run before a timer; immediates that were set
// since have a later check.
func (j *JS) checkLast() {
	j.mu.Lock()
	j.checks--
	j.check(j.checks == 0 && !j.named)
}

// check begins a check phase with the immediates that are set by now. It does nothing if they have begun, or if current is
// false: then the check was queued for an earlier round. mu is held, and check releases it.
func (j *JS) check(current bool) {
	if !current || j.phase != armed {
		j.mu.Unlock()
		return
	}
	j.begin()
	j.mu.Unlock()
	j.steps++
	j.step()
}

// begin makes the immediates that are set by now the batch that runs; mu is held.
func (j *JS) begin() {
	j.phase, j.setIn = running, time.Time{}
	j.batch, j.immediates = j.immediates, j.batch[:0]
}

// step runs one immediate of the batch, as a task of its own, so that microtasks follow each immediate. The step after the
// last immediate and its microtasks ends the phase.
func (j *JS) step() {
	j.steps--
	if fn := j.take(); fn == nil {
		return
	} else if j.queueStep() {
		fn()
	} else {
		j.runRest(fn)
	}
}

// take takes the next immediate out of the batch. If there is none it ends the phase, and returns nil. It takes the
// lock only when no immediate of the batch is left.
func (j *JS) take() (fn func()) {
	for fn == nil {
		if j.started == len(j.batch) && !j.endCheck() {
			return nil
		}
		for ; fn == nil && j.started < len(j.batch); j.started++ {
			fn = j.batch[j.started].take()
		}
	}
	return fn
}

// queueStep submits a step for the next immediate of the batch unless one is queued, and returns false if the loop refuses it: an ending
// loop accepts tasks of callbacks only until these have taken half a second (eventloop.Loop.Shutdown).
func (j *JS) queueStep() bool {
	if j.steps == 0 && j.loop.SubmitInternal(j.nextImmediate) == nil {
		j.steps++
	}
	return j.steps > 0
}

// runRest runs fn and what is left of the batch, all in this task. It is for an ending loop that accepts no more tasks:
// immediates that were accepted run all the same, unless the loop is closed.
func (j *JS) runRest(fn func()) {
	defer func() {
		if fn != nil { // it has not returned
			j.runRest(j.take())
		}
	}()
	for ; fn != nil && !j.closed(); fn = j.take() {
		fn()
	}
	fn = nil
}

// closed tells whether nothing may start any more. It returns false for a Loop that does not say.
func (j *JS) closed() bool {
	l, ok := j.loop.(interface{ Closed() bool })
	return ok && l.Closed()
}

// endCheck ends the check phase, if there is one. Immediates that were set meanwhile wait for armCheck, the function of a
// timer; if an ending loop refuses the timer, they are the next batch. endCheck tells whether there is a next batch.
func (j *JS) endCheck() (more bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.phase != running {
		return false
	}
	j.batch, j.started = j.batch[:0], 0
	if cap(j.batch) > keep {
		j.batch = nil
	}
	j.phase = idle
	if len(j.immediates) > 0 {
		j.phase = waiting
		j.watchEnd()
		if _, err := j.loop.ScheduleTimer(0, j.nextArm); err != nil {
			j.begin() // there are no more ticks with timers
		}
	}
	if j.late.Len() > 0 {
		j.loop.SubmitInternal(j.nextLate)
	}
	return j.phase == running
}

// watchEnd makes sure that armCheck is called also if the loop shuts down and drops its timer. The end of the loop rejects
// the promise JS.pending, whose handler then calls armCheck. mu is held.
func (j *JS) watchEnd() {
	if j.pending != nil {
		return
	}
	j.pending, _, _ = j.loop.Promises().New()
	j.pending.Catch(func(error) (any, error) {
		j.mu.Lock()
		waits := j.phase == waiting
		j.mu.Unlock()
		if waits {
			j.armCheck()
		}
		return nil, nil
	})
}

// armCheck is called among the timers of the tick that follows a check phase. It makes the next check phase follow the tasks
// of this tick.
func (j *JS) armCheck() {
	j.mu.Lock()
	j.enterTimers()
	check := j.arm()
	j.mu.Unlock()
	if j.loop.Submit(check) != nil && j.loop.SubmitInternal(check) != nil {
		check() // the loop is ending, and takes no more tasks
	}
}

// mustWaitForImmediates tells whether t, which is due, must wait for immediates: for those that callbacks set before the
// loop began to run timers, or for those that are left of a batch. It also makes these immediates run now: if they waited
// for the tasks that are queued, t would have to wait for the tasks, too. mu is held.
//
// Immediates that were set in this tick come after all timers that fire in this tick: only timers can have set them, of this
// adapter or of others. But when timers take long, the loop leaves some due timers for the next tick. The immediates that the
// first timers have set then go before the timers that were left. Ticks are told apart by their times. If two ticks have the
// same time, a timer without a delay that was set after that time cannot be due before the second of them.
func (j *JS) mustWaitForImmediates(t *timer) bool {
	now := j.loop.CurrentTickTime()
	inTimers := j.inTimers && j.timersIn.Equal(now)
	if j.phase == armed && j.late.Len() == 0 && !inTimers && !j.setIn.IsZero() {
		if !j.setIn.Equal(now) || j.clamp(t.delay, t.level) == 0 && !t.due.Before(now) {
			j.begin()
			j.queueStep()
		}
	}
	return j.phase == running || j.late.Len() > 0
}

// runLate runs the first of the timers that had to wait for immediates, as a task of its own. On an ending loop, which drops
// timers, it does nothing.
func (j *JS) runLate() {
	j.mu.Lock()
	first := j.late.Front()
	if first == nil || j.ending() {
		j.mu.Unlock()
		return
	}
	t := first.Value.(*timer)
	t.leaveLate()
	round := t.round
	if j.late.Len() > 0 {
		j.loop.SubmitInternal(j.nextLate)
	}
	j.mu.Unlock()
	t.run(round)
}

// enterTimers notes that the loop is running timers, until the internal task leaveTimers runs: the loop runs internal tasks
// right after timers, unless there are too many for the tick. mu is held.
func (j *JS) enterTimers() {
	j.timersIn = j.loop.CurrentTickTime()
	if !j.inTimers {
		j.inTimers = true
		j.loop.SubmitInternal(j.timersEnded)
	}
}

func (j *JS) leaveTimers() {
	j.mu.Lock()
	j.inTimers = false
	j.mu.Unlock()
}
