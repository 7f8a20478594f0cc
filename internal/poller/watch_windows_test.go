package poller_test

// Tests of watched handles on Windows.

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/internal/beat"
)

// A stopped watch is silent, and another one may follow. The events that it has taken, and a wake-up, are not lost.
func TestWatchStops(t *testing.T) {
	p := open(t)
	a, b := pair(t)
	require.NoError(t, p.Add(a, read, 1))
	before := runtime.NumGoroutine()
	for i := range 50 {
		var stopped atomic.Bool
		notices := make(chan struct{}, 1000)
		stop, err := p.Watch(func(err error) {
			if stopped.Load() || err != nil {
				t.Errorf("notified, with error %v, after the watch was stopped: %v", err, stopped.Load())
			}
			notices <- struct{}{}
		})
		require.NoError(t, err)
		notice(t, notices)
		require.Empty(t, ready(t, p))
		switch i % 3 {
		case 1:
			put(t, b)
			notice(t, notices)
		case 2:
			require.NoError(t, p.Wake())
		}
		stop()
		stopped.Store(true)
		switch i % 3 {
		case 1:
			require.Equal(t, tags{1: read}, ready(t, p))
			take(t, a)
		case 2:
			wait(t, p, forever)
		}
		require.Empty(t, ready(t, p))
	}
	beat.Eventually(t, func() bool { return runtime.NumGoroutine() <= before }, "the end of the watches' goroutines")
}

// An event that the watch has taken from the port is not returned if its registration has ended or changed since.
func TestWatchedButChanged(t *testing.T) {
	p := open(t)
	noticed, stop := watch(t, p)
	defer stop()
	notice(t, noticed)
	for name, change := range map[string]func(a int) error{
		"removed": func(a int) error { return p.Remove(a, read) },
		"muted":   func(a int) error { return p.Modify(a, read, 0, 1) },
	} {
		a, b := pair(t)
		require.NoError(t, p.Add(a, read, 1))
		require.Empty(t, ready(t, p))
		put(t, b)
		notice(t, noticed)
		require.NoError(t, change(a))
		require.Empty(t, ready(t, p), name)
	}
	a, b := pair(t)
	require.NoError(t, p.Add(a, read, 1))
	require.Empty(t, ready(t, p))
	put(t, b)
	notice(t, noticed)
	require.NoError(t, p.Modify(a, read, read|write, 2))
	for got := ready(t, p); len(got) == 0; got = ready(t, p) {
		notice(t, noticed)
	}
	becomes(t, p, tags{2: read | write}, "it is what it has become")
}

// A watch without new events uses no processor time, neither in an idle poller nor beside a ready socket.
func TestWatchRests(t *testing.T) {
	p := open(t)
	a, b := pair(t)
	require.NoError(t, p.Add(a, read, 1))
	var notices atomic.Int32
	stop, err := p.Watch(func(error) { notices.Add(1) })
	require.NoError(t, err)
	defer stop()
	require.Empty(t, ready(t, p))
	time.Sleep(20 * time.Millisecond) // nothing is to happen in this time
	require.LessOrEqual(t, notices.Load(), int32(1), "one notice at the beginning")
	put(t, b)
	time.Sleep(20 * time.Millisecond)
	require.LessOrEqual(t, notices.Load(), int32(2))
	becomes(t, p, tags{1: read}, "the byte")
	time.Sleep(20 * time.Millisecond)
	require.LessOrEqual(t, notices.Load(), int32(2), "the next Wait finds out by itself")
}
