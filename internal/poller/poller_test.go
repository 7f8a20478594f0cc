package poller_test

// Tests of the poller's contract on every system.

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/internal/beat"
	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/poller"
)

const forever = time.Duration(-1)

func open(t *testing.T) *poller.Poller {
	p, err := poller.New()
	require.NoError(t, err)
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// wait is a Wait that must find nothing ready.
func wait(t *testing.T, p *poller.Poller, timeout time.Duration) {
	t.Helper()
	events, err := p.Wait(timeout)
	require.NoError(t, err)
	require.Empty(t, events)
}

// watch starts a watch that leaves a token in the channel for each notice, unless one is there already.
func watch(t *testing.T, p *poller.Poller) (noticed chan struct{}, stop func()) {
	noticed = make(chan struct{}, 1)
	stop, err := p.Watch(func(err error) {
		if err != nil {
			t.Error(err)
		}
		select {
		case noticed <- struct{}{}:
		default:
		}
	})
	require.NoError(t, err)
	return noticed, stop
}

// notice waits for a notice of the watch.
func notice(t *testing.T, noticed chan struct{}) {
	t.Helper()
	beat.Receive(t, noticed, "a notice of the watch that a descriptor is ready")
}

// Wake-ups before and during a Wait end it. It uses up all that came before its end: the next Wait is not disturbed.
func TestWake(t *testing.T) {
	p := open(t)
	for range 3 {
		require.NoError(t, p.Wake())
	}
	wait(t, p, forever)
	wait(t, p, 0)

	for range 200 {
		go p.Wake()
		wait(t, p, forever)
	}

	const span = 20 * time.Millisecond
	waits := 0
	for began := time.Now(); time.Since(began) < span; waits++ {
		wait(t, p, span-time.Since(began))
	}
	require.Less(t, waits, 20, "Waits that a wake-up of the past, or a signal, ended")
}

// Each wake-up is answered before the next is given, on two pollers in turn: none may be lost. A signal may end a Wait too.
func TestWakePingPong(t *testing.T) {
	rounds := int32(10_000)
	if testing.Short() || runtime.GOMAXPROCS(0) == 1 { // on one processor each waits for the other to be found blocked
		rounds = 1000
	}
	a, b := open(t), open(t)
	var pings, pongs atomic.Int32
	ended := make(chan error, 1)
	go func() {
		for n := range rounds {
			for pings.Load() <= n {
				if _, err := b.Wait(forever); err != nil {
					ended <- err
					return
				}
			}
			pongs.Add(1)
			if err := a.Wake(); err != nil {
				ended <- err
				return
			}
		}
		ended <- nil
	}()
	done := make(chan struct{})
	defer close(done)
	go func() {
		for last := int32(-1); pings.Load() != last; {
			last = pings.Load()
			over, stop := beat.After(beat.Beats)
			select {
			case <-over:
			case <-done:
				stop()
				return
			}
		}
		panic("a wake-up was lost")
	}()
	for n := range rounds {
		pings.Add(1)
		require.NoError(t, b.Wake())
		for pongs.Load() <= n {
			wait(t, a, forever)
		}
	}
	require.NoError(t, <-ended)
}

func TestTimeout(t *testing.T) {
	p := open(t)
	for _, timeout := range []time.Duration{0, 1, 10 * time.Microsecond, time.Millisecond, 2500 * time.Microsecond, 5 * time.Millisecond} {
		var early time.Duration
		for range 5 { // an interruption may end a Wait early, but not all of them
			began := time.Now()
			wait(t, p, timeout)
			if early = timeout - time.Since(began); early <= 0 {
				break
			}
		}
		require.LessOrEqual(t, early, time.Duration(0), "a Wait of %v is over too early", timeout)
	}
	for _, timeout := range []time.Duration{1<<63 - 1, 1 << 31 * time.Millisecond, 24 * 400 * time.Hour} {
		time.AfterFunc(time.Millisecond, func() { p.Wake() })
		began := time.Now()
		wait(t, p, timeout)
		require.Positive(t, time.Since(began))
	}
}

func TestClosed(t *testing.T) {
	p := open(t)
	require.NoError(t, p.Close())
	for name, call := range map[string]func() error{
		"Wake":   p.Wake,
		"Add":    func() error { return p.Add(0, loopapi.EventRead, 1) },
		"Modify": func() error { return p.Modify(0, loopapi.EventRead, loopapi.EventWrite, 1) },
		"Remove": func() error { return p.Remove(0, loopapi.EventRead) },
		"Reset":  p.Reset,
		"Close":  p.Close,
	} {
		require.ErrorIs(t, call(), loopapi.ErrPollerClosed, name)
	}
}

// Many goroutines wake and register while the owner waits and closes.
func TestCloseUnderFire(t *testing.T) {
	rounds := 100
	if testing.Short() {
		rounds = 4
	}
	for range rounds {
		p := open(t)
		var others sync.WaitGroup
		for range 4 {
			others.Go(func() {
				for p.Wake() == nil {
					_ = p.Remove(1<<20, loopapi.EventRead)
					runtime.Gosched() // or else who waits and closes gets no processor until a time slice is over
				}
			})
		}
		for range 20 {
			wait(t, p, forever)
		}
		require.NoError(t, p.Close())
		others.Wait()
	}
}
