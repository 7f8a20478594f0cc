package programs

// What was handed over to the loops, and what must become of it.

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/turnloop/turnloop/eventloop"
)

// handed is a function that was handed over, to be called once.
type handed struct {
	what     string
	survives bool // Close does not drop it
	due      atomic.Int32
	runs     atomic.Int32
}

// What must become of it.
const (
	open  = iota // it is not known yet, or the function may be dropped
	must         // it runs
	never        // it does not
)

// timer is a timer that others may cancel.
type timer struct {
	*handed
	at  *site
	id  eventloop.TimerID
	far bool
}

// hand notes that a function is about to be handed over.
func (w *world) hand(format string, args ...any) *handed {
	h := &handed{what: fmt.Sprintf(format, args...)}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, h)
	return h
}

// decide decides on the fate of a function by the error with which it was accepted, or not.
func (h *handed) decide(w *world, err error) (accepted bool) {
	if err == nil {
		h.due.Store(must)
		return true
	}
	h.due.Store(never)
	if !errors.Is(err, eventloop.ErrLoopTerminated) && !errors.Is(err, eventloop.ErrLoopOverloaded) {
		w.errorf("%s: %v", h.what, err)
	}
	return false
}

func (w *world) some(is func(h *handed) bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, h := range w.all {
		if is(h) {
			return true
		}
	}
	return false
}

// wanted returns what still has to run, timers that are not far away included.
func (w *world) wanted() (all []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, h := range w.all {
		if h.due.Load() == must && h.runs.Load() == 0 && !h.survives {
			all = append(all, h.what)
		}
	}
	return all
}

// check compares what has run with what had to.
func (w *world) check() {
	for _, h := range w.all {
		switch runs, due := h.runs.Load(), h.due.Load(); {
		case runs > 1:
			w.errorf("%s: it has run %d times", h.what, runs)
		case runs == 1 && due == never:
			w.errorf("%s: it has run although it was refused, or taken back", h.what)
		case runs == 0 && due == must && !(w.dropped.Load() && !h.survives):
			w.errorf("%s: it was accepted and has not run", h.what)
		}
	}
}

// begin is the begin of a function on the loop. n is its number among those that its source has handed over in its lane, 0 if there is no order.
func (s *site) begin(h *handed, order string, n int) {
	if h != nil {
		h.runs.Add(1)
	}
	s.alone()
	if s.w.over.Load() {
		s.w.errorf("%s: it runs after the end", h.what)
	}
	if n > 0 {
		if last := s.last[order]; n <= last {
			s.w.errorf("%s: number %d of %s runs behind %d", h.what, n, order, last)
		}
		s.last[order] = n
	}
}

// turn is the begin of a callback. Close leaves none, microtasks go before all others, and internal work before tasks.
func (s *site) turn(kind string) {
	if s.closed {
		s.w.errorf("a callback of kind %s begins after Close", kind)
	}
	if kind == "microtask" || kind == "tick" {
		return
	}
	if n := s.waiting["microtask"] + s.waiting["tick"]; n > 0 && !s.w.budgets {
		s.w.errorf("a callback of kind %s begins before %d microtasks", kind, n)
	}
	if n := s.waiting["internal"]; n > 0 && kind == "task" {
		s.w.errorf("a task begins before %d internal ones", n)
	}
}

// alone checks that the caller is on the loop, and nobody else.
func (s *site) alone() {
	if !s.l.OnLoop() {
		s.w.errorf("not on loop %d", s.i)
	}
	if s.w.group != nil {
		if here := s.w.here(); here != s {
			s.w.errorf("on two loops at once")
		}
	}
	if !s.busy.CompareAndSwap(false, true) {
		s.w.errorf("two callbacks of loop %d run at the same time", s.i)
	}
	s.busy.Store(false)
}

// short are delays of timers that a program waits for, long one that it does not.
var (
	short = []time.Duration{-1, 0, 1, 10 * time.Microsecond, 200 * time.Microsecond, time.Millisecond}
	long  = time.Hour
)
