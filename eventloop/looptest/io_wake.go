package looptest

// Descriptors beside other work (IO): all work wakes a loop that waits in a system call, and all makes progress.

import (
	"runtime"
	"sync/atomic"
	"time"

	"github.com/turnloop/turnloop/internal/loopapi"
)

// ioLostWakeup repeats the exchanges of D03 with a descriptor registered that has no events: the loop may now sleep in
// a system call. Then events of the descriptor wake the loop.
func ioLostWakeup(t *trial) {
	l := t.start(Config{})
	s := t.sockets()
	w := l.watch(s.near, loopapi.EventRead, readAll)
	for _, k := range l.available() {
		if k.name != "timer" {
			l.pingPong(k, t.scale(1000))
		}
	}
	if l.timers != nil {
		l.earlierTimer(t.scale(160))
	}
	for i := range t.scale(1000) {
		s.send()
		w.await("byte %d has come", i)
		pause(i)
	}
	l.finish()
}

// ioForeignFirst schedules a microtask from another goroutine and then makes a descriptor ready: on a sleeping loop, on
// one that goes to sleep, and on a busy one. The microtask must run first.
func ioForeignFirst(t *trial) {
	l := t.start(Config{})
	s := t.sockets()
	var order []string // only the loop touches it until the round is over
	w := l.watch(s.near, loopapi.EventRead, func(w *watch) {
		order = append(order, "the descriptor")
		readAll(w)
	})
	l.everywhere(1000, func(where string) {
		order = nil
		t.must("ScheduleMicrotask", l.micro.ScheduleMicrotask(func() { order = append(order, "the microtask") }))
		s.send()
		w.await("a byte has come, %s", where)
		if l.sync(); order[0] != "the microtask" {
			t.Fatalf("a goroutine scheduled a microtask and then wrote to a descriptor, %s; %s came first", where, order[0])
		}
	})
	l.finish()
}

// mute stops the events of the descriptor until the next ModifyFD.
func mute(w *watch) { w.l.trial.want("ModifyFD to nothing", w.l.fds.ModifyFD(w.fd, 0), nil) }

// ioFromCallbacks registers, modifies and unregisters from every kind of callback.
func ioFromCallbacks(t *trial) {
	t.eachKind(func(l *loop, k kind) {
		s, other := t.readyLink(), t.readyLink()
		from := " from a callback of the kind " + k.name
		standing := l.watch(other.near, 0, mute)
		var made *watch
		l.doIn(k, func() {
			var err error
			made, err = l.tryWatch(s.near, 0, mute)
			t.want("RegisterFD"+from, err, nil)
			t.want("ModifyFD"+from, l.fds.ModifyFD(s.near, loopapi.EventRead), nil)
			t.want("ModifyFD"+from, l.fds.ModifyFD(other.near, loopapi.EventRead), nil)
			if made.calls.Load() > 0 {
				t.Errorf("the callback of a descriptor was called inside of RegisterFD or ModifyFD%s", from)
			}
		})
		made.await("it was registered%s", from)
		standing.await("ModifyFD was called%s", from)
		calls := made.calls.Load()
		l.doIn(k, func() {
			t.want("ModifyFD"+from, l.fds.ModifyFD(s.near, loopapi.EventRead), nil)
			t.want("UnregisterFD"+from, l.fds.UnregisterFD(s.near), nil)
			t.want("UnregisterFD"+from, l.fds.UnregisterFD(other.near), nil)
			calls = made.calls.Load()
		})
		made.silent(calls, "it was unregistered%s", from)
		l.finish()
	})
}

// ioUnderLock makes registration calls while it holds a lock that the running callback of a descriptor waits for.
func ioUnderLock(t *trial) {
	l := t.start(Config{})
	s, other := t.readyLink(), t.sockets()
	take, release := t.wanted()
	inside := make(chan struct{})
	w := l.watch(s.near, loopapi.EventRead, func(w *watch) {
		if w.calls.Load() == 1 {
			close(inside)
			take()
		}
	})
	t.wait(inside, "the callback of a descriptor")
	for _, c := range []struct {
		name string
		call func() error
	}{
		{"RegisterFD", func() (err error) { _, err = l.tryWatch(other.near, loopapi.EventRead, nil); return err }},
		{"ModifyFD", func() error { return l.fds.ModifyFD(other.near, readWrite) }},
		{"UnregisterFD", func() error { return l.fds.UnregisterFD(other.near) }},
		{"UnregisterFD of the descriptor whose callback runs", func() error { return l.fds.UnregisterFD(s.near) }},
	} {
		called := t.async(func() { t.want(c.name+" while a callback runs", c.call(), nil) })
		t.wait(called, "%s, called with a lock that the running callback of a descriptor waits for", c.name)
	}
	release()
	w.silent(1, "it was unregistered while its callback ran")
	l.finish()
}

