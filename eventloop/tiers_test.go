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
			l, err := eventloop.New(eventloop.WithAutoExit(true))
			require.NoError(t, err)
			for range 30 {
				_, err := l.ScheduleTimerAs(eventloop.TimerBackground, 0, func() { time.Sleep(takes) })
				require.NoError(t, err)
			}
			began, late := time.Now(), time.Hour
			_, err = l.ScheduleTimerAs(tier, due, func() { late = time.Since(began) - due })
			require.NoError(t, err)
			require.NoError(t, l.Run(context.Background()))
			require.Less(t, late, takes, tier)
		})
	}
}
