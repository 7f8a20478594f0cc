package alternatetwo_test

// Tests of wake-ups and of the wait before a sleep.

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/turnloop/turnloop/internal/alternatetwo"
	"github.com/turnloop/turnloop/internal/beat"
	"github.com/turnloop/turnloop/internal/loopapi"
)

// start runs a loop and waits until it serves; stop ends it.
func start(t *testing.T) (l *alternatetwo.Loop, stop func()) {
	t.Helper()
	l, err := alternatetwo.New(loopapi.Config{})
	must(t, err)
	ended := make(chan error)
	go func() { ended <- l.Run(context.Background()) }()
	serves := make(chan struct{})
	must(t, l.Submit(func() { close(serves) }))
	beat.Receive(t, serves, "the loop to serve")
	return l, func() {
		t.Helper()
		must(t, l.Shutdown(context.Background()), <-ended)
	}
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

const short = 20 * time.Millisecond

// pretender makes a loop that does not run, in the state in which producers wake it.
func pretender(t *testing.T) *alternatetwo.Loop {
	t.Helper()
	l, err := alternatetwo.New(loopapi.Config{})
	must(t, err)
	l.PretendAsleep()
	t.Cleanup(func() {
		l.PretendOver()
		must(t, l.Close())
	})
	return l
}

// TestWakeCoalesced: of many submissions to a sleeping loop one writes the eventfd, and the loop's wait lowers the
// flag.
func TestWakeCoalesced(t *testing.T) {
	l := pretender(t)
	for range 3 {
		for range 100 {
			must(t, l.Submit(func() {}))
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
		l := pretender(t)
		l.RaiseWaking()
		must(t, l.Submit(func() {}))
		if l.Wait(short) >= short {
			return
		}
	}
	t.Fatal("a submission that found the flag raised ended the wait")
}

// TestLinger: the budget grows with hits up to its bound, shrinks to one without, and slow yields suspend it.
func TestLinger(t *testing.T) {
	l, err := alternatetwo.New(loopapi.Config{})
	must(t, err)
	defer l.Close()
	const now, took = 1e9, 10 * alternatetwo.SlowYield
	const over = now + alternatetwo.SlowBan*took
	granted := 0
	for _, row := range []struct {
		what      string
		ticks     int
		all       bool // the tick uses all yields, otherwise one, or none while there are none
		hits      int
		now, took int64
		want      int
	}{
		{"a new loop", 1, true, 0, 0, 0, 1},
		{"a loop whose yields bring work", 20, false, 1, 0, 1, alternatetwo.MostYields},
		{"a loop whose yields bring nothing", 20, true, 0, 0, 1, 1},
		{"a loop whose yields are slow", 1, true, 1, now, took, 0},
		{"a loop just before the end of the suspension", 1, true, 0, over - 1, 1, 0},
		{"a loop at the end of the suspension", 1, true, 0, over, 1, 1},
	} {
		for range row.ticks {
			used := granted
			if !row.all {
				used = min(used, 1)
			}
			granted = l.NextBudget(used, row.hits, row.now, row.took)
		}
		if granted != row.want {
			t.Errorf("%s is granted %d yields, want %d", row.what, granted, row.want)
		}
	}
}
