package looptest

// Registrations under observation, and callbacks of descriptors as one more lane.

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/turnloop/turnloop/internal/garbage"
	"github.com/turnloop/turnloop/internal/goroutine"
	"github.com/turnloop/turnloop/internal/loopapi"
)

// watch is a registration whose callback keeps the books.
type watch struct {
	l     *loop
	fd    int
	calls atomic.Int64
	union atomic.Uint32 // of the events of all calls since the last look
	again chan struct{} // holds a token when there was a call since the last look
}

// watch registers fd from the check's goroutine. then, if there is one, runs in the callback.
func (l *loop) watch(fd int, events loopapi.IOEvents, then func(w *watch)) *watch {
	w, err := l.tryWatch(fd, events, then)
	l.trial.must("RegisterFD", err)
	return w
}

// tryWatch is watch for callbacks.
func (l *loop) tryWatch(fd int, events loopapi.IOEvents, then func(w *watch)) (*watch, error) {
	w := &watch{l: l, fd: fd, again: make(chan struct{}, 1)}
	return w, l.fds.RegisterFD(fd, events, func(got loopapi.IOEvents) {
		if id := l.goroutine.Load(); id != 0 && goroutine.ID() != id {
			l.trial.Errorf("the callback of a descriptor runs on another goroutine than the loop's")
		}
		w.calls.Add(1)
		w.union.Or(uint32(got))
		if then != nil {
			then(w)
		}
		select {
		case w.again <- struct{}{}:
		default:
		}
		runtime.Gosched() // see busy
	})
}

// readAll is what a well-behaved callback does.
func readAll(w *watch) {
	if err := drain(w.fd); err != nil && !errors.Is(err, io.EOF) {
		w.l.trial.Errorf("reading a descriptor in its callback: %v", err)
	}
}

// leave unregisters the descriptor in its own callback.
func leave(w *watch) {
	w.l.trial.want("UnregisterFD of the descriptor whose callback runs", w.l.fds.UnregisterFD(w.fd), nil)
}

// await waits for a call and returns the events of all calls since the last look.
func (w *watch) await(format string, args ...any) loopapi.IOEvents {
	w.l.trial.wait(w.again, "the callback of a descriptor: %s", fmt.Sprintf(format, args...))
	return loopapi.IOEvents(w.union.Swap(0))
}

// forget waits until no call of before is under way, and forgets them all.
func (w *watch) forget() {
	w.l.turn()
	select {
	case <-w.again:
	default:
	}
	w.union.Store(0)
}

// silent expects that the callback has not been called more than n times, and is not called again.
func (w *watch) silent(n int64, format string, args ...any) {
	w.l.turn()
	if got := w.calls.Load(); got != n {
		w.l.trial.Errorf("the callback of a descriptor was called %d times, want %d: %s", got, n,
			fmt.Sprintf(format, args...))
	}
}

// unregister ends the watch from the check's goroutine.
func (w *watch) unregister() { w.l.trial.want("UnregisterFD", w.l.fds.UnregisterFD(w.fd), nil) }

// turn waits until the loop has asked the system for ready descriptors, and has called them. The order within what it
// got is not known: so it asks twice.
func (l *loop) turn() {
	for range 2 {
		l.doIn(ioLane, noop)
	}
}

// together makes links ready while the loop is busy, so that it finds them all at once.
func (l *loop) together(links []link) {
	g := l.hold()
	for _, s := range links {
		s.send()
	}
	g.open()
}

// ioCallback runs fn as the callback of a descriptor that is ready when it is registered, and is unregistered by the
// callback. A call beyond the first is a failure.
func ioCallback(l *loop, fn func()) error {
	t := l.trial
	fd, err := t.fds.lend(l)
	if err != nil {
		return err
	}
	var called atomic.Bool
	err = l.fds.RegisterFD(fd, loopapi.EventRead, func(loopapi.IOEvents) {
		if called.Swap(true) {
			t.Errorf("the callback of a descriptor was called after it had unregistered itself")
			return
		}
		// Another goroutine may just be ending the loop.
		t.want("UnregisterFD of the descriptor whose callback runs", l.fds.UnregisterFD(fd), nil, loopapi.ErrLoopTerminated,
			loopapi.ErrFDNotRegistered)
		t.fds.giveBack(fd, l)
		fn()
	})
	if err != nil {
		t.fds.giveBack(fd, l)
	}
	return err
}

// standsStill expects the loop to sleep on, and not to go round and round. One quiet moment is enough: what else makes
// noise passes. Where the loop can tell the time of its tick, that stands still for a while, in which there is processor
// time for it: this goroutine keeps a processor busy, so that a busy machine has to leave some to this process, and sleeps
// in between, so that the loop's thread is the one that gets it. A short run mostly sleeps. Elsewhere the loop must use
// next to no processor time.
func (l *loop) standsStill(format string, args ...any) {
	const moments, parts, nap = 3, 10, 2 * time.Millisecond
	busy := 4 * time.Millisecond
	if testing.Short() {
		busy = 150 * time.Microsecond
	}
	garbage.Collect()
	for range moments {
		l.rest()
		if l.clock == nil && idles(max(time.Duration(few(40))*time.Millisecond, 8*time.Millisecond)) {
			return
		}
		if l.clock != nil {
			tick := l.clock.CurrentTickTime()
			for counted, all := 0, 0; counted < parts && all < 5*parts; all++ {
				begin := time.Now()
				time.Sleep(nap)
				if time.Since(begin) < 2*nap { // else the machine had no time for the loop either
					counted++
				}
				spend(busy)
			}
			if l.clock.CurrentTickTime().Equal(tick) {
				return
			}
		}
	}
	l.trial.Errorf("the loop goes round and round although it has nothing to do: %s", fmt.Sprintf(format, args...))
}

// idles tells whether the process uses less than a tenth of a processor for a while.
func idles(moment time.Duration) bool {
	before, begin := processorTime(), time.Now()
	time.Sleep(moment)
	return processorTime()-before < time.Since(begin)/10
}

// spend uses processor time, and gives way to other goroutines.
func spend(d time.Duration) {
	for until := processorTime() + d; processorTime() < until; {
		runtime.Gosched() // which takes long on a single processor, beside a loop that does go round and round
	}
}
