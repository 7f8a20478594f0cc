package gojaloop

// Entries: each time that Go calls into the runtime, what a turn consists of, and the checkpoint behind each callback.

import (
	"fmt"
	"runtime/debug"
	"time"

	"github.com/dop251/goja"
	"github.com/turnloop/turnloop/eventloop"
)

// phase is what comes next in a host's turn, in Node's order. A turn may be spread over several entries, and an entry may
// run several short turns.
type phase int

const (
	timing   phase = iota // timers that are due
	polling               // functions from Go
	checking              // immediates
)

// entry is one callback of the loop that runs scripts, and what is left of it to do.
type entry struct {
	first func() // goes before anything else
	fn    func() // what the entry is for; nil once it has begun, or if it is for the turn
	then  phase  // what comes after fn
	alone bool   // nothing does
	begun bool   // the phase has
	began time.Time
	looks int  // at the turn
	over  bool // the turn gives way
	ran   bool // something ran since goja had a chance to run promise jobs

	calling bool // a timer or an immediate runs
	threw   bool // it has thrown, so its checkpoint comes behind the next one of the phase, as in Node
}

const (
	// longest is about how long one phase goes on before everything else on the loop has its turn.
	longest = 10 * time.Millisecond
	// brief is about how long a host goes on to another turn of its own.
	brief = 250 * time.Microsecond
	// lookEvery is after how many callbacks the clock is looked at.
	lookEvery = 16
)

// enter runs an entry to its end: its callbacks, with a checkpoint behind each. On the loop, outside of the runtime. It
// returns why it did not come to its end: the cause of an interrupt, or why the host has ended. Whatever else happens
// goes to who has to hear of it.
func (h *Host) enter(e entry, during func(entry uint64) (stop func())) error {
	if h.over != nil {
		return h.over
	}
	if h.parked.Load() {
		return ErrParked
	}
	if !h.guard.begin() {
		h.end(h.guard.reason())
		return h.over
	}
	if during != nil {
		defer during(h.guard.current())()
	}
	h.now = e
	h.inside++
	left := false
	defer func() {
		h.inside--
		if !left {
			h.end(&eventloop.PanicError{Value: eventloop.ErrGoexit, Stack: debug.Stack()})
		}
		h.guard.finish()
		h.leave()
	}()
	var interrupted error
	for h.over == nil {
		fault := h.call()
		if interrupted = h.guard.why(); fault != nil && (interrupted != nil || h.broken()) {
			h.interrupted(fault)
			break
		}
		if fault != nil {
			h.now.fn = nil
			h.now.first = func() { h.uncaught(nil, fault, "uncaughtException") }
		} else if !h.more() {
			interrupted = nil // it came too late
			break
		}
	}
	left = true
	if h.over != nil {
		return h.over
	}
	return interrupted
}

// interrupted sees to what an interrupt has left: nothing of it runs, but the host may live. So it is with what else
// scripts cannot catch, if that has left the runtime in a state in which it must not be used any more.
func (h *Host) interrupted(fault error) {
	h.ticks.clear()
	h.rejections.waiting, h.rejections.order = nil, nil
	why := h.guard.reason()
	if cause := h.guard.why(); why == nil && cause != nil && h.broken() {
		why = fmt.Errorf("%w: %w", ErrBroken, cause)
	} else if why == nil && cause == nil {
		e := h.asError(goja.Undefined(), fault)
		e.Code = 1
		why = e
	}
	if why != nil {
		h.end(why)
	}
}

// broken tells whether goja has come back without having cleaned up, as it does when something that scripts cannot catch
// leaves an async function that was resumed, or a generator. Its next call would not return. Where goja does not show, it may be so.
func (h *Host) broken() bool {
	return !h.calls.IsValid() || !h.tries.IsValid() || h.calls.Len()+h.tries.Len() != 0
}

// call calls the frame. An exception is dealt with there; what comes out is what goja does not let scripts catch.
func (h *Host) call() (err error) {
	returned := false
	defer func() {
		if !returned {
			if x := recover(); x != nil { // nil is runtime.Goexit
				err = &eventloop.PanicError{Value: x, Stack: debug.Stack()}
			}
		}
	}()
	_, err = h.frame(nil)
	returned = true
	return err
}

