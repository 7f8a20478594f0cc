package alternatetwo_test

// Tests of wake-ups.

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
