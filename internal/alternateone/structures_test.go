package alternateone_test

// The data structures beside their slow models.

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/turnloop/turnloop/internal/alternateone"
	"github.com/turnloop/turnloop/internal/loopapi"
)

type fifo interface {
	Push(alternateone.Task) error
	Pop() (alternateone.Task, error)
	Len() int
}

// TestOrder pushes and pops in random runs: what comes out is what a slice would give, across chunks and compactions.
func TestOrder(t *testing.T) {
	for name, q := range map[string]fifo{"queue": &alternateone.Queue{}, "line": &alternateone.Line{}} {
		rng := rand.New(rand.NewPCG(1, 2))
		var pushed, popped uint64
		for range 3000 {
			for range rng.IntN(300) {
				pushed++
				must(t, q.Push(alternateone.NewTask(pushed, noop)))
			}
			for range rng.IntN(300) {
				if q.Len() == 0 {
					if _, err := q.Pop(); err == nil {
						t.Fatalf("%s: something came out of an empty queue", name)
					}
					break
				}
				got, err := q.Pop()
				must(t, err)
				if popped++; got.ID() != popped {
					t.Fatalf("%s: %d came out, want %d", name, got.ID(), popped)
				}
			}
			if q.Len() != int(pushed-popped) {
				t.Fatalf("%s: the length is %d, want %d", name, q.Len(), pushed-popped)
			}
		}
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

// TestLineStaysSmall keeps a line from ever being empty: popping moves nothing, and yet the slice does not grow for
// ever.
func TestLineStaysSmall(t *testing.T) {
	var q alternateone.Line
	must(t, q.Push(alternateone.NewTask(1, noop)))
	for i := range 100_000 {
		must(t, q.Push(alternateone.NewTask(uint64(i)+2, noop)))
		_, err := q.Pop()
		must(t, err)
	}
	if q.Cap() > 64 {
		t.Errorf("a line of at most 2 microtasks has room for %d", q.Cap())
	}
	for i := range 10_000 {
		must(t, q.Push(alternateone.NewTask(uint64(i)+1, noop)))
	}
	for q.Len() > 0 {
		_, err := q.Pop()
		must(t, err)
	}
	if q.Cap() > 4096 {
		t.Errorf("after a burst an empty line has room for %d", q.Cap())
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
			found, err := ts.Cancel(model[i].id)
			if must(t, err); !found {
				t.Fatalf("timer %d is not found", model[i].id)
			}
			found, err = ts.Cancel(model[i].id)
			if must(t, err); found {
				t.Fatalf("timer %d is found again after it was cancelled", model[i].id)
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
