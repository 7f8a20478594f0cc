package eventloop

// How a registration ends, and what follows it.

import (
	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/observe"
	"github.com/turnloop/turnloop/internal/place"
	"github.com/turnloop/turnloop/internal/poller"
	"github.com/turnloop/turnloop/internal/sched"
)

// UnregisterFD ends a registration. After a call on the loop the callback does not start again, whatever events have
// happened. A call on another goroutine does not wait for a callback that the loop is just calling, which may go on to
// use the descriptor: [Loop.UnregisterFDThen] tells when it may be closed. The call costs a system call.
//
// It returns ErrFDNotRegistered, ErrLoopTerminated once the loop has ended, or the system's error, wrapped, with which
// the registration has ended too. That the descriptor was closed before is not an error.
func (l *Loop) UnregisterFD(fd int) error { return l.unregisterThen(fd, nil) }

// UnregisterFDThen is UnregisterFD, and calls fn, once, when the callback is not running any more and cannot start again:
// so fn may close the descriptor. It is for goroutines other than the loop's, and for callbacks that go on to use the
// descriptor. It costs an internal task more.
//
// fn runs on the loop, as SubmitInternal's functions do. If the loop ends before that, by Close as a rule, fn runs all the
// same, on another goroutine, for which Done does not wait. Such functions run one at a time, and their panics are logged.
//
// It returns ErrNilCallback if fn is nil, and otherwise what UnregisterFD returns. If the result is nil or the system's error,
// the registration has ended, and fn is called. If it is ErrFDNotRegistered, fn is not called; nor if it is ErrLoopTerminated,
// which says that no callback will run any more: the descriptor may be closed at once.
func (l *Loop) UnregisterFDThen(fd int, fn func()) error {
	if fn == nil {
		return ErrNilCallback
	}
	return l.unregisterThen(fd, fn)
}

func (l *Loop) unregisterThen(fd int, fn func()) error {
	err := l.unregister(fd, fn)
	if l.autoExit && l.fds.size.Load() == 0 {
		l.wakeIfSleeping() // to decide anew whether to end
	}
	if err != nil {
		return loopapi.Wrap(err, "unregister descriptor %d", fd)
	}
	return nil
}

func (l *Loop) unregister(fd int, fn func()) error {
	d := &l.fds
	d.mu.Lock()
	defer d.mu.Unlock()
	r, err := d.registered(fd)
	if err != nil {
		return err
	}
	events := r.events
	l.notes.Drop(place.Registrations, r.tag)
	l.remove(r.tag)
	d.updateSize()
	if fn != nil {
		l.follow(fn)
	}
	if err := d.poller.Remove(fd, events); err != nil && !poller.Gone(err) {
		return err
	}
	return nil
}

// follow has fn called on the loop, after the callback that the loop may be calling. The caller has held mu since it
// removed the registration: so the registration or the internal task always keeps an auto-exit loop alive.
func (l *Loop) follow(fn func()) {
	d := &l.fds
	d.orphans = l.callOrphans
	last := &leaver{fn: fn}
	l.change(func() { d.leaving.push(last) })
	_ = l.enqueue(internal, l.callLeaving, true) // if the loop has ended and refuses or drops the task, fn is still in leaving
}

// callLeaving is the internal task for one of the functions in leaving: it calls the first of them. It does without mu,
// which many goroutines that register may hold for long.
func (l *Loop) callLeaving() {
	d := &l.fds
	l.lock(&d.look)
	fn := d.leaving.pop()
	d.look.Unlock()
	fn()
}

// leavers is a list of functions of UnregisterFDThen. It is linked, so that nothing is allocated while look is held.
type leavers struct{ first, last *leaver }

type leaver struct {
	fn   func()
	next *leaver
}

func (q *leavers) push(n *leaver) {
	if q.first == nil {
		q.first = n
	} else {
		q.last.next = n
	}
	q.last = n
}

func (q *leavers) pop() func() {
	n := q.first
	if q.first = n.next; q.first == nil {
		q.last = nil
	}
	return n.fn
}

func (q *leavers) all() (left []func()) {
	for n := q.first; n != nil; n = n.next {
		left = append(left, n.fn)
	}
	return left
}

// callOrphans calls the functions that are left in leaving when the loop has ended. Each gets a goroutine of its own,
// which runtime.Goexit may end. They run one after the other: they may share state as callbacks of a loop do.
func (l *Loop) callOrphans(left []func()) {
	fault := &PanicError{Value: ErrGoexit}
	defer func() {
		if len(left) > 1 {
			sched.Go(func() { l.callOrphans(left[1:]) })
		}
		if fault != nil {
			l.logError("callback panicked", fault, "kind", observe.Internal.String(), "stack", string(fault.Stack))
		}
	}()
	fault = guarded(left[0])
}
