package crew_test

// Tests of a crew without a loop: which goroutines are in it, and which functions get one.

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/internal/crew"
)

// Whoever works for the loop is known for that until it has done, however many do.
func TestCrew(t *testing.T) {
	var c crew.Crew
	for range 3 {
		var entered, asked, left sync.WaitGroup
		leave := make(chan struct{})
		const all = 300
		entered.Add(all)
		asked.Add(all)
		for n := range all {
			stranger := n%3 == 0
			left.Go(func() {
				if !stranger {
					c.Begin(true)
				}
				entered.Done()
				entered.Wait()
				if c.Has() == stranger {
					t.Errorf("%d: %v", n, !stranger)
				}
				asked.Done()
				if <-leave; !stranger {
					c.Leave()
				}
				if c.Has() {
					t.Errorf("%d has left", n)
				}
			})
		}
		asked.Wait()
		close(leave)
		left.Wait()
	}
}

// work is a function that waits at its gate, and notes that it was called or refused.
type work struct {
	begun, guest, refused atomic.Bool
	called                atomic.Bool
	gate                  chan struct{}
}

func (w *work) Begun() bool     { return w.begun.Load() }
func (w *work) Unrefused() bool { return w.guest.Load() }
func (w *work) Refuse()         { w.refused.Store(true) }

// start hands n functions to a crew.
func start(c *crew.Crew, n int) (all []*work) {
	for range n {
		w := &work{gate: make(chan struct{})}
		all = append(all, w)
		c.Start(w, func() {
			taken := !w.begun.Swap(true)
			if c.Begin(taken); !taken {
				return
			}
			defer c.Leave()
			if !w.refused.Load() {
				w.called.Store(true)
				<-w.gate
			}
		})
	}
	return all
}

// called returns which of them were called.
func called(all []*work) (n []int) {
	for i, w := range all {
		if w.called.Load() {
			n = append(n, i)
		}
	}
	return n
}

// Under a limit so many functions run at a time, the next in order as one returns; those that were cancelled meanwhile are passed
// over. Refuse refuses those that wait, but for guests, and those that come.
func TestLimit(t *testing.T) {
	for _, refuse := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var c crew.Crew
			c.Init(2)
			all := start(&c, 6)
			all[4].guest.Store(true)
			synctest.Wait()
			require.Equal(t, []int{0, 1}, called(all))
			require.Equal(t, []int{4, 2, 4}, []int{c.Queued(), c.Size(), c.Waiting()})
			require.False(t, all[2].begun.Swap(true))
			c.Drop() // the context of the third has ended
			want := []int{0, 1, 3, 4, 5}
			if refuse {
				c.Refuse()
				synctest.Wait()
				require.Equal(t, refuse, c.Refused())
				all = append(all, start(&c, 1)...)
				want = []int{0, 1, 4}
			}
			empty := c.WhenEmpty()
			for _, w := range all {
				close(w.gate)
				synctest.Wait()
			}
			<-empty
			require.Equal(t, want, called(all))
			require.Equal(t, []int{0, 0, 0}, []int{c.Queued(), c.Size(), c.Waiting()})
		})
	}
}

// Without a limit there are few goroutines at a time that have not begun; all functions are called in the end, and
// none when the crew has ended but those that have a goroutine.
func TestDeferred(t *testing.T) {
	for _, end := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var c crew.Crew
			all := start(&c, 4*crew.Many)
			if queued := c.Queued(); end {
				for _, w := range all {
					w.refused.Store(true)
				}
				c.End()
				require.LessOrEqual(t, queued, 3*crew.Many)
			}
			for _, w := range all {
				close(w.gate)
			}
			synctest.Wait()
			require.True(t, end || len(called(all)) == len(all))
			require.False(t, slices.ContainsFunc(all, func(w *work) bool { return !w.begun.Load() }))
			require.Equal(t, []int{0, 0, 0}, []int{c.Queued(), c.Size(), c.Waiting()})
			<-c.WhenEmpty()
		})
	}
}
