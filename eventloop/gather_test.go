package eventloop_test

// The loop waits for batches that grow, and for no others.

import (
	"testing"

	"github.com/turnloop/turnloop/eventloop"
)

func TestGather(t *testing.T) {
	const batches = 30_000
	for _, c := range []struct {
		name  string
		size  func(i int, waited bool) int
		least int // batches that are waited for
		most  int
	}{
		{"a stream of one producer", func(_ int, waited bool) int { return pick(waited, 80, 1) }, batches * 9 / 10, batches},
		{"a stream of many", func(_ int, waited bool) int { return pick(waited, 120, 50) }, batches * 9 / 10, batches},
		{"batches that are large anyhow", func(int, bool) int { return 1000 }, 0, 1},
		{"a callback that submits the next", func(int, bool) int { return 1 }, 0, 100},
		{"fifty such callbacks", func(int, bool) int { return 50 }, 0, 200},
		{"a producer with other things to do", func(_ int, waited bool) int { return pick(waited, 3, 1) }, 0, 100},
		{"a stream behind a long chain", func(i int, waited bool) int { return pick(waited && i >= batches/2, 80, 1) }, batches * 2 / 5, batches * 3 / 5},
		{"fifty chains behind a long stream", func(i int, waited bool) int { return pick(i < batches/2, pick(waited, 80, 1), 50) }, batches * 2 / 5, batches * 3 / 5},
		{"a chain behind a long stream", func(i int, waited bool) int { return pick(waited && i < batches/2, 80, 1) }, batches * 2 / 5, batches * 3 / 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, err := eventloop.New()
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			waits := 0
			for i := range batches {
				waited := l.GatherWait()
				if waited {
					waits++
				}
				l.GatherTook(c.size(i, waited))
			}
			if waits < c.least || waits > c.most {
				t.Errorf("waited for %d of %d batches, want %d to %d", waits, batches, c.least, c.most)
			}
		})
	}
}

func pick(which bool, yes, no int) int {
	if which {
		return yes
	}
	return no
}

// A wait that urgent work has ended teaches nothing, nor does the batch behind it that comes without a wait.
func TestGatherInterrupted(t *testing.T) {
	l, err := eventloop.New()
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for range 10 {
		if !l.GatherWait() {
			t.Fatal("the loop does not wait for the batch")
		}
		l.GatherInterrupted()
		l.GatherTook(1) // behind a pause
	}
}

// What the loop waits for a batch is not counted as the time of the callback that follows.
func TestGatherIsNoCallback(t *testing.T) {
	l, err := eventloop.New(eventloop.WithMetrics(true))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	l.CallObserved(func() {})
	ended := l.LastLook()
	for range 10_000 { // a wait may be shorter than the clock's step
		if !l.GatherWait() {
			t.Fatal("the loop does not wait for the batch")
		}
		if l.LastLook() > ended {
			return
		}
	}
	t.Error("the next callback begins before the wait")
}
