package alternatetwo

// Descriptors: a direct table with versions, no lock, and callbacks in line.

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/poller"
)

const (
	tableSize = 1 << 16
	pageSize  = 256
)

// A descriptor's word holds what it is watched for, two flags, and a version that every registration renews. Events
// carry the version in the poller's tag.
const (
	liveFlag     = 1 << 8 // registered
	busyFlag     = 1 << 9 // somebody is changing the entry and the poller's set
	versionShift = 32
	interest     = uint64(loopapi.EventRead | loopapi.EventWrite)
	unaskedFor   = loopapi.EventError | loopapi.EventHangup
)

// descriptor is an entry of the table. Who changes it raises busyFlag by compare-and-swap and lowers it with a store
// when the poller agrees; another one who wants to change the same descriptor yields meanwhile, the loop's dispatch
// does not. The callback is stored while busy, and read between two loads of the same word.
type descriptor struct {
	word     atomic.Uint64
	callback atomic.Pointer[func(loopapi.IOEvents)]
}

// change raises busyFlag and returns the word as it was.
func (d *descriptor) change() uint64 {
	for {
		word := d.word.Load()
		if word&busyFlag == 0 && d.word.CompareAndSwap(word, word|busyFlag) {
			return word
		}
		runtime.Gosched()
	}
}

// free ends a registration, or an attempt at one, and lowers busyFlag. The version moves on, so no event matches.
func (d *descriptor) free(word uint64) {
	d.callback.Store(nil)
	d.word.Store((word>>versionShift + 1) << versionShift)
}

// table finds a descriptor by its number. Pages are made on first use and stay until the loop ends.
type table struct {
	pages   atomic.Pointer[[tableSize / pageSize]atomic.Pointer[[pageSize]descriptor]]
	watched atomic.Int32 // registered descriptors; written by who registers, read by the loop
}

// find returns the entry of fd, or nil if there is no page for it.
func (t *table) find(fd int) *descriptor {
	pages := t.pages.Load()
	if pages == nil || fd < 0 || fd >= tableSize {
		return nil
	}
	page := pages[fd/pageSize].Load()
	if page == nil {
		return nil
	}
	return &page[fd%pageSize]
}

// entry returns the entry of fd, which must be in range. A page that drop has taken away meanwhile is nobody's, and
// as good.
func (t *table) entry(fd int) *descriptor {
	if t.pages.Load() == nil {
		t.pages.CompareAndSwap(nil, new([tableSize / pageSize]atomic.Pointer[[pageSize]descriptor]))
	}
	page := &t.pages.Load()[fd/pageSize]
	p := page.Load()
	for p == nil {
		fresh := new([pageSize]descriptor)
		if page.CompareAndSwap(nil, fresh) {
			p = fresh
		} else {
			p = page.Load()
		}
	}
	return &p[fd%pageSize]
}

// drop lets go of all entries; the poller is closed, so nothing is registered any more.
func (t *table) drop() {
	if pages := t.pages.Load(); pages != nil {
		for i := range pages {
			pages[i].Store(nil)
		}
	}
}

// dispatch calls back for the rest of the batch. Each event is held against its descriptor's word at the last moment,
// so what a callback before it has changed counts.
func (l *Loop) dispatch() {
	for l.next < len(l.events) && !l.state.ending() {
		e := l.events[l.next]
		l.next++
		d := l.table.find(e.FD)
		if d == nil {
			continue
		}
		word := d.word.Load()
		switch {
		case word&busyFlag != 0: // readiness stays, and is reported again
			continue
		case word&liveFlag == 0 || uint32(word>>versionShift) != e.Tag:
			l.stale(e)
			continue
		}
		ready := e.Events & (loopapi.IOEvents(word&interest) | unaskedFor)
		callback := d.callback.Load()
		if ready == 0 || callback == nil || d.word.Load() != word {
			continue
		}
		(*callback)(ready)
		l.afterCallback()
	}
	l.events, l.next = nil, 0
}

// ghost is an event that nothing registered stands behind. One that comes again from another wait comes for ever: its
// descriptor was closed without being unregistered, while a duplicate is open.
type ghost struct {
	event poller.Event
	wait  int // in which it was seen
	waits int
	stays bool // the poller could not be made to forget it
}

func (l *Loop) stale(e poller.Event) {
	g := &l.ghost
	switch {
	case g.event.FD == e.FD && g.event.Tag == e.Tag && g.wait != g.waits:
		g.event = poller.Event{}
		l.rebuild()
	case g.waits-g.wait > 1 || g.event == poller.Event{}:
		g.event, g.wait = e, g.waits
	}
}

// rebuild begins with an empty set and adds what is registered. An entry that somebody changes meanwhile is waited
// for: it may have been added before or after, and to add it again does no harm.
func (l *Loop) rebuild() {
	told := l.ghost.stays
	err := l.poller.Reset()
	if l.ghost.stays = err != nil; l.ghost.stays {
		time.Sleep(time.Millisecond) // it is reported at once again, and must not burn a processor
		if !told {
			slog.Default().Error("alternatetwo: reset of the poller failed", "error", err)
		}
		return
	}
	var lost []error
	pages := l.table.pages.Load()
	for i := range pages {
		page := pages[i].Load()
		if page == nil {
			continue
		}
		for j := range page {
			d := &page[j]
			if d.word.Load()&(liveFlag|busyFlag) == 0 {
				continue
			}
			word := d.change()
			if word&liveFlag != 0 {
				err := l.poller.Add(i*pageSize+j, loopapi.IOEvents(word&interest), uint32(word>>versionShift))
				if err != nil && !errors.Is(err, syscall.EEXIST) {
					lost = append(lost, fmt.Errorf("descriptor %d: %w", i*pageSize+j, err))
				}
			}
			d.word.Store(word)
		}
	}
	if lost != nil { // told in the end: a logger may panic
		slog.Default().Error("alternatetwo: watches lost", "error", errors.Join(lost...))
	}
}
