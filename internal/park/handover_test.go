package park_test

// Handing over: when wakers yield.

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
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
	seldom := func(int) bool { return false }
	always := func(int) bool { return true }
	for name, phases := range map[string][]phase{
		"waits":                {{few, seldom, true, few / 10, 0, 0}},
		"computes":             {{many, always, true, 10, many - 100, many}},
		"late once in a while": {{many, func(n int) bool { return n%50 < 3 }, true, many / 8, 0, 0}},
		"not calm":             {{few, always, false, 10, 0, 0}},
		"computes, then waits": {{many, always, true, 10, many - 100, many}, {1000, seldom, true, 100, 0, 600}, {few, seldom, true, few / 10, 0, 0}},
		"waits, then computes": {{few, seldom, true, few / 10, 0, 0}, {many, always, true, 10, many - 100, many}},
	} {
		t.Run(name, func(t *testing.T) {
			undisturbed(t, func() error {
				b := made(t)
				for i, p := range phases {
					timed, yields := 0, 0
					for n := range p.sleeps {
						if setCalm(0); p.calm {
							setCalm(never)
						}
						late := time.Microsecond
						if p.late(n) {
							late = time.Millisecond
						}
						clock, yield := b.SleepOf(late)
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
	b := made(t)
	for range 3 {
		require.Zero(t, b.SleepUnwoken())
	}
}
