package eventloop_test

// Tests of the queue.

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
)

// same is require.Equal for where there are so many steps that what a test needs to fail, and to tell where, is most of
// its work.
func same[T comparable](t *testing.T, want, got T, what string) {
	if want != got {
		t.Helper()
		require.Equal(t, want, got, what)
	}
}

// numbered makes functions that tell which one they are.
type numbered struct {
	made, ran int
}

func (m *numbered) next() func() {
	m.made++
	n := m.made
	return func() { m.ran = n }
}

// The queue against the obvious model, a counter of what should come next: long random runs of pushes, pops and
// exchanges, biased so that lengths drift over many chunk borders and back to empty.
func TestQueueAgainstModel(t *testing.T) {
	for seed := range uint64(scale(2, 8, 8)) {
		r := rand.New(rand.NewPCG(seed, 1))
		var in, out eventloop.Queue // in is the inbox's lane, out the loop's own, as in Loop.take
		var m numbered
		popped := 0
		for range 10_000 {
			push := r.IntN(100) < 30+40*(popped/1500%2)
			if push {
				in.Push(m.next())
				continue
			}
			if out.Empty() {
				out.Swap(&in)
				same(t, true, in.Empty(), "what was read to its end is empty")
				same(t, true, in.Clean(), "and as good as new")
			}
			if out.Empty() {
				same(t, m.made, popped, "empty too early")
				continue
			}
			out.Pop()()
			popped++
			same(t, popped, m.ran, "order")
			if popped%97 == 0 {
				require.True(t, out.Clean(), "nothing popped stays reachable")
			}
		}
	}
}

// Every length around the borders of chunks.
func TestQueueChunkBorders(t *testing.T) {
	const c = eventloop.ChunkSize
	for _, n := range []int{0, 1, c - 1, c, c + 1, 2*c - 1, 2 * c, 2*c + 1, 5*c + 3} {
		for range 3 { // the second and third time over what the first left behind
			var q eventloop.Queue
			var m numbered
			for range n {
				q.Push(m.next())
			}
			require.Equal(t, n == 0, q.Empty())
			for i := range n {
				q.Pop()()
				same(t, i+1, m.ran, "order")
			}
			require.True(t, q.Empty())
			require.True(t, q.Clean())
		}
	}
}

// A producer makes a chunk without the lock. What others do meanwhile is as if they had come before.
func TestWhileAChunkIsMade(t *testing.T) {
	t.Run("another producer", func(t *testing.T) {
		l, err := eventloop.New(eventloop.WithAutoExit(true), eventloop.WithPanicHandler(func(p *eventloop.PanicError) {
			t.Error(p) // a slot that nobody has written
		}))
		require.NoError(t, err)
		var m numbered
		eventloop.WhileAChunkIsMade(func() { require.NoError(t, l.Submit(m.next())) })
		require.NoError(t, l.Submit(func() { require.Equal(t, 1, m.ran) }))
		require.NoError(t, l.Submit(m.next()))
		require.NoError(t, l.Run(context.Background()))
		require.Equal(t, 2, m.ran)
	})
	t.Run("the end", func(t *testing.T) {
		for _, submit := range []func(*eventloop.Loop, func()) error{
			(*eventloop.Loop).Submit, (*eventloop.Loop).SubmitInternal, (*eventloop.Loop).ScheduleMicrotask,
		} {
			l, err := eventloop.New()
			require.NoError(t, err)
			eventloop.WhileAChunkIsMade(func() { require.NoError(t, l.Close()) })
			require.ErrorIs(t, submit(l, func() {}), eventloop.ErrLoopTerminated)
		}
	})
	t.Run("sleep", func(t *testing.T) {
		l := run(t, &fakePoller{})
		began, release, ran := make(chan struct{}), make(chan struct{}), make(chan struct{})
		require.NoError(t, l.Submit(func() { close(began); <-release }))
		<-began
		eventloop.WhileAChunkIsMade(func() {
			close(release)
			eventually(t, asleep(l), "the loop sleeps")
		})
		require.NoError(t, l.Submit(func() { close(ran) }))
		<-ran
	})
}

// The loop's own microtasks against the same model: it adds to the queue, others to a lane, which joins it now and then.
// However they mix, the order is that of arrival at the queue, and an empty queue has one chunk.
func TestQueueJoins(t *testing.T) {
	for seed := range uint64(scale(3, 12, 12)) {
		r := rand.New(rand.NewPCG(seed, 2))
		var own, lane eventloop.Queue
		ran, want := []int(nil), []int(nil)
		var waiting []int // in the lane
		number := 0
		some := func(add func(func()), most int) (added []int) {
			for range r.IntN(most) {
				number++
				n := number
				add(func() { ran = append(ran, n) })
				added = append(added, n)
			}
			return added
		}
		for step := range 3_000 {
			most := 1 + []int{3, eventloop.ChunkSize + 2, 3 * eventloop.ChunkSize}[step/500%3]
			switch r.IntN(4) {
			case 0:
				want = append(want, some(own.Add, most)...)
			case 1:
				waiting = append(waiting, some(lane.Push, most)...)
			case 2:
				own.Join(&lane)
				same(t, true, lane.Empty() && lane.Clean(), "what has joined is in one place")
				want, waiting = append(want, waiting...), nil
			default:
				for range r.IntN(2 * most) {
					if !own.Empty() {
						own.Pop()()
					}
				}
			}
			same(t, len(want)-len(ran), own.Len(), "length")
			if step%100 == 0 {
				require.True(t, own.Clean(), "nothing popped stays reachable")
			}
		}
		for !own.Empty() {
			own.Pop()()
		}
		require.Equal(t, want, ran)
		require.LessOrEqual(t, own.Chunks(), 1, "a burst leaves nothing behind")
		require.True(t, own.Clean())
	}
}

// Functions that join one by one, with others between them, share chunks.
func TestQueueJoinsOfFew(t *testing.T) {
	var own, lane eventloop.Queue
	var m numbered
	for range 1000 {
		lane.Push(m.next())
		own.Join(&lane)
		own.Add(m.next())
	}
	require.LessOrEqual(t, own.Chunks(), 2*2000/eventloop.ChunkSize)
	for i := range 2000 {
		own.Pop()()
		same(t, i+1, m.ran, "order")
	}
}
