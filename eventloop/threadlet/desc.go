package threadlet

// Descriptors of sockets: waits for readiness, their deadlines and signals, and closing. Connections (conn.go) and listeners
// (listen.go) are made of them; side.go has who waits.

import (
	"math"
	"net"
	"os"
	"sync/atomic"
	"time"

	"github.com/turnloop/turnloop/eventloop"
)

// desc is a non-blocking socket of a loop. Only code on the loop touches it, except the fields that say otherwise.
//
// The first wait registers the socket with the loop, and it stays registered: later waits cost no system call. The loop
// reports readiness in every tick while it lasts. So when nothing waits for an event, onEvents removes it from the watched
// events, and the next wait for this event adds it again (watch).
type desc struct {
	s  *scheduler
	fd int

	in, out    side               // in is for reading and accepting, out for writing
	watched    eventloop.IOEvents // the events that it is registered for
	idles      uint32             // calls of Idle so far
	idle       *idle              // nil unless it belongs to an idle connection
	listener   *listener          // nil unless it belongs to a listener
	service    *service           // of the Serve that has accepted it; nil for none
	prev, next *desc              // in the list of open descriptors; guarded by descs.mu

	open     bool // it is in that list; guarded by descs.mu
	known    bool // it is registered
	deferred bool // it is in scheduler.deferred
	called   bool // resumeIdle was called, and the threadlet that it starts has not run yet
	gone     bool // the method shut was called, on the loop
	kept     bool // Shared was called: whoever has the result closes it

	closing  atomic.Bool // the method close was called, on any goroutine
	signaled atomic.Bool // set by signal on any goroutine; cleared on the loop when it ends a wait
}

// idle is what an idle connection waits with.
type idle struct {
	conn   *Conn
	handle func(*Conn)
	timer  eventloop.TimerID // of the read deadline; 0 for none
}

// stopTimer cancels the timer if it is pending.
func (i *idle) stopTimer() {
	if i.timer != 0 {
		_ = i.conn.s.loop.CancelTimer(i.timer)
		i.timer = 0
	}
}

var epoch = time.Now()

func now() int64 { return int64(time.Since(epoch)) }

// instant returns a point of time in nanoseconds since epoch: 0 for the zero time, and at least 1 for every other.
func instant(at time.Time) int64 {
	if at.IsZero() {
		return 0
	}
	left, from := int64(time.Until(at)), now() // in this order: what passes in between makes it late, and not early
	if left > math.MaxInt64-from {
		return math.MaxInt64
	}
	return max(1, from+left)
}

// caller returns the calling threadlet. It returns the error of elsewhere if the caller is no threadlet of the loop, or else the
// error of usable. At the end of the loop a threadlet may do mostOps more operations, as for a last message to its peer;
// after these caller returns the error of enter.
func (d *desc) caller(sd *side) (*Threadlet, error) {
	t := Current()
	if t == nil || t.s != d.s {
		return nil, d.s.elsewhere()
	}
	if t.s.terminated && t.s.ops >= mostOps {
		return t, t.enter()
	}
	return t, d.usable(sd)
}

func (d *desc) usable(sd *side) error {
	if d.closing.Load() {
		return net.ErrClosed
	}
	if at := sd.deadline.Load(); at != 0 && now() >= at {
		return os.ErrDeadlineExceeded
	}
	return nil
}

// mostOps is how many operations a threadlet may do in a row without a wait. So a peer that never makes it wait cannot keep
// the loop from other work, nor from its end.
const mostOps = 64

// countOperation counts an operation that did not wait, and yields after mostOps of them. An operation that needs turns
// names its side: what it has read or written comes before what others do there while it yields, so it takes the turn.
func (t *Threadlet) countOperation(sd *side) {
	if t.s.ops++; t.s.ops >= mostOps && !t.s.terminated {
		if sd != nil && sd.turn == nil {
			sd.turn = t
		}
		_ = suspend(t, yielding)
	}
}

// wait waits until one of events happens on the side. It returns an error if it cannot watch for them, or if a signal,
// Close, the deadline or the end of the loop ends the wait before.
func (d *desc) wait(t *Threadlet, sd *side, why reason, events eventloop.IOEvents) error {
	if err := t.enter(); err != nil {
		return err
	}
	if d.signaled.Load() {
		d.signaled.Store(false)
		return ErrSignaled
	}
	if !d.watches(events) {
		if err := d.watchLater(events); err != nil {
			return err
		}
	}
	return d.park(t, sd, why)
}

