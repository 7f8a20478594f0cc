package eventloop_test

// Descriptors whose numbers are used again: no event and no wake-up reaches the wrong owner.

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
)

// Numbers are registered, made ready, closed, and used again at once, from the callback of a descriptor that is ready
// in the same batch: no event is a predecessor's.
func TestReusedNumbersGetNoEventOfPredecessors(t *testing.T) {
	const numbers = 4
	for _, s := range seats[2:5] {
		f := &fakePoller{parks: s.parks}
		l := run(t, f, eventloop.WithFastPathMode(s.mode))
		driver, _ := newPair(t)
		done := make(chan struct{})
		cycles, calls := scale(100, 10_000, 100_000), 0

		// Only the loop touches these. A generation's far end sends the generation's byte, or nothing.
		type generation struct {
			number, far, twin int
			ready             bool
		}
		var current [numbers]*generation
		leave := func(g *generation, closeFirst bool) {
			if closeFirst {
				closeAll(g.number)
			}
			if err := l.UnregisterFD(g.number); err != nil {
				t.Errorf("UnregisterFD: %v", err)
			}
			if !closeFirst {
				closeAll(g.number)
			}
			closeAll(g.far)
			if g.twin >= 0 {
				closeAll(g.twin)
			}
		}
		enter := func(i, cycle int) {
			pair, err := openPair()
			g := &generation{number: duplicate(pair[0], aside+i), far: pair[1], twin: -1, ready: cycle%3 != 0}
			closeAll(pair[0])
			if err != nil || g.number != aside+i {
				t.Errorf("the number %d is not free: %v", aside+i, err)
			}
			if g.ready {
				send(g.far, byte(cycle))
			}
			current[i] = g
			err = l.RegisterFD(g.number, eventloop.EventRead, func(events eventloop.IOEvents) {
				calls++
				n, b := receive(g.number)
				if current[i] != g || !g.ready || n != 1 || b != byte(cycle) || events != eventloop.EventRead {
					t.Errorf("cycle %d: called for %b, with %d bytes (%d), current: %v, ready: %v", cycle, events, n, b, current[i] == g, g.ready)
				}
				g.ready = false
			})
			if err != nil {
				t.Errorf("RegisterFD: %v", err)
			}
		}
		cycle, turn := 0, 0
		require.NoError(t, l.RegisterFD(driver, eventloop.EventWrite, func(eventloop.IOEvents) {
			if turn++; turn%4 >= 2 {
				return // the others' turns
			}
			for i := range current {
				if g := current[i]; g != nil {
					if cycle%16 == 0 {
						g.twin = duplicate(g.number, aside+numbers) // a ghost until it is closed
					}
					leave(g, cycle%2 == 0)
					current[i] = nil
				}
				if cycle++; cycle <= cycles {
					enter(i, cycle)
				}
			}
			if cycle > cycles+numbers && l.UnregisterFD(driver) == nil {
				close(done)
			}
		}))
		<-done
		require.NoError(t, l.Shutdown(context.Background()))
		require.Greater(t, calls, cycles/100, "%s: successors get their own events", s.name)
	}
}

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
