package rival_test

// The shared mechanism, on a poller that the test holds in its hand.

import (
	"cmp"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/rival"
)

// fake is a poller whose wake-ups fail as often as the test says.
type fake struct {
	rival.Poller
	wakes, failures atomic.Int64
	add             error
	modified        bool
}

var errRefused = errors.New("refused on purpose")

func (p *fake) Wake() error {
	if p.wakes.Add(1); p.failures.Add(-1) >= 0 {
		return errRefused
	}
	return nil
}

func (p *fake) Add(int, loopapi.IOEvents, uint32) error { return p.add }

func (p *fake) Modify(int, loopapi.IOEvents, loopapi.IOEvents, uint32) error {
	p.modified = true
	return nil
}

// TestWake has wake-ups fail for many callers. One retry serves all of them, one failure is logged, and none of the callers
// suffers from a logger that panics.
func TestWake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const callers, failures = 100, 3
		var b rival.Base
		p := &fake{}
		b.Init()
		b.Wake(p, func(err error) { t.Errorf("a wake-up that succeeds is logged: %v", err) })
		p.failures.Store(callers + failures - 1)
		logged := 0
		for range callers {
			b.Wake(p, func(err error) {
				if logged++; err != errRefused {
					t.Errorf("the log gets %v", err)
				}
				panic("on purpose")
			})
		}
		time.Sleep(time.Hour)
		if got, want := p.wakes.Load(), int64(1+callers+failures); got != want || logged != 1 {
			t.Errorf("%d tries, of which %d were logged; want %d and 1", got, logged, want)
		}
		p.failures.Store(1)
		b.Wake(p, func(error) { logged++ })
		time.Sleep(time.Hour)
		if logged != 2 {
			t.Error("a failure after wake-ups have worked again is not logged")
		}
	})
}

// TestWatch has the poller know a descriptor already, and refuse another.
func TestWatch(t *testing.T) {
	for _, refusal := range []error{nil, syscall.EEXIST, errRefused} {
		p := &fake{add: refusal}
		known := refusal == syscall.EEXIST
		if err := rival.Watch(p, 1, 0, 2); (err == nil) == (refusal == errRefused) || p.modified != known {
			t.Errorf("after %v from Add, Watch returned %v, and has modified the descriptor: %v", refusal, err, p.modified)
		}
	}
}

func TestDeadline(t *testing.T) {
	for _, row := range []struct {
		delay time.Duration
		want  int64
	}{{0, 100}, {-1, 100}, {math.MinInt64, 100}, {1, 101}, {math.MaxInt64 - 100, rival.Never}, {math.MaxInt64, rival.Never}} {
		if got := rival.Deadline(100, row.delay); got != row.want {
			t.Errorf("a delay of %d from 100 on ends at %d, want %d", row.delay, got, row.want)
		}
	}
}

func TestChecked(t *testing.T) {
	got, err := rival.Checked(loopapi.Config{TickBudget: 7})
	if err != nil || got.QueueLimit != 0 || got.TickBudget != 7 || got.MicrotaskBudget != 1024 {
		t.Errorf("the configuration is %+v, %v", got, err)
	}
	for name, cfg := range map[string]loopapi.Config{
		"QueueLimit": {QueueLimit: -1}, "TickBudget": {TickBudget: -1}, "MicrotaskBudget": {MicrotaskBudget: -1},
		"AutoExit": {AutoExit: true},
	} {
		_, err := rival.Checked(cfg)
		if err == nil || !strings.Contains(err.Error(), name) || errors.Is(err, errors.ErrUnsupported) != (name == "AutoExit") {
			t.Errorf("%s out of range returned %v", name, err)
		}
	}
}

// TestTimersModel schedules, cancels and pops at random beside a sorted list, in which many deadlines are equal: too rare where
// the conformance kit schedules timers.
func TestTimersModel(t *testing.T) {
	type entry struct {
		at int64
		id loopapi.TimerID
	}
	rng := rand.New(rand.NewPCG(3, 4))
	var ts rival.Timers
	var model []entry // in the order in which they fire
	var fired loopapi.TimerID
	for id := loopapi.TimerID(1); id < 20_000; id++ {
		switch pick := rng.IntN(10); {
		case pick < 5:
			e := entry{rng.Int64N(50), id}
			ts.Insert(e.id, e.at, func() { fired = e.id })
			i, _ := slices.BinarySearchFunc(model, e.at+1, func(m entry, at int64) int { return cmp.Compare(m.at, at) })
			model = slices.Insert(model, i, e)
		case len(model) > 0:
			i := 0
			if pick < 7 {
				i = rng.IntN(len(model))
			}
			timer := ts.ByID[model[i].id]
			if timer == nil || i == 0 && timer != ts.Heap[0] || ts.Earliest() != model[0].at {
				t.Fatalf("timer %d of %d is not where it should be", model[i].id, model[i].at)
			}
			if ts.Remove(timer)(); fired != model[i].id {
				t.Fatalf("the function of timer %d is that of %d", model[i].id, fired)
			}
			model = slices.Delete(model, i, i+1)
		}
		if len(ts.Heap) != len(model) || len(ts.ByID) != len(model) {
			t.Fatalf("%d timers are pending, and %d have an ID, want %d", len(ts.Heap), len(ts.ByID), len(model))
		}
	}
}