// park waits in the side's list until wakeFirst, wakeAll or the deadline ends the wait.
func (d *desc) park(t *Threadlet, sd *side, why reason) error {
	sd.push(t)
	d.s.wanted++
	d.startDeadline(t, sd)
	err := t.wait(why)
	d.s.wanted--
	t.stopTimer()
	sd.runs(t)
	return err
}

// startDeadline starts the timer that ends the wait of t at the side's deadline, in place of the timer that t had.
func (d *desc) startDeadline(t *Threadlet, sd *side) {
	t.stopTimer()
	if at := sd.deadline.Load(); at != 0 {
		t.startTimer(time.Duration(at-now()), os.ErrDeadlineExceeded)
	}
}

// deferWork leaves work on d to the loop, at the end of the turn: to watch for events that are waited for, or to close d.
// These calls need more stack than everything else here, and each coroutine keeps the largest stack that it has needed. On
// the loop's own goroutine they need such a stack only once.
func (d *desc) deferWork() {
	if !d.deferred {
		d.deferred = true
		d.s.deferred = append(d.s.deferred, d)
	}
}

// watchLater has the loop watch for events at the end of the turn, for a wait that is about to begin; an error will end the
// wait. If the places of registrations are recorded, it watches at once, so that the recorded place is the caller's.
func (d *desc) watchLater(events eventloop.IOEvents) error {
	if d.s.seen.places {
		return d.watch(events)
	}
	d.deferWork()
	return nil
}

// closeLater closes the descriptor at the end of the turn. It is for a handler that has returned, and whose error nobody hears.
func (d *desc) closeLater() {
	if !d.closing.Swap(true) {
		d.deferWork()
	}
}

// runDeferred does the work that deferWork has left to the loop.
func (s *scheduler) runDeferred() {
	for i, d := range s.deferred {
		s.deferred[i] = nil
		d.deferred = false
		if d.closing.Load() {
			_ = d.shut()
			continue
		}
		d.watchFor(&d.in, eventloop.EventRead)
		d.watchFor(&d.out, eventloop.EventWrite)
	}
	s.deferred = s.deferred[:0]
}

// watchFor watches for events if a threadlet waits for them. An error ends the wait.
func (d *desc) watchFor(sd *side, events eventloop.IOEvents) {
	if sd.last == nil || d.watches(events) {
		return
	}
	if err := d.watch(events); err != nil {
		sd.wakeAll(err)
	}
}

// watch adds events to those that the loop watches the descriptor for, and registers it the first time.
func (d *desc) watch(events eventloop.IOEvents) error {
	switch {
	case !d.known:
		if err := d.s.loop.RegisterFD(d.fd, events, d.onEvents); err != nil {
			return err
		}
		d.known, d.watched = true, events
		d.s.known++
	case d.watched&events != events:
		if err := d.s.loop.ModifyFD(d.fd, d.watched|events); err != nil {
			return err
		}
		d.watched |= events
	}
	return nil
}

// watches tells whether the loop watches the descriptor for all of events.
func (d *desc) watches(events eventloop.IOEvents) bool { return d.known && d.watched&events == events }

// onEvents is the callback of the registration. It wakes the first waiter of each side that is ready, and the waiter tries
// its operation again. If the side is still ready afterwards, the loop reports that in the next tick. A side without waiters
// is not watched any more.
func (d *desc) onEvents(events eventloop.IOEvents) {
	const failed = eventloop.EventError | eventloop.EventHangup
	unwanted := eventloop.IOEvents(0)
	if events&(eventloop.EventRead|failed) != 0 {
		d.in.drained = false
		if !d.in.wakeFirst() && !d.called && !d.resumeIdle() {
			unwanted |= eventloop.EventRead
		}
	}
	if events&(eventloop.EventWrite|failed) != 0 {
		if !d.out.wakeFirst() {
			unwanted |= eventloop.EventWrite
		}
	}
	if unwanted &= d.watched; events&failed != 0 && unwanted == d.watched {
		d.unwatch() // no threadlet waits; the loop would report the failure again and again, even if it watched for no events
	} else if unwanted != 0 && d.s.loop.ModifyFD(d.fd, d.watched&^unwanted) == nil {
		d.watched &^= unwanted
	}
}

