package wheel_test

// Tests of ids, and of memory.

import (
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
	"weak"

	"github.com/turnloop/turnloop/internal/garbage"
	"github.com/turnloop/turnloop/internal/wheel"
)

// tracked returns a function and a weak pointer to what only the function keeps alive.
func tracked() (func(), weak.Pointer[[64]byte]) {
	captured := new([64]byte)
	return func() { captured[0]++ }, weak.Make(captured)
}

// What a removed or popped timer captured is collectable although the wheel lives on (bug 59 of docs/reliability.md).
func TestNoRetention(t *testing.T) {
	for name, c := range map[string]struct{ deadline, late int64 }{
		"run":   {5, 0},
		"heap":  {5, 10}, // behind so many that are due later
		"slot":  {1e9, 0},
		"never": {math.MaxInt64, 0},
	} {
		for tier := range tiers {
			var w wheel.Wheel
			for range c.late {
				w.Insert(tier, wheel.Tick-1, func() {}, true)
			}
			keep, kept := tracked()
			w.Insert(tier, c.deadline, keep, true)
			keep = nil

			fn, removed := tracked()
			w.Remove(w.Insert(tier, c.deadline, fn, true))
			fn, popped := tracked()
			w.Insert(tier, 4, fn, true)
			if inHeap := w.InHeap(tier) > 0; inHeap != (c.late > 0) {
				t.Fatalf("%s: %d timers in the heap", name, w.InHeap(tier))
			}
			fn, _ = w.PopDue(tier, 4, math.MaxUint64)
			fn()
			fn = nil
			if !garbage.Taken(removed) {
				t.Errorf("%s: the wheel keeps the function of a removed timer", name)
			}
			if !garbage.Taken(popped) {
				t.Errorf("%s: the wheel keeps the function of a popped timer", name)
			}
			if kept.Value() == nil {
				t.Fatalf("%s: the function of a pending timer was collected", name)
			}
			runtime.KeepAlive(&w)
		}
	}
}

// No id names two timers and no old id names a new one, with the generations about to be used up all the time
// (bug 49 of docs/reliability.md), blocks coming and going, and the wheel being cleared.
func TestIDs(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, left := range []uint64{1, 2, 3, 7} {
		var w wheel.Wheel
		pending := map[uint64]bool{}
		var ids []uint64
		seen := map[uint64]bool{}
		w.Grow(500)
		w.Age(left)
		rounds := 400
		if testing.Short() {
			rounds = 20
		}
		for round := range rounds {
			for range r.IntN(300) {
				id := w.Insert(wheel.Tier(r.IntN(wheel.Tiers)), r.Int64N(1e9), func() {}, false)
				if id == 0 || seen[id] {
					t.Fatalf("left %d: id %#x is 0 or not new", left, id)
				}
				seen[id] = true
				ids = append(ids, id)
				pending[id] = true
			}
			for range 600 {
				if len(ids) == 0 {
					break
				}
				id := ids[r.IntN(len(ids))]
				if round%4 == 0 {
					id = ids[len(ids)-1-r.IntN(min(len(ids), 300))]
				}
				if got := w.Remove(id); got != pending[id] {
					t.Fatalf("left %d: Remove(%#x) = %v, pending: %v", left, id, got, pending[id])
				}
				delete(pending, id)
			}
			switch {
			case round%10 == 9:
				for id := range pending {
					if !w.Remove(id) {
						t.Fatalf("left %d: pending timer %#x not found", left, id)
					}
				}
				clear(pending)
			case round%7 == 3:
				w.Age(left)
			}
			for _, id := range ids[max(0, len(ids)-2000):] {
				if got := w.SetRef(id, false); got != pending[id] {
					t.Fatalf("left %d: SetRef(%#x) = %v, pending: %v", left, id, got, pending[id])
				}
			}
			if w.Len() != len(pending) {
				t.Fatalf("left %d: Len %d, want %d", left, w.Len(), len(pending))
			}
		}
	}
}

