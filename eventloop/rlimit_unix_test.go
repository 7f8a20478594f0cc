//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package eventloop_test

// A process that has no descriptors left.

import (
	"context"
	"log/slog"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/turnloop/turnloop/eventloop"
)

// TestDescriptorLimit runs itself in a process of its own, with a limit that leaves only so many descriptors.
func TestDescriptorLimit(t *testing.T) {
	if !alone(t) {
		return
	}
	time.Sleep(time.Millisecond)                         // the runtime makes its own poller
	null, err := os.OpenFile(os.DevNull, os.O_RDONLY, 0) // what all descriptors are used up with
	require.NoError(t, err)
	const limit = 64
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: limit, Max: limit}))
	for _, p := range places {
		for left := range 6 {
			if testing.Short() && left%2 == 0 {
				continue
			}
			limited(t, p, left, int(null.Fd()))
		}
	}
}

// limited lives a life of a loop while left descriptors are left, and goes on when there are more.
func limited(t *testing.T, p place, left, null int) {
	var used []int
	use := func() {
		for fd := duplicate(null, 0); fd >= 0; fd = duplicate(null, 0) {
			used = append(used, fd)
		}
	}
	before := openDescriptors()
	near, far := newPair(t)
	ghost, ghostPeer := newPair(t)
	twin := duplicate(ghost, 0)
	use()
	closeAll(used[len(used)-left:]...)
	used = used[:len(used)-left]

	f, log := &fakePoller{parks: p.parks}, &journal{}
	options := []eventloop.Option{eventloop.WithPoller(f.open), eventloop.WithLogger(slog.New(log))}
	l, err := eventloop.New(append(options, eventloop.WithFastPathMode(p.mode))...)
	if err != nil {
		require.ErrorIs(t, err, unix.EMFILE)
		l, err = eventloop.New(options...)
		require.NoError(t, err, "without descriptors a loop needs none")
	}
	go l.Run(context.Background())
	var ran, got atomic.Int64
	sent, submitted := int64(0), int64(0)
	work := func() {
		require.NoError(t, l.Submit(func() { ran.Add(1) }))
		submitted++
		eventually(t, func() bool { return ran.Load() == submitted }, "a task was lost")
	}
	register := func() error {
		return l.RegisterFD(near, eventloop.EventRead, func(eventloop.IOEvents) { n, _ := receive(near); got.Add(int64(n)) })
	}
	exchange := func() {
		send(far, 1)
		sent++
		eventually(t, func() bool { return got.Load() == sent }, "an event was lost; log: %v", log)
	}
	work()
	setErr, err := l.SetFastPathMode(p.mode), register()
	registered := err == nil
	if !registered {
		require.ErrorIs(t, err, unix.EMFILE)
		require.Equal(t, p.mode == eventloop.FastPathDisabled, setErr != nil, "SetFastPathMode: %v", setErr)
	} else {
		require.NoError(t, setErr)
		exchange()
		require.NoError(t, l.RegisterFD(ghost, eventloop.EventRead, func(eventloop.IOEvents) { t.Error("a ghost was called") }))
		exchange()
		closeAll(ghost)
		if left < 5 {
			use() // none is left
		}
		require.NoError(t, l.UnregisterFD(ghost))
		send(ghostPeer, 1)
		if haveGhosts {
			eventually(t, func() bool { return f.calls[opReset].Load() > 0 }, "a ghost is seen")
			if left < 5 {
				eventually(t, func() bool { return log.count("cannot be forgotten", unix.EMFILE.Error()) > 0 }, "that it stays is said")
			}
		}
		exchange()
		work()
	}
	require.Empty(t, f.spins())
	require.LessOrEqual(t, log.count("cannot be forgotten"), 1, "what goes on is said once")

	closeAll(used...)
	if !registered {
		require.NoError(t, register())
		require.NoError(t, l.SetFastPathMode(p.mode))
	}
	exchange()
	work()
	quiet(t, f, "there are descriptors again")
	exchange()
	work()
	require.NoError(t, l.Shutdown(context.Background()))
	require.Empty(t, f.breaches)
	closeAll(twin, near, far, ghostPeer)
	if !registered {
		closeAll(ghost)
	}
	require.Equal(t, before, openDescriptors(), "descriptors leak")
}
