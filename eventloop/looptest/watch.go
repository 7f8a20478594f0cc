package looptest

// Registrations whose callbacks are counted, and callbacks of descriptors as one more lane.

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/turnloop/turnloop/internal/beat"
	"github.com/turnloop/turnloop/internal/garbage"
	"github.com/turnloop/turnloop/internal/goroutine"
	"github.com/turnloop/turnloop/internal/loopapi"
)

// watch is a registration whose callback records its calls.
type watch struct {
	l     *loop
	fd    int
	calls atomic.Int64
	union atomic.Uint32 // the union of the events of all calls since the last await or forget
	again chan struct{} // holds a token when there was a call since then
}

// watch registers fd; call it on the check's goroutine. then, unless nil, runs in the callback.
func (l *loop) watch(fd int, events loopapi.IOEvents, then func(w *watch)) *watch {
	w, err := l.tryWatch(fd, events, then)
	l.trial.must("RegisterFD", err)
	return w
}

// tryWatch does what watch does, on any goroutine, callbacks included; it returns the error of RegisterFD.
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
		runtime.Gosched() // otherwise a check may wait for the end of the loop's time slice
	})
}

// readAll, as a callback, reads all bytes that the descriptor holds.
func readAll(w *watch) {
	if err := drain(w.fd); err != nil && !errors.Is(err, io.EOF) {
		w.l.trial.Errorf("reading a descriptor in its callback: %v", err)
	}
}

// leave, as a callback, unregisters the descriptor.
func leave(w *watch) {
	w.l.trial.want("UnregisterFD of the descriptor whose callback runs", w.l.fds.UnregisterFD(w.fd), nil)
}

// await waits for a call and returns the union of the events since the last await or forget.
func (w *watch) await(format string, args ...any) loopapi.IOEvents {
	w.l.trial.wait(w.again, "the callback of a descriptor: %s", fmt.Sprintf(format, args...))
	return loopapi.IOEvents(w.union.Swap(0))
}

// forget waits for calls that have begun, and discards the record of all calls so far.
func (w *watch) forget() {
	w.l.awaitEvents()
	select {
	case <-w.again:
	default:
	}
	w.union.Store(0)
}

// silent expects that the callback has been called n times in all, and is not called again in the next ticks.
func (w *watch) silent(n int64, format string, args ...any) {
	w.l.awaitEvents()
	if got := w.calls.Load(); got != n {
		w.l.trial.Errorf("the callback of a descriptor was called %d times, want %d: %s", got, n,
			fmt.Sprintf(format, args...))
	}
}

// unregister ends the watch from the check's goroutine.
func (w *watch) unregister() { w.l.trial.want("UnregisterFD", w.l.fds.UnregisterFD(w.fd), nil) }

// awaitEvents waits until the loop has collected ready descriptors from the system and called their callbacks. It waits twice,
// because the order within one batch is not known.
func (l *loop) awaitEvents() {
	for range 2 {
		l.doIn(ioLane, noop)
	}
}

// together makes links ready while a callback holds the loop, so that the loop finds them in one batch.
func (l *loop) together(links []link) {
	g := l.hold()
	for _, s := range links {
		s.send()
	}
	g.open()
}

// ioCallback registers a ready descriptor whose callback unregisters it and then runs fn. It returns the error of
// RegisterFD. A second call of the callback is a failure.
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
		// Another goroutine may be ending the loop at this moment.
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

// standsStill expects the loop to sleep, and not to tick without work. Of a few moments one must be quiet: a loop that ticks
// for ever has none, and whatever else makes it tick does not last. A moment lasts until the loop could have ticked many times:
// this goroutine computes, and yields and sleeps in between, so that the loop's thread gets as much of the processors as its own. If
// the loop has a clock, its tick time must stand still meanwhile; the process of a loop without a clock, which is left alone, must use
// hardly any processor time.
func (l *loop) standsStill(format string, args ...any) {
	const moments, parts, nap, busy = 3, 10, 2 * time.Millisecond, 2 * time.Millisecond
	garbage.Collect()
	for range moments {
		l.rest()
		if l.clock == nil {
			const least = 20
			before := processorTime()
			if beats(least); processorTime()-before < least*beat.Length/50 {
				return
			}
			continue
		}
		tick := l.clock.CurrentTickTime()
		for range parts {
			beats(1)
			for until := processorTime() + busy; processorTime() < until; {
				runtime.Gosched() // takes long on a single processor if the loop ticks without work
			}
		}
		if l.clock.CurrentTickTime().Equal(tick) {
			return
		}
	}
	l.trial.Errorf("the loop goes round and round although it has nothing to do: %s", fmt.Sprintf(format, args...))
}