// serveOften has all lanes and timers make progress beside something that goes on for ever.
func (l *loop) serveOften(rounds int, company string) {
	for i := range rounds {
		l.serve(company)
		if l.timers != nil && i%10 == 0 {
			done := make(chan struct{})
			l.timer(time.Millisecond, func() { close(done) })
			l.trial.wait(done, "a timer of a millisecond%s", company)
		}
	}
}

// ioAlwaysReady leaves descriptors ready for ever: all other work makes progress, and the loop can end.
func ioAlwaysReady(t *trial) {
	l := t.start(Config{})
	watches := make([]*watch, 3)
	for i := range watches {
		watches[i] = l.watch(t.readyLink().near, readWrite, nil)
	}
	l.serveOften(few(50), ", beside descriptors that are always ready")
	for _, w := range watches {
		before := w.calls.Load()
		t.eventually(func() bool { return w.calls.Load() > before },
			"the next call of a descriptor that is always ready, among others")
	}
	l.finish()
}

// ioPanics runs a callback that panics every time: of a descriptor that is always ready, then of a timer without delay.
// All other work makes progress.
func ioPanics(t *trial) {
	fault := func() { panic(errProbe) }
	for _, culprit := range []string{"descriptor", "timer"} {
		l := t.startHandled()
		stop := noop
		switch {
		case culprit == "descriptor":
			l.watch(t.readyLink().near, readWrite, func(*watch) { runtime.Gosched(); fault() })
		case l.timers != nil:
			stop = l.endless(lanes[timerLane], 1, fault)
		}
		for range 3 {
			l.serveOften(1, ", beside a "+culprit+" that always panics")
		}
		var ran atomic.Int64
		const tasks = 3 * handledBudget
		for range tasks {
			t.must("Submit", l.Submit(func() { ran.Add(1) }))
		}
		t.eventually(func() bool { return ran.Load() == tasks }, "%d tasks, beside a %s that always panics", tasks, culprit)
		other := l.watch(t.readyLink().near, readWrite, nil) // last: it would hide the effect of the culprit alone
		t.eventually(func() bool { return other.calls.Load() > 2 },
			"calls of a descriptor that is always ready, beside a %s that always panics", culprit)
		stop()
		l.finish()
	}
}

// ioIdle registers descriptors that have no watched events: the loop sleeps.
func ioIdle(t *trial) {
	l := t.start(Config{})
	for range 4 {
		l.watch(t.sockets().near, loopapi.EventRead, readAll) // writable only
		l.watch(t.readyLink().near, 0, nil)                   // readable, and not watched for reading
	}
	if l.timers != nil {
		l.timer(time.Hour, noop)
	}
	l.awaitEvents()
	l.standsStill("descriptors are registered, and none is ready")
	l.finish()
}

// ioSignals interrupts all threads about a thousand times per second while the loop waits for a timer: one that waits anew with the
// whole delay never gets there.
func ioSignals(t *trial) {
	l, stop := t.stormOfSignals()
	for range 3 {
		l.rest()
		const delay = 200 * time.Millisecond
		begin, fired := time.Now(), make(chan time.Duration, 1)
		l.timer(delay, func() { fired <- time.Since(begin) })
		if took := receive(t, fired, "a timer of %v under a storm of signals", delay); took < delay {
			t.Errorf("under a storm of signals a timer of %v fired after %v", delay, took)
		}
	}
	stop()
	l.finish()
}

// stormOfSignals makes a loop with a descriptor, and interrupts all threads of the process without end, until stop is called.
func (t *trial) stormOfSignals() (l *loop, stop func()) {
	if !canInterrupt {
		t.notApplicable("there are no signals on this system")
	}
	l = t.start(Config{})
	l.watch(t.sockets().near, loopapi.EventRead, readAll)
	var over atomic.Bool
	storm := t.async(func() {
		for !over.Load() {
			interrupt()
			time.Sleep(time.Millisecond)
		}
	})
	stop = func() { over.Store(true); <-storm }
	t.onCleanup(stop)
	return l, stop
}
