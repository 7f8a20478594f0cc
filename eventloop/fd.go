package eventloop

// Descriptors: the registrations, and the calls of their callbacks. When the loop asks the system is in watch.go.

import (
	"errors"
	"io/fs"
	"runtime"
	"time"

	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/observe"
	"github.com/turnloop/turnloop/internal/place"
	"github.com/turnloop/turnloop/internal/poller"
	"github.com/turnloop/turnloop/internal/sched"
	"github.com/turnloop/turnloop/internal/sched/atomic"
)

// descriptors are the registrations, and the poller that watches them. Any goroutine registers; only the loop waits for
// events and calls callbacks.
type descriptors struct {
	// mu guards the fields from slots to closed. It is held over the poller's call that goes with a change, so that slots
	// and poller agree, and never over a wait or a callback. Where many goroutines register, the loop would have to wait
	// long for mu. So the fields that the loop reads (slots, mode, poller and leaving) are changed with both locks held,
	// and may be read with either. The loop takes only the spin lock look, which is held for a few instructions. A
	// goroutine that takes both takes mu first.
	mu      sched.Mutex
	look    spinLock
	slots   slots // the registrations
	mode    FastPathMode
	poller  systemPoller        // made when it is first needed, kept until the end
	cleanup runtime.Cleanup     // closes the poller if the loop is garbage before its end
	leaving leavers             // functions of UnregisterFDThen that the loop has not called yet
	orphans func(left []func()) // Loop.callOrphans, for what the end leaves in leaving; nil before the first
	closed  bool                // the loop has ended, and so have all registrations

	// A goroutine that sets changed or ready looks at the loop's state afterwards; the loop looks at both flags before it
	// parks. The loop clears changed before it reads mode and poller, and ready before it asks the poller.
	size    atomic.Int32                 // taken slots; written under mu, read without it
	changed atomic.Bool                  // the loop has to look at mode, poller, size and fault
	ready   atomic.Bool                  // the watch has reported events
	fault   atomic.Pointer[error]        // the error that ended the watch; the watch sets it before changed, the loop takes it
	blocked atomic.Pointer[systemPoller] // the poller that the loop sleeps in; nil: its channel; the awake loop writes it, signal reads it

	// Only the loop touches these.
	own       systemPoller   // the loop's copy of poller, made by chooseWatch
	parker    poller.Parker  // the poller in own, if the loop may park in it; else nil
	parking   bool           // the loop parks in parker
	misplaced int            // sleeps in a row that another place would have served better
	unwatch   func()         // ends the watch; nil when there is none
	drained   bool           // the last wait found nothing, so the watch will report the next event
	batch     []poller.Event // from the last wait
	called    int            // events of the batch that were served
	asked     int64          // when the tick began in which the loop last asked the poller
	unknown   []uint32       // tags in the batch that belong to no registration
	earlier   []uint32       // such tags in earlier batches, back to the last batch that had none
	suspended bool           // the poller has failed to forget closed descriptors, so the loop leaves it alone for a moment; see suspend
}

// systemPoller is a poller (see package poller). Not every loop needs one, and a test may replace it.
type systemPoller interface {
	Add(fd int, events IOEvents, tag uint32) error
	Modify(fd int, old, events IOEvents, tag uint32) error
	Remove(fd int, events IOEvents) error
	Wait(timeout time.Duration) ([]poller.Event, error)
	Watch(notify func(error)) (stop func(), err error)
	Wake() error
	Reset() error
	Close() error
}

func newSystemPoller() (systemPoller, error) {
	p, err := poller.New()
	if err != nil {
		return nil, err // and not an interface that holds a nil poller
	}
	return p, nil
}

// always are the events that are delivered whether or not they were asked for.
const always = EventError | EventHangup

// ioBatch is how many callbacks of descriptors run between two microtask checkpoints.
const ioBatch = 64

// RegisterFD calls callback on the loop whenever the descriptor is ready for one of events, and for EventError and
// EventHangup, asked for or not. It is level-triggered: a callback that does not read all that is there is called again.
// The descriptor stays the caller's, should be non-blocking, and is to be unregistered before it is closed. It keeps an
// auto-exit loop alive. When a socket's peer has finished sending, that is EventRead and no hang-up: the peer may still
// read. Bits of events that name no event are ignored.
//
// Systems differ. On macOS and the BSDs, EventHangup without EventError comes only to a registration that asks for EventWrite,
// and also when this side has finished sending; one that asks for neither EventRead nor EventWrite gets no events. Linux may
// refuse, with EINVAL, a descriptor that about a hundred loops watch already, duplicates included, and, with ELOOP, nested epoll
// descriptors. On Windows the descriptor is a socket that no other loop watches, nor this one under a duplicate.
//
// The first registration wakes the loop, which begins to watch; a further one lets the loop sleep on. A call costs a
// system call. It returns ErrNilCallback, ErrLoopTerminated once the loop is ending, ErrFDAlreadyRegistered,
// ErrFastPathIncompatible under FastPathForced, or the system's error, wrapped: for a descriptor that cannot be polled,
// when the system has no room, or errors.ErrUnsupported where it cannot watch any.
func (l *Loop) RegisterFD(fd int, events IOEvents, callback func(IOEvents)) error {
	if callback == nil {
		return ErrNilCallback
	}
	if err := l.register(fd, events, callback); err != nil {
		return loopapi.Wrap(err, "register descriptor %d", fd)
	}
	if l.fds.changed.Load() {
		l.wakeIfSleeping() // to begin the watch
	}
	return nil
}

