//go:build schedules

package sched

// With the tag schedules: one schedule, in which one goroutine runs at a time.

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/turnloop/turnloop/internal/goroutine"
)

// thread is a goroutine of a schedule.
type thread struct {
	name   string
	run    func()
	timer  bool // a timer, which begins when it fires; if it never does, that is no deadlock
	began  bool
	ended  bool
	until  func() bool   // the goroutine may run only when until returns true; nil is always
	resume chan struct{} // passes the token to the goroutine
}

func (t *thread) ready() bool { return !t.ended && (t.until == nil || t.until()) }

// schedule runs goroutines one at a time. The goroutine that has the token runs; at its next point it chooses the
// goroutine that gets the token.
type schedule struct {
	threads []*thread
	current *thread
	holder  atomic.Uintptr // the goroutine that has the token; 0 while it is being passed on
	clock   time.Duration

	// choose returns the index in options of the goroutine to run next. If held is set, the first option is the calling
	// goroutine, which has not yielded: to choose another one is a preemption.
	choose  func(s *schedule, held bool) int
	options []*thread // the goroutines that can run
	alone   bool      // the first goroutine runs alone until it blocks
	step    int
	trace   Trace
	log     *strings.Builder // the log of all steps, or nil

	err      error
	finished chan struct{}
}

// bound is the largest number of steps of a schedule; one that takes more counts as endless.
const bound = 20_000

var (
	errDeadlock = errors.New("deadlock: no goroutine can go on")
	errEndless  = fmt.Errorf("no end after %d steps", bound)
)

// play runs one schedule to its end.
func (s *schedule) play(make func() Case) (Case, error) {
	active.Store(s)
	defer active.Store(nil)
	c := make()
	for _, t := range c.Threads {
		s.threads = append(s.threads, &thread{name: t.Name, run: t.Run})
	}
	s.alone = c.Parked
	s.finished = newSignal()
	s.pass(nil, s.pick(nil, false))
	<-s.finished
	return c, s.err
}

func newSignal() chan struct{} { return make(chan struct{}, 1) }

// point chooses the next goroutine, and returns when the caller is chosen and until holds. The caller must have the token.
func (s *schedule) point(until func() bool, yields bool) {
	me := s.current
	s.holder.Store(0)
	me.until = until
	s.note(me)
	to := s.pick(me, yields)
	if to == nil {
		s.finished <- struct{}{}
		select {} // the schedule has failed
	}
	if to != me {
		s.pass(me, to)
		<-me.resume
	}
	me.until = nil
	s.holder.Store(goroutine.ID())
}

// pass gives the token to another goroutine, which begins if it has not begun. On one processor it then has the identity of
// the goroutine that ended last, as long as no other has begun since.
func (s *schedule) pass(from, to *thread) {
	if from != nil && from.resume == nil {
		from.resume = newSignal()
	}
	s.current = to
	if to.began {
		to.resume <- struct{}{}
		return
	}
	to.began = true
	go func() {
		defer s.end(to) // also after runtime.Goexit
		s.holder.Store(goroutine.ID())
		to.run()
	}()
}

// end ends a goroutine of the schedule and passes the token on, or ends the schedule.
func (s *schedule) end(me *thread) {
	s.holder.Store(0)
	me.ended = true
	if next := s.pick(me, false); next != nil {
		s.pass(nil, next)
	} else {
		s.finished <- struct{}{}
	}
}

// pick returns the goroutine that runs next. It returns nil at the end of the schedule, and sets err if some goroutine has
// not ended.
func (s *schedule) pick(me *thread, yields bool) *thread {
	s.step++
	s.options = s.options[:0]
	held := me != nil && me.ready()
	if held {
		s.options = append(s.options, me)
	}
	left := false
	for _, t := range s.threads {
		if t != me && t.ready() {
			s.options = append(s.options, t)
		}
		left = left || !t.ended && (t.began || !t.timer)
	}
	switch {
	case s.step > bound:
		s.err = errEndless
		return nil
	case !left:
		return nil // only timers are left, and no goroutine waits for them
	case len(s.options) == 0:
		s.err = errDeadlock
		return nil
	}
	if s.alone {
		if s.threads[0].ready() {
			return s.threads[0]
		}
		s.alone = false
	}
	n := 0
	if len(s.options) > 1 {
		n = s.choose(s, held && !yields)
	}
	if n != 0 {
		s.trace = append(s.trace, Switch{s.step, s.index(s.options[n])})
	}
	return s.options[n]
}

func (s *schedule) index(t *thread) int {
	for i := range s.threads {
		if s.threads[i] == t {
			return i
		}
	}
	panic("sched: a goroutine of another schedule")
}

// note logs the goroutine's next step, with its place in the code under test.
func (s *schedule) note(me *thread) {
	if s.log == nil {
		return
	}
	var callers [16]uintptr
	frames := runtime.CallersFrames(callers[:runtime.Callers(3, callers[:])])
	for {
		f, more := frames.Next()
		if !more || !strings.Contains(f.Function, "internal/sched") {
			fmt.Fprintf(s.log, "%5d  %d %-12s %s:%d %s\n", s.step+1, s.index(me), me.name, filepath.Base(f.File), f.Line,
				f.Function[strings.LastIndexByte(f.Function, '/')+1:])
			return
		}
	}
}
