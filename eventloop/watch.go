package eventloop

// Where the loop waits for descriptors. There are three places to park:
//
//   - Its channel, as without descriptors. A watch, which waits for the system on another goroutine, sets ready and wakes
//     the loop like any producer; the loop collects without waiting. Work costs what it costs without descriptors, and
//     an event costs the switch from one goroutine to the other.
//   - The runtime's own poller, on systems where it can watch ours. An event costs what it costs a reader of a net.Conn,
//     and waking the loop for work costs more than on the channel. So the loop goes there when events, not work, end its
//     sleeps.
//   - The system's poller, under FastPathDisabled or when all else fails: each wake-up is a system call to a blocked
//     thread.

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/observe"
	"github.com/turnloop/turnloop/internal/poller"
	"github.com/turnloop/turnloop/internal/quota"
)

// FastPathMode says what the loop sleeps in.
type FastPathMode int

const (
	// FastPathAuto parks the loop on a channel and has another goroutine watch descriptors, so that waking it costs the
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

// SetFastPathMode changes the mode, and wakes the loop to take notice. It returns ErrFastPathIncompatible for
// FastPathForced while descriptors are registered, ErrLoopTerminated once the loop is ending, an error for a mode that
// does not exist, or the system's error, wrapped, when it has no poller for FastPathDisabled. With an error nothing has
// changed. Elsewhere than on the loop it lets other goroutines run before it returns.
func (l *Loop) SetFastPathMode(mode FastPathMode) error {
	err := l.setMode(mode)
	if err == nil {
		l.wakeIfSleeping()
	}
	l.yieldOffLoop() // a change may have the loop begin a watch, or end one, for which it waits for other goroutines
	if err != nil {
		return loopapi.Wrap(err, "fast path mode %d", mode)
	}
	return nil
}

func (l *Loop) setMode(mode FastPathMode) error {
	if mode < FastPathAuto || mode > FastPathDisabled {
		return errNoSuchMode
	}
	if l.state.load().ending() { // looked at before the lock too, since the end takes the lock
		return ErrLoopTerminated
	}
	d := &l.fds
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case l.state.load().ending():
		return ErrLoopTerminated
	case mode == FastPathForced && d.slots.taken > 0:
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

// openPoller makes the poller if there is none. The caller holds mu and has seen that the loop is not ending. The cleanup
// is for a loop that is garbage and has not ended: it never ran, so its poller is not in use.
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

// chooseWatch looks at what has changed: it begins or ends the watch, and decides where the loop sleeps. A watch that
// fails, or cannot begin, is tried again at the next change.
func (l *Loop) chooseWatch() {
	d := &l.fds
	if !d.changed.Load() {
		return
	}
	d.changed.Store(false) // first: a change from now on sets it again
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
	d.parking, d.misplaced = false, 0
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
		l.callHandler(func() {
			l.log().Warn("descriptors cannot be watched; the loop blocks in the system's poller", "kind", observe.Descriptor.String(), "error", *fault)
		})
	}
}

// choosePark learns from a sleep where to spend the next ones. event says that an event of a descriptor has ended the sleep.
func (d *descriptors) choosePark(event bool) {
	switch {
	case d.parker == nil || event == d.parking:
		d.misplaced = 0
	case d.misplaced < moveAfter:
		d.misplaced++
	case event:
		d.endWatch()
		d.parking, d.misplaced = true, 0
		d.blocked.Store(&d.own)
	default:
		d.changed.Store(true) // back to the watch
	}
}

// moveAfter is how many sleeps in a row have to be spent in the wrong place before the loop moves. A move costs about as
// much as one such sleep wastes.
const moveAfter = 16

// notify tells the loop that there may be events, or, if err is not nil, that err has ended the watch. The watch calls it, on
// a goroutine of the poller.
func (l *Loop) notify(err error) {
	if err != nil {
		fault := err // a copy: otherwise err would be allocated for each event
		l.fds.fault.Store(&fault)
		l.fds.changed.Store(true)
	} else {
		l.fds.ready.Store(true)
	}
	l.wakeIfSleeping()
}

// endWatch ends the watch, if there is one. Only the loop calls it.
func (d *descriptors) endWatch() {
	if d.unwatch != nil {
		d.unwatch()
		d.unwatch = nil
		d.ready.Store(false) // perhaps no wait follows that would clear it; the poller still has the events
	}
}

// news tells whether the watch has reported events, or another goroutine has changed something, and the loop has not
// looked yet.
func (d *descriptors) news() bool { return d.ready.Load() || d.changed.Load() }

// pending tells whether the loop has to serve descriptors before it may sleep.
func (d *descriptors) pending() bool {
	return d.called < len(d.batch) || d.news() || d.unwatch != nil && !d.drained
}

// collect asks for events without waiting, if there may be some. A loop with a watch asks again and again until there
// are none: only then does the watch report the next one.
func (l *Loop) collect() {
	d := &l.fds
	if l.state.load().ending() {
		return
	}
	l.chooseWatch()
	switch {
	case d.unwatch != nil:
		// A flood, even one that the loop keeps up with, may keep the watch's goroutine from running.
		if d.ready.Load() || !d.drained || l.bounds.full || l.tickTime.Load()-d.asked >= quota.Tick {
			l.wait(0)
		}
	case d.blocked.Load() != nil && d.size.Load() > 0:
		if l.wait(0); d.drained {
			d.choosePark(false) // a busy loop does better with a watch than by asking in each tick
		}
	}
}

// wait asks the poller for events, and waits for the first up to timeout: for ever if it is negative.
func (l *Loop) wait(timeout time.Duration) {
	l.fds.asked = l.tickTime.Load()
	l.fds.ready.Store(false) // first: what the watch reports from now on sets it again
	l.takeEvents(l.fds.own.Wait(timeout))
}

// takeEvents takes the poller's answer. A poller fails if other code has closed its descriptor by number: the loop cannot
// serve descriptors then, so it ends, gracefully.
func (l *Loop) takeEvents(batch []poller.Event, err error) {
	d := &l.fds
	l.polled = true
	d.batch, d.called, d.drained = batch, 0, len(batch) == 0
	l.probe.Gap()
	if len(d.unknown) == 0 {
		d.earlier = d.earlier[:0]
	}
	d.earlier, d.unknown = append(d.earlier, d.unknown...), d.unknown[:0] // earlier tags stay, since a batch may lack some ready events
	if err != nil {
		l.failure = loopapi.Wrap(err, "wait for descriptors")
		l.terminate(0)
		l.logError("the loop ends", l.failure, "kind", observe.Descriptor.String())
	}
}

// wakePoller ends the wait of a loop that blocks in the poller. No other signal follows, so after a failure it tries again
// when retry has passed, and then ever more rarely.
func (l *Loop) wakePoller(p systemPoller, retry time.Duration) {
	err := p.Wake()
	if err == nil || errors.Is(err, ErrPollerClosed) {
		return
	}
	time.AfterFunc(retry, func() { l.wakePoller(p, min(2*retry, time.Second)) })
	l.logError("the loop could not be woken; trying again", err, "kind", "poller")
}

const firstRetry = time.Millisecond

// logError logs, on a goroutine of its own: a logger, or the text of a panic's value, may block, panic or call runtime.Goexit.
func (l *Loop) logError(msg string, err error, args ...any) {
	go func() {
		defer func() { _ = recover() }()
		l.log().Error(msg, append([]any{"error", err}, args...)...)
	}()
}

// handleUnknown deals with an event whose tag belongs to no registration. The first time this is normal: the registration
// has ended since the wait. When the tag comes again after another wait, its descriptor was closed while a duplicate is
// open, and the event would come for ever: so the poller has to forget everything. The same is done when there are more
// such tags than are remembered.
func (l *Loop) handleUnknown(tag uint32) {
	d := &l.fds
	if len(d.earlier) < mostEarlier+int(d.size.Load()) && !slices.Contains(d.earlier, tag) {
		d.unknown = append(d.unknown, tag)
		return
	}
	d.endWatch()
	d.earlier = nil // first, since it may fail: then the rest of the batch does not try again
	forgot, lost, err := d.resetPoller()
	if !forgot {
		l.suspend(err)
		return
	}
	d.suspended = false
	d.changed.Store(true) // watch again
	if err != nil {
		l.callHandler(func() {
			l.log().Error("descriptors are not watched any more", "kind", observe.Descriptor.String(), "id", lost, "error", err)
		})
	}
}

// suspend has the loop neither watch nor block in the poller for a while: the poller would report the closed
// descriptors again at once.
func (l *Loop) suspend(err error) {
	d := &l.fds
	d.parker, d.parking = nil, false
	d.blocked.Store(nil)
	time.AfterFunc(suspension, func() {
		d.changed.Store(true)
		l.wakeIfSleeping()
	})
	if !d.suspended {
		d.suspended = true
		l.callHandler(func() {
			l.log().Error("closed descriptors cannot be forgotten; trying again", "kind", observe.Descriptor.String(), "error", err)
		})
	}
}

// mostEarlier is how many unknown tags are remembered, besides one for each registered descriptor. Such tags in every batch may be
// harmless, as when callbacks unregister each other's descriptors again and again; so the poller, to which every registered
// descriptor has to be added again, is reset only when there are many.
const mostEarlier = 1024

// suspension is how long suspend leaves descriptors unserved.
const suspension = time.Millisecond

// resetPoller makes the poller forget everything, and adds all registered descriptors again. If forgot is false nothing
// has changed. The descriptors in lost could not be added and are not watched any more; err says why.
func (d *descriptors) resetPoller() (forgot bool, lost []int, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.own.Reset(); err != nil {
		return false, nil, err
	}
	var errs []error
	for r := range d.slots.all() {
		if err := d.own.Add(r.fd, r.events, r.tag); err != nil && !poller.Gone(err) {
			lost = append(lost, r.fd)
			errs = append(errs, fmt.Errorf("descriptor %d: %w", r.fd, err))
		}
	}
	return true, lost, errors.Join(errs...)
}
