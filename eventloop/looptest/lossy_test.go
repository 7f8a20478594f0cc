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

// TestVerdictOnALossyLoopComesSoon: a loop that loses every second callback fails many checks, of which only the first is waited for
// with patience.
func TestVerdictOnALossyLoopComesSoon(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits in vain for half a minute")
	}
	const patience = 400
	outcomes, vain := looptest.Outcomes(t, func(cfg looptest.Config) (looptest.EventLoop, error) {
		return &lossy{reference: newReference(cfg, "")}, nil
	}, looptest.Impatient(patience))
	if fails := outcomes["fail"]; fails < 20 || vain < patience || vain > patience+fails*patience/4 {
		t.Errorf("it fails %d checks, which wait in vain for %d beats: %v", fails, vain, outcomes)
	}
}
