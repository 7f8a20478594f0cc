//go:build schedules

package eventloop_test

// What goroutines do to a loop in TestSchedules, and what must have become of it.

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/internal/sched"
)

// scenario is one way to use a loop. prepare says what the goroutines do; the first is the loop's, as a rule.
type scenario struct {
	name    string
	opts    []eventloop.Option
	parked  bool // the loop sleeps before the others begin
	chance  bool // only random schedules: there are too many others
	prepare func(w *stage) []sched.Thread
}

// stage is one loop and what is known of it. Goroutines of a schedule run one at a time, so it needs no lock.
type stage struct {
	*eventloop.Loop
	poller *modelPoller
	tasks  []*task
	last   map[string]int // by producer and lane, the number of the last task that ran
	left   int            // tasks whose run is awaited; the last of them ends the loop

	runs, shutdowns []error
	closed          bool // Close has returned
	verify          func() error
	wrong           []error
}

type task struct {
	line    string // producer and lane
	n       int
	err     error // of the submission
	ran     int
	dropped bool // may be, by Shutdown
}

func (s *scenario) begin() sched.Case {
	w := &stage{last: map[string]int{}, poller: &modelPoller{}}
	opts := append([]eventloop.Option{eventloop.WithPoller(func() (eventloop.SystemPoller, error) { return w.poller, nil })}, s.opts...)
	l, err := eventloop.New(opts...)
	if err != nil {
		panic(err)
	}
	w.Loop = l
	threads := s.prepare(w)
	for i, t := range threads {
		threads[i].Run = func() {
			if w.OnLoop() {
				w.fault("%s is taken for the loop's goroutine, which has ended", t.Name)
			}
			t.Run()
		}
	}
	return sched.Case{Threads: threads, Parked: s.parked, Check: w.check}
}

func (w *stage) fault(format string, args ...any) {
	w.wrong = append(w.wrong, fmt.Errorf(format, args...))
}

// check holds the loop to its promises, when all has ended.
func (w *stage) check() error {
	select {
	case <-w.Done():
	default:
		w.fault("Done is open")
	}
	if state := w.State(); state != eventloop.StateTerminated {
		w.fault("the state is %v", state)
	}
	for _, t := range w.tasks {
		switch {
		case t.err != nil && t.ran != 0:
			w.fault("%s %d was refused (%v), and ran", t.line, t.n, t.err)
		case t.err != nil && !errors.Is(t.err, eventloop.ErrLoopTerminated) && !errors.Is(t.err, eventloop.ErrLoopOverloaded):
			w.fault("%s %d was refused: %v", t.line, t.n, t.err)
		case t.ran > 1, t.err == nil && t.ran == 0 && !w.closed && !(t.dropped && len(w.shutdowns) > 0):
			w.fault("%s %d was accepted, and ran %d times", t.line, t.n, t.ran)
		}
	}
	won := 0
	for _, err := range w.shutdowns {
		switch {
		case err == nil:
			won++
		case !errors.Is(err, eventloop.ErrLoopTerminated):
			w.fault("Shutdown: %v", err)
		}
	}
	switch {
	case w.closed && won != 0:
		w.fault("Shutdown and Close both returned nil")
	case won > 1:
		w.fault("%d Shutdowns returned nil", won)
	case won == 0 && len(w.shutdowns) > 0 && !w.closed:
		w.fault("no Shutdown has ended the loop, and nothing else could")
	}
	ran := 0
	for _, err := range w.runs {
		switch {
		case err == nil:
			ran++
		case !errors.Is(err, eventloop.ErrLoopTerminated) && !errors.Is(err, eventloop.ErrLoopAlreadyRunning):
			w.fault("Run: %v", err)
		}
	}
	if w.closed && ran != 0 || ran > 1 {
		w.fault("Run returned nil %d times", ran)
	}
	if w.verify != nil {
		w.wrong = append(w.wrong, w.verify())
	}
	return errors.Join(w.wrong...)
}

// task makes the function of a submission, which has yet to be noted.
func (w *stage) task(line string) (*task, func()) {
	t := &task{line: line}
	for _, other := range w.tasks {
		if other.line == line {
			t.n = other.n + 1
		}
	}
	w.tasks = append(w.tasks, t)
	return t, func() {
		t.ran++
		switch {
		case !w.OnLoop():
			w.fault("%s %d does not run on the loop", line, t.n)
		case w.closed:
			w.fault("%s %d began after Close had returned", line, t.n)
		case w.last[line] > t.n:
			w.fault("%s %d ran after %d", line, t.n, w.last[line])
		}
		w.last[line] = t.n
		if w.left--; w.left == 0 {
			w.shutdown()
		}
		sched.Point() // what comes next is behind this
	}
}

