//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package alternateone_test

// Registration under the one lock of the poller.

import (
	"context"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/turnloop/turnloop/internal/alternateone"
	"github.com/turnloop/turnloop/internal/beat"
	"github.com/turnloop/turnloop/internal/loopapi"
)

// readable returns a socket that has a byte to read.
func readable(t *testing.T) int {
	t.Helper()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	must(t, err)
	t.Cleanup(func() { _, _ = syscall.Close(fds[0]), syscall.Close(fds[1]) })
	_, err = syscall.Write(fds[1], []byte{1})
	must(t, err)
	return fds[0]
}

func ignore(loopapi.IOEvents) {}

// TestLetIn has a goroutine come to register while I/O callbacks follow each other without pause. It is in before the
// next callback starts: the loop does not win the lock against it.
func TestLetIn(t *testing.T) {
	var added atomic.Int64
	l := spyOn(t, newLoop(t, loopapi.Config{}), &spy{before: func(method string) error {
		if method == "Add" {
			added.Add(1)
		}
		return nil
	}})
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
		must(t, l.RegisterFD(readable(t), loopapi.EventRead, callback))
	}
	expected.Store(3)
	result := make(chan error, 1)
	go func() { result <- l.Run(context.Background()) }()
	for range 50 {
		beat.Receive(t, entered, "an I/O callback")
		fd := readable(t)
		done := make(chan error, 1)
		go func() { done <- l.RegisterFD(fd, 0, ignore) }()
		beat.Eventually(t, func() bool { return l.Announced() > 0 }, "the other goroutine to come")
		select {
		case <-done:
			t.Fatal("a registration got in while an I/O callback was running")
		default:
		}
		expected.Add(1)
		gate <- struct{}{}
		beat.Receive(t, entered, "the next I/O callback")
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

// TestTableInvariants breaks entries of the table; whoever uses them next finds out.
func TestTableInvariants(t *testing.T) {
	for breach, how := range alternateone.TableBreaks {
		for name, find := range map[string]func(l *alternateone.Loop, fd int){
			"modified":   func(l *alternateone.Loop, fd int) { _ = l.ModifyFD(fd, 0) },
			"called":     func(l *alternateone.Loop, _ int) { alternateone.RunHere(l) },
			"dropped":    func(l *alternateone.Loop, _ int) { alternateone.EndHere(l) },
			"unwatched":  func(l *alternateone.Loop, fd int) { _ = l.UnregisterFD(fd) },
			"registered": func(l *alternateone.Loop, fd int) { _ = l.RegisterFD(fd, 0, ignore) },
		} {
			t.Run(breach+", "+name, func(t *testing.T) {
				l := newLoop(t, loopapi.Config{})
				fd := readable(t)
				must(t, l.RegisterFD(fd, loopapi.EventRead, func(loopapi.IOEvents) { _ = l.Close() }))
				l.BreakTable(how)
				if e := violation(t, func() { find(l, fd) }); e.Context["descriptor"] == nil {
					t.Errorf("the violation does not tell the descriptor: %v", e)
				}
				if l.TableLocked() {
					t.Error("the poller's lock is still held")
				}
			})
		}
	}
}
