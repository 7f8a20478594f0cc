package alternatetwo_test

// Tests of the timer wheel.

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/turnloop/turnloop/internal/alternatetwo"
)

// TestWheelModel compares with a list sorted by deadline, equal ones by insertion. Spans reach from single
// nanoseconds to the end of the clock.
func TestWheelModel(t *testing.T) {
	type timer struct {
		deadline int64
		n        int
		id       uint64
	}
	spans := []int64{1, 3, 64, 1000, 1 << 12, 1e6, 1e9, 3600e9, 400 * 86400e9, 1 << 60}
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 3))
		var w alternatetwo.Wheel
		var pending, gone []timer
		now, count, got := int64(0), 0, -1
		for range 3000 {
			switch op := rng.IntN(10); {
			case op < 6:
				for range rng.IntN(4) {
					deadline := now + rng.Int64N(spans[rng.IntN(len(spans))])
					if len(pending) > 0 && rng.IntN(3) == 0 { // an equal one
						deadline = max(now, pending[rng.IntN(len(pending))].deadline)
					}
					n := count
					count++
					pending = append(pending, timer{deadline, n, w.Insert(deadline, now, func() { got = n })})
				}
			case op < 7 && len(pending) > 0:
				i := rng.IntN(len(pending))
				if !w.Remove(pending[i].id) {
					t.Fatal("a pending timer was not found")
				}
				gone = append(gone, pending[i])
				pending = slices.Delete(pending, i, i+1)
			default:
				if now > 1<<61 {
					break
				}
				now += rng.Int64N(spans[rng.IntN(len(spans))])
				slices.SortStableFunc(pending, func(a, b timer) int {
					if a.deadline != b.deadline {
						return int(max(-1, min(1, a.deadline-b.deadline)))
					}
					return a.n - b.n
				})
				if len(pending) > 0 && w.Next() > pending[0].deadline {
					t.Fatalf("seed %d: next is %d, but a timer is due at %d", seed, w.Next(), pending[0].deadline)
				}
				for len(pending) > 0 && pending[0].deadline <= now {
					fn := w.Pop(now)
					if fn == nil {
						t.Fatalf("seed %d: nothing popped at %d, a timer is due at %d", seed, now, pending[0].deadline)
					}
					if fn(); got != pending[0].n {
						t.Fatalf("seed %d: popped timer %d, want %d", seed, got, pending[0].n)
					}
					gone = append(gone, pending[0])
					pending = pending[1:]
				}
				if fn := w.Pop(now); fn != nil {
					fn()
					t.Fatalf("seed %d: timer %d popped early at %d", seed, got, now)
				}
			}
			if len(gone) > 0 && w.Remove(gone[rng.IntN(len(gone))].id) {
				t.Fatal("a timer that is gone was found")
			}
		}
	}
}

// TestWheelOverdue: a timer whose deadline has passed before it gets into the wheel, because its goroutine was slow,
// is due at once, whatever else is pending.
func TestWheelOverdue(t *testing.T) {
	for _, cursor := range []int64{1, 63, 64, 1e6, 1e9 + 7, 3600e9} {
		var w alternatetwo.Wheel
		w.Insert(2*cursor+100, 0, func() { t.Error("the later one came first") })
		if w.Pop(cursor) != nil {
			t.Fatal("popped early")
		}
		fired := false
		w.Insert(cursor/2, cursor/2, func() { fired = true })
		if w.Next() > cursor {
			t.Fatalf("next is %d at %d, with an overdue timer", w.Next(), cursor)
		}
		if fn := w.Pop(cursor); fn == nil {
			t.Fatalf("an overdue timer was not popped at %d", cursor)
		} else if fn(); !fired {
			t.Fatal("another timer was popped")
		}
	}
}

// TestWheelArena: a burst's arena is given up when its last timer is gone, and old identities stay dead.
func TestWheelArena(t *testing.T) {
	var w alternatetwo.Wheel
	var ids []uint64
	for range 3 {
		for i := range int64(5000) {
			ids = append(ids, w.Insert(1e9+i, 0, func() {}))
		}
		for _, id := range ids[len(ids)-5000:] {
			if !w.Remove(id) {
				t.Fatal("a pending timer was not found")
			}
		}
		if n := w.Nodes(); n > 1000 {
			t.Fatalf("an empty wheel keeps %d nodes", n)
		}
	}
	w.Insert(1, 0, func() {})
	for _, id := range ids {
		if w.Remove(id) {
			t.Fatal("an old identity names a new timer")
		}
	}
}
