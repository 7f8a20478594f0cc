package eventloop_test

// Tests of pauses, and of what the loops know of the processors.

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
)

// pausing is a loop that nobody runs, on processors that are calm until the test is over.
func pausing(t *testing.T) *eventloop.Loop {
	l, err := eventloop.New()
	require.NoError(t, err)
	t.Cleanup(func() {
		eventloop.ForgetCalm()
		require.NoError(t, l.Close())
	})
	return l
}

// pause pauses on processors that are calm, whatever the last pause has shown.
func pause(l *eventloop.Loop) (paused, brought bool) {
	eventloop.SetCalm(true)
	return l.Pause()
}

// Pauses that bring something go on, up to the bound of a tick.
func TestPausesOfATick(t *testing.T) {
	l := pausing(t)
	require.NoError(t, l.Submit(func() {})) // which is what each pause finds
	for range 3 {
		l.BeginPauses()
		for range eventloop.MostPauses {
			paused, brought := pause(l)
			require.True(t, paused)
			require.True(t, brought)
		}
		paused, brought := pause(l)
		require.False(t, paused)
		require.False(t, brought)
	}
}

// Pauses that bring nothing become rare; one that brings something makes up for all of them.
func TestVainPauses(t *testing.T) {
	l := pausing(t)
	chances := func() (n int) { // until the loop pauses
		for n = 1; ; n++ {
			l.BeginPauses()
			if paused, brought := pause(l); paused {
				require.False(t, brought)
				return n
			}
			require.LessOrEqual(t, n, 100, "there is no more pause at all")
		}
	}
	last := 0
	for range 20 {
		n := chances()
		require.GreaterOrEqual(t, n, last)
		last = n
	}
	require.Greater(t, last, 30)
	for paused, brought := false, false; !paused; {
		l.BeginPauses()
		require.NoError(t, l.SetFastPathMode(eventloop.FastPathAuto)) // which is news
		paused, brought = pause(l)
		require.Equal(t, paused, brought)
	}
	require.Equal(t, 1, chances())
	require.Equal(t, 1, chances())
}

// There is no pause when a timer is near, nor while it is not known that the processors are calm.
func TestNoPause(t *testing.T) {
	l := pausing(t)
	l.BeginPauses()
	paused := true
	for eventloop.SetCalm(false); paused; eventloop.SetCalm(false) {
		if paused, _ = l.Pause(); eventloop.Calm() {
			continue // somebody has answered who had asked before
		}
		require.False(t, paused)
	}
	paused, _ = pause(l)
	require.True(t, paused)
	_, err := l.ScheduleTimer(time.Millisecond/2, func() {})
	require.NoError(t, err)
	l.BeginPauses()
	paused, _ = pause(l)
	require.False(t, paused)
}

// What pauses may take is a share of the time: the garbage collector's take it now and then, those beside goroutines that
// compute exceed it at once.
func TestLongPauses(t *testing.T) {
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		rest, took time.Duration
		least      int // ticks until the loop doubts
		most       int
	}{
		"short":            {0, ms / 20, 1000, 1000},
		"now and then":     {30 * ms, ms, 1000, 1000},
		"one slice":        {30 * ms, 10 * ms, 1, 1},
		"several":          {ms, ms, 2, 4},
		"a bit each time":  {0, ms / 5, 8, 12},
		"more than now":    {5 * ms, ms, 3, 6},
		"rarely but a lot": {time.Second, 3 * ms, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			undisturbed(t, func() error {
				l := pausing(t)
				ticks := 0
				for eventloop.SetCalm(true); eventloop.Calm() && ticks < 1000; ticks++ {
					l.PauseTakes(c.rest, c.took)
				}
				if ticks < c.least || ticks > c.most {
					return fmt.Errorf("the loop doubts after %d ticks", ticks)
				}
				return nil
			})
		})
	}
}

// undisturbed makes a check a few times, until it is passed: somebody who has asked whether the processors are calm, in
// another test, may answer at any moment.
func undisturbed(t *testing.T, check func() error) {
	var err error
	for range 10 {
		if err = check(); err == nil {
			return
		}
	}
	t.Error(err)
}

// A loop that waits for the other processor looks several times, and sleeps only then.
func TestPausesOfAMoment(t *testing.T) {
	idle := func(work bool) (n int) {
		l := pausing(t)
		if l.BeginPauses(); work {
			require.NoError(t, l.Submit(func() {}))
		}
		eventloop.SetCalm(true)
		return l.Idle()
	}
	most := 0
	for range 20 { // the processor may be taken away for long
		most = max(most, idle(false))
	}
	require.Equal(t, 4, most)
	require.Equal(t, 1, idle(true))
}

// What is known of the processors counts for as long as somebody goes on to find it so.
func TestCalmIsConfirmed(t *testing.T) {
	undisturbed(t, func() error {
		l := pausing(t)
		eventloop.SetCalm(false)
		if l.PauseTakes(0, time.Microsecond); eventloop.Calm() {
			return errors.New("nobody has asked, and they are calm")
		}
		eventloop.SetCalmFor(l, 4*time.Millisecond)
		for n := range 100 {
			if l.PauseTakes(time.Millisecond, time.Microsecond); !eventloop.CalmAt(l) {
				return fmt.Errorf("after %d quick ticks they are not calm", n)
			}
		}
		if l.PauseTakes(20*time.Millisecond, time.Millisecond); eventloop.CalmAt(l) {
			return errors.New("a long pause confirms something")
		}
		return nil
	})
}

// A loop whose ticks have come without a long time between them, for longer than others that compute run, was kept waiting
// by nobody: it need not ask.
func TestSteadyLoopIsCalm(t *testing.T) {
	for name, c := range map[string]struct {
		every, gap time.Duration // between ticks, and once in the middle
		most       int           // 300 ticks
		calm       bool
	}{
		"steady":    {90 * time.Microsecond, 0, 4, true},
		"too short": {90 * time.Microsecond, 0, 2, false},
		"seldom":    {110 * time.Microsecond, 0, 4, false},
		"a gap":     {90 * time.Microsecond, time.Millisecond, 4, false},
	} {
		t.Run(name, func(t *testing.T) {
			undisturbed(t, func() error {
				l := pausing(t)
				eventloop.SetCalm(false)
				for n := range 300 * c.most {
					if l.PauseTakes(c.every, 0); n == 150*c.most {
						l.PauseTakes(c.gap, 0)
					}
				}
				if paused, _ := l.Pause(); paused != c.calm {
					return fmt.Errorf("paused: %v", paused)
				}
				if eventloop.CalmAt(l) != c.calm {
					return errors.New("other loops know better")
				}
				return nil
			})
		})
	}
}
