package inbox_test

// Tests of the queue.

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/internal/inbox"
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

// put pushes as a producer does.
func put(b *inbox.Inbox, fn func()) {
	if b.Full() {
		b.Grow(inbox.Chunks.Get().(*inbox.Chunk), 0)
	}
	b.Push(fn)
}

// The queue against the obvious model, a counter of what should come next: long random runs of pushes, pops and
// exchanges, biased so that lengths drift over many chunk borders and back to empty.
func TestQueueAgainstModel(t *testing.T) {
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 1))
		var in inbox.Inbox
		var out inbox.Queue // the loop's own
		var m numbered
		popped := 0
		for range 10_000 {
			push := r.IntN(100) < 30+40*(popped/1500%2)
			if push {
				put(&in, m.next())
				continue
			}
			if out.Len() == 0 {
				in.Take(&out, 0)
				same(t, true, in.Len() == 0, "what was read to its end is empty")
				same(t, true, in.Clean(), "and as good as new")
			}
			if out.Len() == 0 {
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
	const c = inbox.ChunkSize
	for _, n := range []int{0, 1, c - 1, c, c + 1, 2*c - 1, 2 * c, 2*c + 1, 5*c + 3} {
		for range 3 { // the second and third time over what the first left behind
			var q inbox.Queue
			var m numbered
			for range n {
				q.Add(m.next())
			}
			require.Equal(t, n == 0, q.Len() == 0)
			for i := range n {
				q.Pop()()
				same(t, i+1, m.ran, "order")
			}
			require.Zero(t, q.Len())
			require.True(t, q.Clean())
		}
	}
}

// The loop's own microtasks against the same model: it adds to the queue, others to an inbox, which joins it now and then.
// However they mix, the order is that of arrival at the queue, and an empty queue has one chunk.
func TestQueueJoins(t *testing.T) {
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 2))
		var own inbox.Queue
		var lane inbox.Inbox
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
			most := 1 + []int{3, inbox.ChunkSize + 2, 3 * inbox.ChunkSize}[step/500%3]
			switch r.IntN(4) {
			case 0:
				want = append(want, some(own.Add, most)...)
			case 1:
				waiting = append(waiting, some(func(fn func()) { put(&lane, fn) }, most)...)
			case 2:
				lane.Join(&own)
				same(t, true, lane.Len() == 0 && lane.Clean(), "what has joined is in one place")
				want, waiting = append(want, waiting...), nil
			default:
				for range r.IntN(2 * most) {
					if own.Len() != 0 {
						own.Pop()()
					}
				}
			}
			same(t, len(want)-len(ran), own.Len(), "length")
			if step%100 == 0 {
				require.True(t, own.Clean(), "nothing popped stays reachable")
			}
		}
		for own.Len() != 0 {
			own.Pop()()
		}
		require.Equal(t, want, ran)
		require.LessOrEqual(t, own.Chunks(), 1, "a burst leaves nothing behind")
		require.True(t, own.Clean())
	}
}

// Functions that join one by one, with others between them, share chunks.
func TestQueueJoinsOfFew(t *testing.T) {
	var own inbox.Queue
	var lane inbox.Inbox
	var m numbered
	for range 1000 {
		put(&lane, m.next())
		lane.Join(&own)
		own.Add(m.next())
	}
	require.LessOrEqual(t, own.Chunks(), 2*2000/inbox.ChunkSize)
	for i := range 2000 {
		own.Pop()()
		same(t, i+1, m.ran, "order")
	}
}