// A node whose generations are used up is not used again, and a block of such nodes gives its memory back.
func TestUsedUpGenerations(t *testing.T) {
	var w wheel.Wheel
	w.Grow(1)
	const left = 3
	w.Age(left)
	for range left * wheel.BlockNodes {
		if ever, _ := w.Blocks(); ever != 1 {
			t.Fatal("a second block although the first has generations left")
		}
		w.Remove(w.Insert(wheel.Normal, 1e9, func() {}, true))
	}
	if ever, now := w.Blocks(); ever != 1 || now != 0 {
		t.Fatalf("%d blocks, %d with memory; want the one block to be used up", ever, now)
	}
	id := w.Insert(wheel.Normal, 1e9, func() {}, true)
	if ever, now := w.Blocks(); ever != 2 || now != 1 {
		t.Fatalf("%d blocks, %d with memory; want a second block", ever, now)
	}
	for _, stale := range []uint64{0, 1, wheel.BlockNodes - 1, math.MaxUint64, id - 1<<28, id + 1<<28, id + 1, id ^ 1<<63} {
		if w.Remove(stale) {
			t.Errorf("Remove(%#x) removed something; the only id is %#x", stale, id)
		}
	}
	if !w.Remove(id) {
		t.Errorf("Remove(%#x) of a pending timer is false", id)
	}
}

// After a burst the memory goes, except for the spare blocks; ids from before it stay stale.
func TestMemoryFallsBack(t *testing.T) {
	n := int64(200_000)
	if testing.Short() {
		n /= 10
	}
	for name, deadline := range map[string]func(i int64) int64{
		"run":   func(i int64) int64 { return i },
		"heap":  func(i int64) int64 { return i * 7919 % n }, // neighbours in the slab are far apart in time
		"slots": func(i int64) int64 { return i * 7919 % n * 1000 },
	} {
		for _, used := range []wheel.Tier{1, tiers} {
			var w wheel.Wheel
			ids := make([]uint64, n)
			fn := func() {}
			before := heap()
			for i := range ids {
				ids[i] = w.Insert(wheel.Tier(i)%used, deadline(int64(i)), fn, true)
			}
			for _, id := range ids[:n/2] {
				w.Remove(id)
			}
			for tier := range used {
				for ok := true; ok; {
					_, ok = w.PopDue(tier, n*1000, math.MaxUint64)
				}
			}
			if _, now := w.Blocks(); now > wheel.SpareBlocks {
				t.Errorf("%s: %d blocks are kept, want at most %d", name, now, wheel.SpareBlocks)
			}
			if grown := heap() - before; grown > 24<<10 {
				t.Errorf("%s: %d B remain of a burst of %d timers in %d tiers", name, grown, n, used)
			} else {
				t.Logf("%s: %d B remain of a burst of %d timers in %d tiers", name, grown, n, used)
			}
			for i := range 3 * wheel.BlockNodes {
				w.Insert(wheel.Tier(i)%used, int64(i), fn, true)
			}
			for _, id := range ids {
				if w.Remove(id) {
					t.Fatalf("%s: stale id %#x removed a timer", name, id)
				}
			}
		}
	}
}

// A directory that begins anew knows the ids of the block that was used most, which is the one that stays.
func TestDirectoryBeginsAnew(t *testing.T) {
	var w wheel.Wheel
	insert := func() uint64 { return w.Insert(wheel.Normal, 1e9, func() {}, true) }
	var ids []uint64
	for range 50 {
		ids = append(ids, insert())
		w.Remove(ids[len(ids)-1])
	}
	for range wheel.EntryNodes + 1 {
		ids = append(ids, insert())
	}
	for _, id := range ids {
		w.Remove(id)
	}
	if ever, now := w.Blocks(); ever != 0 || now != 0 {
		t.Fatalf("a directory of %d blocks, %d with memory; want it to begin anew", ever, now)
	}
	for range 100 {
		id := insert()
		for _, stale := range ids {
			if stale == id || w.Remove(stale) {
				t.Fatalf("id %#x names timer %#x, too", stale, id)
			}
		}
		w.Remove(id)
		ids = append(ids, id)
	}
}

