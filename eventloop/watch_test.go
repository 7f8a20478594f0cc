package eventloop_test

// Tests of where a loop with descriptors parks, and of its watch.

import (
	"context"
	"errors"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/internal/beat"
)

// scale chooses how often something is done: TURNLOOP_SOAK=1 asks for all of it. A short run does everything, but little of
// it: "make soak" runs the short suite ten thousand times, and so repeats it ten thousand times.
func scale(short, ordinary, soak int) int {
	switch {
	case os.Getenv("TURNLOOP_SOAK") != "":
		return soak
	case testing.Short():
		return short
	}
	return ordinary
}

func TestFastPathModes(t *testing.T) {
	const forced, auto, disabled = eventloop.FastPathForced, eventloop.FastPathAuto, eventloop.FastPathDisabled
	before := openDescriptors()
	f := &fakePoller{}
	never := made(t, eventloop.WithFastPathMode(disabled), eventloop.WithPoller(f.open))
	require.NoError(t, never.Close())
	require.True(t, f.closed, "a loop that is not going to run releases its poller")
	require.LessOrEqual(t, openDescriptors(), before)

	f = &fakePoller{parks: true}
	l := run(t, f)
	require.Error(t, l.SetFastPathMode(3))
	require.NoError(t, l.SetFastPathMode(forced))
	require.NoError(t, l.Submit(func() {}))
	require.NoError(t, l.SetFastPathMode(auto))
	eventually(t, asleep(l), "the loop sleeps")
	require.Zero(t, f.calls[opNew].Load(), "without descriptors the poller is not touched")

	require.NoError(t, l.Shutdown(context.Background()))
	for _, mode := range []eventloop.FastPathMode{auto, forced, disabled} {
		require.ErrorIs(t, l.SetFastPathMode(mode), eventloop.ErrLoopTerminated)
	}
}

// A change of mode wakes the loop, which sleeps elsewhere from then on.
func TestModeChangeWakes(t *testing.T) {
	f := &fakePoller{parks: true}
	l := run(t, f)
	echo(t, l)
	for range 20 {
		blocked, watched := f.blocking.Load(), f.calls[opWatch].Load()
		eventually(t, asleep(l), "the loop sleeps")
		require.NoError(t, l.SetFastPathMode(eventloop.FastPathDisabled))
		eventually(t, func() bool { return f.blocking.Load() > blocked }, "a change to Disabled wakes the loop")
		eventually(t, asleep(l), "the loop sleeps")
		require.NoError(t, l.SetFastPathMode(eventloop.FastPathAuto))
		eventually(t, func() bool { return f.calls[opWatch].Load() > watched }, "a change to Auto wakes the loop")
	}
}

// Forced and descriptors exclude each other: of two racing calls exactly one fails.
func TestForcedExcludesDescriptors(t *testing.T) {
	near, _ := newPair(t)
	l := made(t)
	defer l.Close()
	for i := range scale(200, 5000, 50_000) {
		if i == 500 {
			go l.Run(context.Background())
		}
		var forced, registered error
		var both sync.WaitGroup
		both.Go(func() { forced = l.SetFastPathMode(eventloop.FastPathForced) })
		both.Go(func() { registered = l.RegisterFD(near, eventloop.EventRead, func(eventloop.IOEvents) {}) })
		both.Wait()
		require.True(t, (forced == nil) != (registered == nil), "round %d: %v, %v", i, forced, registered)
		require.ErrorIs(t, errors.Join(forced, registered), eventloop.ErrFastPathIncompatible)
		if registered == nil {
			require.ErrorIs(t, l.SetFastPathMode(eventloop.FastPathForced), eventloop.ErrFastPathIncompatible)
			require.NoError(t, l.UnregisterFD(near))
		} else {
			require.ErrorIs(t, l.RegisterFD(near, 0, func(eventloop.IOEvents) {}), eventloop.ErrFastPathIncompatible)
			require.NoError(t, l.SetFastPathMode(eventloop.FastPathAuto))
		}
	}
}

// A loop goes where its sleeps are ended from: events lead it to Park, submissions back to its channel.
func TestPlaceOfSleep(t *testing.T) {
	f := &fakePoller{parks: true}
	l := run(t, f)
	exchange := echo(t, l)
	if f.parker == nil {
		t.Skip("the system's poller cannot park")
	}
	at := func(end func()) {
		eventually(t, asleep(l), "the loop sleeps")
		end()
	}
	submit := func() {
		ran := make(chan struct{})
		require.NoError(t, l.Submit(func() { close(ran) }))
		<-ran
	}
	for range 4 * eventloop.MoveAfter {
		at(exchange)
		at(submit)
	}
	require.Zero(t, f.calls[opPark].Load(), "events and submissions in turn move nothing")
	for range 3 {
		watched := f.calls[opWatch].Load()
		for range 2 * eventloop.MoveAfter {
			at(exchange)
		}
		parked := f.calls[opPark].Load()
		require.NotZero(t, parked, "events lead to Park")
		for range 2 * eventloop.MoveAfter {
			at(exchange)
		}
		require.GreaterOrEqual(t, f.calls[opPark].Load(), parked+2*eventloop.MoveAfter-1, "and it stays there")
		require.Equal(t, watched, f.calls[opWatch].Load())
		for range 2 * eventloop.MoveAfter {
			at(submit)
		}
		require.Equal(t, watched+1, f.calls[opWatch].Load(), "submissions lead back to the channel")
		parked = f.calls[opPark].Load()
		for range 2 * eventloop.MoveAfter {
			at(submit)
		}
		require.Equal(t, parked, f.calls[opPark].Load(), "and it stays there")
	}
	require.Zero(t, f.blocking.Load(), "the loop never blocks a thread")
}

