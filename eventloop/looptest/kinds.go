package looptest

// The kinds of callbacks: the ways to bring functions to a loop.

import "slices"

// The lanes that are queues and that of timers, by their place in lanes.
const (
	external = iota
	internal
	microtask
	timerLane
)

// kind is a way to run a function on the loop.
type kind struct {
	name  string
	queue bool // functions run in order of submission
	has   func(l *loop) bool
	run   func(l *loop, fn func()) error
}

// lanes are the kinds through which users bring functions to a loop. Every contestant has tasks and internal tasks.
var lanes = []kind{
	{"task", true, func(*loop) bool { return true }, func(l *loop, fn func()) error { return l.Submit(fn) }},
	{"internal task", true, func(*loop) bool { return true },
		func(l *loop, fn func()) error { return l.SubmitInternal(fn) }},
	{"microtask", true, func(l *loop) bool { return l.micro != nil },
		func(l *loop, fn func()) error { return l.micro.ScheduleMicrotask(fn) }},
	{"timer", false, func(l *loop) bool { return l.timers != nil }, func(l *loop, fn func()) error {
		_, err := l.timers.ScheduleTimer(0, fn)
		return err
	}},
	ioLane,
}

// ioLane runs functions as callbacks of ready descriptors. It works in real time only: a loop that waits in a system
// call stops a bubble's clock.
var ioLane = kind{"I/O callback", false,
	func(l *loop) bool { return l.fds != nil && canOpen && !l.trial.virtual }, ioCallback}

// handlers are the kinds that run a function inside a handler of the loop, on loops made by startHandled.
var handlers = []kind{
	{"overload handler", false, func(l *loop) bool { return l.hooks.hasOverload && l.states != nil }, func(l *loop, fn func()) error {
		l.rest() // an overload episode is reported once: the previous one must be over
		l.hooks.inOverload.arm(fn)
		return l.SubmitInternal(func() {
			for range handledBudget + 1 {
				if err := l.Submit(func() {}); err != nil {
					l.trial.Errorf("Submit from a callback: %v", err)
				}
			}
		})
	}},
	{"panic handler", false, func(l *loop) bool { return l.hooks.hasPanic }, func(l *loop, fn func()) error {
		l.hooks.inPanic.arm(fn)
		return l.Submit(func() { panic("to call the panic handler") })
	}},
}

// eachKind runs fn for every kind that the contestant has, each on a fresh loop made by startHandled.
func (t *trial) eachKind(fn func(l *loop, k kind)) {
	for _, k := range slices.Concat(lanes, handlers) {
		if l := t.startHandled(); k.has(l) {
			fn(l, k)
		}
		if t.failed() {
			return
		}
	}
}

// available returns the lanes that the contestant has.
func (l *loop) available() []kind {
	return slices.DeleteFunc(slices.Clone(lanes), func(k kind) bool { return !k.has(l) })
}

// queues returns the contestant's lanes without timers and descriptors.
func (l *loop) queues() []kind {
	return slices.DeleteFunc(l.available(), func(k kind) bool { return !k.queue })
}
