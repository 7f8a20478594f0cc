package looptest

// Registered descriptors (IO): readiness, the watched events, and refused registrations.

import (
	"context"
	"os"
	"sync/atomic"
	"time"

	"github.com/turnloop/turnloop/internal/loopapi"
)

const readWrite = loopapi.EventRead | loopapi.EventWrite

// callers returns the ways to make a registration call, by name: from another goroutine, and on the loop.
func (l *loop) callers() map[string]func(fn func()) {
	return map[string]func(fn func()){"from another goroutine": func(fn func()) { fn() }, "on the loop": l.do}
}

// ioEvents makes descriptors readable, writable, and both.
func ioEvents(t *trial) {
	l := t.start(Config{})
	s := t.sockets()
	w := l.watch(s.near, loopapi.EventRead, readAll)
	w.silent(0, "there is nothing to read")
	for i := range 20 {
		s.send()
		if got := w.await("byte %d has come", i); got != loopapi.EventRead {
			t.Errorf("with a byte to read the events are %b, want %b", got, loopapi.EventRead)
		}
	}

	s = t.sockets()
	t.must("filling a socket", fill(s.near))
	w = l.watch(s.near, loopapi.EventWrite, leave)
	w.silent(0, "nothing can be written")
	t.must("emptying a socket", drain(s.far))
	if got := w.await("there is room to write"); got != loopapi.EventWrite {
		t.Errorf("with room to write the events are %b, want %b", got, loopapi.EventWrite)
	}

	s = t.readyLink()
	w = l.watch(s.near, readWrite, func(w *watch) {
		if loopapi.IOEvents(w.union.Load()) == readWrite {
			leave(w)
		}
	})
	t.eventually(func() bool { return loopapi.IOEvents(w.union.Load()) == readWrite },
		"both events of a descriptor that is ready for reading and for writing")
	l.finish()
}

// ioModify changes the watched events of a descriptor, from the loop and from another goroutine.
func ioModify(t *trial) {
	l := t.start(Config{})
	modify := func(fd int, events loopapi.IOEvents) { t.want("ModifyFD", l.fds.ModifyFD(fd, events), nil) }
	for name, on := range l.callers() {
		s := t.readyLink()
		w := l.watch(s.near, 0, nil)
		w.silent(0, "it is watched for nothing, %s", name)
		for range 3 {
			l.rest()
			on(func() { modify(w.fd, loopapi.EventRead) })
			if got := w.await("ModifyFD to reading, %s", name); got != loopapi.EventRead {
				t.Errorf("after ModifyFD to reading %s the events are %b, want %b", name, got, loopapi.EventRead)
			}
			on(func() { modify(w.fd, loopapi.EventWrite) })
			w.forget()
			t.eventually(func() bool { return w.union.Load() != 0 }, "a call for writing after ModifyFD to writing, %s", name)
			l.awaitEvents()
			if got := loopapi.IOEvents(w.union.Load()); got != loopapi.EventWrite {
				t.Errorf("after ModifyFD to writing %s the events are %b, want %b", name, got, loopapi.EventWrite)
			}
			on(func() { modify(w.fd, 0) })
			w.forget()
			w.silent(w.calls.Load(), "ModifyFD to nothing, %s", name)
		}
		w.unregister()
	}

	// In its own callback, with the byte unread.
	s := t.readyLink()
	w := l.watch(s.near, loopapi.EventRead, func(w *watch) { modify(w.fd, 0) })
	w.await("there is a byte to read")
	w.silent(1, "its callback has modified it to nothing")
	l.finish()
}

// ioRefused registers descriptors that the system cannot watch.
func ioRefused(t *trial) {
	file, err := os.CreateTemp("", "looptest")
	t.must("os.CreateTemp", err)
	t.onCleanup(func() { file.Close(); os.Remove(file.Name()) })
	s := t.sockets()
	closed := 1 << 30 // never open; a closed number may be in use again soon, unless the check reserves it
	if canChooseNumbers {
		closed, err = t.fds.double(s.near)
		t.must("dup", err)
		t.must("close", t.fds.close(closed))
	}
	numbers := []struct {
		name string
		fd   int
		want error
	}{{"-1", -1, errBadDescriptor}, {"the smallest number", -1 << 31, errBadDescriptor},
		{"a closed number", closed, errBadDescriptor}, {"a regular file", int(file.Fd()), errNotPollable}}
	l := t.make(Config{})
	probe := func(where string) {
		for _, n := range numbers {
			err := l.fds.RegisterFD(n.fd, readWrite, func(loopapi.IOEvents) {
				if n.want == errBadDescriptor {
					t.Errorf("the callback of %s was called", n.name)
				}
			})
			if err == nil && n.want == errNotPollable && filesArePolled {
				t.want("UnregisterFD of "+n.name, l.fds.UnregisterFD(n.fd), nil)
				continue
			}
			t.want("RegisterFD of "+n.name+" "+where, err, n.want)
			t.want("UnregisterFD after a failed RegisterFD of "+n.name, l.fds.UnregisterFD(n.fd), loopapi.ErrFDNotRegistered)
		}
	}
	probe("before Run")
	l.launch(context.Background())
	l.sync()
	probe("from another goroutine")
	l.do(func() { probe("on the loop") })
	l.standsStill("registrations have failed")

	if !canChooseNumbers {
		l.finish()
		return
	}
	// RegisterFD has refused a number because no descriptor had it. Now a descriptor gets it, and the number is accepted.
	twin, err := t.fds.double(s.near)
	t.must("dup", err)
	t.must("using a descriptor number again", t.fds.move(twin, closed))
	w := l.watch(closed, loopapi.EventRead, readAll)
	s.send()
	w.await("a descriptor whose number could not be registered before it was open")
	w.unregister()
	l.finish()
}

