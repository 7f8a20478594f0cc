package fdset

// Where the owner sleeps, and how it collects events. There are three places to park:
//
//   - Its channel, as without descriptors. A watch, which waits for the system on another goroutine, sets ready and wakes
//     the owner like any producer; the owner collects without waiting. Work costs what it costs without descriptors, and
//     an event costs the switch from one goroutine to the other.
//   - The runtime's own poller, on systems where it can watch ours. An event costs what it costs a reader of a net.Conn,
//     and waking the owner for work costs more than on the channel. So the owner goes there when events, not work, end its
//     sleeps.
//   - The system's poller, under Disabled or when all else fails: each wake-up is a system call to a blocked thread.

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/poller"
)

// seat is what the owner knows of its sleeps and of what it has collected.
type seat struct {
	parker    poller.Parker  // the poller, if the owner may park in it; else nil
	parking   bool           // the owner parks in parker
	misplaced int            // sleeps in a row that another place would have served better
	unwatch   func()         // ends the watch; nil when there is none
	drained   bool           // the last wait found nothing, so the watch will report the next event
	batch     []poller.Event // from the last wait, without those that were served
	asked     int64          // when the tick began in which the owner last asked the poller
	unknown   []uint32       // tags in the batch that belong to no registration
	earlier   []uint32       // such tags in earlier batches, back to the last batch that had none
	left      bool           // the owner serves descriptors no more
	suspended bool           // the owner leaves the poller alone for a moment; see suspend
}

// always are the events that are delivered whether or not they were asked for.
const always = loopapi.EventError | loopapi.EventHangup

// Collected tells whether collected events wait to be served.
func (s *Set) Collected() bool { return len(s.batch) > 0 }

// Next takes the next of the collected events. It returns the registration, as it is now, and those bits of the event that its
// callback gets; or nil, if the registration has ended since the event was collected.
func (s *Set) Next() (*Registration, loopapi.IOEvents) {
	e := s.batch[0]
	s.batch = s.batch[1:]
	if r := s.table.find(e.Tag); r != nil {
		return r, e.Events & (r.Events() | always)
	}
	s.handleUnknown(e.Tag)
	return nil, 0
}

// Discard forgets the collected events.
func (s *Set) Discard() { s.batch = nil }

// News tells whether the watch has reported events, or another goroutine has changed something, and the owner has not
// looked yet. The owner asks; when it has left there is no news.
func (s *Set) News() bool { return !s.left && (s.ready.Load() || s.changed.Load()) }

// Pending tells whether the owner has to serve descriptors before it may sleep.
func (s *Set) Pending() bool { return s.Collected() || s.News() || s.unwatch != nil && !s.drained }

// Collect asks for events without waiting, if there may be some, and tells whether it has asked. An owner with a watch asks again
// and again until there are none: only then does the watch report the next one. now is when the tick began; full says that
// the tick has left something behind.
func (s *Set) Collect(now int64, full bool) (asked bool, err error) {
	if s.host.Ending() {
		return false, nil
	}
	s.choose()
	switch {
	case s.unwatch != nil:
		// Busy processors, or work that the owner keeps up with, may keep the watch's goroutine from running for milliseconds.
		if s.ready.Load() || !s.drained || full || now-s.asked >= askAfter {
			return true, s.wait(now, 0)
		}
	case s.blocked.Load() != nil && s.Len() > 0:
		if err = s.wait(now, 0); s.drained {
			s.Slept(false) // a busy owner does better with a watch than by asking in each tick
		}
		return true, err
	}
	return false, nil
}

// wait asks the poller for events, and waits for the first up to timeout: for ever if it is negative.
func (s *Set) wait(now int64, timeout time.Duration) error {
	s.asked = now
	s.ready.Store(false) // first: what the watch reports from now on sets it again
	return s.take((*s.poller.Load()).Wait(timeout))
}

// take takes the poller's answer. A poller fails if other code has closed its descriptor by number: the owner cannot serve
// descriptors then, and has to end.
func (s *Set) take(batch []poller.Event, err error) error {
	s.batch, s.drained = batch, len(batch) == 0
	if len(s.unknown) == 0 {
		s.earlier = s.earlier[:0]
	}
	s.earlier = append(s.earlier, s.unknown...) // earlier tags stay, since a batch may lack some ready events
	s.unknown = s.unknown[:0]
	if err != nil {
		return loopapi.Wrap(err, "wait for descriptors")
	}
	return nil
}

// Blocks tells whether the owner is to sleep by Park; else it sleeps on a channel of its own. A timed Park returns at its
// timeout; without that, the owner has Signal end it.
func (s *Set) Blocks() (blocks, timed bool) {
	blocks = s.blocked.Load() != nil
	return blocks, blocks && !s.parking
}

// Park sleeps until there are events, or Signal is called. now is when the tick began.
func (s *Set) Park(now int64, timeout time.Duration) error {
	if s.parking {
		return s.take(s.parker.Park())
	}
	return s.wait(now, timeout)
}

// Signal ends a Park, and tells whether the owner is in one, or is going to be. Any goroutine calls it, once for each sleep.
func (s *Set) Signal() bool {
	p := s.blocked.Load()
	if p != nil {
		s.wake(*p, time.Millisecond)
	}
	return p != nil
}

// wake ends a wait in the poller. No other signal follows, so after a failure it tries again when retry has passed, and then
// ever more rarely.
func (s *Set) wake(p Poller, retry time.Duration) {
	err := p.Wake()
	if err == nil || errors.Is(err, loopapi.ErrPollerClosed) {
		return
	}
	time.AfterFunc(retry, func() { s.wake(p, min(2*retry, time.Second)) })
	s.host.Log(slog.LevelError, "the loop could not be woken; trying again", err, "kind", "poller")
}

