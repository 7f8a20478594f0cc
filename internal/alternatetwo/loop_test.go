package alternatetwo_test

// Tests of shutdown, wake-ups and the wait before a sleep.

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/turnloop/turnloop/internal/alternatetwo"
	"github.com/turnloop/turnloop/internal/beat"
	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/race"
)

// start runs a loop and waits until it serves; stop ends it.
func start(t testing.TB) (l *alternatetwo.Loop, stop func()) {
	t.Helper()
	l, err := alternatetwo.New(loopapi.Config{})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() { ended <- l.Run(context.Background()) }()
	serves := make(chan struct{})
	if err := l.Submit(func() { close(serves) }); err != nil {
		t.Fatal(err)
	}
	<-serves
	return l, func() {
		t.Helper()
		if err := l.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// TestShutdownRaces: of tasks submitted around Shutdown exactly the accepted ones have run when it has returned.
func TestShutdownRaces(t *testing.T) {
	rounds := 100_000
	if testing.Short() || race.Enabled {
		rounds = 2000
	}
	for round := range rounds {
		l, err := alternatetwo.New(loopapi.Config{})
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- l.Run(context.Background()) }()
		var ran, accepted atomic.Int64
		task := func() { ran.Add(1) }
		var group sync.WaitGroup
		for _, submit := range []func(func()) error{l.Submit, l.SubmitInternal, l.ScheduleMicrotask} {
			group.Go(func() {
				for range 30 { // so that some come at the very end
					err := submit(task)
					if err == loopapi.ErrLoopTerminated {
						return
					}
					if err != nil {
						t.Error(err)
						return
					}
					accepted.Add(1)
					for range round % 5 {
						runtime.Gosched()
					}
				}
			})
		}
		for range round % 8 {
			runtime.Gosched()
		}
		if err := l.Shutdown(context.Background()); err != nil {
			t.Fatal(err)
		}
		at := ran.Load()
		group.Wait()
		if err := <-ended; err != nil && err != loopapi.ErrLoopTerminated {
			t.Fatal(err)
		}
		if accepted.Load() != at || ran.Load() != at {
			t.Fatalf("round %d: %d accepted, %d had run when Shutdown returned, %d in the end",
				round, accepted.Load(), at, ran.Load())
		}
	}
}

// TestWakeCoalesced: of many submissions to a sleeping loop one writes the eventfd, and the loop's wait lowers the
// flag.
func TestWakeCoalesced(t *testing.T) {
	l, err := alternatetwo.New(loopapi.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	l.PretendAsleep()
	defer l.PretendOver()
	const short = 20 * time.Millisecond
	for range 3 {
		for range 100 {
			if err := l.Submit(func() {}); err != nil {
				t.Fatal(err)
			}
		}
		beat.Do(t, "a wait that a submission is to end", func() { l.Wait(time.Hour) })
		early := 0
		for l.Wait(short) < short {
			early++ // by a signal
		}
		if early > 2 {
			t.Fatalf("one wake-up ended %d waits", 1+early)
		}
	}
}

// TestWakeSkippedWhileRaised: who finds the flag raised makes no system call, so no wake-up is left for the next wait.
// A signal may end a wait as well, but not each of several.
func TestWakeSkippedWhileRaised(t *testing.T) {
	for range 5 {
		if took := waitWhileRaised(t); took >= 20*time.Millisecond {
			return
		}
	}
	t.Fatal("a submission that found the flag raised ended the wait")
}

func waitWhileRaised(t *testing.T) time.Duration {
	l, err := alternatetwo.New(loopapi.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	l.PretendAsleep()
	defer l.PretendOver()
	l.RaiseWaking()
	if err := l.Submit(func() {}); err != nil {
		t.Fatal(err)
	}
	return l.Wait(20 * time.Millisecond)
}

// TestLinger: the budget grows with hits up to its bound, shrinks to one without, and slow yields suspend it.
func TestLinger(t *testing.T) {
	l, err := alternatetwo.New(loopapi.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	granted := l.NextBudget(0, 0, 0, 0)
	if granted != 1 {
		t.Fatalf("a new loop is granted %d yields, want 1", granted)
	}
	for range 20 {
		granted = l.NextBudget(1, 1, 0, 1)
	}
	if granted != alternatetwo.MostYields {
		t.Fatalf("a loop whose yields bring work is granted %d, want %d", granted, alternatetwo.MostYields)
	}
	for range 20 {
		granted = l.NextBudget(granted, 0, 0, 1)
	}
	if granted != 1 {
		t.Fatalf("a loop whose yields bring nothing is granted %d, want 1", granted)
	}
	const now, took = 1e9, 10 * alternatetwo.SlowYield
	if granted = l.NextBudget(1, 1, now, took); granted != 0 {
		t.Fatalf("a loop whose yields are slow is granted %d", granted)
	}
	const over = now + alternatetwo.SlowBan*took
	if granted = l.NextBudget(0, 0, over-1, 1); granted != 0 {
		t.Fatalf("the suspension ended early: %d", granted)
	}
	if granted = l.NextBudget(0, 0, over, 1); granted != 1 {
		t.Fatalf("the suspension did not end: %d", granted)
	}
}

// TestConfig: AutoExit is not offered.
func TestConfig(t *testing.T) {
	if _, err := alternatetwo.New(loopapi.Config{AutoExit: true}); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("AutoExit: %v", err)
	}
}
