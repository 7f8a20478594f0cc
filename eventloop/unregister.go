package eventloop

// How a registration ends, and what follows it.

import (
	"runtime/debug"

	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/poller"
	"github.com/turnloop/turnloop/internal/sched"
)

// UnregisterFD ends a registration. When it has returned, on the loop, the callback does not start again, whatever has
// happened. Called from another goroutine, it does not wait for a callback that the loop is just calling, which may go
// on to use the descriptor: [Loop.UnregisterFDThen] tells when it may be closed. Any goroutine may call it, at the cost
// of a system call.
//
// It returns ErrFDNotRegistered, ErrLoopTerminated once the loop has ended, or the system's error, wrapped, with which
// the registration has ended too. That the descriptor was closed before is not an error.
func (l *Loop) UnregisterFD(fd int) error { return l.unregisterThen(fd, nil) }

// UnregisterFDThen is UnregisterFD, and then calls then, once: the callback is not running any more and does not start
// again, so then may close the descriptor. It is for whoever does not run on the loop, and for callbacks that should not
// go on without it. It costs an internal task more.
//
// then runs on the loop, as SubmitInternal's functions do. If the loop ends before that, by Close as a rule, those that
// are left run all the same, one at a time, on another goroutine, for which Done does not wait; a panic is then logged.
//
// It returns ErrNilCallback if then is nil, and otherwise what UnregisterFD returns. With the system's error the
// registration has ended, and then is called. It is not called with ErrFDNotRegistered; nor with ErrLoopTerminated, which
// says that no callback will run any more: the descriptor may be closed at once.
func (l *Loop) UnregisterFDThen(fd int, then func()) error {
	if then == nil {
		return ErrNilCallback
	}
	return l.unregisterThen(fd, then)
}

func (l *Loop) unregisterThen(fd int, then func()) error {
	err := l.unregister(fd, then)
	if l.autoExit && l.fds.size.Load() == 0 {
		l.wakeIfSleeping() // to see whether it should end
	}
	if err != nil {
		return loopapi.Wrap(err, "unregister descriptor %d", fd)
	}
	return nil
}

func (l *Loop) unregister(fd int, then func()) error {
	d := &l.fds
	d.mu.Lock()
	defer d.mu.Unlock()
	r, err := d.registered(fd)
	if err != nil {
		return err
	}
	events := r.events
	delete(d.table, fd)
	l.notes.drop(registrationTag(r.tag))
	l.change(func() { d.slots.remove(r.tag) })
	d.counted()
	if then != nil {
		l.follow(then)
	}
	if err := d.poller.Remove(fd, events); err != nil && !poller.Gone(err) {
		return err
	}
	return nil
}

// follow has then called on the loop, behind the callback that it may just be calling. The caller holds mu: there is no
// moment at which an auto-exit loop has neither the registration nor this to live for.
func (l *Loop) follow(then func()) {
	d := &l.fds
	d.orphans = l.callOrphans
	last := &leaver{then: then}
	l.change(func() { d.leaving.push(last) })
	_ = l.enqueue(internal, l.callLeaving, true) // what a loop that has come to its end refuses, or drops, is still among the leaving
}

// callLeaving is an internal task for each of the leaving. It does without mu, for which many may wait who register.
func (l *Loop) callLeaving() {
	d := &l.fds
	l.lock(&d.look)
	then := d.leaving.pop()
	d.look.Unlock()
	then()
}

// leavers is a list, so that nothing is allocated under a lock that spins.
type leavers struct{ first, last *leaver }

type leaver struct {
	then func()
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
	return n.then
}

func (q *leavers) all() (left []func()) {
	for n := q.first; n != nil; n = n.next {
		left = append(left, n.then)
	}
	return left
}

// callOrphans calls the leaving of a loop that has ended, each on a goroutine of its own, which runtime.Goexit may end,
// and one after the other: they may share what the loop's callbacks did.
func (l *Loop) callOrphans(left []func()) {
	fault := &PanicError{Value: ErrGoexit}
	defer func() {
		if len(left) > 1 {
			sched.Go(func() { l.callOrphans(left[1:]) })
		}
		if fault != nil {
			l.complain("callback panicked", fault, "kind", anInternal.String(), "stack", string(fault.Stack))
		}
	}()
	fault = guarded(left[0])
}

// guarded calls fn and returns its panic.
func guarded(fn func()) (fault *PanicError) {
	returned := false
	defer func() {
		if !returned {
			fault = &PanicError{Value: recover(), Stack: debug.Stack()}
		}
	}()
	fn()
	returned = true
	return nil
}
