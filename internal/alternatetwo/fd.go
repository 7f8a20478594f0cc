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

// A descriptor's word holds its watched events, two flags, and a version that changes with every registration. Events
// carry the version in the poller's tag.
const (
	liveFlag     = 1 << 8 // registered
	busyFlag     = 1 << 9 // a goroutine is changing the entry and the poller's set
	versionShift = 32
	interest     = uint64(loopapi.EventRead | loopapi.EventWrite)
	unaskedFor   = loopapi.EventError | loopapi.EventHangup
)

// descriptor is an entry of the table. A goroutine that changes it raises busyFlag by compare-and-swap, changes the
// poller's set, and lowers the flag with a store. Meanwhile other goroutines that change the same descriptor yield; the
// loop's dispatch does not wait. The callback is stored while busy, and read between two loads of the same word.
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
	watched atomic.Int32 // the number of registered descriptors; written with each registration, read by the loop
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

// entry returns the entry of fd, which must be in range. If drop removes the page meanwhile, the entry is in no table,
// which does no harm.
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

// drop drops all entries. The poller is closed, so no descriptor can be registered any more.
func (t *table) drop() {
	if pages := t.pages.Load(); pages != nil {
		for i := range pages {
			pages[i].Store(nil)
		}
	}
}

// dispatch calls the callbacks of the rest of the batch. It compares each event with its descriptor's word just before the
// call, so that it respects the changes of earlier callbacks.
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
		case word&busyFlag != 0: // the descriptor stays ready and is reported again
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

// ghost is an event without a registration. A ghost that a second wait reports again would come for ever: its descriptor
// was closed without being unregistered, while a duplicate is open.
type ghost struct {
	event poller.Event
	wait  int  // the number of the wait that reported it
	waits int  // the number of waits so far
	stays bool // the last reset of the poller has failed
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

// rebuild empties the poller's set and adds all registered descriptors again. It waits for an entry that is being changed:
// that may be in the new set already, and to add it twice does no harm.
func (l *Loop) rebuild() {
	told := l.ghost.stays
	err := l.poller.Reset()
	if l.ghost.stays = err != nil; l.ghost.stays {
		time.Sleep(time.Millisecond) // the ghost is reported again at once, and must not keep a processor busy
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
	if lost != nil { // logged last, as a logger may panic
		slog.Default().Error("alternatetwo: watches lost", "error", errors.Join(lost...))
	}
}
