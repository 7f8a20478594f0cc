package alternatethree

// The table of descriptors, and the dispatch of events in two steps: collect the registrations under the lock, then call
// them without it.

import (
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/poller"
	"github.com/turnloop/turnloop/internal/rival"
)

// ioBatch is the number of callbacks of descriptors between two microtask checkpoints.
const ioBatch = 64

// always are the events that are delivered whether or not they were asked for.
const always = loopapi.EventError | loopapi.EventHangup

// registration is one watched descriptor, from RegisterFD to UnregisterFD.
type registration struct {
	fd    int
	tag   uint32           // of this registration only, so that its events are known even if the number was used again
	asked loopapi.IOEvents // the events that the poller watches; guarded by the table's lock

	// wanted are the events to deliver: what was asked for, and those that always are. It is 0 once the registration has
	// ended. It is written under the table's lock; the loop reads it just before the call, without that lock.
	wanted atomic.Uint32

	// Only the loop touches these.
	fired loopapi.IOEvents
	call  func() // calls the user with fired; made once, so that a dispatch does not allocate
}

func (r *registration) ask(events loopapi.IOEvents) {
	r.asked = events
	r.wanted.Store(uint32(events | always))
}

// table holds the registrations.
type table struct {
	// mu guards all below, and is held for writing over the poller's call that goes with a change, so that table and
	// poller agree. The loop holds it for reading to look up what is ready. It is never held during a wait or a
	// callback.
	mu           sync.RWMutex
	entries      map[int]*registration // nil when the loop has ended
	lastTag      uint32
	mayHaveGhost bool // the poller could not remove a descriptor, closed too early, and may go on to report a duplicate of it

	size atomic.Int64 // the number of entries; written under mu; the loop reads it without, to see whether to ask the poller
}

// readiness is a descriptor that is ready, on its way to its callback.
type readiness struct {
	registration *registration
	events       loopapi.IOEvents
}

// ghostPause is how long the loop stops at a descriptor that it cannot get rid of, which is reported at once again.
const ghostPause = time.Millisecond

// collectReady stores the registrations to call for events: the first step of the dispatch. Events without a registration
// reveal a descriptor that was closed before it was unregistered; collectReady then rebuilds the poller's set.
func (l *Loop) collectReady(events []poller.Event) {
	l.ready, l.called = l.ready[:0], 0
	if !l.table.collect(events, &l.ready) {
		l.ghosts = false
		return
	}
	forgot, err := l.table.rebuild(l.poller)
	known := l.ghosts && !forgot // the same ghost was reported before; if a registration was lost, forgot is true
	if l.ghosts = !forgot; l.ghosts {
		time.Sleep(ghostPause)
	}
	if err != nil && !known {
		l.faults.Call(func() { slog.Default().Error("the event loop cannot forget closed descriptors", "error", err) })
	}
}

// collect appends the registrations of events to ready. It reports whether the poller reports a descriptor that it must
// forget.
func (t *table) collect(events []poller.Event, ready *[]readiness) (ghost bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, e := range events {
		if r := t.entries[e.FD]; r != nil && r.tag == e.Tag {
			*ready = append(*ready, readiness{r, e.Events})
		} else {
			ghost = t.mayHaveGhost
		}
	}
	return ghost
}

// remove takes a registration out of the table and silences it. The caller holds mu for writing.
func (t *table) remove(r *registration) {
	r.wanted.Store(0)
	delete(t.entries, r.fd)
	t.size.Store(int64(len(t.entries)))
}

// rebuild resets the poller and adds all registrations again. It is the only way to get rid of a closed descriptor of which
// a duplicate is open. forgot is false if the reset has failed; then nothing has changed.
func (t *table) rebuild(p rival.Poller) (forgot bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := p.Reset(); err != nil {
		return false, wrap(err, "forget closed descriptors")
	}
	t.mayHaveGhost = false
	var errs []error
	for fd, r := range t.entries {
		if err := p.Add(fd, r.asked, r.tag); err != nil {
			t.remove(r)
			errs = append(errs, wrap(err, "watch descriptor %d again", fd))
		}
	}
	return true, errors.Join(errs...)
}

// drop forgets all registrations, for good.
func (t *table) drop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.entries = nil
	t.size.Store(0)
}

// runReady calls the callbacks of the ready descriptors. It checks each registration again before the call, and skips one
// that has ended meanwhile or does not want the event any more.
func (l *Loop) runReady() {
	for l.called < len(l.ready) && !l.state.ending() {
		next := l.ready[l.called]
		l.ready[l.called] = readiness{}
		l.called++
		r := next.registration
		if r.fired = next.events & loopapi.IOEvents(r.wanted.Load()); r.fired != 0 {
			l.faults.Call(r.call)
		}
		if l.called%ioBatch == 0 {
			l.checkpoint()
		}
	}
}

// wrap returns an error that wraps err and says what was attempted, or nil if err is nil.
func wrap(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return loopapi.Wrap(err, format, args...)
}
