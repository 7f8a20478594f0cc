//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package alternatetwo_test

// Tests of the table of descriptors.

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/turnloop/turnloop/internal/alternatetwo"
	"github.com/turnloop/turnloop/internal/loopapi"
)

// sockets returns the ends of a connected pair.
func sockets(t *testing.T) (near, far int) {
	t.Helper()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range pair {
		if err := unix.SetNonblock(fd, true); err != nil {
			t.Fatal(err)
		}
	}
	return pair[0], pair[1]
}

func noEvents(loopapi.IOEvents) {}

// TestTableEnd: the table has an end, and beyond it there is an error.
func TestTableEnd(t *testing.T) {
	l, stop := start(t)
	defer stop()
	for _, fd := range []int{alternatetwo.TableSize, alternatetwo.TableSize + 1, 1 << 30} {
		if err := l.RegisterFD(fd, loopapi.EventRead, noEvents); !errors.Is(err, syscall.EMFILE) {
			t.Errorf("RegisterFD(%d): %v", fd, err)
		}
		if err := l.UnregisterFD(fd); !errors.Is(err, loopapi.ErrFDNotRegistered) {
			t.Errorf("UnregisterFD(%d): %v", fd, err)
		}
	}
	for _, fd := range []int{-1, -1 << 31, alternatetwo.TableSize - 1} { // of which none is open
		if err := l.RegisterFD(fd, loopapi.EventRead, noEvents); !errors.Is(err, syscall.EBADF) {
			t.Errorf("RegisterFD(%d): %v", fd, err)
		}
		if err := l.ModifyFD(fd, loopapi.EventRead); !errors.Is(err, loopapi.ErrFDNotRegistered) {
			t.Errorf("ModifyFD(%d): %v", fd, err)
		}
	}
}

