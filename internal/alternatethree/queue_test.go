package alternatethree_test

// The memory of the queue, and the lock that the loop's own microtasks do without. That queues keep their order is what the
// conformance kit proves.

import (
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
