package eventloop_test

// Handing over: when wakers yield, and that the loop then goes first.

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
)

// Wakers yield when the loop has come late again and again, for as long as it would, and only while the processors are calm.
func TestHandover(t *testing.T) {
	const few, many = 200, 2000 // sleeps
	type phase struct {
		sleeps     int
		late       func(n int) bool
		calm       bool
		most       int // of them timed
		yields     int // at least
		mostYields int
	}
	never := func(int) bool { return false }
	always := func(int) bool { return true }
	for name, phases := range map[string][]phase{
		"waits":                {{few, never, true, few / 10, 0, 0}},
		"computes":             {{many, always, true, 10, many - 100, many}},
		"late once in a while": {{many, func(n int) bool { return n%50 < 3 }, true, many / 8, 0, 0}},
		"not calm":             {{few, always, false, 10, 0, 0}},
		"computes, then waits": {{many, always, true, 10, many - 100, many}, {1000, never, true, 100, 0, 600}, {few, never, true, few / 10, 0, 0}},
		"waits, then computes": {{few, never, true, few / 10, 0, 0}, {many, always, true, 10, many - 100, many}},
	} {
		t.Run(name, func(t *testing.T) {
			undisturbed(t, func() error {
				l := pausing(t)
				for i, p := range phases {
					timed, yields := 0, 0
					for n := range p.sleeps {
						eventloop.SetCalm(p.calm)
						late := time.Microsecond
						if p.late(n) {
							late = time.Millisecond
						}
						clock, yield := l.SleepOf(late)
						if clock {
							timed++
						}
						if yield {
							yields++
						}
					}
					if timed == 0 || timed > p.most || yields < p.yields || yields > p.mostYields {
						return fmt.Errorf("phase %d: %d timed, %d yields", i, timed, yields)
					}
				}
				return nil
			})
		})
	}
}

// Sleeps that nobody ends count no further: their number would wrap on a system of 32 bits.
func TestHandoverOfUnwokenSleeps(t *testing.T) {
	l := pausing(t)
	for range 3 {
		require.Zero(t, l.SleepUnwoken())
	}
}

// When a waker is to yield the task has run before the waker goes on, where both have one processor; so for who wakes a loop of a group.
func TestWakerYields(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	l, g := observed(t), newGroup(t, 2)
	runs(g, t.Context())
	const wakes = 610 // once in 61 the scheduler looks first at those who have yielded
	first := func(submit func(func()) error, handOver func()) (n int) {
		for range wakes {
			rest(l, g.Loop(0), g.Loop(1))
			handOver()
			var begun atomic.Bool
			if require.NoError(t, submit(func() { begun.Store(true) })); begun.Load() {
				n++
			}
			for !begun.Load() {
				runtime.Gosched()
			}
		}
		return n
	}
	undisturbed(t, func() error {
		plain, loop, group := first(l.Submit, func() {}), first(l.Submit, l.HandOver), first(g.Submit, g.HandOver)
		if plain > wakes/2 || loop < wakes-5 || group < wakes-5 {
			return fmt.Errorf("of %d tasks %d ran first without yielding, %d with, %d in a group", wakes, plain, loop, group)
		}
		return nil
	})
}