// next is the frame's: it returns what to call next. What comes first is the checkpoint of the callback before: ticks,
// then promise jobs, for which it leaves, and when there are none, rejections. With an argument it is told of an exception.
func (h *Host) next(call goja.FunctionCall) goja.Value {
	if len(call.Arguments) != 0 {
		h.now.threw = h.now.calling
		return h.fail(call)
	}
	if h.timers.current != nil {
		h.timers.ran()
	}
	n := &h.now
	n.calling = false
	for h.over == nil {
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
			n.first, n.ran = nil, true
			f()
			continue
		}
		if h.ticks.len() != 0 {
			n.ran = true
			return h.ticks.pop().value(h)
		}
		if h.jobsWait() {
			break
		}
		if h.rejections.due() {
			n.ran = true
			h.tellRejections()
			continue
		}
		if fn := n.fn; fn != nil {
			n.fn, n.ran = nil, true
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
	return goja.Undefined()
}

// run runs a function of Submit, if it is one. What it panics with unwinds the frame: to its catch, or to call.
func (h *Host) run(fn func(*goja.Runtime)) bool {
	if fn == nil {
		return false
	}
	fn(h.vm)
	return true
}

// jobsWait tells whether promise jobs are ready, as far as can be known: where goja does not show its queue there may be
// some behind every callback.
func (h *Host) jobsWait() bool {
	if h.jobs.IsValid() {
		return h.jobs.Len() != 0
	}
	ran := h.now.ran
	h.now.ran = false
	return ran
}

// advance goes on to a phase, because something has run that comes before it; unless timers were cut short, which then
// still come first.
func (h *Host) advance(to phase) {
	if !h.cut {
		h.phase = to
	}
}

// nextCallback returns the next callback of the turn: a timer or an immediate, or a function from Go; neither if there is
// none, or everything else on the loop should have its turn.
func (h *Host) nextCallback() (object goja.Value, fn func(*goja.Runtime)) {
	n := &h.now
	n.ran, n.calling = true, false
	h.timers.callback++
	if n.alone || n.over || h.quiet() || h.parked.Load() {
		n.over = true
		return nil, nil
	}
	if n.looks == 0 {
		n.began = time.Now()
	}
	if n.looks++; n.looks%lookEvery == 0 && !n.threw && h.schedule == nil && time.Since(n.began) > longest {
		n.over, h.cut = true, h.phase == timing
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
				return t.object, nil
			}
			h.cut, n.begun = false, false
			h.phase = polling
		case polling:
			if !n.begun {
				n.begun = true
				h.inbox.take()
			}
			if fn, own := h.inbox.next(); own {
				n.over = true
				return nil, nil
			} else if fn != nil {
				return nil, fn
			}
			n.begun = false
			h.phase = checking
		case checking:
			if !n.begun {
				n.begun = true
				h.immediates.begin()
			}
			if im := h.immediates.next(); im != nil {
				n.calling = true
				return im.object, nil
			}
			n.begun = false
			h.phase = timing
			if !h.another() {
				n.over = true
				return nil, nil
			}
		}
	}
}

// quiet tells whether the turn has nothing to do for sure.
func (h *Host) quiet() bool {
	return len(h.timers.order) == 0 && !h.immediates.any() && !h.inbox.any()
}

// another tells whether to begin another turn in this entry: there is something to do, and it has not taken long, or what
// has thrown waits for it. A schedule has its say behind each turn.
func (h *Host) another() bool {
	if h.schedule != nil && !h.now.threw {
		return false
	}
	now := h.timers.now()
	if now-int64(h.now.began.Sub(h.timers.anchor)) > int64(brief) && !h.now.threw {
		return false
	}
	return h.immediates.any() || h.inbox.any() || h.timers.ready(now)
}

// more tells whether the entry has to go on, when goja has run the promise jobs.
func (h *Host) more() bool {
	n := &h.now
	switch {
	case h.ticks.len() != 0 || h.rejections.due() || n.fn != nil || n.first != nil:
		return true
	case n.alone || n.over || h.quiet() || h.parked.Load():
		return false
	}
	return n.begun || h.immediates.any() || h.inbox.any() || h.timers.ready(h.timers.now())
}

// leave sees to what is to come, when an entry is over. An ending loop has no turns for timers and immediates any more:
// then the program ends when what was accepted from Go has run.
func (h *Host) leave() {
	if h.over != nil || h.parked.Load() {
		return
	}
	if h.ending == nil && (h.cut || h.immediates.any() || h.inbox.any()) {
		h.ask()
	}
	if h.ending == nil {
		h.ending = h.timers.setAlarm()
	}
	switch {
	case h.parked.Load(): // meanwhile, and its loop has been told to end
		h.ending = nil
	case h.ending == nil:
		h.settle()
	case h.inbox.any():
		h.ask()
	default:
		h.end(h.ending)
	}
}

// ask asks the loop to have the turn go on, behind what is queued there.
func (h *Host) ask() {
	if h.owed {
		return
	}
	err := h.loop.Submit(h.goOn)
	switch {
	case err == nil:
	case err == eventloop.ErrLoopTerminated && !h.inbox.any():
		h.ending = err
		return
	default: // full, or ending; then it still takes this
		if err := h.loop.SubmitInternal(h.goOn); err != nil {
			h.ending = err
			if !h.parked.Load() {
				h.end(err)
			}
			return
		}
	}
	h.owed = true
}

// turn is the loop's callback for ask.
func (h *Host) turn() {
	h.owed = false
	h.goAhead()
}

// goAhead runs what waits for an entry of its own, as far as it comes first, and goes on with the turn.
func (h *Host) goAhead() {
	if h.parked.Load() {
		return
	}
	h.inbox.take()
	began := time.Time{}
	for own := h.inbox.own(); own != nil; own = h.inbox.own() {
		own()
		if began.IsZero() {
			began = time.Now()
		} else if h.schedule == nil && time.Since(began) > longest {
			h.ask()
			return
		}
	}
	_ = h.enter(entry{}, nil)
}

// protect calls a Go function within an entry. Whatever comes out of it is returned as an error, but for runtime.Goexit.
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

// recovered makes an error of what was recovered.
func (h *Host) recovered(x any) error {
	switch x := x.(type) {
	case nil: // runtime.Goexit
		return nil
	case *goja.InterruptedError:
		return x
	case *goja.StackOverflowError:
		return x
	}
	return &eventloop.PanicError{Value: x, Stack: debug.Stack()}
}

// tell has an entry of its own for what may throw.
func (h *Host) tell(f func() error) {
	_ = h.enter(entry{fn: func() {
		if err := h.protect(f); err != nil {
			h.uncaught(nil, err, "uncaughtException")
		}
	}, then: checking}, nil)
}

// fail is for an exception that nobody has caught.
func (h *Host) fail(call goja.FunctionCall) goja.Value {
	h.uncaught(call.Argument(0), nil, "uncaughtException")
	return goja.Undefined()
}