// resumeIdle starts the threadlet of an idle connection, and returns false if the connection is not idle.
func (d *desc) resumeIdle() bool {
	i := d.idle
	if i == nil {
		return false
	}
	d.called = true
	d.leaveIdle()
	if t := i.conn.begin(i.handle); d.s.draining {
		t.betweenRequests()
	}
	return true
}

// leaveIdle ends the wait of an idle connection.
func (d *desc) leaveIdle() {
	d.idle.stopTimer()
	d.idle = nil
	d.s.wanted--
}

func (d *desc) unwatch() {
	if d.known {
		_ = d.s.loop.UnregisterFD(d.fd)
		d.known, d.watched = false, 0
		d.s.known--
	}
}

// close closes the descriptor, or returns net.ErrClosed if that was done before. Any goroutine may call it. Off the loop it
// queues an internal task; if the loop does not run this task any more, the end of the loop closes the descriptor.
func (d *desc) close() error {
	if d.closing.Swap(true) {
		return net.ErrClosed
	}
	if d.listener != nil {
		d.listener.removeFile()
	}
	if d.s.loop.OnLoop() {
		return d.shut()
	}
	_ = d.s.loop.SubmitInternal(func() { _ = d.shut() })
	return nil
}

// shut is the part of close that is done on the loop: it ends the registration and all waits.
func (d *desc) shut() error {
	if d.gone {
		return net.ErrClosed
	}
	d.gone = true
	if d.idle != nil {
		d.leaveIdle()
	}
	d.unwatch()
	d.in.wakeAll(net.ErrClosed)
	d.out.wakeAll(net.ErrClosed)
	err := d.s.descs.close(d)
	d.service.left()
	return err
}

// signal ends all current waits for the descriptor with ErrSignaled, or the next wait if there are none. Any goroutine may
// call it.
func (d *desc) signal() {
	if d.signaled.Swap(true) {
		return
	}
	if d.s.loop.OnLoop() {
		d.deliverSignal()
	} else {
		_ = d.s.loop.SubmitInternal(d.deliverSignal)
	}
}

// deliverSignal ends the current waits if a signal is pending.
func (d *desc) deliverSignal() {
	if !d.signaled.Load() {
		return
	}
	in, out := d.in.wakeAll(ErrSignaled), d.out.wakeAll(ErrSignaled)
	if in || out {
		d.signaled.Store(false)
	} else {
		d.resumeIdle()
	}
}

// setDeadline sets the deadline of sides. Any goroutine may call it; the loop applies it to current waits.
func (d *desc) setDeadline(at time.Time, sides ...*side) error {
	if d.closing.Load() {
		return net.ErrClosed
	}
	when := instant(at)
	for _, sd := range sides {
		sd.deadline.Store(when)
	}
	if d.s.loop.OnLoop() {
		d.renew()
	} else {
		_ = d.s.loop.SubmitInternal(d.renew)
	}
	return nil
}

// renew starts the timers of all current waits anew, by the deadlines that are set now.
func (d *desc) renew() {
	for _, sd := range [...]*side{&d.in, &d.out} {
		for t := sd.first(); t != nil; t = sd.behind(t) {
			d.startDeadline(t, sd)
		}
	}
	d.startIdleDeadline()
}

// startIdleDeadline starts the timer that resumes an idle connection at its read deadline, in place of the one before. If the
// loop refuses the timer, the connection is resumed at once, and its next wait has the error.
func (d *desc) startIdleDeadline() {
	i := d.idle
	if i == nil {
		return
	}
	i.stopTimer()
	if at := d.in.deadline.Load(); at != 0 {
		resume := func() { i.timer = 0; d.resumeIdle() }
		var err error
		if i.timer, err = d.s.loop.ScheduleTimer(time.Duration(at-now()), resume); err != nil && err != eventloop.ErrLoopTerminated {
			_ = d.s.loop.SubmitInternal(resume)
		}
	}
}
