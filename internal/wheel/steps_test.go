package wheel_test

// Tests of how much one call does.

import (
	"math/rand/v2"
	"testing"

	"github.com/turnloop/turnloop/internal/wheel"
)

// crowds are ways in which the deadlines of n timers may lie.
var crowds = map[string]func(i, n int64) int64{
	"equal":      func(i, n int64) int64 { return 100e9 },
	"ascending":  func(i, n int64) int64 { return 100e9 + i*1000 },
	"descending": func(i, n int64) int64 { return 100e9 + (n-i)*1000 },
	"one tick":   func(i, n int64) int64 { return 100_000*wheel.Tick + (n-i)%wheel.Tick },
	"one slot":   func(i, n int64) int64 { return 1<<38 + i*7919%n*(1<<32/n) },
	"hours":      func(i, n int64) int64 { return 100e9 + i*7919%n*(10_000e9/n) },
}

// No call moves more timers than a step has, however many there are and wherever they lie: also while timers come and go
// between the steps. They come out in order.
func TestSteps(t *testing.T) {
	million := int64(1_000_000)
	if testing.Short() {
		million = 20_000
	}
	for name, deadline := range crowds {
		for between, n := range map[string]int64{"nothing": million, "insert": min(million, 100_000), "remove": min(million, 100_000)} {
			var w wheel.Wheel
			var slots wheel.Slots
			ids := make([]uint64, n)
			var popped, last, lastSeq, count, steps int64
			insert := func(deadline int64) uint64 {
				seq := int64(w.Seq())
				return w.Insert(wheel.Normal, deadline, func() {
					if deadline < last || deadline == last && seq < lastSeq {
						t.Errorf("%s: #%d due %d comes behind #%d due %d", name, seq, deadline, lastSeq, last)
					}
					last, lastSeq, popped = deadline, seq, popped+1
				}, true)
			}
			atMost := func(what string, most int) {
				if left := slots.Left(&w, wheel.Normal); left > most {
					t.Fatalf("%s, %s between: %s moves %d timers, want at most %d", name, between, what, left, most)
				}
			}
			for i := range ids {
				ids[i] = insert(deadline(int64(i), n))
			}
			atMost("Insert", 0)
			for now := int64(0); w.Len() > 0; {
				now = max(now, w.Next())
				fn, ok := w.PopDue(wheel.Normal, now, w.Seq())
				atMost("PopDue", wheel.AtOnce())
				switch {
				case fn != nil:
					if fn(); now < last {
						t.Fatalf("%s: a timer due %d is popped at %d", name, last, now)
					}
				case ok:
					steps++
					switch between {
					case "insert":
						for _, later := range []int64{0, 1, wheel.Tick, 1e9, 3_600e9} {
							insert(max(now, last) + later)
							count++
						}
						atMost("Insert", 0)
					case "remove":
						for _, i := range rand.Perm(len(ids)) {
							if w.Remove(ids[i]) {
								count--
							}
							atMost("Remove", 1)
						}
					}
				}
			}
			if popped != n+count {
				t.Errorf("%s, %s between: %d timers popped, want %d", name, between, popped, n+count)
			}
			if between != "remove" && steps < n/2/int64(wheel.AtOnce()) {
				t.Errorf("%s, %s between: %d steps for %d timers", name, between, steps, n)
			}
		}
	}
}

// Many timers are dealt out before they are due, so that the first of them is on time; and a wheel with few timers has nothing to
// do before.
func TestLead(t *testing.T) {
	for _, n := range []int64{1, int64(wheel.AtOnce()), 100_000} {
		var w wheel.Wheel
		const at = 100e9
		for i := range n {
			w.Insert(wheel.Normal, at+i*10, func() {}, true)
		}
		if next := w.Next(); (next < at) != (n > int64(wheel.AtOnce())) || next < at-2*n*wheel.Lead || w.Earliest() != at {
			t.Errorf("%d timers: Next is %d, the first deadline %d", n, next, int64(at))
		}
		for ok := true; ok; _, ok = w.PopDue(wheel.Normal, at-1, w.Seq()) {
		}
		if next := w.Next(); next != at {
			t.Errorf("%d timers: Next is %d behind the steps, the first deadline %d", n, next, int64(at))
		}
		for i := range n {
			if fn, _ := w.PopDue(wheel.Normal, at+i*10, w.Seq()); fn == nil && n <= int64(wheel.AtOnce()) {
				t.Errorf("%d timers: number %d is not there on time", n, i)
			}
		}
	}
}
