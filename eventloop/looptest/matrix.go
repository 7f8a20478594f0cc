package looptest

// The matrix: every method in every state of the loop, with its documented error.

import (
	"context"
	"strings"
	"time"

	"github.com/turnloop/turnloop/internal/loopapi"
)

// situation is a state of a loop together with the place from which methods are called.
type situation struct {
	name  string
	ended bool                                // the loop has ended
	enter func(t *trial, probe func(l *loop)) // brings a loop there and calls probe once
}

// situations are the columns of the matrix.
var situations = []situation{
	{"before Run", false, func(t *trial, probe func(*loop)) { probe(t.make(Config{})) }},
	{"while running", false, func(t *trial, probe func(*loop)) {
		l := t.start(Config{})
		l.rest()
		probe(l)
	}},
	{"in a callback", false, func(t *trial, probe func(*loop)) {
		l := t.start(Config{})
		l.doIn(lanes[internal], func() { probe(l) })
	}},
	{"while terminating", false, func(t *trial, probe func(*loop)) {
		l := t.start(Config{})
		g := l.hold()
		stopped := l.stopping(nil, loopapi.ErrLoopTerminated)
		l.letGo = g.open
		t.wait(t.async(func() { probe(l) }), "a call on a terminating loop to return")
		g.open()
		stopped()
	}},
	{"in a callback after Shutdown", false, func(t *trial, probe func(*loop)) {
		l := t.start(Config{})
		l.doIn(lanes[internal], func() {
			t.want("Shutdown from a callback", l.Shutdown(context.Background()), nil)
			probe(l)
		})
	}},
	{"closed, with a callback running", false, func(t *trial, probe func(*loop)) {
		l := t.start(Config{})
		g := l.hold()
		t.want("Close", l.Close(), nil)
		l.letGo = g.open
		t.wait(t.async(func() { probe(l) }), "a call on a closed loop to return")
		g.open()
	}},
	{"after Shutdown", true, func(t *trial, probe func(*loop)) {
		l := t.start(Config{})
		l.finish()
		probe(l)
	}},
	{"after Close", true, func(t *trial, probe func(*loop)) {
		l := t.start(Config{})
		l.close()
		probe(l)
	}},
	{"after the end of Run's context", true, func(t *trial, probe func(*loop)) {
		l := t.make(Config{})
		cancel := l.launchUntil()
		l.sync()
		cancel()
		l.returns(" with a cancelled context", context.Canceled)
		probe(l)
	}},
	{"after Shutdown without Run", true, func(t *trial, probe func(*loop)) {
		l := t.make(Config{})
		t.want("Shutdown of a loop that never ran", l.shutdown(), nil)
		probe(l)
	}},
	{"after Close without Run", true, func(t *trial, probe func(*loop)) {
		l := t.make(Config{})
		t.want("Close of a loop that never ran", l.Close(), nil)
		probe(l)
	}},
}

// outcomes are the words of the matrix and the errors that they stand for.
var outcomes = map[string]error{
	"ok": nil, "terminated": loopapi.ErrLoopTerminated, "running": loopapi.ErrLoopAlreadyRunning,
	"reentrant": loopapi.ErrReentrantRun, "unknown": loopapi.ErrTimerNotFound, "unregistered": loopapi.ErrFDNotRegistered,
}

// An ID that no loop gives out, and a descriptor that no check registers.
const (
	anyTimer      = loopapi.TimerID(1 << 62)
	anyDescriptor = 0
)

func noop() {}

