package eventloop_test

// Tests of wakes: no task of a group waits while a loop has nothing to do.

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/internal/beat"
)

// So does one of a loop's own that goes first in its turn, although the loop was woken for the task of the group.
func TestGroupTasksPassALoopsOwn(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // so that both wait when the loop begins its tick
	g := newGroup(t, 2)
	runs(g, context.Background())
	l := g.Loop(0) // which the first task wakes
	for range 20 {
		rest(l, g.Loop(1))
		l.OwnFirst()
		ran, both := make(chan struct{}), make(chan struct{})
		require.NoError(t, g.Submit(func() { close(ran) }))
		require.NoError(t, l.Submit(func() {
			<-ran
			close(both)
		}))
		beat.Receive(t, both, "the task of the group, while a loop sleeps")
	}
}

// A task runs at once on a loop that has nothing to do, whatever the others are busy with: tasks of the group or their own. That
// loop may be asleep, or become so later.
func TestGroupWakesIdle(t *testing.T) {
	const loops = 3
	for _, own := range []bool{false, true} {
		for _, later := range []bool{false, true} {
			t.Run(fmt.Sprintf("own=%t/later=%t", own, later), func(t *testing.T) {
				g := newGroup(t, loops)
				result := runs(g, context.Background())
				for round := range 20 {
					idle, begun, others, busy := round%loops, make(chan int), make(chan struct{}), make(chan struct{})
					for i := range loops {
						block := others
						if i == idle {
							block = busy
						}
						fn := func() {
							begun <- i
							<-block
						}
						if own {
							require.NoError(t, g.Loop(i).Submit(fn))
						} else {
							require.NoError(t, g.Submit(fn))
						}
						<-begun
					}
					task := func() { close(others) }
					if !later {
						close(busy)
						eventually(t, func() bool { return sleepers(g) == 1 }, "a loop without tasks does not sleep")
					}
					require.NoError(t, g.Submit(task))
					if later {
						close(busy)
					}
					beat.Receive(t, others, "a task, while a loop is idle")
				}
				require.NoError(t, g.Shutdown(context.Background()))
				require.NoError(t, <-result)
			})
		}
	}
}

// sleepers returns how many loops of a group sleep.
func sleepers(g *eventloop.Group) (n int) {
	for i := range g.Len() {
		if g.Loop(i).State() == eventloop.StateSleeping {
			n++
		}
	}
	return n
}
