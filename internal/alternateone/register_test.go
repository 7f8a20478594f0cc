//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package alternateone_test

// Registration under the one lock of the poller: from other goroutines at once, and from within callbacks.

import (
	"context"
	"errors"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/turnloop/turnloop/internal/alternateone"
	"github.com/turnloop/turnloop/internal/beat"
	"github.com/turnloop/turnloop/internal/loopapi"
)

// pair returns two connected sockets; the first one has a byte to read.
func pair(t *testing.T) (near, far int) {
	t.Helper()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	must(t, err)
	t.Cleanup(func() { _, _ = syscall.Close(fds[0]), syscall.Close(fds[1]) })
	_, err = syscall.Write(fds[1], []byte{1})
	must(t, err)
	return fds[0], fds[1]
}

// TestForeignRegistration registers, modifies and unregisters from another goroutine while the loop sleeps, with
// nothing that would wake it for an hour.
func TestForeignRegistration(t *testing.T) {
	l := newLoop(t, loopapi.Config{})
	_, err := l.ScheduleTimer(time.Hour, noop)
	must(t, err)
	result := start(t, l)
	fd, _ := pair(t)
	var calls atomic.Int64
	for range 200 {
		for _, step := range []func() error{
			func() error { return l.RegisterFD(fd, 0, func(loopapi.IOEvents) { calls.Add(1) }) },
			func() error { return l.ModifyFD(fd, 0) },
			func() error { return l.UnregisterFD(fd) },
		} {
			eventually(t, "the loop to sleep", asleep(l))
			done := make(chan error, 1)
			go func() { done <- step() }()
			must(t, beat.Receive(t, done, "a registration that is made while the loop sleeps"))
		}
	}
	if calls.Load() != 0 {
		t.Errorf("a descriptor that is watched for nothing was called %d times", calls.Load())
	}
	must(t, l.Shutdown(context.Background()), <-result)
}

// TestLetIn has a goroutine come to register while I/O callbacks follow each other without pause. It is in before the
// next callback starts: the loop does not win the lock against it.
func TestLetIn(t *testing.T) {
	var added atomic.Int64
	l := spied(t, &spy{add: func() { added.Add(1) }})
	entered, gate := make(chan struct{}), make(chan struct{})
	var expected, late atomic.Int64 // expected is how many registrations have come before the next callback
	callback := func(loopapi.IOEvents) {
		if !l.TableLocked() {
			t.Error("the poller's lock is free while an I/O callback runs")
		}
		if added.Load() < expected.Load() {
			late.Add(1)
		}
		entered <- struct{}{}
		<-gate
	}
	for range 3 { // always ready, so that there is a next callback in the same batch and in the next one
		fd, _ := pair(t)
		must(t, l.RegisterFD(fd, loopapi.EventRead, callback))
	}
	expected.Store(3)
	result := make(chan error, 1)
	go func() { result <- l.Run(context.Background()) }()
	for range 50 {
		wait(t, entered, "an I/O callback")
		fd, _ := pair(t)
		done := make(chan error, 1)
		go func() { done <- l.RegisterFD(fd, 0, func(loopapi.IOEvents) {}) }()
		eventually(t, "the other goroutine to come", func() bool { return l.Announced() > 0 })
		select {
		case <-done:
			t.Fatal("a registration got in while an I/O callback was running")
		default:
		}
		expected.Add(1)
		gate <- struct{}{}
		wait(t, entered, "the next I/O callback")
		must(t, beat.Receive(t, done, "a registration, behind the callback that was running"))
		gate <- struct{}{}
	}
	if late.Load() != 0 {
		t.Errorf("%d times a callback started before a registration that had come before it", late.Load())
	}
	must(t, l.Close())
	close(gate)
	go func() {
		for range entered {
		}
	}()
	beat.Receive(t, result, "the end")
}