// seat is a loop that sleeps in a given place.
type seat struct {
	name     string
	mode     eventloop.FastPathMode
	parks    bool
	silent   bool // a descriptor is registered
	exchange bool // events keep it there
	cost     int  // of a wake-up, about, compared with the cheapest
}

var seats = []seat{
	{name: "Auto", cost: 1},
	{name: "Auto, a silent descriptor", parks: true, silent: true, cost: 1},
	{name: "Auto, parked", parks: true, silent: true, exchange: true, cost: 5},
	{name: "Auto, without Park", silent: true, exchange: true, cost: 5},
	{name: "Disabled", mode: eventloop.FastPathDisabled, cost: 10},
	{name: "Disabled, a silent descriptor", mode: eventloop.FastPathDisabled, silent: true, cost: 10},
}

// take has a loop sleep there, and returns what keeps it there.
func (s seat) take(t *testing.T, opts ...eventloop.Option) (*eventloop.Loop, *fakePoller, func()) {
	f := &fakePoller{parks: s.parks}
	l := run(t, f, append(opts, eventloop.WithFastPathMode(s.mode))...)
	stay := func() {}
	if s.silent {
		exchange := echo(t, l)
		if s.exchange {
			stay = exchange
		}
	}
	for range 4 * eventloop.MoveAfter {
		eventually(t, asleep(l), "the loop sleeps")
		stay()
	}
	return l, f, stay
}

// TestWakes wakes the loop again and again, a million times with TURNLOOP_SOAK=1, and looks for a wake-up that does not come.
func TestWakes(t *testing.T) {
	for _, s := range seats {
		t.Run(s.name, func(t *testing.T) {
			l, _, stay := s.take(t)
			woken := make(chan struct{}, 1)
			fn := func() { woken <- struct{}{} }
			submits := []func(func()) error{l.Submit, l.SubmitInternal, l.ScheduleMicrotask}
			for i := range scale(1000, 100_000, 1_000_000*s.cost) / s.cost {
				stay()
				rest(l)
				require.NoError(t, submits[i%3](fn))
				beat.Receive(t, woken, "a wake-up")
			}
		})
	}
}

// A loop with descriptors that nothing comes from does not ask.
func TestIdleLoopDoesNotAsk(t *testing.T) {
	for _, s := range seats {
		l, f, _ := s.take(t)
		_, err := l.ScheduleTimer(time.Hour, func() {})
		require.NoError(t, err)
		quiet(t, f, s.name)
		if !s.silent && s.mode == eventloop.FastPathAuto {
			require.Zero(t, f.calls[opNew].Load(), s.name)
		}
	}
}

// Waits that end early, as by signals, neither stretch a deadline nor shorten it.
func TestEarlyEndsOfWaits(t *testing.T) {
	const busy, cut = 10 * time.Millisecond, 3 * time.Millisecond
	for _, s := range seats {
		var mu sync.Mutex
		var timeouts []time.Duration
		f := &fakePoller{parks: s.parks}
		f.early = func(timeout time.Duration) (time.Duration, bool) {
			mu.Lock()
			defer mu.Unlock()
			timeouts = append(timeouts, timeout)
			return cut, timeout > cut || timeout < 0 && len(timeouts)%2 == 0
		}
		l := run(t, f, eventloop.WithFastPathMode(s.mode))
		if s.silent {
			exchange := echo(t, l)
			for range 4 * eventloop.MoveAfter {
				exchange()
			}
		}
		ends := 0
		var asked []time.Duration
		for delay := 40 * time.Millisecond; ends == 0 && delay < time.Minute; delay *= 2 { // when the machine stands still nothing is left to wait for
			mu.Lock()
			timeouts = nil
			mu.Unlock()
			fired := make(chan time.Duration, 1)
			require.NoError(t, l.Submit(func() {
				began := time.Now()
				_, err := l.ScheduleTimer(delay, func() { fired <- time.Since(began) })
				require.NoError(t, err)
				time.Sleep(busy) // counts as well
			}))
			require.GreaterOrEqual(t, <-fired, delay, s.name)
			mu.Lock()
			asked = slices.Clone(timeouts)
			mu.Unlock()
			last := delay - busy + 1
			for _, timeout := range asked {
				if timeout >= 0 {
					require.Less(t, timeout, last, "%s: a wait that ended early was begun anew: %v", s.name, asked)
					last = timeout
					ends++
				}
			}
			if s.mode != eventloop.FastPathDisabled {
				break
			}
		}
		require.Equal(t, s.mode == eventloop.FastPathDisabled, ends > 0, "%s: %v", s.name, asked)
	}
}

// A busy loop hears of events although its watch has no turn to tell it, as on one processor whose goroutines wake each
// other without end.
func TestBusyLoopAsksForEvents(t *testing.T) {
	f := &fakePoller{}
	l := run(t, f)
	near, far := newPair(t)
	var heard atomic.Bool
	require.NoError(t, l.RegisterFD(near, eventloop.EventRead, func(eventloop.IOEvents) { heard.Store(true); _ = l.UnregisterFD(near) }))
	eventually(t, asleep(l), "the loop sleeps")
	f.mute.Store(true)
	require.True(t, send(far, 1))
	require.True(t, reaches(func() bool {
		require.NoError(t, onLoop(t, l, func() error { return nil }))
		return heard.Load()
	}))
}
