package alternatethree_test

// The memory of the queues, the lock that the loop's own microtasks do without, and the timers beside a slow model. That queues
// keep their order is what the conformance kit proves; timers of equal deadlines are too rare there.

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/turnloop/turnloop/internal/alternatethree"
	"github.com/turnloop/turnloop/internal/beat"
	"github.com/turnloop/turnloop/internal/loopapi"
)

func TestChunksAreClearedInFull(t *testing.T) {
	var q alternatethree.List
	for range 3 {
		q.Push(func() {})
	}
	slots := q.Slots()
	slots[100] = func() {} // a slot that the indices know nothing of
	q.Pop()
	if slots[0] != nil {
		t.Error("a popped function is still in its slot")
	}
	q.Pop()
	q.Pop()
	for i, fn := range slots {
		if fn != nil {
			t.Errorf("slot %d of a chunk that was given back is not clear", i)
		}
	}
}

func TestRingGivesABurstBack(t *testing.T) {
	var r alternatethree.Ring
	for range 5000 {
		r.Push(func() {})
	}
	for range 5000 {
		r.Pop()
	}
	if r.Shrink(); r.Cap() > 1024 {
		t.Errorf("an empty ring keeps a buffer of %d", r.Cap())
	}
}

// TestOwnMicrotasksTakeNoLock schedules with the ingress locked: who took the lock would wait for itself.
func TestOwnMicrotasksTakeNoLock(t *testing.T) {
	l := newRunning(t, loopapi.Config{})
	ran := make(chan struct{})
	must(t, l.Submit(func() {
		unlock := l.LockIngress()
		defer unlock()
		if err := l.ScheduleMicrotask(func() { close(ran) }); err != nil {
			t.Errorf("ScheduleMicrotask: %v", err)
		}
	}))
	beat.Receive(t, ran, "a microtask scheduled on the loop")
}

func TestTimersAreAHeap(t *testing.T) {
	type pending struct {
		at int64
		id loopapi.TimerID
	}
	rng := rand.New(rand.NewPCG(3, 3))
	for range 20 {
		l := newUnstarted(t, loopapi.Config{})
		var model []pending // sorted by deadline, and then by order of scheduling
		var fired []loopapi.TimerID
		for range 2000 {
			switch rng.IntN(4) {
			case 0, 1:
				at := int64(rng.IntN(200))
				var id loopapi.TimerID
				id = l.Insert(at, func() { fired = append(fired, id) })
				i := slices.IndexFunc(model, func(p pending) bool { return p.at > at })
				if i < 0 {
					i = len(model)
				}
				model = slices.Insert(model, i, pending{at, id})
			case 2:
				if len(model) == 0 {
					continue
				}
				i := rng.IntN(len(model))
				id := model[i].id
				must(t, l.CancelTimer(id))
				if err := l.CancelTimer(id); err != loopapi.ErrTimerNotFound {
					t.Fatalf("the second CancelTimer returned %v", err)
				}
				model = slices.Delete(model, i, i+1)
			case 3:
				now := int64(rng.IntN(200))
				fired = fired[:0]
				for fn := l.PopDue(now); fn != nil; fn = l.PopDue(now) {
					fn()
				}
				var want []loopapi.TimerID
				for len(model) > 0 && model[0].at < now {
					want = append(want, model[0].id)
					model = model[1:]
				}
				if !slices.Equal(fired, want) {
					t.Fatalf("at %d timers %v fired, want %v", now, fired, want)
				}
			}
		}
		must(t, l.Shutdown(context.Background()))
	}
}
