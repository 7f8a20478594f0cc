package alternateone_test

// The memory of the queues, and the timers beside a slow model. That queues keep their order is what the conformance kit proves;
// timers of equal deadlines are too rare there.

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/turnloop/turnloop/internal/alternateone"
	"github.com/turnloop/turnloop/internal/loopapi"
)

// TestLineStaysSmall keeps a line from ever being empty: popping moves nothing, and yet the slice does not grow for ever.
func TestLineStaysSmall(t *testing.T) {
	var q alternateone.Line
	must(t, q.Push(alternateone.NewTask(1, noop)))
	for range 100_000 {
		must(t, q.Push(alternateone.NewTask(1, noop)))
		_, err := q.Pop()
		must(t, err)
	}
	if q.Cap() > 64 {
		t.Errorf("a line of at most 2 microtasks has room for %d", q.Cap())
	}
	for range 10_000 {
		must(t, q.Push(alternateone.NewTask(1, noop)))
	}
	for range 10_001 {
		_, err := q.Pop()
		must(t, err)
	}
	if q.Cap() > 4096 {
		t.Errorf("after a burst an empty line has room for %d", q.Cap())
	}
}

// TestChunkCleared looks at the whole of a chunk when the queue has let go of it, where every slot has been written to.
func TestChunkCleared(t *testing.T) {
	var q alternateone.Queue
	for i := range alternateone.ChunkSize + 1 {
		must(t, q.Push(alternateone.NewTask(uint64(i), noop)))
	}
	slots := q.HeadSlots()
	if slots[alternateone.ChunkSize-1].ID() == 0 {
		t.Fatal("the last slot was not written: the test proves nothing")
	}
	for i := range alternateone.ChunkSize {
		_, err := q.Pop()
		must(t, err)
		if i == 0 {
			slots[0] = alternateone.NewTask(1, noop) // a trace that the clearing of what was used would leave
		}
	}
	for i := range slots {
		if !slots[i].Empty() {
			t.Errorf("slot %d of a chunk that was given back is not clear", i)
		}
	}
}

// TestTimersModel schedules, cancels and pops at random beside a sorted list.
func TestTimersModel(t *testing.T) {
	type entry struct {
		id loopapi.TimerID
		at int64
	}
	rng := rand.New(rand.NewPCG(3, 4))
	var ts alternateone.Timers
	var model []entry
	for id := loopapi.TimerID(1); id < 20_000; id++ {
		switch pick := rng.IntN(10); {
		case pick < 5:
			e := entry{id, rng.Int64N(50)}
			must(t, ts.Insert(e.id, e.at, noop))
			model = append(model, e)
		case pick < 7 && len(model) > 0:
			i := rng.IntN(len(model))
			for _, want := range []bool{true, false} {
				if found, err := ts.Cancel(model[i].id); err != nil || found != want {
					t.Fatalf("Cancel of timer %d returned %v, %v, want %v", model[i].id, found, err, want)
				}
			}
			model = slices.Delete(model, i, i+1)
		case len(model) > 0:
			slices.SortFunc(model, func(a, b entry) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.id, b.id)) })
			first := model[0]
			if ts.Due(first.at-1, uint64(id)) || ts.Due(first.at, uint64(first.id)-1) || !ts.Due(first.at, uint64(first.id)) {
				t.Fatalf("timer %d of %d is due at the wrong time", first.id, first.at)
			}
			got, err := ts.Pop()
			if must(t, err); got.ID() != uint64(first.id) {
				t.Fatalf("timer %d fired, want %d", got.ID(), first.id)
			}
			model = model[1:]
		}
		if id%100 == 0 {
			must(t, ts.Audit())
		}
		if ts.Len() != len(model) {
			t.Fatalf("%d timers are pending, want %d", ts.Len(), len(model))
		}
	}
}
