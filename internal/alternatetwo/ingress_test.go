package alternatetwo_test

// Tests of the lock-free lanes.

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/turnloop/turnloop/internal/alternatetwo"
)

// TestLaneLateProducer: a producer that looked at a segment long ago finds no slot in it while it is pooled.
func TestLaneLateProducer(t *testing.T) {
	q := alternatetwo.NewLane()
	late := q.Tail()
	for range alternatetwo.SegmentSize + 1 {
		q.Push(func() {})
	}
	for range alternatetwo.SegmentSize + 1 {
		q.Pop()()
	}
	for range 1000 {
		if late() {
			t.Fatal("a late producer claimed a slot in a segment that is not in the queue")
		}
	}
	for range 3 * alternatetwo.SegmentSize { // brings the segment back, unless the pool has forgotten it
		q.Push(func() {})
		if fn := q.Pop(); fn == nil {
			t.Fatal("a function was lost after a late producer")
		}
	}
}

// TestLaneReuseBehindTail: a pooled segment that comes back has no free slot before it is the tail. Otherwise late
// producers could fill it and link the next one, and then the tail would go back.
func TestLaneReuseBehindTail(t *testing.T) {
	q := alternatetwo.NewLane()
	var watched atomic.Pointer[func() bool]
	var turn atomic.Int64 // a look counts when it begins and ends in the same one
	var early, over atomic.Bool
	var group sync.WaitGroup
	group.Go(func() {
		for !over.Load() {
			free, begun := watched.Load(), turn.Load()
			if free != nil && (*free)() && turn.Load() == begun {
				early.Store(true)
			}
		}
	})
	rounds := 20_000
	if testing.Short() {
		rounds = 2000
	}
	for range rounds {
		free := q.FreeBehindTail()
		for range alternatetwo.SegmentSize {
			turn.Add(1)
			q.Push(func() {})
		}
		watched.Store(&free)
		for range alternatetwo.SegmentSize { // turns over to the next segment, and then back, unless the pool forgot
			turn.Add(1)
			q.Push(func() {})
			q.Pop()()
		}
		for fn := q.Pop(); fn != nil; fn = q.Pop() {
			fn()
		}
	}
	over.Store(true)
	group.Wait()
	if early.Load() {
		t.Error("a segment that is not the tail had a free slot")
	}
}

// TestLaneClose closes in the midst of pushes: what was accepted comes out, once, and nothing else.
func TestLaneClose(t *testing.T) {
	rounds := 3000
	if testing.Short() {
		rounds = 300
	}
	for round := range rounds {
		q := alternatetwo.NewLane()
		var accepted, ran atomic.Int64
		var group sync.WaitGroup
		for range 3 {
			group.Go(func() {
				for range 2 * alternatetwo.SegmentSize {
					if q.Push(func() { ran.Add(1) }) {
						accepted.Add(1)
					}
				}
			})
		}
		group.Go(func() {
			for range round % 50 {
				runtime.Gosched()
			}
			q.Close()
			q.Close()
		})
		over := make(chan struct{})
		go func() { group.Wait(); close(over) }()
		for open := true; open || !q.Seal(); {
			if fn := q.Pop(); fn != nil {
				fn()
				continue
			}
			select {
			case <-over:
				open = false
			default:
				runtime.Gosched()
			}
		}
		if q.Push(func() {}) {
			t.Fatal("a closed lane accepted")
		}
		if !q.Empty() || !q.Seal() {
			t.Fatal("refused functions count as queued")
		}
		if accepted.Load() != ran.Load() {
			t.Fatalf("round %d: %d accepted, %d came out", round, accepted.Load(), ran.Load())
		}
	}
}

// TestLaneCloseAtSeam closes while a producer is about to link the next segment: its function was accepted, and the
// closing takes effect in the new segment.
func TestLaneCloseAtSeam(t *testing.T) {
	q := alternatetwo.NewLane()
	ran := 0
	task := func() { ran++ }
	for range alternatetwo.SegmentSize {
		q.Push(task)
	}
	finish := q.Stall()
	closed := make(chan struct{})
	go func() { q.Close(); close(closed) }()
	for range alternatetwo.SegmentSize {
		q.Pop()()
	}
	for range 1000 {
		runtime.Gosched()
		if q.Empty() || q.Pop() != nil {
			t.Fatal("a function that is accepted and not yet linked is overlooked, or there too early")
		}
	}
	finish(task)
	<-closed
	if q.Push(task) {
		t.Fatal("a closed lane accepted")
	}
	for fn := q.Pop(); fn != nil; fn = q.Pop() {
		fn()
	}
	if ran != alternatetwo.SegmentSize+1 || !q.Seal() {
		t.Fatalf("%d functions of %d came out", ran, alternatetwo.SegmentSize+1)
	}
}