// TestRegistrationInside registers from within an I/O callback and from the panic handler that is called behind it,
// while the loop itself holds the lock, and from all other kinds of callback, where it does not.
func TestRegistrationInside(t *testing.T) {
	var l *alternateone.Loop
	fd, _ := pair(t)
	probe, _ := pair(t)
	done := make(chan string, 10)
	inside := func(where string, held bool) {
		if held != l.TableLocked() {
			t.Errorf("in the %s the poller's lock is held: %v", where, !held)
		}
		must(t, l.RegisterFD(probe, loopapi.EventRead, func(loopapi.IOEvents) { t.Error("unregistered, but called") }),
			l.ModifyFD(probe, loopapi.EventRead|loopapi.EventWrite), l.UnregisterFD(probe))
		done <- where
	}
	l = newLoop(t, loopapi.Config{OnPanic: func(*loopapi.PanicError) { inside("panic handler", true) }})
	must(t,
		l.RegisterFD(fd, loopapi.EventRead, func(loopapi.IOEvents) {
			inside("I/O callback", true)
			must(t, l.UnregisterFD(fd), l.ScheduleMicrotask(func() { inside("microtask behind it", false) }))
			panic("to call the handler")
		}),
		l.Submit(func() { inside("task", false) }),
		l.SubmitInternal(func() { inside("internal task", false) }),
		l.ScheduleMicrotask(func() { inside("microtask", false) }))
	_, err := l.ScheduleTimer(0, func() { inside("timer", false) })
	must(t, err)
	result := make(chan error, 1)
	go func() { result <- l.Run(context.Background()) }()
	for range 7 {
		beat.Receive(t, done, "a registration inside a callback")
	}
	must(t, l.Shutdown(context.Background()), <-result)
}

// TestTableInvariants breaks entries of the table; whoever uses them next finds out.
func TestTableInvariants(t *testing.T) {
	for _, breach := range []string{"table: entry of other", "table: tag", "table: callback"} {
		for name, provoke := range map[string]func(l *alternateone.Loop, fd int){
			"modified":   func(l *alternateone.Loop, fd int) { _ = l.ModifyFD(fd, 0) },
			"called":     func(l *alternateone.Loop, _ int) { run(l) },
			"dropped":    func(l *alternateone.Loop, _ int) { end(l) },
			"unwatched":  func(l *alternateone.Loop, fd int) { _ = l.UnregisterFD(fd) },
			"registered": func(l *alternateone.Loop, fd int) { _ = l.RegisterFD(fd, 0, func(loopapi.IOEvents) {}) },
		} {
			t.Run(breach+", "+name, func(t *testing.T) {
				l := newLoop(t, loopapi.Config{})
				fd, _ := pair(t)
				must(t, l.RegisterFD(fd, loopapi.EventRead, func(loopapi.IOEvents) { _ = l.Close() }))
				alternateone.Breaks[breach](l)
				if e := violation(t, func() { provoke(l, fd) }); e.Context["descriptor"] == nil {
					t.Errorf("the violation does not tell the descriptor: %v", e)
				}
				if l.TableLocked() {
					t.Error("the poller's lock is still held")
				}
			})
		}
	}
}

// TestRebuilt has a set built anew, which then still watches what is registered.
func TestRebuilt(t *testing.T) {
	var resets atomic.Int64
	l := spied(t, &spy{unknown: true, reset: func() error { resets.Add(1); return nil }})
	fd, far := pair(t)
	_, err := syscall.Read(fd, make([]byte, 1))
	must(t, err)
	called := make(chan struct{})
	must(t, l.RegisterFD(fd, loopapi.EventRead, func(loopapi.IOEvents) { close(called); must(t, l.UnregisterFD(fd)) }))
	result := start(t, l)
	eventually(t, "the loop to sleep", asleep(l))
	do(t, l, noop)
	eventually(t, "the set to be built anew", func() bool { return resets.Load() > 0 })
	_, err = syscall.Write(far, []byte{1})
	must(t, err)
	wait(t, called, "a descriptor that is registered in a set that was built anew")
	must(t, l.Shutdown(context.Background()), <-result)
}

func TestRegistrationErrors(t *testing.T) {
	l := newLoop(t, loopapi.Config{})
	fd, _ := pair(t)
	callback := func(loopapi.IOEvents) {}
	must(t, l.RegisterFD(fd, loopapi.EventRead, callback))
	for _, row := range []struct {
		err, cause error
		op         string
	}{
		{l.RegisterFD(fd, 0, nil), loopapi.ErrNilCallback, "RegisterFD"},
		{l.RegisterFD(fd, 0, callback), loopapi.ErrFDAlreadyRegistered, "RegisterFD"},
		{l.RegisterFD(-1, 0, callback), syscall.EBADF, "RegisterFD"},
		{l.ModifyFD(fd, 1<<20), nil, "ModifyFD"},
		{l.ModifyFD(fd+1, 0), loopapi.ErrFDNotRegistered, "ModifyFD"},
		{l.UnregisterFD(fd + 1), loopapi.ErrFDNotRegistered, "UnregisterFD"},
	} {
		var e *alternateone.LoopError
		if !errors.As(row.err, &e) || e.Op != row.op || e.Context["descriptor"] == nil ||
			row.cause != nil && !errors.Is(e, row.cause) {
			t.Errorf("got %+v, want %s to fail with %v", row.err, row.op, row.cause)
		}
	}
}
