package eventloop_test

import (
	"context"
	"math"
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

// The ring against the same model, also from a position about to wrap, and back to little memory after a burst.
func TestRingAgainstModel(t *testing.T) {
	for _, start := range []uint{0, 63, math.MaxUint - 5} {
		r := rand.New(rand.NewPCG(uint64(start), 2))
		var ring eventloop.Ring
		ring.StartAt(start)
		var m numbered
		popped := 0
		for step := range 40_000 {
			if r.IntN(100) < 35+30*(step/4_000%2) {
				ring.Push(m.next())
			} else if ring.Len() > 0 {
				ring.Pop()()
				popped++
				same(t, popped, m.ran, "order")
			}
			same(t, m.made-popped, ring.Len(), "length")
		}
		for ring.Len() > 0 {
			ring.Pop()()
		}
		for _, burst := range []int{2 * eventloop.RingKeep, eventloop.RingKeep + 1, 9 * eventloop.RingKeep, 1} {
			for range burst {
				ring.Push(m.next())
			}
			for popped = m.made - burst; ring.Len() > 0; popped++ {
				same(t, popped, m.ran, "order")
				ring.Pop()()
			}
			require.True(t, ring.Clean(), "nothing popped stays reachable")
			ring.Shrink()
			require.LessOrEqual(t, ring.Cap(), eventloop.RingKeep)
			require.True(t, ring.Clean(), "nothing popped stays reachable")
		}
	}
}
