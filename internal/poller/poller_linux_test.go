package poller_test

// Tests of what only Linux has: signals, the eventfd, the timeout of epoll_wait.

import (
	"math"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/turnloop/turnloop/internal/poller"
)

// Signals end a Wait early and are no errors; the caller must wait for the rest of the time.
func TestInterruptions(t *testing.T) {
	p := open(t)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	thread := unix.Gettid()
	var over atomic.Bool
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for !over.Load() {
			_ = unix.Tgkill(unix.Getpid(), thread, unix.SIGURG)
			time.Sleep(100 * time.Microsecond)
		}
	}()
	const timeout, tries = 50 * time.Millisecond, 20
	waits := 0
	for try := 0; waits <= 1 && try < tries; try++ { // where the machine stands still no signal is sent in time
		waits = 0
		for deadline := time.Now().Add(timeout); time.Now().Before(deadline); waits++ {
			wait(t, p, time.Until(deadline))
		}
	}
	over.Store(true)
	<-ended
	require.Greater(t, waits, 1, "no signal has ended a Wait: this test has tested nothing")
}

// If the counter has no room for a wake-up, another one is pending already.
func TestWakeOfAFullEventfd(t *testing.T) {
	p := open(t)
	p.FillCounter(t)
	require.NoError(t, p.Wake())
	wait(t, p, forever)
	wait(t, p, 0)
}

// Wake returns the error of a wake-up that cannot be written: otherwise the owner would sleep for ever (bug 6 of
// docs/reliability.md).
func TestWakeThatFails(t *testing.T) {
	p := open(t)
	p.BreakWake(t)
	require.ErrorIs(t, p.Wake(), unix.EBADF)
}

func TestMilliseconds(t *testing.T) {
	const ms = time.Millisecond
	for d, want := range map[time.Duration]int{
		-1: -1, math.MinInt64: -1, 0: 0, 1: 1, ms - 1: 1, ms: 1, ms + 1: 2, time.Hour: 3_600_000,
		math.MaxInt32*ms - 1: math.MaxInt32, math.MaxInt32 * ms: math.MaxInt32, math.MaxInt32*ms + 1: math.MaxInt32,
		math.MaxInt64 - ms: math.MaxInt32, math.MaxInt64: math.MaxInt32,
	} {
		require.Equal(t, want, poller.Milliseconds(d), "%v", d)
	}
}

// One more look finds the events that come between a look that finds nothing and the unmuting of the runtime's poller.
func TestEventBehindALook(t *testing.T) {
	p := open(t)
	a, b := pair(t)
	require.NoError(t, p.Add(a, read, 1))
	noticed, stop := watch(t, p)
	defer stop()
	put(t, b)
	notice(t, noticed)
	for range 10 {
		require.Equal(t, tags{1: read}, ready(t, p))
	}
	take(t, a)
	require.True(t, p.LookInVain(t, func() { put(t, b) }), "nobody is told of what came, so it has to be looked for")
	require.Equal(t, tags{1: read}, ready(t, p))
	take(t, a)
	require.Empty(t, ready(t, p))
	require.False(t, p.LookInVain(t, func() { put(t, b) }), "now the watch tells")
	notice(t, noticed)
}