// A pending timer takes at most 96 B besides its function, wherever it waits.
func TestMemoryPerTimer(t *testing.T) {
	if size := wheel.NodeSize; size > 40 {
		t.Errorf("a node has %d B, want at most 40", size)
	}
	n := int64(100_000)
	if testing.Short() {
		n /= 10
	}
	for name, deadline := range map[string]func(i int64) int64{
		"dense":  func(i int64) int64 { return i * 10_000 },
		"sparse": func(i int64) int64 { return (i * 0x5deece66d) & (1<<50 - 1) },
		"near":   func(i int64) int64 { return i % 1000 },
	} {
		var w wheel.Wheel
		fn := func() {}
		before := heap()
		for i := range n {
			w.Insert(wheel.Normal, deadline(i), fn, true)
		}
		if per := float64(heap()-before) / float64(n); per > 96 {
			t.Errorf("%s: %.1f B per pending timer", name, per)
		} else {
			t.Logf("%s: %.1f B per pending timer", name, per)
		}
		runtime.KeepAlive(&w)
	}
}

// A wheel with one timer stays small: it belongs to a loop that shall be.
func TestMemoryOfOne(t *testing.T) {
	const wheels = 100
	before := heap()
	ws := make([]*wheel.Wheel, wheels)
	for i := range ws {
		ws[i] = new(wheel.Wheel)
		ws[i].Insert(wheel.Normal, 60e9, func() {}, true)
	}
	if per := (heap() - before) / wheels; per > 6<<10 {
		t.Errorf("a wheel with one timer takes %d B", per)
	}
	runtime.KeepAlive(ws)
}

// A tier has no memory for levels that it never used, and gives that for far ones back.
func TestLevels(t *testing.T) {
	for tier := range tiers {
		var w wheel.Wheel
		w.Insert(tier, 0, func() {}, true)
		var ids []uint64
		for distance := int64(wheel.Tick); distance > 0; distance <<= 6 {
			if got := w.Levels(tier); got != len(ids) {
				t.Fatalf("tier %d: %d levels have memory, %d were used", tier, got, len(ids))
			}
			ids = append(ids, w.Insert(tier, distance, func() {}, true))
		}
		for _, id := range ids {
			w.Remove(id)
		}
		for other := range tiers {
			if got := w.Levels(other); got > wheel.KeptLevels || other != tier && got > 0 {
				t.Errorf("%d levels of tier %d have memory after timers in tier %d", got, other, tier)
			}
		}
	}
}

// heap returns the bytes of live objects.
func heap() int64 {
	garbage.Collect()
	garbage.Collect()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Steady use does not allocate.
func TestAllocs(t *testing.T) {
	fn := func() {}
	for _, pending := range []int{0, 1000} {
		for _, used := range []wheel.Tier{1, tiers} {
			var w wheel.Wheel
			now := int64(0)
			for i := range pending {
				w.Insert(wheel.Tier(i)%used, int64(i+1)*3_000_000, fn, true)
			}
			const batch = 60
			var ids [batch]uint64
			run := func() {
				for i := range ids {
					ids[i] = w.Insert(wheel.Tier(i/2)%used, now+int64(i)*1_000_000, fn, true)
				}
				for i := 0; i < batch; i += 2 {
					w.Remove(ids[i])
				}
				for i := range ids { // re-arm, as an interval does
					now += 1_000_000
					for tier := range used {
						for {
							due, ok := w.PopDue(tier, now, w.Seq())
							if !ok {
								break
							}
							if due == nil {
								continue
							}
							due()
							if i < batch/2 && w.Len() < pending+batch/2 {
								w.Insert(tier, now+5_000_000, fn, true)
							}
						}
					}
				}
			}
			for range 200 {
				run() // until the levels that the clock passes through are there
			}
			if n := testing.AllocsPerRun(50, run); n != 0 {
				t.Errorf("%d pending in %d tiers: %v allocations in %d inserts and the pops and removals they take", pending, used, n, batch)
			}
		}
	}
}
