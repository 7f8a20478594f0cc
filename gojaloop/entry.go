package gojaloop

// Entries: the calls from Go into the runtime, the phases of a turn, and the checkpoint behind each callback.

import (
	"runtime/debug"
	"time"

	"github.com/dop251/goja"
	"github.com/turnloop/turnloop/eventloop"
)

// phase is the next step of a host's turn, in Node's order. A turn may be spread over several entries, and one entry
// may run several short turns.
type phase int

const (
	timing   phase = iota // timers that are due
	polling               // functions from Go
	checking              // immediates
)

// entry is one callback of the loop that runs scripts, with what is left of it to do.
type entry struct {
	first       func()    // runs before anything else
	fn          func()    // the entry's purpose; nil once it has begun, or if the entry only runs the turn
	then        phase     // the phase that follows fn
	alone       bool      // no phase follows fn
	told        bool      // whoever made the entry tells of an interrupt
	begun       bool      // the current phase has begun
	began       time.Time // when the entry's part of the turn began
	callbacks   int       // calls of nextCallback
	done        bool      // the entry takes no more callbacks of the turn
	mayHaveJobs bool      // something ran since goja last ran promise jobs; used if goja does not show its queue

	calling    bool // a timer or an immediate runs, or its checkpoint
	checkpoint bool // the checkpoint has begun
	threw      bool // it has thrown: what is left of the checkpoint follows the next callback of the phase, as in Node
}

const (
	// longest is about how long an entry runs callbacks of the turn before it gives way to the rest of the loop.
	longest = 10 * time.Millisecond
	// brief is about how long an entry may have run to begin another turn.
	brief = 250 * time.Microsecond
	// lookEvery is the number of callbacks between two looks at the clock.
	lookEvery = 16
)

// enter runs an entry to its end: its callbacks, with a checkpoint behind each. On the loop, outside of the runtime.
// Once the entry has begun, enter calls during, unless it is nil, with the entry's number; at the end it calls the
// function that during returned. enter returns nil if the entry came to its end, else the cause of an interrupt, or
// why the host has ended. All other errors are uncaught exceptions.
func (h *Host) enter(e entry, during func(entry uint64) (stop func())) error {
	if h.endErr != nil {
		return h.endErr
	}
	if h.parked.Load() {
		return ErrParked
	}
	if !h.guard.begin() {
		h.end(h.guard.killCause())
		return h.endErr
	}
	if during != nil {
		defer during(h.guard.current())()
	}
	h.entry = e
	h.depth++
	left := false
	defer func() {
		h.depth--
		if !left {
			h.end(&eventloop.PanicError{Value: eventloop.ErrGoexit, Stack: debug.Stack()})
		}
		h.guard.finish()
		h.leave()
		if h.lost != nil && h.depth == 0 {
			panic(h.lost)
		}
	}()
	var interrupted error
	for h.endErr == nil {
		fault := h.call()
		if fault == nil && h.depth == 1 && h.calls.IsValid() && h.broken() {
			fault = errLost
		}
		if interrupted = h.guard.interruptCause(); fault != nil && (interrupted != nil || h.broken()) {
			h.interrupted(fault)
			break
		}
		if fault != nil {
			h.entry.fn = nil
			h.entry.first = func() { h.uncaught(nil, fault, "uncaughtException") }
		} else if !h.unfinished() {
			interrupted = nil // the interrupt came after the end
			break
		}
	}
	left = true
	if h.endErr != nil {
		return h.endErr
	}
	return interrupted
}

// call calls the frame, which handles exceptions itself. call returns the faults that goja does not let scripts
// catch, and panics of Go functions.
func (h *Host) call() (err error) {
	returned := false
	defer func() {
		if !returned {
			if x := recover(); x != nil { // nil is runtime.Goexit
				err = asPanic(x)
			}
		}
	}()
	_, err = h.frame(nil)
	returned = true
	return err
}

