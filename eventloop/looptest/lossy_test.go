package looptest_test

// A loop that loses callbacks, to see how soon the kit says so.

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/turnloop/turnloop/eventloop/looptest"
	"github.com/turnloop/turnloop/internal/loopapi"
)

// lossy accepts every callback and forgets every second one.
type lossy struct {
	*reference
	accepted atomic.Int64
}

func (l *lossy) lose(fn func()) func() {
	if fn != nil && l.accepted.Add(1)%2 == 0 {
		return func() {}
	}
	return fn
}

func (l *lossy) Submit(fn func()) error            { return l.reference.Submit(l.lose(fn)) }
func (l *lossy) SubmitInternal(fn func()) error    { return l.reference.SubmitInternal(l.lose(fn)) }
func (l *lossy) ScheduleMicrotask(fn func()) error { return l.reference.ScheduleMicrotask(l.lose(fn)) }

func (l *lossy) ScheduleTimer(delay time.Duration, fn func()) (loopapi.TimerID, error) {
	return l.reference.ScheduleTimer(delay, l.lose(fn))
}

// TestVerdictOnALossyLoopComesSoon: a loop that loses every second callback is through all checks in bounded time, and fails many.
func TestVerdictOnALossyLoopComesSoon(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits in vain for a quarter of a minute")
	}
	// With the usual patience, of which it is the first to wait in vain, nine seconds more.
	const limit = 21 * time.Second
	outcomes := looptest.Outcomes(t, limit, func(cfg looptest.Config) (looptest.EventLoop, error) {
		return &lossy{reference: newReference(cfg, "")}, nil
	}, looptest.Impatient(time.Second, time.Minute))
	if fails := outcomes["fail"]; fails < 20 {
		t.Errorf("it fails %d checks: %v", fails, outcomes)
	}
}
