//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package poller_test

// Tests of watched descriptors and of parking.

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/turnloop/turnloop/internal/poller"
)

// A watch that was stopped is silent, and another may follow. Neither leaves anything behind.
func TestWatchStops(t *testing.T) {
	p := open(t)
	a, b := pair(t)
	require.NoError(t, p.Add(a, read, 1))
	var before map[int]bool
	for i := range 200 {
		if i == 1 { // what the first needed is kept for the next
			before = descriptors()
		}
		var stopped atomic.Bool
		stop, err := p.Watch(func(err error) {
			if stopped.Load() || err != nil {
				t.Errorf("notified, with error %v, after the watch was stopped: %v", err, stopped.Load())
			}
		})
		require.NoError(t, err)
		if i%2 == 0 {
			put(t, b)
			require.Equal(t, tags{1: read}, ready(t, p))
			take(t, a)
			require.Empty(t, ready(t, p))
		}
		stop()
		stopped.Store(true)
	}
	put(t, b)
	require.Equal(t, before, descriptors())
}

// Park is a Wait: it takes events that were there before it and that come during it, and wake-ups of both kinds. Watches in
// between change nothing.
func TestPark(t *testing.T) {
	rounds := 10_000
	if testing.Short() || runtime.GOMAXPROCS(0) == 1 {
		rounds = 1000
	}
	p := open(t)
	parker, ok := any(p).(poller.Parker)
	if !ok {
		t.Skip("the runtime's poller cannot watch this system's")
	}
	a, b := pair(t)
	require.NoError(t, p.Add(a, read, 1))
	watchdog := time.AfterFunc(time.Minute, func() { panic("parked for ever") })
	defer watchdog.Stop()
	var wakers sync.WaitGroup
	for i := range rounds {
		watchdog.Reset(time.Minute)
		switch i % 4 {
		case 0:
			put(t, b)
		case 1:
			wakers.Go(func() { _, _ = unix.Write(b, []byte{1}) })
		case 2:
			require.NoError(t, p.Wake())
		case 3:
			wakers.Go(func() { _ = p.Wake() })
		}
		for events := []poller.Event(nil); ; {
			var err error
			events, err = parker.Park()
			require.NoError(t, err)
			if i%4 > 1 {
				require.Empty(t, events)
				break
			}
			if len(events) > 0 { // and not a wake-up that was late
				require.Equal(t, []poller.Event{{FD: a, Tag: 1, Events: read}}, events)
				take(t, a)
				break
			}
		}
		wakers.Wait()
		if i%100 == 0 {
			noticed, stop := watch(t, p)
			put(t, b)
			for len(ready(t, p)) == 0 {
				notice(t, noticed)
			}
			take(t, a)
			stop()
		}
	}
	require.NoError(t, p.Reset())
	require.NoError(t, p.Wake())
	_, err := parker.Park()
	require.NoError(t, err)
}

// A watch without events uses no processor time.
func TestWatchRests(t *testing.T) {
	p := open(t)
	a, _ := pair(t)
	require.NoError(t, p.Add(a, read, 1))
	var notices atomic.Int32
	stop, err := p.Watch(func(error) { notices.Add(1) })
	require.NoError(t, err)
	defer stop()
	time.Sleep(20 * time.Millisecond) // nothing is to happen in this time
	require.LessOrEqual(t, notices.Load(), int32(1), "one notice at the beginning")
	require.Empty(t, ready(t, p))
	time.Sleep(20 * time.Millisecond)
	require.LessOrEqual(t, notices.Load(), int32(2))
}