func (w *stage) run() { w.runs = append(w.runs, w.Run(context.Background())) }

func (w *stage) shutdown() { w.shutdowns = append(w.shutdowns, w.Shutdown(context.Background())) }

func (w *stage) close() {
	err := w.Close()
	if err != nil && w.State() != eventloop.StateTerminated && !w.closed {
		w.fault("Close: %v", err)
	}
	w.closed = w.closed || err == nil
}

// A submission is how a function gets on the loop.
type submission struct {
	lane    string
	call    func(l *eventloop.Loop, fn func()) error
	refused bool // from Terminating on, not only at the end
	dropped bool // by Shutdown, if it is pending
}

var (
	submit    = submission{lane: "external", call: (*eventloop.Loop).Submit, refused: true}
	internal  = submission{lane: "internal", call: (*eventloop.Loop).SubmitInternal}
	microtask = submission{lane: "microtask", call: (*eventloop.Loop).ScheduleMicrotask}
	timer     = timed("timer", eventloop.TimerNormal, 0)
	alarm     = timed("alarm", eventloop.TimerNormal, time.Millisecond)
)

func ending(state eventloop.State) bool {
	return state == eventloop.StateTerminating || state == eventloop.StateTerminated
}

// producer submits count functions.
func (w *stage) producer(name string, s submission, count int) sched.Thread {
	return sched.Thread{Name: name, Run: func() {
		for range count {
			t, fn := w.task(name + " " + s.lane)
			t.dropped = s.dropped
			over := w.closed || s.refused && ending(w.State())
			if t.err = s.call(w.Loop, fn); over && t.err == nil {
				w.fault("%s %d was accepted after the end had begun", t.line, t.n)
			}
		}
	}}
}

func (w *stage) thread(name string, run func()) sched.Thread {
	return sched.Thread{Name: name, Run: run}
}

// served is the loop, two producers of one function each, and what ends it when both have run: a function, so that
// nothing but a producer wakes the loop. One that is parked has served before, so that its lanes have chunks.
func served(name string, a, b submission, opts ...eventloop.Option) []scenario {
	prepare := func(w *stage) []sched.Thread {
		w.left = 2
		return []sched.Thread{w.thread("run", w.run), w.producer("a", a, 1), w.producer("b", b, 1)}
	}
	return []scenario{
		{name: name, opts: opts, prepare: prepare},
		{name: name + ", parked", opts: opts, parked: true, prepare: func(w *stage) []sched.Thread {
			for _, s := range []submission{submit, internal} {
				_ = s.call(w.Loop, func() { _ = s.call(w.Loop, func() {}) })
			}
			return prepare(w)
		}},
	}
}

// ended is the loop, a producer, and what ends it at any moment.
func ended(name string, s submission, count int, end func(w *stage)) scenario {
	return scenario{name: name, prepare: func(w *stage) []sched.Thread {
		return []sched.Thread{w.thread("run", w.run), w.producer("a", s, count), w.thread("end", func() { end(w) })}
	}}
}

// then has the second thread go on with something else.
func then(threads []sched.Thread, what func()) []sched.Thread {
	run := threads[1].Run
	threads[1].Run = func() { run(); what() }
	return threads
}

func join(lists ...[]scenario) (all []scenario) {
	for _, list := range lists {
		all = append(all, list...)
	}
	return all
}

