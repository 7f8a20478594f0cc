package eventloop

// Where the loop hears of descriptors. There are three places to park:
//
//   - Its channel, as without descriptors. A watch, which waits for the system elsewhere, sets ready and wakes the loop
//     like any producer; the loop collects without waiting. Work costs what it costs without descriptors, and an event
//     costs the switch from one goroutine to the other.
//   - The runtime's own poller, where the system's can be watched by it. An event costs what it costs a reader of a
//     net.Conn, and waking the loop for work costs more than on the channel. So the loop goes there when events are
//     what ends its sleeps.
//   - The system's poller, under FastPathDisabled or when all else fails: each wake-up is a system call to a blocked
//     thread.

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/poller"
)

// FastPathMode says what the loop sleeps in.
type FastPathMode int

const (
	// FastPathAuto parks the loop on a channel and has descriptors watched from elsewhere, so that waking it costs the
	// same with and without descriptors. The poller is not touched before the first descriptor is registered.
	FastPathAuto FastPathMode = iota
	// FastPathForced is FastPathAuto without descriptors: to register one is an error.
	FastPathForced
	// FastPathDisabled has the loop block in the system's poller, as event loops usually do: each wake-up is a system
	// call, and takes many times as long. It is meant for debugging and for comparison.
	FastPathDisabled
)

// String is the mode's name: auto, forced or disabled.
func (m FastPathMode) String() string {
	switch m {
	case FastPathAuto:
		return "auto"
	case FastPathForced:
		return "forced"
	case FastPathDisabled:
		return "disabled"
	}
	return fmt.Sprintf("FastPathMode(%d)", int(m))
}

// SetFastPathMode changes the mode and wakes the loop to take notice. Any goroutine may call it at any time. It returns
// ErrFastPathIncompatible for FastPathForced while descriptors are registered, ErrLoopTerminated once the loop is
// ending, or the system's error, wrapped, when FastPathDisabled needs a poller and there is none to be had; then
// nothing has changed.
func (l *Loop) SetFastPathMode(mode FastPathMode) error {
	if err := l.setMode(mode); err != nil {
		return loopapi.Wrap(err, "fast path mode %d", mode)
	}
	l.wakeIfSleeping()
	return nil
}

func (l *Loop) setMode(mode FastPathMode) error {
	if mode < FastPathAuto || mode > FastPathDisabled {
		return errNoSuchMode
	}
	d := &l.fds
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case l.state.load().ending():
		return ErrLoopTerminated
	case mode == FastPathForced && len(d.table) > 0:
		return ErrFastPathIncompatible
	case mode == FastPathDisabled:
		if err := l.openPoller(); err != nil {
			return err
		}
	}
	l.change(func() { d.mode = mode })
	d.changed.Store(true)
	return nil
}

// openPoller makes the poller if there is none. The caller holds mu and has seen that the loop has not ended. Only a loop
// that never ran can be garbage without having ended, so nobody else has its poller then.
func (l *Loop) openPoller() error {
	d := &l.fds
	if d.poller != nil {
		return nil
	}
	p, err := l.newPoller()
	if err != nil {
		return err
	}
	l.change(func() { d.poller = p })
	d.cleanup = runtime.AddCleanup(l, func(p systemPoller) { _ = p.Close() }, p)
	d.changed.Store(true)
	return nil
}

// rethink takes notice of a change: it begins or ends the watch, and decides what the loop sleeps in. A watch that
// fails, or cannot be had, is tried again at the next change.
func (l *Loop) rethink() {
	d := &l.fds
	if !d.changed.Load() {
		return
	}
	d.changed.Store(false) // first: what changes from now on is looked at again
	l.lock(&d.look)
	mode, p := d.mode, d.poller
	d.look.Unlock()
	watch := mode != FastPathDisabled && d.size.Load() > 0
	if p == nil {
		return
	}
	if d.own == nil {
		d.own = p
	}
	d.parking, d.against = false, 0
	fault := d.fault.Swap(nil)
	if watch && fault == nil && d.unwatch == nil {
		stop, err := p.Watch(l.notify)
		if d.unwatch = stop; err != nil {
			fault = &err
		}
	}
	if watch && fault == nil {
		d.parker, _ = p.(poller.Parker)
		d.blocked.Store(nil)
		return
	}
	d.endWatch()
	d.parker = nil
	d.blocked.Store(nil)
	if watch || mode == FastPathDisabled {
		d.blocked.Store(&d.own)
	}
	if fault != nil {
		l.handle(func() {
			l.log().Warn("descriptors cannot be watched; the loop blocks in the system's poller", "kind", aDescriptor.String(), "error", *fault)
		})
	}
}

// settle learns from what ended a sleep where the next ones are spent best.
func (d *descriptors) settle(event bool) {
	switch {
	case d.parker == nil || event == d.parking:
		d.against = 0
	case d.against < enough:
		d.against++
	case event:
		d.endWatch()
		d.parking, d.against = true, 0
		d.blocked.Store(&d.own)
	default:
		d.changed.Store(true) // back to the watch
	}
}

// enough sleeps make a habit: to change places costs about as much as one in the wrong place wastes.
const enough = 16

// notify is called by the watch, on a goroutine of the poller's.
func (l *Loop) notify(err error) {
	if err != nil {
		fault := err // err itself would then be allocated for each event
		l.fds.fault.Store(&fault)
		l.fds.changed.Store(true)
	} else {
		l.fds.ready.Store(true)
	}
	l.wakeIfSleeping()
}

