package park_test

// Tests of pauses, and of what the loops know of the processors.

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/internal/park"
)

// pause pauses on processors that are calm, whatever the last pause has shown.
func pause(b *bed) (paused, brought bool) {
	setCalm(never)
	return pauseIfCalm(b)
}

func pauseIfCalm(b *bed) (paused, brought bool) {
	before := b.Paused()
	brought = b.Pause()
	return b.Paused() != before, brought
}

// Pauses that bring something go on, up to the bound of a tick.
func TestPausesOfATick(t *testing.T) {
	undisturbed(t, func() error {
		b := made(t)
		b.news = true
		for range 3 {
			b.Begin(b.Now())
			for n := range park.MostPauses + 1 {
				want := n < park.MostPauses
				if paused, brought := pause(b); paused != want || brought != want {
					return fmt.Errorf("pause %d: %v, brought something: %v", n, paused, brought)
				}
			}
			if b.Idle() {
				return errors.New("it may sleep, with all pauses used and before a tick has new ones")
			}
		}
		return nil
	})
}

// Pauses that bring nothing become rare; one that brings something makes up for all of them.
func TestVainPauses(t *testing.T) {
	undisturbed(t, func() error {
		b := made(t)
		chances := func() (n int) { // until the loop pauses
			for n = 1; n <= 100; n++ {
				b.Begin(b.Now())
				if paused, brought := pause(b); paused {
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
			b.Begin(b.Now())
			b.news = true
			paused, brought = pause(b)
			require.Equal(t, paused, brought)
		}
		b.news = false
		if first, second := chances(), chances(); first != 1 || second != 1 {
			return fmt.Errorf("%d, and then %d idle moments until a pause behind one that brought something", first, second)
		}
		return nil
	})
}

// There is no pause when a timer is near, nor while it is not known that the processors are calm.
func TestNoPause(t *testing.T) {
	b := made(t)
	undisturbed(t, func() error {
		b.Begin(b.Now())
		setCalm(0)
		if paused, _ := pauseIfCalm(b); paused {
			return errors.New("a pause without calm")
		}
		if paused, _ := pause(b); !paused {
			return errors.New("no pause")
		}
		b.earliest.Store(b.Now() + int64(time.Millisecond/2))
		defer b.earliest.Store(never)
		b.Begin(b.Now())
		if paused, _ := pause(b); paused {
			return errors.New("a pause before a timer")
		}
		return nil
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
				b := made(t)
				ticks := 0
				for setCalm(never); park.Calm.Until.Load() != 0 && ticks < 1000; ticks++ {
					b.PauseTakes(c.rest, c.took)
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
		b := made(t)
		if work {
			b.news = true
		}
		setCalm(never)
		if !b.Pause() {
			b.Idle()
		}
		return b.Paused()
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
		b := made(t)
		setCalm(0)
		if b.PauseTakes(0, time.Microsecond); park.Calm.Until.Load() != 0 {
			return errors.New("nobody has asked, and they are calm")
		}
		setCalm(b.Clock() + int64(4*time.Millisecond))
		for n := range 100 {
			if b.PauseTakes(time.Millisecond, time.Microsecond); !park.Calm.Is(b.Clock()) {
				return fmt.Errorf("after %d quick ticks they are not calm", n)
			}
		}
		if b.PauseTakes(20*time.Millisecond, time.Millisecond); park.Calm.Is(b.Clock()) {
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
				b := made(t)
				setCalm(0)
				for n := range 300 * c.most {
					if b.PauseTakes(c.every, 0); n == 150*c.most {
						b.PauseTakes(c.gap, 0)
					}
				}
				if paused, _ := pauseIfCalm(b); paused != c.calm {
					return fmt.Errorf("paused: %v", paused)
				}
				if park.Calm.Is(b.Clock()) != c.calm {
					return errors.New("other loops know better")
				}
				return nil
			})
		})
	}
}