func (l *Loop) register(fd int, events IOEvents, callback func(IOEvents)) error {
	d := &l.fds
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case l.state.load().ending():
		return ErrLoopTerminated
	case d.mode == FastPathForced:
		return ErrFastPathIncompatible
	case d.slots.of(fd) != nil:
		return ErrFDAlreadyRegistered
	}
	if err := l.openPoller(); err != nil {
		return err
	}
	larger := d.slots.grown()
	var tag uint32
	l.change(func() {
		if larger != nil {
			d.slots = *larger
		}
		tag = d.slots.next()
		d.slots.put(registration{events, tag, fd, callback}) // before the poller knows of it, since events may come at once
	})
	err := d.poller.Add(fd, events, tag)
	if errors.Is(err, fs.ErrExist) {
		// The poller has kept the number of a registration that ended after its descriptor was closed and the number reused.
		err = d.poller.Modify(fd, 0, events, tag)
	}
	if err != nil {
		l.remove(tag)
		return err
	}
	if l.notes != nil {
		l.notes.Put(place.Registrations, tag, l.now(), l.here())
	}
	d.updateSize()
	return nil
}

// change calls apply, which changes fields that the loop reads, with look held. The caller holds mu.
func (l *Loop) change(apply func()) {
	l.lock(&l.fds.look)
	apply()
	l.fds.look.Unlock()
}

// ModifyFD replaces the events that a registered descriptor is watched for. Events that are not asked for any more are not
// delivered from then on, even if they had happened already. It costs a system call, or a lock if the events stay the same.
//
// It returns ErrFDNotRegistered, ErrLoopTerminated once the loop has ended, or the system's error, wrapped; then
// nothing has changed.
func (l *Loop) ModifyFD(fd int, events IOEvents) error {
	d := &l.fds
	d.mu.Lock()
	defer d.mu.Unlock()
	r, err := d.registered(fd)
	if err == nil && r.events != events {
		before, after := r.events, events
		l.change(func() { r.events |= events }) // while the poller changes, an event may belong to either set
		if err = d.poller.Modify(fd, before, events, r.tag); err != nil {
			after = before
		}
		l.change(func() { r.events = after })
	}
	if err != nil {
		return loopapi.Wrap(err, "modify descriptor %d", fd)
	}
	return nil
}

// remove ends a registration. The caller holds mu.
func (l *Loop) remove(tag uint32) {
	d := &l.fds
	l.change(func() { d.slots.remove(tag) })
	if smaller := d.slots.shrunk(); smaller != nil {
		l.change(func() { d.slots = *smaller })
	}
}

// updateSize updates size after a change of slots. The caller holds mu.
func (d *descriptors) updateSize() {
	n := int32(d.slots.taken)
	if before := d.size.Swap(n); n == 0 || before == 0 {
		d.changed.Store(true) // there is something to watch, or nothing any more
	}
}

// registered finds a registration. The caller holds mu.
func (d *descriptors) registered(fd int) (*registration, error) {
	r := d.slots.of(fd)
	switch {
	case r != nil:
		return r, nil
	case d.closed:
		return nil, ErrLoopTerminated
	}
	return nil, ErrFDNotRegistered
}

// runIO calls the callbacks of collected events, for as long as there is time. If none is left of an earlier tick, it collects
// events first, if there may be some. The registration of an event is looked up right before the call, since it may have ended
// or changed after the event was collected.
func (l *Loop) runIO() {
	d := &l.fds
	if d.called == len(d.batch) && !l.polled {
		l.polled = true
		l.collect()
	}
	if d.called == len(d.batch) {
		return
	}
	l.share.passOn()
	for d.called < len(d.batch) {
		if t := &l.bounds.events; t.Due() && t.Spent(l.now()) {
			l.bounds.full = true // the rest of the batch waits for the next tick
			break
		}
		l.bounds.events.Count()
		callback, events := l.addressee(d.batch[d.called])
		d.called++
		if l.state.load().ending() { // the last look before a callback: taking the table's lock may have taken long
			d.batch, d.called = nil, 0
			break
		}
		tag := d.batch[d.called-1].Tag
		if l.calling = (calling{observe.Descriptor, uint64(tag)}); events != 0 {
			var from *place.Place
			if l.notes != nil {
				from = l.notes.Get(place.Registrations, tag).From
			}
			l.probe.Began(observe.Descriptor, 0, from)
			callback(events)
			l.probe.Ended()
		}
		if (l.strictMicrotasks || d.called%ioBatch == 0) && l.microtasksDue() {
			l.checkpoint()
		}
	}
	l.checkpoint()
}

// addressee finds the callback of an event, and those bits of the event that the callback gets. Microtasks of other
// goroutines run first, while the lock is released.
func (l *Loop) addressee(e poller.Event) (func(IOEvents), IOEvents) {
	d := &l.fds
	l.lock(&d.look)
	for l.foreignDue() {
		d.look.Unlock()
		l.checkpoint()
		l.lock(&d.look)
	}
	if r := d.slots.find(e.Tag); r != nil {
		callback, events := r.callback, e.Events&(r.events|always)
		d.look.Unlock()
		return callback, events
	}
	d.look.Unlock()
	l.handleUnknown(e.Tag)
	return nil, 0
}

// drop forgets all registrations for good, and closes the poller, whose error it returns. The end of the loop calls it.
func (d *descriptors) drop() error {
	d.endWatch()
	d.batch, d.called = nil, 0
	d.mu.Lock()
	defer d.mu.Unlock()
	d.slots, d.closed = slots{}, true
	d.size.Store(0)
	if left := d.leaving.all(); len(left) > 0 {
		d.leaving = leavers{}
		sched.Go(func() { d.orphans(left) })
	}
	if d.poller == nil {
		return nil
	}
	d.cleanup.Stop()
	return d.poller.Close()
}
