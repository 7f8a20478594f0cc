package alternatetwo_test

// Tests of the ring of microtasks against a slow model.

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/turnloop/turnloop/internal/alternatetwo"
	"github.com/turnloop/turnloop/internal/beat"
	"github.com/turnloop/turnloop/internal/loopapi"
)

// TestRing compares rings with a slice, also with positions that begin near their end.
// Bursts are longer than the ring, so order has to hold between ring and overflow.
func TestRing(t *testing.T) {
	rings := map[string]*alternatetwo.Ring{
		"of 2":                alternatetwo.NewRing(2, 0),
		"of 64":               alternatetwo.NewRing(64, 1<<31-100),
		"of 64, near the end": alternatetwo.NewRing(64, math.MaxUint32-100),
	}
	for name, r := range rings {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, 2))
			var want []int
			got, pushed := -1, 0
			for range 5000 {
				for range rng.IntN(100) * rng.IntN(4) {
					i := pushed
					pushed++
					r.Push(func() { got = i })
					want = append(want, i)
				}
				for range rng.IntN(160) {
					if r.Empty() != (len(want) == 0) {
						t.Fatalf("Empty is %v with %d functions", r.Empty(), len(want))
					}
					if len(want) == 0 {
						break
					}
					if r.Pop()(); got != want[0] {
						t.Fatalf("popped %d, want %d", got, want[0])
					}
					want = want[1:]
				}
			}
		})
	}
}

// TestAdoptIsBounded: the loop takes in what was scheduled when it began, not what comes while it waits for a producer, or
// else producers that never stop would keep it from everything else.
func TestAdoptIsBounded(t *testing.T) {
	const before, meanwhile = 2, 5
	var got uint32
	if !beat.Until(func() bool { // what comes meanwhile may come too early on a busy machine
		l, err := alternatetwo.New(loopapi.Config{})
		must(t, err)
		publish := l.ClaimMicrotask()
		schedule := func(n int) {
			for range n {
				must(t, l.ScheduleMicrotask(func() {}))
			}
		}
		schedule(before - 1)
		time.AfterFunc(time.Millisecond, func() {
			schedule(meanwhile)
			publish(func() {})
		})
		got = l.Adopt()
		must(t, l.Close())
		return got == before
	}) {
		t.Errorf("%d functions are taken in, want the %d that were there", got, before)
	}
}

// TestStoppedProducer: what was submitted behind a producer that is stopped before it publishes is not overtaken,
// neither internal tasks by external ones, nor microtasks of other goroutines by the loop's own.
func TestStoppedProducer(t *testing.T) {
	l, err := alternatetwo.New(loopapi.Config{})
	must(t, err)
	var got []string
	note := func(what string) func() { return func() { got = append(got, what) } }
	const late = time.Millisecond // enough for a loop that does not wait
	must(t, l.Submit(func() {
		publish := l.ClaimMicrotask()
		done := make(chan error)
		go func() { done <- l.ScheduleMicrotask(note("second microtask")) }()
		must(t, <-done)
		time.AfterFunc(late, func() { publish(note("first microtask")) })
		must(t, l.ScheduleMicrotask(note("third microtask")))

		publish = l.ClaimInternal()
		must(t, l.SubmitInternal(note("second internal")))
		time.AfterFunc(late, func() { publish(note("first internal")) })
	}))
	must(t, l.Submit(note("external")))
	must(t, l.Shutdown(context.Background()))
	want := []string{
		"first microtask", "second microtask", "third microtask", "first internal", "second internal", "external",
	}
	if !slices.Equal(got, want) {
		t.Errorf("ran %q, want %q", got, want)
	}
}