// next is called by the frame, and returns the function or object to call next, or undefined when the frame is to return. First
// comes the checkpoint of the previous callback: nextTick functions, then promise jobs, which goja runs when the frame returns,
// and rejections once no job is left. With an argument, next takes an exception that the frame has caught.
func (h *Host) next(call goja.FunctionCall) goja.Value {
	if len(call.Arguments) != 0 {
		h.entry.threw = h.entry.calling && (h.moreOfPhase() || !h.entry.checkpoint && h.phase == checking)
		return h.reportUncaught(call)
	}
	if h.timers.current != nil {
		h.timers.finish()
	}
	n := &h.entry
	n.checkpoint = true
	h.switchTo(nil)
	for h.endErr == nil {
		if n.threw {
			callback, fn := h.nextCallback()
			n.threw = false
			if h.run(fn) {
				continue
			} else if callback != nil {
				return callback
			}
		}
		if f := n.first; f != nil {
			n.first, n.mayHaveJobs = nil, true
			f()
			continue
		}
		if h.ticks.len() != 0 {
			n.mayHaveJobs = true
			t := h.ticks.pop()
			if !h.follows {
				return t.value(h)
			}
			h.within(t.scope, t.fn, goja.Undefined(), t.args...)
			continue
		}
		if h.jobsWait() {
			if !h.follows {
				break
			}
			h.runJobs()
			continue
		}
		if h.rejections.due() {
			n.mayHaveJobs = true
			h.reportRejections()
			continue
		}
		if fn := n.fn; fn != nil {
			n.fn, n.mayHaveJobs = nil, true
			h.timers.callback++
			h.advance(n.then)
			fn()
			continue
		}
		if callback, fn := h.nextCallback(); h.run(fn) {
			continue
		} else if callback != nil {
			return callback
		}
		break
	}
	if h.follows && h.guard.busy.Load() {
		h.guard.forgive() // what it was for is over; goja would drop the jobs of others
	}
	return goja.Undefined()
}

// run calls fn, unless it is nil, and tells whether it did. A panic of fn unwinds the frame: an exception to the frame's
// catch, anything else to the method call.
func (h *Host) run(fn func(*goja.Runtime)) bool {
	if fn == nil {
		return false
	}
	fn(h.vm)
	return true
}

// jobsWait tells whether promise jobs are ready. If goja does not show its queue, the answer is yes once after each
// function that ran.
func (h *Host) jobsWait() bool {
	if h.jobs.IsValid() {
		return h.jobs.Len() != 0
	}
	may := h.entry.mayHaveJobs
	h.entry.mayHaveJobs = false
	return may
}

// advance sets the turn's next phase, when a callback that belongs before that phase has run. A timing phase that was
// cut short still comes first.
func (h *Host) advance(to phase) {
	if !h.timersCut {
		h.phase = to
	}
}

// nextCallback returns the next callback of the turn: the object of a timer or an immediate, or a function from Go.
// It returns neither if there is none, or if the entry should give way to the rest of the loop.
func (h *Host) nextCallback() (object goja.Value, fn func(*goja.Runtime)) {
	n := &h.entry
	n.mayHaveJobs, n.calling, n.checkpoint = true, false, false
	h.guard.next()
	h.timers.callback++
	if n.alone || n.done || h.nothingPending() || h.parked.Load() {
		n.done = true
		return nil, nil
	}
	if n.callbacks == 0 {
		n.began = time.Now()
	}
	if n.callbacks++; n.callbacks%lookEvery == 0 && !n.threw && h.schedule == nil && time.Since(n.began) > longest {
		n.done, h.timersCut = true, h.phase == timing
		if h.phase == polling { // a batch may be large: what is left waits until immediates and timers have had their turn
			h.phase = checking
		}
		return nil, nil
	}
	for {
		switch h.phase {
		case timing:
			if !n.begun {
				n.begun = true
				h.timers.begin()
			}
			if t := h.timers.next(); t != nil {
				n.calling = true
				if h.follows {
					return nil, func(*goja.Runtime) { h.within(t.scope, t.Get(onTimeout), t.object) }
				}
				return t.object, nil
			}
			h.timersCut, n.begun = false, false
			h.phase = polling
		case polling:
			if !n.begun {
				n.begun = true
				h.inbox.take()
			}
			if fn, own := h.inbox.next(); own {
				n.done = true
				return nil, nil
			} else if fn != nil {
				return nil, fn
			}
			n.begun = false
			h.phase = checking
		case checking:
			if !n.begun || n.threw { // behind the last immediate, if it throws, those that are new by then run at once, as in Node
				n.begun = true
				h.immediates.begin()
			}
			if im := h.immediates.next(); im != nil {
				n.calling = true
				if h.follows {
					return nil, func(*goja.Runtime) { h.within(im.scope, im.Get(onTimeout), im.object) }
				}
				return im.object, nil
			}
			n.begun = false
			h.phase = timing
			if !h.anotherTurn() {
				n.done = true
				return nil, nil
			}
		}
	}
}

// nothingPending tells whether no timer, immediate or function is pending at all.
func (h *Host) nothingPending() bool {
	return len(h.timers.order) == 0 && !h.immediates.any() && !h.inbox.any()
}

