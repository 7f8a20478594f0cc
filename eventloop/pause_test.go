package eventloop_test

// Tests of pauses, and of what the loops know of the processors.

import (
	"errors"
	"fmt"
	"slices"
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
	undisturbed(t, func() error {
		l := pausing(t)
		require.NoError(t, l.Submit(func() {})) // which is what each pause finds
		for range 3 {
			l.BeginPauses()
			for n := range eventloop.MostPauses + 1 {
				want := n < eventloop.MostPauses
				if paused, brought := pause(l); paused != want || brought != want {
					return fmt.Errorf("pause %d: %v, brought something: %v", n, paused, brought)
				}
			}
		}
		return nil
	})
}

// Pauses that bring nothing become rare; one that brings something makes up for all of them.
func TestVainPauses(t *testing.T) {
	undisturbed(t, func() error {
		l := pausing(t)
		chances := func() (n int) { // until the loop pauses
			for n = 1; n <= 100; n++ {
				l.BeginPauses()
				if paused, brought := pause(l); paused {
					require.False(t, brought)
					break
				}
			}
			return n
		}
		var all [20]int
		for i := range all {
			all[i] = chances()
		}
		if last := all[len(all)-1]; !slices.IsSorted(all[:]) || last <= 30 || last > 100 {
			return fmt.Errorf("idle moments until each pause: %d", all)
		}
		for paused, brought := false, false; !paused; {
			l.BeginPauses()
			require.NoError(t, l.SetFastPathMode(eventloop.FastPathAuto)) // which is news
			paused, brought = pause(l)
			require.Equal(t, paused, brought)
		}
		if first, second := chances(), chances(); first != 1 || second != 1 {
			return fmt.Errorf("%d, and then %d idle moments until a pause behind one that brought something", first, second)
		}
		return nil
	})
}

// There is no pause when a timer is near, nor while it is not known that the processors are calm.
func TestNoPause(t *testing.T) {
	l := pausing(t)
	undisturbed(t, func() error {
		l.BeginPauses()
		eventloop.SetCalm(false)
		if paused, _ := l.Pause(); paused {
			return errors.New("a pause without calm")
		}
		if paused, _ := pause(l); !paused {
			return errors.New("no pause")
		}
		id, err := l.ScheduleTimer(time.Millisecond/2, func() {})
		require.NoError(t, err)
		l.BeginPauses()
		if paused, _ := pause(l); paused {
			err = errors.New("a pause before a timer")
		}
		return errors.Join(err, l.CancelTimer(id))
	})
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
	undisturbed(t, func() error {
		if n, busy := idle(false), idle(true); n != 4 || busy != 1 {
			return fmt.Errorf("%d looks, and %d where there is work", n, busy)
		}
		return nil
	})
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