// matrix has a row for every method and a cell for every situation; the last cell of a row stands for the remaining
// situations. "a|b" allows both results, "-" skips the cell: Run would block there.
var matrix = []struct {
	method string
	has    func(l *loop) bool
	call   func(l *loop) error
	cells  string // before, running, callback, terminating, callback after Shutdown, closed with callback, then all ends
}{
	{"Run", nil, func(l *loop) error { return l.Run(context.Background()) },
		"- running reentrant running|terminated reentrant running|terminated terminated"},
	{"Submit", nil, func(l *loop) error { return l.Submit(noop) },
		"ok ok ok terminated terminated terminated terminated"},
	{"SubmitInternal", nil, func(l *loop) error { return l.SubmitInternal(noop) },
		"ok ok ok ok ok ok|terminated terminated"},
	{"Shutdown", nil, shutdownHeld,
		"ok ok ok terminated ok|terminated terminated terminated"},
	{"Close", nil, func(l *loop) error { return l.Close() },
		"ok ok ok ok ok terminated terminated"},
	{"ScheduleMicrotask", hasMicro, func(l *loop) error { return l.micro.ScheduleMicrotask(noop) },
		"ok ok ok ok|terminated ok ok|terminated terminated"},
	{"ScheduleTimer", hasTimers, func(l *loop) error { return schedule(l, noop) },
		"ok ok ok terminated terminated terminated terminated"},
	{"ScheduleTimerAs", hasTiers, func(l *loop) error { return scheduleAs(l, loopapi.TimerCritical, noop) },
		"ok ok ok terminated terminated terminated terminated"},
	{"CancelTimer of the zero ID", hasTimers, func(l *loop) error { return l.timers.CancelTimer(0) },
		"unknown unknown unknown unknown unknown unknown unknown"},
	{"CancelTimer of an unknown ID", hasTimers, func(l *loop) error { return l.timers.CancelTimer(anyTimer) },
		"unknown unknown unknown unknown unknown unknown unknown"},
	{"RefTimer", hasRefs, func(l *loop) error { return l.refs.RefTimer(anyTimer) },
		"unknown unknown unknown unknown unknown unknown unknown"},
	{"UnrefTimer", hasRefs, func(l *loop) error { return l.refs.UnrefTimer(0) },
		"unknown unknown unknown unknown unknown unknown unknown"},
	{"RegisterFD", ioLane.has, func(l *loop) error { return ioCallback(l, noop) },
		"ok ok ok terminated terminated terminated terminated"},
	{"ModifyFD of an unknown descriptor", ioLane.has,
		func(l *loop) error { return l.fds.ModifyFD(anyDescriptor, loopapi.EventRead) },
		"unregistered unregistered unregistered unregistered|terminated"},
	{"UnregisterFD of an unknown descriptor", ioLane.has, func(l *loop) error { return l.fds.UnregisterFD(anyDescriptor) },
		"unregistered unregistered unregistered unregistered|terminated"},
}

// nilRows are the methods that take a function, called with nil.
var nilRows = []struct {
	method string
	has    func(l *loop) bool
	call   func(l *loop) error
}{
	{"Submit(nil)", nil, func(l *loop) error { return l.Submit(nil) }},
	{"SubmitInternal(nil)", nil, func(l *loop) error { return l.SubmitInternal(nil) }},
	{"ScheduleMicrotask(nil)", hasMicro, func(l *loop) error { return l.micro.ScheduleMicrotask(nil) }},
	{"ScheduleTimer(nil)", hasTimers, func(l *loop) error { return schedule(l, nil) }},
	{"ScheduleTimerAs(nil)", hasTiers, func(l *loop) error { return scheduleAs(l, loopapi.TimerBackground, nil) }},
	{"RegisterFD(nil)", ioLane.has, func(l *loop) error {
		fd, err := l.trial.fds.lend(l)
		if err != nil {
			return err
		}
		defer l.trial.fds.giveBack(fd, l)
		return l.fds.RegisterFD(fd, loopapi.EventRead, nil)
	}},
}

func hasMicro(l *loop) bool  { return l.micro != nil }
func hasTimers(l *loop) bool { return l.timers != nil }
func hasTiers(l *loop) bool  { return l.tiers != nil }
func hasRefs(l *loop) bool   { return l.refs != nil }

// shutdownHeld calls Shutdown. If a callback holds the loop, it lets the callback go after a while, as Shutdown waits
// for it.
func shutdownHeld(l *loop) error {
	if l.letGo != nil {
		defer time.AfterFunc(5*time.Millisecond, l.letGo).Stop()
	}
	return l.shutdown()
}

func schedule(l *loop, fn func()) error {
	_, err := l.timers.ScheduleTimer(0, fn)
	return err
}

func terminalStates(t *trial) {
	for _, row := range matrix {
		cells := strings.Fields(row.cells)
		for i, s := range situations {
			cell := cells[min(i, len(cells)-1)]
			if cell == "-" {
				continue
			}
			var allowed []error
			for word := range strings.SplitSeq(cell, "|") {
				allowed = append(allowed, outcomes[word])
			}
			s.enter(t, func(l *loop) {
				if row.has == nil || row.has(l) {
					t.want(row.method+" "+s.name, row.call(l), allowed...)
				}
			})
		}
	}
}

func badInput(t *trial) {
	for _, row := range nilRows {
		for _, s := range situations {
			s.enter(t, func(l *loop) {
				if row.has == nil || row.has(l) {
					t.want(row.method+" "+s.name, row.call(l), loopapi.ErrNilCallback)
				}
			})
		}
	}
	// A loop that queued nil in spite of its error would call it now.
	l := t.start(Config{})
	for _, row := range nilRows {
		if row.has == nil || row.has(l) {
			_ = row.call(l)
		}
	}
	l.sync()
	l.finish()
}
