package eventloop_test

// Descriptors whose numbers are used again: no event and no wake-up reaches the wrong owner.

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
)

// However many ghosts there are, they are laid, if not at first: more than the poller reports at once come in turn.
func TestManyGhosts(t *testing.T) {
	if !haveGhosts {
		t.Skip("no descriptor is reported that was closed")
	}
	amounts := []int{1, 300, 600, 2000}
	if testing.Short() {
		amounts = amounts[:2]
	}
	for _, n := range amounts {
		for _, s := range seats[2:5] {
			f := &fakePoller{parks: s.parks, broken: opReset, err: errors.New("no Reset"), every: 1, most: 20}
			l := run(t, f, eventloop.WithFastPathMode(s.mode))
			exchange := echo(t, l) // or else there would be nothing to watch
			near, far := -1, -1
			ghosts := make([]int, n)
			inside, busy := make(chan struct{}), make(chan struct{})
			require.NoError(t, l.Submit(func() { close(inside); <-busy })) // until they are ghosts
			<-inside
			for i := range ghosts {
				if i%50 == 0 { // the system bounds how often one thing may be watched
					near, far = newPair(t)
					send(far, 1)
				}
				ghosts[i] = duplicate(near, aside)
				require.NoError(t, l.RegisterFD(ghosts[i], eventloop.EventRead, func(eventloop.IOEvents) { t.Error("a ghost was called") }))
			}
			closeAll(ghosts...)
			for _, fd := range ghosts {
				require.NoError(t, l.UnregisterFD(fd))
			}
			close(busy)
			eventually(t, func() bool { return f.calls[opReset].Load() > f.most }, "%s: %d ghosts are not laid", s.name, n)
			require.LessOrEqual(t, f.calls[opReset].Load(), f.asks(), "a Reset that fails is not tried again within a batch")
			quiet(t, f, "ghosts")
			exchange()
		}
	}
}

// A wake-up is under way to the poller when the loop, up for another reason, ends and its numbers are used again: the
// new owners do not get it.
func TestLateWakeMissesNewOwners(t *testing.T) {
	near, far := newPair(t)
	f := &fakePoller{}
	var armed atomic.Bool
	late, begun := make(chan struct{}), make(chan struct{})
	f.waking = func() {
		if armed.Swap(false) {
			close(begun)
			<-late
		}
	}
	l := run(t, f, eventloop.WithFastPathMode(eventloop.FastPathDisabled))
	require.NoError(t, l.RegisterFD(near, eventloop.EventRead, func(eventloop.IOEvents) { l.Close() }))
	require.NoError(t, l.Submit(func() { armed.Store(true) }))
	eventually(t, func() bool { return armed.Load() && asleep(l)() }, "the loop sleeps")
	var waker sync.WaitGroup
	waker.Go(func() { _ = l.Submit(func() {}) })
	<-begun
	send(far, 1)
	<-l.Done()
	var fresh []int
	for range 8 {
		pair, err := openPair()
		require.NoError(t, err)
		fresh = append(fresh, pair[:]...)
	}
	close(late)
	waker.Wait()
	for _, fd := range fresh {
		n, _ := receive(fd)
		require.Zero(t, n, "bytes came that nobody sent")
	}
	closeAll(fresh...)
}