// ioHangup closes the far end of descriptors that are watched for reading, for writing, and for no event.
func ioHangup(t *trial) {
	l := t.start(Config{})
	interests := []loopapi.IOEvents{loopapi.EventRead, loopapi.EventWrite, readWrite}
	if hangupIsImplicit {
		interests = append(interests, 0)
	}
	const broken = loopapi.EventHangup | loopapi.EventError
	for _, events := range interests {
		told := broken
		if events == loopapi.EventRead && !hangupIsImplicit {
			told |= loopapi.EventRead // the filter for reading reports the end of the stream
		}
		s := t.sockets()
		t.must("filling a socket", fill(s.near))
		w := l.watch(s.near, events, func(w *watch) {
			if loopapi.IOEvents(w.union.Load())&told != 0 {
				leave(w)
			}
		})
		if !bytesTravel { // where bytes travel there may be room again, however long fill has waited
			w.silent(0, "the socket is neither readable nor writable")
		}
		t.must("close", t.fds.close(s.far))
		t.eventually(func() bool { return loopapi.IOEvents(w.union.Load())&told != 0 },
			"one of the events %b of a socket whose peer is gone, watched for %b", told, events)
	}
	for _, events := range interests {
		if events&loopapi.EventRead != 0 {
			continue // the writing end of a pipe
		}
		p := t.pipe()
		t.must("filling a pipe", fill(p.far))
		w := l.watch(p.far, events, func(w *watch) {
			if loopapi.IOEvents(w.union.Load())&broken != 0 {
				if _, err := write(w.fd, []byte{0}); err == nil {
					t.Errorf("writing to a broken pipe succeeded")
				}
				leave(w)
			}
		})
		if !bytesTravel {
			w.silent(0, "the pipe is full")
		}
		t.must("close", t.fds.close(p.near))
		t.eventually(func() bool { return loopapi.IOEvents(w.union.Load())&broken != 0 },
			"EventHangup or EventError of the writing end of a broken pipe, watched for %b", events)
	}
	l.finish()
}

// ioMicrotasks lets many descriptors become ready at once. Their callbacks leave microtasks and tasks: no task may start
// while a microtask waits, and at most a batch of callbacks may run between two checkpoints.
func ioMicrotasks(t *trial) {
	const n, batch = 150, 64
	l := t.start(Config{})
	links := make([]link, n)
	for i := range links {
		links[i] = t.sockets()
	}
	for range 3 {
		var waiting, ran atomic.Int64
		var order journal[int]
		all := newLatch(2 * n)
		for _, s := range links {
			l.watch(s.near, loopapi.EventRead, func(w *watch) {
				readAll(w)
				leave(w)
				if waiting.Add(1) > batch {
					t.Errorf("%d callbacks of descriptors ran without a microtask checkpoint, want at most %d", waiting.Load(), batch)
				}
				i := int(ran.Add(1))
				l.microtask(func() { waiting.Add(-1); order.add(i); all.done() })
				t.want("Submit", l.Submit(func() {
					if left := waiting.Load(); left > 0 {
						t.Errorf("a task ran before %d microtasks that callbacks of descriptors had left", left)
					}
					all.done()
				}), nil)
			})
		}
		l.together(links)
		t.wait(all.ch, "the microtasks and tasks of %d callbacks of descriptors", n)
		wantOrder(t, "microtasks of callbacks of descriptors", order.all(), upTo(n + 1)[1:])
	}
	l.finish()
}

// ioTickTime reads the tick time in the callback of a descriptor that ended a sleep.
func ioTickTime(t *trial) {
	l := t.start(Config{})
	s := t.sockets()
	var before atomic.Pointer[time.Time] // the tick that the callback belongs to begins later
	w := l.watch(s.near, loopapi.EventRead, func(w *watch) {
		readAll(w)
		l.tickedSince(*before.Load(), "a descriptor")
	})
	for range 5 {
		time.Sleep(5 * time.Millisecond)
		now := time.Now()
		before.Store(&now)
		l.rest()
		s.send()
		w.await("a byte has come")
	}
	l.finish()
}

// exitDescriptor keeps an auto-exit loop alive with a registered descriptor.
func exitDescriptor(t *trial) {
	s := t.sockets()
	register := func(l *loop) { l.watch(s.near, loopapi.EventRead, nil) }
	l := t.autoExit(register)
	l.stays("a registered descriptor")
	t.want("UnregisterFD from another goroutine", l.fds.UnregisterFD(s.near), nil)
	l.exits("when its last descriptor was unregistered from another goroutine while it slept")

	l = t.autoExit(func(l *loop) { l.watch(s.near, loopapi.EventRead, leave) })
	l.stays("a registered descriptor")
	s.send()
	l.exits("when its last descriptor unregistered itself")

	l = t.autoExit(func(l *loop) {
		_, err := l.tryWatch(-1, loopapi.EventRead, nil)
		t.want("RegisterFD of a bad descriptor", err, errBadDescriptor)
	})
	l.exits("when a registration has failed")
}
