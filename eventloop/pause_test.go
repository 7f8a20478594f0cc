package eventloop_test

import (
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