// anotherTurn tells whether this entry begins another turn: if something is to do and the entry has been brief. With a
// schedule each turn is an entry of its own. After a throw, brevity and schedule do not matter: a checkpoint is to come.
func (h *Host) anotherTurn() bool {
	if h.schedule != nil && !h.entry.threw {
		return false
	}
	now := h.timers.now()
	if now-int64(h.entry.began.Sub(h.timers.anchor)) > int64(brief) && !h.entry.threw {
		return false
	}
	return h.immediates.any() || h.inbox.any() || h.timers.ready(now)
}

// unfinished tells whether the entry goes on, after goja has run the promise jobs.
func (h *Host) unfinished() bool {
	n := &h.entry
	switch {
	case h.ticks.len() != 0 || h.rejections.due() || n.fn != nil || n.first != nil:
		return true
	case n.alone || n.done || h.nothingPending() || h.parked.Load():
		return false
	}
	return n.begun || h.immediates.any() || h.inbox.any() || h.timers.ready(h.timers.now())
}

// leave arranges what follows an entry: the rest of the turn, the alarm, the end of Run. A loop that is ending accepts no
// more turns; the host then ends as soon as the functions from Go that it has accepted have run.
func (h *Host) leave() {
	if h.endErr != nil || h.parked.Load() {
		return
	}
	if h.ending == nil && (h.timersCut || h.immediates.any() || h.inbox.any()) {
		h.requestTurn()
	}
	if h.ending == nil {
		h.ending = h.timers.setAlarm()
	}
	switch {
	case h.parked.Load(): // parked meanwhile: the end of the loop does not end the host
		h.ending = nil
	case h.ending == nil:
		h.queueConfirm()
	case h.inbox.any():
		h.requestTurn()
	default:
		h.end(h.ending)
	}
}

// requestTurn queues the rest of the turn at the loop, behind what is queued there.
func (h *Host) requestTurn() {
	if h.turnQueued {
		return
	}
	err := h.loop.Submit(h.turnFunc)
	switch {
	case err == nil:
	case err == eventloop.ErrLoopTerminated && !h.inbox.any():
		h.ending = err
		return
	default: // the loop is full or ending, and still takes an internal task
		if err := h.loop.SubmitInternal(h.turnFunc); err != nil {
			h.ending = err
			if !h.parked.Load() {
				h.end(err)
			}
			return
		}
	}
	h.turnQueued = true
}

// turn is the callback that requestTurn queues.
func (h *Host) turn() {
	h.turnQueued = false
	h.runTurn()
}

// runTurn runs the items of the inbox that need entries of their own, as long as one of them is first, and then goes
// on with the turn. On the loop, outside of the runtime.
func (h *Host) runTurn() {
	if h.parked.Load() {
		return
	}
	h.inbox.take()
	began := time.Time{}
	for own := h.inbox.nextOwn(); own != nil; own = h.inbox.nextOwn() {
		own()
		if began.IsZero() {
			began = time.Now()
		} else if h.schedule == nil && time.Since(began) > longest {
			h.requestTurn()
			return
		}
	}
	_ = h.enter(entry{}, nil)
}

// protect calls a Go function within an entry. It returns an exception or a panic as an error; runtime.Goexit passes.
func (h *Host) protect(fn func() error) (err error) {
	returned := false
	defer func() {
		if !returned {
			err = h.recovered(recover())
		}
	}()
	ex := h.vm.Try(func() { err = fn() })
	if returned = true; ex != nil {
		err = ex
	}
	return err
}

// recovered makes an error of a recovered panic value.
func (h *Host) recovered(x any) error {
	switch x := x.(type) {
	case nil: // runtime.Goexit
		return nil
	case *goja.InterruptedError:
		return x
	case *goja.StackOverflowError:
		return x
	}
	return asPanic(x)
}

// asPanic makes a PanicError of a recovered panic value, unless the value is one already.
func asPanic(x any) *eventloop.PanicError {
	if p, ok := x.(*eventloop.PanicError); ok && p != nil {
		return p
	}
	return &eventloop.PanicError{Value: x, Stack: debug.Stack()}
}

// runAlone runs f in an entry of its own, which no timer, immediate or function follows. An error of f is an uncaught exception.
func (h *Host) runAlone(f func() error) {
	_ = h.enter(entry{fn: func() {
		if err := h.protect(f); err != nil {
			h.uncaught(nil, err, "uncaughtException")
		}
	}, then: checking, alone: true}, nil)
}
