package eventloop_test

// Tiers of timers, in what the kit cannot see: how soon who is urgent gets its turn.

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
)

// A timer that becomes due while background timers run waits for the one that is running, and for no other.
func TestBackgroundGivesWay(t *testing.T) {
	for _, tier := range []eventloop.TimerTier{eventloop.TimerCritical, eventloop.TimerNormal} {
		synctest.Test(t, func(t *testing.T) {
			const takes, due = time.Millisecond, 3*time.Millisecond + time.Microsecond
			l := made(t, eventloop.WithAutoExit(true))
			for range 30 {
				_, err := l.ScheduleTimerAs(eventloop.TimerBackground, 0, func() { time.Sleep(takes) })
				require.NoError(t, err)
			}
			began, late := time.Now(), time.Hour
			_, err := l.ScheduleTimerAs(tier, due, func() { late = time.Since(began) - due })
			require.NoError(t, err)
			require.NoError(t, l.Run(context.Background()))
			require.Less(t, late, takes, tier)
		})
	}
}

// A loop that sleeps until many timers are due begins before that, so that the first of them is on time, whoever scheduled them
// while it slept; and not for few.
func TestManyTimersWakeALoopBefore(t *testing.T) {
	for n, lead := range map[int]time.Duration{100: 0, 20_000: 20 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			l := observed(t)
			synctest.Wait()
			for range n {
				_, err := l.ScheduleTimer(time.Hour, func() {})
				require.NoError(t, err)
			}
			due := time.Now().Add(time.Hour)
			time.Sleep(time.Hour - 1)
			synctest.Wait()
			ahead := due.Sub(l.CurrentTickTime())
			require.Equal(t, lead > 0, ahead < time.Minute, "%d timers: the last tick was %v before", n, ahead)
			require.True(t, lead == 0 || ahead < lead, "%d timers: the last tick was %v before", n, ahead)
		})
	}
}