// unstarted makes a loop whose batches the test collects and dispatches by hand.
func unstarted(t *testing.T) *alternatetwo.Loop {
	t.Helper()
	l, err := alternatetwo.New(loopapi.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// ready makes the other end readable.
func ready(t *testing.T, far int) {
	t.Helper()
	if _, err := unix.Write(far, []byte{1}); err != nil {
		t.Fatal(err)
	}
}

// TestVersion: between the wait and the dispatch of a batch a descriptor is closed, its number used again and
// registered. The new registration gets no event of the old one, and its own all the same.
func TestVersion(t *testing.T) {
	l := unstarted(t)
	near, far := sockets(t)
	var old, fresh int
	register := func(calls *int) {
		t.Helper()
		if err := l.RegisterFD(near, loopapi.EventRead, func(loopapi.IOEvents) { *calls++ }); err != nil {
			t.Fatal(err)
		}
	}
	register(&old)
	ready(t, far)
	if n := l.Poll(); n != 1 {
		t.Fatalf("a batch of %d events, want 1", n)
	}
	if err := l.UnregisterFD(near); err != nil {
		t.Fatal(err)
	}
	unix.Close(near)
	unix.Close(far)
	again, far := sockets(t)
	if again != near {
		t.Fatalf("the number %d was not used again, but %d", near, again)
	}
	register(&fresh)
	l.Dispatch()
	if old != 0 || fresh != 0 {
		t.Fatalf("the old callback was called %d times, the new one %d times, for an event of the old one", old, fresh)
	}
	ready(t, far)
	l.Poll()
	l.Dispatch()
	if old != 0 || fresh != 1 {
		t.Fatalf("the old callback was called %d times, the new one %d times, want once for its own event", old, fresh)
	}
	if err := l.ModifyFD(near, loopapi.EventWrite); err != nil {
		t.Fatal(err)
	}
	l.Poll()
	if err := l.ModifyFD(near, 0); err != nil {
		t.Fatal(err)
	}
	if l.Dispatch(); fresh != 1 {
		t.Fatal("called for what it is not watched for any more")
	}
	unix.Close(near)
	unix.Close(far)
}

// TestGhost: a descriptor that was closed while a duplicate of it is open is reported again and again. The second
// time the loop begins a new set, in which everything else is still watched.
func TestGhost(t *testing.T) {
	l := unstarted(t)
	var near, far, calls [3]int
	for i := range near {
		near[i], far[i] = sockets(t)
		if err := l.RegisterFD(near[i], loopapi.EventRead, func(loopapi.IOEvents) { calls[i]++ }); err != nil {
			t.Fatal(err)
		}
		defer unix.Close(far[i])
	}
	twin, err := unix.Dup(near[0])
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(twin)
	unix.Close(near[0])
	if err := l.UnregisterFD(near[0]); err != nil {
		t.Fatal(err)
	}
	ready(t, far[0])
	batches := 0
	for ; l.Poll() != 0; batches++ {
		if batches == 10 {
			t.Fatal("the ghost is reported again and again")
		}
		l.Dispatch()
	}
	if runtime.GOOS == "linux" && batches != 2 {
		t.Errorf("the ghost was reported in %d batches, want 2", batches)
	}
	ready(t, far[1])
	ready(t, far[2])
	l.Poll()
	l.Dispatch()
	if calls != [3]int{0, 1, 1} {
		t.Errorf("calls of the ghost and two others: %v", calls)
	}
	for _, fd := range near[1:] {
		if err := l.UnregisterFD(fd); err != nil {
			t.Error(err)
		}
		unix.Close(fd)
	}
}

// faultyLog is a logger that panics once.
type faultyLog struct {
	slog.Handler
	done *atomic.Bool
}

func (h faultyLog) Enabled(context.Context, slog.Level) bool { return true }

func (h faultyLog) Handle(context.Context, slog.Record) error {
	if h.done.Swap(true) {
		return nil
	}
	panic("logger")
}

// TestLoggerPanicsInSleep: a wait that fails is logged, and a logger that panics there does not leave the loop running
// in the state of sleep, in which it could not sleep again.
func TestLoggerPanicsInSleep(t *testing.T) {
	var logged atomic.Bool
	defer slog.SetDefault(slog.Default())
	slog.SetDefault(slog.New(faultyLog{slog.DiscardHandler, &logged}))
	reported := make(chan struct{})
	l, err := alternatetwo.New(loopapi.Config{OnPanic: func(*loopapi.PanicError) { close(reported) }})
	if err != nil {
		t.Fatal(err)
	}
	l.BreakPoller()
	ended := make(chan error)
	go func() { ended <- l.Run(context.Background()) }()
	<-reported
	state := make(chan loopapi.State)
	if err := l.Submit(func() { state <- l.State() }); err != nil {
		t.Fatal(err)
	}
	if s := <-state; s != loopapi.StateRunning {
		t.Errorf("a callback runs in state %d", s)
	}
	if err := l.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestRegisterRaces: goroutines that fight over one descriptor leave its entry and the poller's set in agreement.
func TestRegisterRaces(t *testing.T) {
	l, stop := start(t)
	defer stop()
	near, far := sockets(t)
	defer unix.Close(near)
	defer unix.Close(far)
	if _, err := unix.Write(far, []byte{1}); err != nil {
		t.Fatal(err)
	}
	var registered, unregistered atomic.Int64
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 300 {
				switch err := l.RegisterFD(near, loopapi.EventRead, noEvents); err {
				case nil:
					registered.Add(1)
				case loopapi.ErrFDAlreadyRegistered:
				default:
					t.Errorf("RegisterFD: %v", err)
				}
				err := l.ModifyFD(near, loopapi.EventRead|loopapi.EventWrite)
				if err != nil && err != loopapi.ErrFDNotRegistered {
					t.Errorf("ModifyFD: %v", err)
				}
				switch err := l.UnregisterFD(near); err {
				case nil:
					unregistered.Add(1)
				case loopapi.ErrFDNotRegistered:
				default:
					t.Errorf("UnregisterFD: %v", err)
				}
			}
		})
	}
	group.Wait()
	if registered.Load() != unregistered.Load() {
		t.Errorf("%d registrations took place, and %d ended", registered.Load(), unregistered.Load())
	}
	called := make(chan struct{}, 1)
	if err := l.RegisterFD(near, loopapi.EventRead, func(loopapi.IOEvents) {
		select {
		case called <- struct{}{}:
		default:
		}
	}); err != nil {
		t.Fatal(err)
	}
	<-called
	if err := l.UnregisterFD(near); err != nil {
		t.Fatal(err)
	}
}

// TestAllocsDispatch: dispatching readiness does not allocate.
func TestAllocsDispatch(t *testing.T) {
	l, stop := start(t)
	defer stop()
	near, far := sockets(t)
	defer unix.Close(near)
	defer unix.Close(far)
	token := make(chan struct{}, 1)
	left := 0
	if err := l.RegisterFD(near, loopapi.EventWrite, func(loopapi.IOEvents) { // always ready
		if left--; left == 0 {
			token <- struct{}{}
		}
	}); err != nil {
		t.Fatal(err)
	}
	begin := func() { left = batch }
	allocFree(t, func() { _ = l.Submit(begin); <-token })
	if err := l.UnregisterFD(near); err != nil {
		t.Fatal(err)
	}
}