var scenarios = join(
	served("submit and submit", submit, submit),
	served("submit and internal", submit, internal),
	served("submit and microtask", submit, microtask),
	served("internal and microtask", internal, microtask),
	served("internal and timer", internal, timer),
	served("microtask and timer", microtask, timer),
	served("alarm and timer", alarm, timer),
	served("submit and alarm", submit, alarm),
	served("submit and submit in the poller", submit, submit, eventloop.WithFastPathMode(eventloop.FastPathDisabled)),
	[]scenario{
		ended("submit and shutdown", submit, 2, (*stage).shutdown),
		ended("internal and shutdown", internal, 2, (*stage).shutdown),
		ended("microtask and shutdown", microtask, 2, (*stage).shutdown),
		ended("submit and close", submit, 2, (*stage).close),
		ended("internal and close", internal, 2, (*stage).close),
		ended("microtask and close", microtask, 2, (*stage).close),
		ended("timer and close", timer, 2, (*stage).close),
		{name: "shutdown and close", prepare: func(w *stage) []sched.Thread {
			w.producer("before", submit, 1).Run()
			return []sched.Thread{w.thread("run", w.run), w.thread("shutdown", w.shutdown), w.thread("close", w.close)}
		}},
		{name: "shutdown and shutdown", prepare: func(w *stage) []sched.Thread {
			w.producer("before", submit, 1).Run()
			return []sched.Thread{w.thread("run", w.run), w.thread("shutdown", w.shutdown), w.thread("again", w.shutdown)}
		}},
		{name: "shutdown of a loop that never ran", prepare: func(w *stage) []sched.Thread {
			return []sched.Thread{w.thread("shutdown", w.shutdown), w.producer("a", submit, 1), w.producer("b", internal, 1)}
		}},
		{name: "the end of a loop that never ran", prepare: func(w *stage) []sched.Thread {
			w.producer("before", submit, 1).Run()
			return []sched.Thread{w.thread("shutdown", w.shutdown), w.thread("close", w.close), w.producer("a", internal, 1)}
		}},
		{name: "run and run", prepare: func(w *stage) []sched.Thread {
			w.left = 1
			return []sched.Thread{w.thread("run", w.run), w.thread("again", w.run), w.producer("a", submit, 1)}
		}},
		{name: "overload", opts: []eventloop.Option{eventloop.WithQueueLimit(1)}, prepare: overload},
		{name: "goexit", opts: []eventloop.Option{eventloop.WithPanicHandler(func(*eventloop.PanicError) {})}, prepare: goexit},
		{name: "context", prepare: cancel},
		{name: "context, parked", parked: true, prepare: cancel},
		{name: "hold", opts: []eventloop.Option{eventloop.WithAutoExit(true)}, prepare: hold},
		{name: "far timer", prepare: farTimer},
		{name: "far timer, parked", parked: true, prepare: farTimer},
		{name: "last timer", opts: []eventloop.Option{eventloop.WithAutoExit(true)}, prepare: lastTimer},
		{name: "auto-exit and close", opts: []eventloop.Option{eventloop.WithAutoExit(true)}, prepare: func(w *stage) []sched.Thread {
			return []sched.Thread{w.thread("run", w.run), w.thread("close", w.close), w.producer("a", submit, 1)}
		}},
		{name: "alive, parked", parked: true, prepare: alive},
		{name: "auto-exit", opts: []eventloop.Option{eventloop.WithAutoExit(true)}, prepare: autoExit},
		{name: "register and forced", prepare: registerAndForced},
		{name: "register and ready", prepare: registerAndReady},
		{name: "register and ready, parked", parked: true, prepare: registerAndReady},
		{name: "ready in the poller", opts: []eventloop.Option{eventloop.WithFastPathMode(eventloop.FastPathDisabled)}, parked: true, prepare: registerAndReady},
		{name: "mode and submit", parked: true, prepare: modeAndSubmit},
		{name: "promisify and shutdown", prepare: promisifyAnd((*stage).shutdown)},
		{name: "promisify and close", prepare: promisifyAnd((*stage).close)},
		{name: "rest and close", prepare: func(w *stage) []sched.Thread {
			return then(promisifyAnd((*stage).close)(w), w.shutdown)
		}},
		{name: "register, ready and close", prepare: func(w *stage) []sched.Thread {
			threads := then(registerAndReady(w), w.close)
			w.left = -1 // nobody shuts it down
			return threads
		}},
		{name: "unregister", opts: []eventloop.Option{eventloop.WithAutoExit(true)}, prepare: unregisterAnd(nil)},
		{name: "unregister and shutdown", prepare: unregisterAnd((*stage).shutdown)},
		{name: "unregister and close", prepare: unregisterAnd((*stage).close)},
		{name: "sleep and shutdown", prepare: sleepAnd((*stage).shutdown)},
		{name: "sleep and close", prepare: sleepAnd((*stage).close)},
		{name: "sleep and cancel", opts: []eventloop.Option{eventloop.WithAutoExit(true)}, prepare: sleepAndCancel},
		{name: "sleep and cancel, parked", parked: true, opts: []eventloop.Option{eventloop.WithAutoExit(true)}, prepare: sleepAndCancel},
		{name: "work and refuse", opts: []eventloop.Option{eventloop.WithWorkerLimit(1)}, prepare: workAndRefuse},
		{name: "resolve and wait", prepare: resolveAndWait},
		{name: "resolve and wait, parked", parked: true, prepare: resolveAndWait},
		{name: "resolve and shutdown", prepare: resolveAnd((*stage).shutdown)},
		{name: "resolve and close", prepare: resolveAnd((*stage).close)},
	},
	endings,
	groups,
)