func (d *descriptors) endWatch() {
	if d.unwatch != nil {
		d.unwatch()
		d.unwatch = nil
		d.ready.Store(false) // nobody may ask after it now; what was ready stays so
	}
}

// news tells a loop that is about to sleep that there is something to look at, which may have come from elsewhere.
func (d *descriptors) news() bool { return d.ready.Load() || d.changed.Load() }

// pending tells whether the loop has to see to descriptors before it may sleep.
func (d *descriptors) pending() bool {
	return d.called < len(d.batch) || d.news() || d.unwatch != nil && !d.drained
}

// collect asks for events without waiting, if there may be some. A loop with a watch goes on to ask until there are
// none, because only then will the watch tell of the next.
func (l *Loop) collect() {
	d := &l.fds
	if l.state.load().ending() {
		return
	}
	l.rethink()
	switch {
	case d.unwatch != nil:
		if d.ready.Load() || !d.drained || l.bounds.full { // a flood of anything may keep the watch waiting
			l.wait(0)
		}
	case d.blocked.Load() != nil && d.size.Load() > 0:
		if l.wait(0); d.drained {
			d.settle(false) // a busy loop need not ask if it is told
		}
	}
}

// wait asks the poller.
func (l *Loop) wait(timeout time.Duration) {
	l.fds.ready.Store(false) // first, so that what the watch tells of from now on is not lost
	l.got(l.fds.own.Wait(timeout))
}

// got takes what the poller has answered. A poller that fails has lost its descriptor to somebody who closed a number
// that was not theirs: the loop cannot serve, so it ends, gracefully.
func (l *Loop) got(batch []poller.Event, err error) {
	d := &l.fds
	l.polled = true
	d.batch, d.called, d.drained = batch, 0, len(batch) == 0
	if l.probe != nil {
		l.probe.between()
	}
	if len(d.strays) == 0 {
		d.earlier = d.earlier[:0]
	}
	d.earlier, d.strays = append(d.earlier, d.strays...), d.strays[:0] // a batch need not hold all that there are
	if err != nil {
		l.failure = loopapi.Wrap(err, "wait for descriptors")
		l.terminate(0)
		go l.complain("the loop ends", l.failure, "kind", aDescriptor.String())
	}
}

// wakePoller ends the wait of a loop that blocks in the poller. Nobody else will, so a failure is not the last word.
func (l *Loop) wakePoller(p systemPoller, retry time.Duration) {
	err := p.Wake()
	if err == nil || errors.Is(err, ErrPollerClosed) {
		return
	}
	time.AfterFunc(retry, func() { l.wakePoller(p, min(2*retry, time.Second)) })
	go l.complain("the loop could not be woken; trying again", err, "kind", "poller")
}

const firstRetry = time.Millisecond

// complain logs on a goroutine that has nothing to lose if the logger does not return.
func (l *Loop) complain(msg string, err error, args ...any) {
	defer func() { _ = recover() }()
	l.log().Error(msg, append([]any{"error", err}, args...)...)
}

// strayed deals with an event that is nobody's. Once, it is that of a registration that has ended since. Again, after
// another wait, it comes from a descriptor that was closed under a duplicate, and goes on for ever: the poller can
// only be made to forget everything. So it is when too many have strayed to remember them all.
func (l *Loop) strayed(tag uint32) {
	d := &l.fds
	if len(d.earlier) < mostEarlier+int(d.size.Load()) && !slices.Contains(d.earlier, tag) {
		d.strays = append(d.strays, tag)
		return
	}
	d.endWatch()
	d.earlier = nil // also if it fails: the rest of the batch need not try again
	forgot, lost, err := d.renew()
	if !forgot {
		l.suspend(err)
		return
	}
	d.haunted = false
	d.changed.Store(true) // watch again
	if err != nil {
		l.handle(func() {
			l.log().Error("descriptors are not watched any more", "kind", aDescriptor.String(), "id", lost, "error", err)
		})
	}
}

// suspend has the loop neither watch nor block for a while, because the poller goes on to report what the loop cannot
// get rid of.
func (l *Loop) suspend(err error) {
	d := &l.fds
	d.parker, d.parking = nil, false
	d.blocked.Store(nil)
	time.AfterFunc(ghostPause, func() {
		d.changed.Store(true)
		l.wakeIfSleeping()
	})
	if !d.haunted {
		d.haunted = true
		l.handle(func() {
			l.log().Error("closed descriptors cannot be forgotten; trying again", "kind", aDescriptor.String(), "error", err)
		})
	}
}

// mostEarlier is how many strays are remembered, besides one for each descriptor that would have to be added again: that
// each batch has some may also be because callbacks unregister each other's descriptors, for ever.
const mostEarlier = 1024

// ghostPause is how long descriptors are then not served.
const ghostPause = time.Millisecond

// renew makes the poller forget everything, and tells it again what is registered. If it did not forget, nothing has
// changed. It cannot watch those that are lost any more.
func (d *descriptors) renew() (forgot bool, lost []int, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.own.Reset(); err != nil {
		return false, nil, err
	}
	var errs []error
	for fd, tag := range d.table {
		r := d.slots.find(tag)
		if err := d.own.Add(fd, r.events, tag); err != nil && !poller.Gone(err) {
			lost = append(lost, fd)
			errs = append(errs, fmt.Errorf("descriptor %d: %w", fd, err))
		}
	}
	return true, lost, errors.Join(errs...)
}
