//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package alternatetwo_test

// Tests of the table of descriptors.

import (
	"errors"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/turnloop/turnloop/internal/alternatetwo"
	"github.com/turnloop/turnloop/internal/beat"
	"github.com/turnloop/turnloop/internal/loopapi"
)

// readable returns a socket that has a byte to read.
func readable(t *testing.T) int {
	t.Helper()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	must(t, err)
	t.Cleanup(func() { _, _ = unix.Close(pair[0]), unix.Close(pair[1]) })
	_, err = unix.Write(pair[1], []byte{1})
	must(t, err)
	return pair[0]
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

// TestRegisterRaces: goroutines that fight over one descriptor leave its entry and the poller's set in agreement.
func TestRegisterRaces(t *testing.T) {
	l, stop := start(t)
	defer stop()
	fd := readable(t)
	var balance atomic.Int64 // registrations that took place and have not ended
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 300 {
				for _, step := range []struct {
					err, refused error
					counts       int64
				}{
					{l.RegisterFD(fd, loopapi.EventRead, noEvents), loopapi.ErrFDAlreadyRegistered, 1},
					{l.ModifyFD(fd, loopapi.EventRead|loopapi.EventWrite), loopapi.ErrFDNotRegistered, 0},
					{l.UnregisterFD(fd), loopapi.ErrFDNotRegistered, -1},
				} {
					if step.err == nil {
						balance.Add(step.counts)
					} else if step.err != step.refused {
						t.Error(step.err)
					}
				}
			}
		})
	}
	group.Wait()
	if balance.Load() != 0 {
		t.Errorf("%d more registrations took place than ended", balance.Load())
	}
	called := make(chan struct{})
	var once sync.Once
	must(t, l.RegisterFD(fd, loopapi.EventRead, func(loopapi.IOEvents) { once.Do(func() { close(called) }) }))
	beat.Receive(t, called, "the callback")
	must(t, l.UnregisterFD(fd))
}