// choose looks at what has changed: it begins or ends the watch, and decides where the owner sleeps. A watch that fails, or
// cannot begin, is tried again at the next change.
func (s *Set) choose() {
	if !s.changed.Load() {
		return
	}
	s.changed.Store(false) // first: a change from now on sets it again
	mode, p := Mode(s.mode.Load()), s.poller.Load()
	if p == nil {
		return
	}
	watch := mode != Disabled && s.Len() > 0
	s.parking, s.misplaced = false, 0
	fault := s.fault.Swap(nil)
	if watch && fault == nil && s.unwatch == nil {
		stop, err := (*p).Watch(s.notify)
		if s.unwatch = stop; err != nil {
			fault = &err
		}
	}
	if watch && fault == nil {
		s.parker, _ = (*p).(poller.Parker)
		s.blocked.Store(nil)
		return
	}
	s.endWatch()
	s.parker = nil
	s.blocked.Store(nil)
	if watch || mode == Disabled {
		s.blocked.Store(p)
	}
	if fault != nil {
		s.host.Log(slog.LevelWarn, "descriptors cannot be watched; the loop blocks in the system's poller", *fault,
			"kind", "descriptor")
	}
}

// Slept learns from a sleep where to spend the next ones. event says that an event of a descriptor has ended the sleep.
func (s *Set) Slept(event bool) {
	switch {
	case s.parker == nil || event == s.parking:
		s.misplaced = 0
	case s.misplaced < MoveAfter:
		s.misplaced++
	case event:
		s.endWatch()
		s.parking, s.misplaced = true, 0
		s.blocked.Store(s.poller.Load())
	default:
		s.changed.Store(true) // back to the watch
	}
}

// MoveAfter is how many sleeps in a row have to be spent in the wrong place before the owner moves. A move costs about as
// much as one such sleep wastes.
const MoveAfter = 16

// Leave ends the watch: an owner that serves descriptors no more sleeps on its channel.
func (s *Set) Leave() {
	s.left = true
	s.endWatch()
	s.blocked.Store(nil)
}

// notify tells the owner that there may be events, or, if err is not nil, that err has ended the watch. The watch calls it, on
// a goroutine of the poller.
func (s *Set) notify(err error) {
	if err != nil {
		fault := err // a copy: otherwise err would be allocated for each event
		s.fault.Store(&fault)
		s.changed.Store(true)
	} else {
		s.ready.Store(true)
	}
	s.host.Wake()
}

// endWatch ends the watch, if there is one.
func (s *Set) endWatch() {
	if s.unwatch != nil {
		s.unwatch()
		s.unwatch = nil
		s.ready.Store(false) // perhaps no wait follows that would clear it; the poller still has the events
	}
}

// handleUnknown deals with an event whose tag belongs to no registration. The first time this is normal: the registration
// has ended since the wait. When the tag comes again after another wait, its descriptor was closed while a duplicate is
// open, and the event would come for ever: so the poller has to forget everything. The same is done when there are more
// such tags than are remembered.
func (s *Set) handleUnknown(tag uint32) {
	if len(s.earlier) < MostEarlier+s.Len() && !slices.Contains(s.earlier, tag) {
		s.unknown = append(s.unknown, tag)
		return
	}
	s.endWatch()
	s.earlier = nil // first, since it may fail: then the rest of the batch does not try again
	forgot, lost, err := s.reset()
	if !forgot {
		s.suspend(err)
		return
	}
	s.suspended = false
	s.changed.Store(true) // watch again
	if err != nil {
		s.host.Log(slog.LevelError, "descriptors are not watched any more", err, "kind", "descriptor", "id", lost)
	}
}

// suspend has the owner neither watch nor block in the poller for a while: the poller would report the closed descriptors
// again at once.
func (s *Set) suspend(err error) {
	s.parker, s.parking = nil, false
	s.blocked.Store(nil)
	time.AfterFunc(suspension, func() {
		s.changed.Store(true)
		s.host.Wake()
	})
	if !s.suspended {
		s.suspended = true
		s.host.Log(slog.LevelError, "closed descriptors cannot be forgotten; trying again", err, "kind", "descriptor")
	}
}

// MostEarlier is how many unknown tags are remembered, besides one for each registered descriptor. Such tags in every batch
// may be harmless, as when callbacks unregister each other's descriptors again and again; so the poller, to which every
// registered descriptor has to be added again, is reset only when there are many.
const MostEarlier = 1024

// suspension is how long suspend leaves descriptors unserved.
const suspension = time.Millisecond
const askAfter = 100_000 // nanoseconds that an owner with work leaves it to the watch to report events

// reset makes the poller forget everything, and adds all registered descriptors again. If forgot is false nothing has
// changed. The descriptors in lost could not be added and are not watched any more; err says why.
func (s *Set) reset() (forgot bool, lost []int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := *s.poller.Load()
	if err := p.Reset(); err != nil {
		return false, nil, err
	}
	var errs []error
	for fd, r := range s.fds.Of {
		if err := p.Add(fd, r.Events(), r.tag); err != nil && !poller.Gone(err) {
			lost = append(lost, fd)
			errs = append(errs, fmt.Errorf("descriptor %d: %w", fd, err))
		}
	}
	return true, lost, errors.Join(errs...)
}
