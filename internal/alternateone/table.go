package alternateone

// The registered descriptors, the poll, and the lock that is held during it and while an I/O callback runs.

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/poller"
	"github.com/turnloop/turnloop/internal/rival"
)

// watch is a registered descriptor.
type watch struct {
	fd       int
	tag      uint32 // of this registration only: an event with another tag belongs to a former registration
	id       uint64 // the number of the registration; the tag is its lower half
	events   loopapi.IOEvents
	callback func(loopapi.IOEvents)
	ready    loopapi.IOEvents // what call passes to callback
	call     func()
}

var (
	errTable    = errors.New("the table of descriptors is not in order")
	errAdmitted = errors.New("more goroutines left the table of descriptors than came")
)

// examine checks the watch of fd.
func (l *Loop) examine(op string, fd int, w *watch) {
	if w.fd != fd || w.tag != uint32(w.id) || w.callback == nil {
		l.violated(op, errTable, "descriptor", fd)
	}
}

// table holds all watches. mu is held for every access; the loop also holds it during the poll and while an I/O callback
// runs. Other goroutines announce themselves before they take it (see announce), so that the loop wakes up and lets them
// in. I/O callbacks find it held by their own goroutine (Loop.holding).
type table struct {
	mu     sync.Mutex // guards all below
	watch  map[int]*watch
	number uint64 // the number of the last registration
	stale  bool   // the last rebuild failed
}

// find returns the watch to which an event belongs, or nil if that has been unregistered.
func (t *table) find(e poller.Event) *watch {
	if w := t.watch[e.FD]; w != nil && w.tag == e.Tag {
		return w
	}
	return nil
}

func (l *Loop) lockTable() {
	l.table.mu.Lock()
	l.holding = true
}

func (l *Loop) unlockTable() {
	l.holding = false
	l.table.mu.Unlock()
}

// letIn waits until all goroutines that have announced themselves by now have left the table. Without it the loop, which is
// already running, would win the lock again and again from goroutines that must wake up first.
func (l *Loop) letIn() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for all := l.announced; l.admitted < all; {
		l.gone.Wait()
	}
	if l.admitted > l.announced {
		l.violated("poll", errAdmitted, "came", l.announced, "left", l.admitted)
	}
}

// poll waits for ready descriptors until there is other work, and runs their callbacks.
func (l *Loop) poll() {
	l.letIn()
	l.lockTable()
	defer func() { // also when a callback ends the goroutine
		if l.holding {
			l.unlockTable()
		}
	}()
	timeout, ok := l.decide()
	if !ok {
		return
	}
	events, err := l.poller.Wait(timeout)
	l.getUp()
	if err != nil {
		l.violated("poll", fmt.Errorf("the loop's own descriptors do not work: %w", err))
	}
	for _, e := range events {
		if l.table.find(e) == nil { // a duplicate has outlived its watch: since the wait nothing has changed the table
			l.rebuild()
			break
		}
	}
	for i, e := range events {
		if i > 0 && i%ioBatch == 0 {
			l.unlockTable()
			l.checkpoint()
			l.lockTable()
		}
		if !l.mayDispatch() {
			return
		}
		if w := l.table.find(e); w != nil {
			l.dispatch(w, e)
		}
	}
}

// ioBatch is the number of I/O callbacks between two microtask checkpoints.
const ioBatch = 64

func (l *Loop) dispatch(w *watch, e poller.Event) {
	l.examine("poll", e.FD, w)
	if ready := e.Events & (w.events | loopapi.EventError | loopapi.EventHangup); ready != 0 {
		w.ready = ready
		l.call(job{KindIO, task{w.call, w.id}})
	}
}

// decide is the sleep decision. It holds mu, and all work is handed in under mu, so no work can come unseen. It returns the
// timeout of the poll, and false for no poll at all. If the loop may sleep, the state is Sleeping from here until getUp:
// goroutines that hand in work meanwhile write to the wake descriptor.
func (l *Loop) decide() (timeout time.Duration, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.check("sleep")
	if l.state.load() != running || l.announced > l.admitted {
		return 0, false
	}
	if err := l.timers.check(0); err != nil { // the timeout relies on the first timer
		l.violated("sleep", err, "pending", len(l.timers.Heap))
	}
	deadline, now := l.timers.Earliest(), l.Now()
	if l.waiting() > 0 || deadline <= now {
		return 0, len(l.table.watch) > 0
	}
	l.transition("sleep", sleeping)
	if deadline == rival.Never {
		return -1, true
	}
	return time.Duration(deadline - now), true
}

// getUp ends the sleep, unless the end of the loop has already changed the state, and updates the tick time.
func (l *Loop) getUp() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.check("wake")
	if l.state.load() == sleeping {
		l.transition("wake", running)
	}
	l.readClock("wake")
}

// mayDispatch reports whether another I/O callback may start. Before that it lets in the goroutines that have come
// meanwhile.
func (l *Loop) mayDispatch() bool {
	if _, guests := l.lookAround(); guests {
		l.unlockTable()
		l.letIn()
		l.lockTable()
	}
	may, _ := l.lookAround()
	return may
}

func (l *Loop) lookAround() (may, guests bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.check("poll")
	return l.state.load() == running, l.announced > l.admitted
}

// rebuild makes the system forget descriptors that no call can name any more, because they were closed while a duplicate
// stays open. Callbacks and tags stay. A failure is logged, once until rebuild works again, and the next event of this kind
// calls rebuild again.
func (l *Loop) rebuild() {
	err := l.poller.Reset()
	if err != nil {
		time.Sleep(time.Millisecond) // the event is reported again at once, and would keep a processor busy
	} else {
		for _, w := range l.table.watch {
			err = errors.Join(err, l.poller.Add(w.fd, w.events, w.tag))
		}
	}
	if err != nil && !l.table.stale {
		l.log(func() {
			slog.Default().Error("descriptors are not watched as they should be", "loop", l.id, "error", l.fail("rebuild", err))
		})
	}
	l.table.stale = err != nil
}

// wake wakes the loop up for an operation. Any goroutine may call it; no lock is held. A failure is logged.
func (l *Loop) wake(op string) {
	l.Wake(l.poller, func(err error) {
		slog.Default().Error("wake-up failed, trying again", "loop", l.id, "error", l.fail(op, err))
	})
}
