package eventloop

// Descriptors: who watches what, and the calls to them. When the loop asks the system is in watch.go.

import (
	"errors"
	"io/fs"
	"runtime"
	"time"

	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/poller"
	"github.com/turnloop/turnloop/internal/sched"
	"github.com/turnloop/turnloop/internal/sched/atomic"
)

// descriptors are what is registered, and the poller that watches it. Any goroutine registers; only the loop waits and
// calls.
type descriptors struct {
	// mu guards those below, and is held over the poller's call that goes with a change, so that table and poller
	// agree. It is never held over a wait or a callback. Beside many who register, it may be long in coming; so what the
	// loop asks for again and again, slots, mode and poller, is changed under look too, and read under either. That is
	// held for a few instructions, within mu where both are.
	mu      sched.Mutex
	look    spinLock
	table   map[int]uint32 // the tag of the registration of each descriptor
	slots   slots          // the registrations
	mode    FastPathMode
	poller  systemPoller        // made when it is needed first, kept until the end
	cleanup runtime.Cleanup     // closes it if the loop is garbage before that
	leaving leavers             // what UnregisterFDThen was given, and the loop has not called yet; changed under look too
	orphans func(left []func()) // calls what is left of these at the end; there if there may be some
	closed  bool                // the loop has ended, and so have all registrations

	size    atomic.Int32                 // of table; written under mu
	changed atomic.Bool                  // the loop must look at mode and poller; written before its state is looked at
	ready   atomic.Bool                  // the watch has told of events; written before the loop's state is looked at
	fault   atomic.Pointer[error]        // what ended the watch; written before changed
	blocked atomic.Pointer[systemPoller] // what the loop sleeps in, if not on its channel; only an awake loop writes

	// Only the loop touches these.
	own     systemPoller   // is poller, once the loop has taken notice of it
	parker  poller.Parker  // own as well, if it can park; nil if it cannot, or must not
	parking bool           // the loop parks in parker
	against int            // sleeps in a row that should have been spent elsewhere
	unwatch func()         // ends the watch; nil when there is none
	drained bool           // the last wait found nothing: what comes after it, the watch tells of
	batch   []poller.Event // from the last wait
	called  int            // events of the batch that were dealt with
	strays  []uint32       // tags of the batch that were nobody's
	earlier []uint32       // the same of the batches before, as long as each had some
	haunted bool           // the poller could not be made to forget closed descriptors
}

// systemPoller is the part of the system that the loop can do without, and a test can replace.
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
// EventHangup, asked for or not. It is level-triggered: who does not read what is there is called again. The descriptor
// stays the caller's, should be non-blocking, and is unregistered before it is closed. It keeps an auto-exit loop
// alive. A socket's peer that has finished sending is EventRead, and no hang-up: it may still read. Bits of events that
// name no event are ignored.
//
// Systems differ. On macOS and the BSDs EventHangup without EventError comes only to who asks for EventWrite, also when
// it is they who have finished sending, and nothing to who asks for neither EventRead nor EventWrite. Linux may refuse,
// with EINVAL, what about a hundred loops watch already, duplicates included, and, with ELOOP, nested epoll descriptors.
// On Windows the descriptor is a socket that no other loop watches, nor this one under a duplicate.
//
// Any goroutine may call it, also from callbacks, before Run, and while the loop sleeps, for which it does not wait. Where
// no descriptor was registered it ends that sleep, for the loop to begin to watch; otherwise the loop sleeps on. It
// costs a system call. It returns ErrNilCallback, ErrLoopTerminated once the loop is ending, ErrFDAlreadyRegistered,
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
	case d.has(fd):
		return ErrFDAlreadyRegistered
	}
	if err := l.openPoller(); err != nil {
		return err
	}
	larger := d.slots.larger()
	var tag uint32
	l.change(func() {
		if larger != nil {
			d.slots.at = larger
		}
		tag = d.slots.next()
		d.slots.put(registration{events, tag, callback}) // first: events come as soon as the poller knows
	})
	err := d.poller.Add(fd, events, tag)
	if errors.Is(err, fs.ErrExist) {
		// Left by a registration that ended while the number meant something else.
		err = d.poller.Modify(fd, 0, events, tag)
	}
	if err != nil {
		l.change(func() { d.slots.remove(tag) })
		return err
	}
	if d.table == nil {
		d.table = map[int]uint32{}
	}
	d.table[fd] = tag
	if l.notes != nil {
		l.notes.put(registrationTag(tag), l.now(), l.here())
	}
	d.counted()
	return nil
}

// change changes what the loop reads under look. The caller holds mu.
func (l *Loop) change(how func()) {
	l.lock(&l.fds.look)
	how()
	l.fds.look.Unlock()
}

// ModifyFD replaces the events that a registered descriptor is watched for. What is not asked for any more is not
// delivered from then on, even if it had happened already. Any goroutine may call it, at the cost of a system call, or
// of a lock if the events are what they were.
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
		l.change(func() { r.events |= events }) // what comes while the poller is told is somebody's
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

// counted follows a change of the table's size. The caller holds mu.
func (d *descriptors) counted() {
	n := int32(len(d.table))
	if before := d.size.Swap(n); n == 0 || before == 0 {
		d.changed.Store(true) // there is something to watch, or nothing any more
	}
	if n == 0 {
		d.table = nil // and the memory that many took
	}
}

// has tells whether a descriptor is registered. The caller holds mu.
func (d *descriptors) has(fd int) bool {
	_, is := d.table[fd]
	return is
}

// registered finds a registration. The caller holds mu.
func (d *descriptors) registered(fd int) (*registration, error) {
	tag, is := d.table[fd]
	switch {
	case is:
		return d.slots.find(tag), nil
	case d.closed:
		return nil, ErrLoopTerminated
	}
	return nil, ErrFDNotRegistered
}

// runIO collects events, if there may be some, and calls those who wait for them. An event is looked up right before
// its call: its registration may have ended, or changed, since it was collected.
func (l *Loop) runIO() {
	d := &l.fds
	if d.called == len(d.batch) && !l.polled {
		l.polled = true
		l.collect()
	}
	if d.called == len(d.batch) {
		return
	}
	for d.called < len(d.batch) {
		callback, events := l.addressee(d.batch[d.called])
		d.called++
		if l.state.load().ending() { // the last look before a callback: the table's lock may have been long in coming
			break
		}
		tag := d.batch[d.called-1].Tag
		l.calling = calling{aDescriptor, uint64(tag)}
		switch {
		case events == 0:
		case l.probe != nil:
			var from *place
			if l.notes != nil {
				_, from = l.notes.get(registrationTag(tag))
			}
			l.probe.begin(aDescriptor, mark{place: from})
			callback(events)
			l.probe.end()
		default:
			callback(events)
		}
		if (l.strictMicrotasks || d.called%ioBatch == 0) && l.microtasksDue() {
			l.checkpoint()
		}
	}
	if d.called < len(d.batch) {
		d.batch, d.called = nil, 0
	}
	l.checkpoint()
}

// addressee finds who is to be called for an event, and for which part of it. Microtasks that have come meanwhile go first;
// while they run the loop does without the lock.
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
	l.strayed(e.Tag)
	return nil, 0
}

// drop forgets all registrations, and releases the poller. Nothing is registered any more.
func (d *descriptors) drop() error {
	d.endWatch()
	d.batch, d.called = nil, 0
	d.mu.Lock()
	defer d.mu.Unlock()
	d.table, d.slots, d.closed = nil, slots{}, true
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
