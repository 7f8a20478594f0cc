package shared

// Tests of the queue, alone and beside a slice.

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/internal/beat"
	"github.com/turnloop/turnloop/internal/loopapi"
)

func never(bool) {}

// However many fill the queue and empty it: each task comes out once, those of a producer in their order, and Len and Oldest never
// say what was not.
func TestTasksComeOutOnce(t *testing.T) {
	const producers, consumers, each = 3, 3, 20_000
	q := New(0, never)
	var all sync.WaitGroup
	var left atomic.Int64
	left.Store(producers * each)
	out := make([]atomic.Int32, producers*each)
	for p := range producers {
		all.Go(func() {
			for k := range each {
				n := p*each + k
				if _, err := q.Put(Task{Fn: func() { out[n].Add(1); left.Add(-1) }, Accepted: int64(k + 1)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range consumers {
		all.Go(func() {
			last := int64(0)
			for left.Load() > 0 {
				if n, accepted, _ := q.Oldest(); n < 0 || n > producers*each || accepted > each {
					t.Errorf("%d wait, the oldest since %d", n, accepted)
				}
				task, ok := q.Take()
				if !ok {
					runtime.Gosched()
					continue
				}
				if task.Fn(); producers == 1 && task.Accepted < last {
					t.Error("out of order")
				}
				last = task.Accepted
			}
		})
	}
	all.Wait()
	for n := range out {
		require.EqualValues(t, 1, out[n].Load())
	}
	require.Zero(t, q.Len())
	require.True(t, q.Seal())
}

// One goroutine finds in the queue what a slice would have.
func TestQueueIsASlice(t *testing.T) {
	q, ran := New(3*chunkSize, never), 0
	var want []int
	for n := range 20 * chunkSize {
		switch _, err := q.Put(Task{Fn: func() { ran = n }, Accepted: int64(n + 1)}); {
		case len(want) == 3*chunkSize:
			require.ErrorIs(t, err, loopapi.ErrLoopOverloaded)
		default:
			require.NoError(t, err)
			want = append(want, n)
		}
		if n%5 > 2 {
			_, accepted, _ := q.Oldest()
			require.EqualValues(t, want[0]+1, accepted)
			task, ok := q.Take()
			require.True(t, ok)
			task.Fn()
			require.Equal(t, want[0], ran)
			want = want[1:]
		}
		require.Equal(t, len(want), q.Len())
	}
	require.False(t, q.Seal())
	q.Drop()
	require.True(t, q.Seal())
	require.Zero(t, q.Len())
	_, ok := q.Take()
	require.False(t, ok)
}

// What has run is garbage, although the queue and the rest of its chunk live on.
func TestTakenTasksAreGarbage(t *testing.T) {
	q, gone := New(0, never), make(chan struct{})
	func() {
		captured := new([64]byte)
		runtime.AddCleanup(captured, func(c chan struct{}) { close(c) }, gone)
		_, _ = q.Put(Task{Fn: func() { captured[0]++ }})
		_, _ = q.Put(Task{Fn: func() {}})
	}()
	task, _ := q.Take()
	task.Fn()
	task = Task{}
	require.True(t, beat.Until(func() bool {
		runtime.GC()
		select {
		case <-gone:
			return true
		default:
			return false
		}
	}))
	runtime.KeepAlive(q)
}

// A sealed queue refuses without its lock, and the lock is free while a loop is woken: that loop may submit, too.
func TestWhoHasTheLock(t *testing.T) {
	var q *Queue
	wakes := 0
	q = New(0, func(mayYield bool) {
		require.True(t, mayYield)
		if wakes++; wakes == 1 {
			_, err := q.Put(Task{Fn: func() {}})
			require.NoError(t, err)
		}
	})
	_, err := q.Put(Task{Fn: func() {}})
	require.NoError(t, err)
	require.Equal(t, 2, wakes)
	q.Seal()
	q.mu.Lock()
	defer q.mu.Unlock()
	_, err = q.Put(Task{Fn: func() {}})
	require.ErrorIs(t, err, loopapi.ErrLoopTerminated)
}
