package eventloop_test

// Tests of the end of groups: beside work that never ends, with one of the loops, and of many loops.

import (
	"context"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/internal/beat"
)

// The end of a group of many loops takes a few goroutines for each, not one for each pair.
func TestGroupOfManyEnds(t *testing.T) {
	const loops = 300
	g := newGroup(t, loops)
	result := runs(g, context.Background())
	var started sync.WaitGroup
	for i := range loops {
		started.Add(1)
		require.NoError(t, g.Loop(i).Submit(started.Done))
	}
	started.Wait()
	require.NoError(t, g.Close())
	before, most := runtime.NumGoroutine(), 0
	for open := true; open; {
		select {
		case <-g.Done():
			open = false
		default:
			most = max(most, runtime.NumGoroutine())
			runtime.Gosched()
		}
	}
	<-result
	require.Less(t, most-before, 10*loops)
}

// A group ends with the first of its loops, however its tasks go on to submit others.
func TestGroupEndsWithOneLoop(t *testing.T) {
	g := newGroup(t, 2)
	result, refused := runs(g, context.Background()), make(chan struct{})
	release := holds(t, g.Loop(1))
	var again func()
	again = func() {
		if g.Submit(again) != nil {
			close(refused)
		}
	}
	require.NoError(t, g.Submit(func() {
		_ = g.Loop(0).Shutdown(context.Background())
		again()
	}))
	beat.Receive(t, refused, "the refusal of a group of which one loop is ending")
	release()
	<-result
}

// A group whose loops have all ended, each by itself, has ended, also if it never ran.
func TestGroupEndsLoopByLoop(t *testing.T) {
	for _, end := range []func(*eventloop.Loop) error{(*eventloop.Loop).Close, func(l *eventloop.Loop) error { return l.Shutdown(context.Background()) }} {
		for _, closes := range []bool{false, true} {
			g, err := eventloop.NewGroup(2)
			require.NoError(t, err)
			for i := range g.Len() {
				if err := end(g.Loop(i)); i == 0 || err != eventloop.ErrLoopTerminated { // the end of the first may have ended the other
					require.NoError(t, err)
				}
			}
			if closes {
				require.ErrorIs(t, g.Close(), eventloop.ErrLoopTerminated)
			}
			beat.Receive(t, g.Done(), "the end of a group whose loops have ended")
		}
	}
}

// Whoever closes one loop of a group drops work, as who closes the group does: Run and Shutdown tell. If that loop is shut
// down, nothing is dropped.
func TestGroupTellsOfAClosedLoop(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(l *eventloop.Loop)
		want error
	}{
		{"closed", func(l *eventloop.Loop) { _ = l.Close() }, eventloop.ErrLoopTerminated},
		{"shut down", func(l *eventloop.Loop) { _ = l.Shutdown(context.Background()) }, nil},
		{"closed while it ends", func(l *eventloop.Loop) {
			_ = l.Shutdown(context.Background())
			_ = l.Close()
		}, eventloop.ErrLoopTerminated},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newGroup(t, 2)
			require.NoError(t, g.Loop(1).Submit(func() { c.end(g.Loop(1)) }))
			require.Equal(t, c.want, <-runs(g, context.Background()))

			g = newGroup(t, 2)
			began, ending := make(chan struct{}), make(chan struct{})
			require.NoError(t, g.Loop(1).Submit(func() {
				close(began)
				<-ending
				c.end(g.Loop(1))
			}))
			result := runs(g, context.Background())
			<-began
			ended := make(chan error, 1)
			go func() { ended <- g.Shutdown(context.Background()) }()
			eventually(t, func() bool { return g.Loop(1).State() == eventloop.StateTerminating }, "a loop goes on while its group ends")
			close(ending)
			require.Equal(t, c.want, <-ended)
			require.Equal(t, c.want, <-result)
		})
	}
}

// A loop that was closed has nothing of the group left, and accepts nothing more, also if nobody asks for the end of the group
// and the loop has not ended.
func TestGroupOfClosedLoops(t *testing.T) {
	for _, closes := range []int{1, 2} {
		g := newGroup(t, 2, eventloop.WithMetrics(true))
		result := runs(g, context.Background())
		releases := []func(){holds(t, g.Loop(0)), holds(t, g.Loop(1))}
		for range 100 {
			require.NoError(t, g.Submit(func() {}))
		}
		for i := range closes {
			require.NoError(t, g.Loop(i).Close())
			require.ErrorIs(t, g.Submit(func() {}), eventloop.ErrLoopTerminated)
		}
		for _, release := range releases {
			release()
		}
		require.ErrorIs(t, <-result, eventloop.ErrLoopTerminated)
		m := g.Metrics()
		require.Zero(t, m.External.Current)
		require.EqualValues(t, 2+100*(2-closes), m.Run, "the loop that was not closed runs them")
	}
}
