package js

// Immediates: the check phase, which follows timers and tasks.

import (
	"cmp"
	"runtime"
	"slices"
	"time"

	"github.com/turnloop/turnloop/eventloop"
)

// phase is where the immediates are. Only holders of JS.mu change it:
//
//	idle ──SetImmediate──▶ armed ──check, or a timer──▶ running ──step, the last──▶ idle
//	                         ▲     that they precede       │
//	                         └────── turn ── waiting ◀─────┘ if more were set meanwhile
type phase int

const (
	idle    phase = iota // there are none
	armed                // check is queued at the loop
	running              // the batch runs, an internal task each; the loop may run timers in between, which then wait
	waiting              // turn is a timer of the loop, which fires among the timers of the next turn
)

// keep is how long a batch an idle adapter keeps room for.
const keep = 1024

type immediate struct {
	id ID
	fn func() // nil if it was cleared or has started
}

// SetImmediate runs fn once, on the loop, after the timers that are due and the tasks that are queued now, and returns
// an id for ClearImmediate. Immediates run in order, and together: one joins those that wait already, before tasks that
// were queued since. Those that are set while immediates run have their turn after timers and tasks had theirs (Node's
// setImmediate; there is none in the HTML standard). An immediate keeps an auto-exit loop alive until it has run, and
// Unref changes nothing about that (in Node it may).
//
// An immediate that a callback of a descriptor has set goes before the timers that are due then, as in Node, and so does
// one that a task has set when more tasks wait than the loop runs in a turn: both also before tasks that are queued,
// which those timers do not wait for. To the loop each immediate is an internal task: if there are more than 100,000 in
// a turn they all run, but eventloop.WithOnOverload hears of it.
//
// Any goroutine may call it; it costs a lock. It returns ErrNilCallback, ErrLoopTerminated once the loop is ending,
// ErrLoopOverloaded at the loop's queue limit, or ErrIDsExhausted.
func (j *JS) SetImmediate(fn func()) (ID, error) {
	if fn == nil {
		return 0, eventloop.ErrNilCallback
	}
	id, backlog, err := j.setImmediate(fn)
	if backlog%crowd == crowd-1 && !j.loop.OnLoop() {
		runtime.Gosched() // as the loop does with producers that are ahead of it
	}
	return id, err
}

// crowd is after how many immediates that wait who sets another gives way.
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
	j.immediates = append(j.immediates, immediate{id, fn})
	backlog = len(j.immediates)
	first := j.phase == idle
	if first {
		j.phase = armed
		j.checks++
	}
	j.mu.Unlock()
	if first { // without the lock: a loop that has more tasks than it can run lets others run in this call, and wants the lock
		err = j.submitCheck(id)
	}
	return id, backlog, err
}

// submitCheck has the loop call check, for the immediate that was the first. If the loop takes no task it takes that one back;
// but others may have been accepted behind it.
func (j *JS) submitCheck(id ID) error {
	err := j.loop.Submit(j.startCheck)
	if err == nil {
		return nil
	}
	j.mu.Lock()
	im := j.findImmediate(id)
	if im == nil {
		err = nil // it went before a timer already, or was cleared
	} else {
		im.fn = nil
	}
	others := slices.ContainsFunc(j.immediates, func(im immediate) bool { return im.fn != nil })
	if !others && j.phase == armed {
		j.phase, j.immediates, j.setIn = idle, j.immediates[:0], time.Time{}
		j.checks--
		j.mu.Unlock()
		return err
	}
	j.mu.Unlock()
	_ = j.loop.SubmitInternal(j.startCheck) // for the others, and for who counts the checks
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
		im.fn = nil
	}
}

// findImmediate returns the immediate that has the id and has not started, or nil; mu is held.
func (j *JS) findImmediate(id ID) *immediate {
	for _, list := range [...][]immediate{j.batch, j.immediates} {
		i, found := slices.BinarySearchFunc(list, id, func(im immediate, id ID) int { return cmp.Compare(im.id, id) })
		if found && list[i].fn != nil {
			return &list[i]
		}
	}
	return nil
}

