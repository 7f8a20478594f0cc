package alternateone_test

// The memory of the queue. That it keeps its order is what the conformance kit proves.

import (
	"testing"

	"github.com/turnloop/turnloop/internal/alternateone"
)

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
