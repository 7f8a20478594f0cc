package looptest

// Removed descriptors (IO): unregistered, closed, and numbers that are used again, also within one batch of events.

import "github.com/turnloop/turnloop/internal/loopapi"

// ioUnregisterForeign unregisters from another goroutine and makes the descriptor ready after the call has returned.
func ioUnregisterForeign(t *trial) {
	l := t.start(Config{})
	s := t.sockets()
	t.rounds(t.scale(160), func(i int) {
		w := l.watch(s.near, loopapi.EventRead, func(*watch) {
			t.Errorf("the callback of a descriptor was called that was made ready after UnregisterFD had returned")
		})
		switch i % 3 {
		case 0:
			l.rest()
		case 1:
			pause(i)
		}
		w.unregister()
		s.send()
		if i%8 == 0 {
			l.awaitEvents()
		}
		s.empty()
	})
	// While events come all the time, a callback that has begun may still end after UnregisterFD.
	for range few(20) {
		s := t.readyLink()
		w := l.watch(s.near, loopapi.EventRead, nil)
		w.await("there is a byte to read")
		w.unregister()
		l.sync()
		w.silent(w.calls.Load(), "it was unregistered from another goroutine, with a byte unread")
		t.must("close", t.fds.close(s.near))
	}
	l.finish()
}

// ioCloseFirst closes descriptors before they are unregistered. The result of the first UnregisterFD is the loop's
// choice, but the registration must be gone after it.
func ioCloseFirst(t *trial) {
	l := t.start(Config{})
	for name, on := range l.callers() {
		for _, ready := range []bool{false, true} {
			s := t.sockets()
			stale := l.watch(s.near, loopapi.EventRead, nil)
			l.rest()
			on(func() {
				if ready {
					s.send()
				}
				t.want("close", t.fds.close(s.near), nil)
				_ = l.fds.ModifyFD(s.near, readWrite)
				_ = l.fds.UnregisterFD(s.near)
				err := l.fds.UnregisterFD(s.near)
				t.want("the second UnregisterFD of a closed descriptor "+name, err, loopapi.ErrFDNotRegistered)
			})
			l.awaitEvents() // a callback may have been running
			calls := stale.calls.Load()
			fresh := t.sockets()
			fresh.take(s.near)
			w := l.watch(fresh.near, loopapi.EventRead, readAll)
			w.silent(0, "its predecessor of the same number was ready")
			fresh.send()
			w.await("it is ready under a number that was closed before it was unregistered, %s", name)
			stale.silent(calls, "it is closed and unregistered")
			w.unregister()
			t.must("close", t.fds.close(fresh.near))
		}
	}
	// In its own callback.
	s := t.readyLink()
	w := l.watch(s.near, loopapi.EventRead, func(w *watch) {
		t.want("close", t.fds.close(w.fd), nil)
		_ = l.fds.UnregisterFD(w.fd)
		t.want("the second UnregisterFD of a closed descriptor", l.fds.UnregisterFD(w.fd), loopapi.ErrFDNotRegistered)
	})
	w.await("there is a byte to read")
	w.silent(1, "it has closed and unregistered itself")
	l.standsStill("descriptors were closed before they were unregistered")
	l.finish()
}

// ioDup closes and unregisters a descriptor while a duplicate of it stays open. The system may go on to report the
// closed one, and no call can name it any more.
func ioDup(t *trial) {
	t.choosesNumbers()
	l := t.start(Config{})
	s := t.sockets()
	stale := l.watch(s.near, loopapi.EventRead, nil)
	_, err := t.fds.double(s.near)
	t.must("dup", err)
	t.must("close", t.fds.close(s.near))
	_ = l.fds.UnregisterFD(s.near)
	s.send() // ready under the number of its twin only
	l.sync()
	l.standsStill("a descriptor was closed and unregistered, and a duplicate of it is ready")
	stale.silent(0, "it is unregistered")

	fresh := t.sockets()
	fresh.take(s.near)
	w := l.watch(fresh.near, loopapi.EventRead, readAll)
	w.silent(0, "only a duplicate of its predecessor is ready")
	fresh.send()
	w.await("it is ready under a number of which a duplicate lives on")
	w.unregister()
	t.must("close", t.fds.close(fresh.near))

	// The duplicate moves to the closed number.
	s = t.sockets()
	stale = l.watch(s.near, loopapi.EventRead, nil)
	twin, err := t.fds.double(s.near)
	t.must("dup", err)
	t.must("close", t.fds.close(s.near))
	_ = l.fds.UnregisterFD(s.near)
	t.must("using a descriptor number again", t.fds.move(twin, s.near))
	w = l.watch(s.near, loopapi.EventRead, readAll)
	s.send()
	w.await("it got its number back from a duplicate")
	stale.silent(0, "it is unregistered")
	w.unregister()
	l.standsStill("a descriptor with a duplicate was unregistered")
	l.finish()
}

// retentionIO checks callbacks whose descriptors were unregistered, from the loop and from another goroutine.
func retentionIO(t *trial) {
	l := t.start(Config{})
	links := make([]link, 50)
	var f freight
	called := newLatch(len(links))
	for i := range links {
		links[i] = t.readyLink()
		fn := f.load(called.done)
		near := links[i].near
		t.must("RegisterFD", l.fds.RegisterFD(near, loopapi.EventRead, func(loopapi.IOEvents) {
			fn()
			t.want("ModifyFD", l.fds.ModifyFD(near, 0), nil)
		}))
	}
	t.wait(called.ch, "%d ready descriptors", len(links))
	for i, s := range links {
		unregister := func() { t.want("UnregisterFD", l.fds.UnregisterFD(s.near), nil) }
		if i%2 == 0 {
			unregister()
		} else {
			l.do(unregister)
		}
	}
	l.awaitEvents()
	l.rest()
	t.collected("callbacks of unregistered descriptors on a living loop", f)
	l.finish()
}