// check begins a check phase with the immediates that are set by now. If those that it was queued for went before a
// timer it does nothing: the ones that were set since have a check of their own, behind it.
func (j *JS) check() {
	j.mu.Lock()
	j.checks--
	if j.checks > 0 || j.phase != armed {
		j.mu.Unlock()
		return
	}
	j.begin()
	j.mu.Unlock()
	j.step()
}

// begin makes the immediates that are set by now the batch that runs; mu is held.
func (j *JS) begin() {
	j.phase, j.setIn = running, time.Time{}
	j.batch, j.immediates = j.immediates, j.batch[:0]
}

// step runs one immediate of the batch, as a loop task of its own, so that microtasks follow each. Behind the last, and
// its microtasks, it ends the phase.
func (j *JS) step() {
	j.mu.Lock()
	var fn func()
	for fn == nil && j.started < len(j.batch) {
		fn, j.batch[j.started].fn = j.batch[j.started].fn, nil
		j.started++
	}
	if fn == nil {
		j.endCheck()
		j.mu.Unlock()
		return
	}
	j.mu.Unlock()
	j.loop.SubmitInternal(j.nextImmediate) // refused only when nothing runs any more
	fn()
}

// endCheck ends the check phase; mu is held.
func (j *JS) endCheck() {
	j.batch, j.started = j.batch[:0], 0
	if cap(j.batch) > keep {
		j.batch = nil
	}
	j.phase = idle
	if len(j.immediates) > 0 {
		j.phase = waiting
		j.hearOfTheEnd()
		if _, err := j.loop.ScheduleTimer(0, j.nextTurn); err != nil {
			j.loop.SubmitInternal(j.nextTurn) // the loop is ending: there are no more turns with timers
		}
	}
	if j.late.Len() > 0 {
		j.loop.SubmitInternal(j.nextLate)
	}
}

// hearOfTheEnd sees to it that a turn that waits comes although the loop shuts down, and its timer with it: that rejects
// what is pending. mu is held.
func (j *JS) hearOfTheEnd() {
	if j.pending != nil {
		return
	}
	j.pending, _, _ = j.loop.Promises().New()
	j.pending.Catch(func(error) (any, error) {
		j.mu.Lock()
		waits := j.phase == waiting
		j.mu.Unlock()
		if waits {
			j.turn()
		}
		return nil, nil
	})
}

// turn is called among the timers of the turn that follows a check phase, and has the next one follow the tasks of this
// turn.
func (j *JS) turn() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.enterTimers()
	j.phase = armed
	j.checks++
	if j.loop.Submit(j.startCheck) != nil {
		j.loop.SubmitInternal(j.startCheck)
	}
}

// owesImmediates tells whether t, which is due, comes behind immediates that the loop's callbacks set before it began to
// run timers, or that are left of a batch. They go first, now: if they waited for the tasks that are queued, so would
// the timer. mu is held.
//
// What was set in this tick was set by its timers, if not by ours, and comes behind them all: behind those that fire in
// this tick, that is. The loop leaves due timers for the next one when they take long, or when internal tasks, which
// timers that wait for immediates run as, do; what the first ones have set then goes before the rest. Ticks are told
// apart by their times; where the clock stood still between two, by t: set since then, without a delay, it does not fire in the
// first of them.
func (j *JS) owesImmediates(t *timer) bool {
	now := j.loop.CurrentTickTime()
	inTimers := j.inTimers && j.timersIn.Equal(now)
	if j.phase == armed && j.late.Len() == 0 && !inTimers && !j.setIn.IsZero() {
		if !j.setIn.Equal(now) || j.clamp(t.delay, t.level) == 0 && !t.due.Before(now) {
			j.begin()
			j.loop.SubmitInternal(j.nextImmediate)
		}
	}
	return j.phase == running || j.late.Len() > 0
}

// runLate runs one timer that had to wait for immediates, as a loop task of its own; or none, when the loop drops timers.
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

// enterTimers notes that the loop is running timers, until the internal task that it queues: the loop runs these next,
// in this tick unless there are too many. mu is held.
func (j *JS) enterTimers() {
	j.timersIn = j.loop.CurrentTickTime()
	if !j.inTimers {
		j.inTimers = true
		j.loop.SubmitInternal(j.timersOver)
	}
}

func (j *JS) leaveTimers() {
	j.mu.Lock()
	j.inTimers = false
	j.mu.Unlock()
}
