package eventloop_test

// Tests of groups: where tasks run, the choice of a loop, and how a group ends.

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/threadlet"
	"github.com/turnloop/turnloop/internal/beat"
)

func newGroup(t testing.TB, n int, opts ...eventloop.Option) *eventloop.Group {
	t.Helper()
	g, err := eventloop.NewGroup(n, append([]eventloop.Option{eventloop.WithLogger(slog.New(slog.DiscardHandler))}, opts...)...)
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = g.Close()
		beat.Wait(g.Done())
	})
	return g
}

// runs runs a group, and returns what Run does.
func runs(g *eventloop.Group, ctx context.Context) <-chan error {
	result := make(chan error, 1)
	go func() { result <- g.Run(ctx) }()
	return result
}

func TestGroupClose(t *testing.T) {
	for seed := range uint64(60) {
		g := newGroup(t, 3)
		result := runs(g, context.Background())
		var over atomic.Bool
		var late, ran atomic.Int32
		var group sync.WaitGroup
		for range 2 {
			group.Go(func() {
				for g.Submit(func() {
					if ran.Add(1); over.Load() {
						late.Add(1)
					}
				}) == nil {
				}
			})
		}
		for ran.Load() < int32(seed) {
			runtime.Gosched()
		}
		require.NoError(t, g.Close())
		// Whatever was running has begun before; give it time to say so.
		<-g.Done()
		over.Store(true)
		group.Wait()
		require.ErrorIs(t, <-result, eventloop.ErrLoopTerminated)
		require.Zero(t, late.Load())
		require.ErrorIs(t, g.Close(), eventloop.ErrLoopTerminated)
		require.ErrorIs(t, g.Shutdown(context.Background()), eventloop.ErrLoopTerminated)
		require.ErrorIs(t, g.Run(context.Background()), eventloop.ErrLoopTerminated)
		require.ErrorIs(t, g.Submit(func() {}), eventloop.ErrLoopTerminated)
	}
}

func TestGroupLifecycle(t *testing.T) {
	_, err := eventloop.NewGroup(-1)
	require.ErrorContains(t, err, "NewGroup(-1)")
	_, err = eventloop.NewGroup(2, eventloop.WithAutoExit(true))
	require.ErrorContains(t, err, "WithAutoExit")
	_, err = eventloop.NewGroup(2, eventloop.WithTickBudget(-1))
	require.ErrorContains(t, err, "WithTickBudget")
	require.Equal(t, runtime.GOMAXPROCS(0), newGroup(t, 0).Len())

	g := newGroup(t, 2)
	require.ErrorIs(t, g.Submit(nil), eventloop.ErrNilCallback)
	ctx, cancel := context.WithCancel(context.Background())
	result := runs(g, ctx)
	reentrant := make(chan error, 1)
	require.NoError(t, g.Submit(func() { reentrant <- g.Run(ctx) }))
	require.ErrorIs(t, <-reentrant, eventloop.ErrReentrantRun)
	require.ErrorIs(t, g.Run(ctx), eventloop.ErrLoopAlreadyRunning)
	cancel()
	require.ErrorIs(t, <-result, context.Canceled)

	g = newGroup(t, 3) // who ends one of the loops ends all
	result = runs(g, context.Background())
	rest(g.Loop(0), g.Loop(1), g.Loop(2))
	require.NoError(t, g.Loop(1).Shutdown(context.Background()))
	require.NoError(t, <-result)
	<-g.Done()

	g = newGroup(t, 2) // from a callback
	result = runs(g, context.Background())
	require.NoError(t, g.Submit(func() { reentrant <- g.Shutdown(context.Background()) }))
	require.NoError(t, <-reentrant)
	require.NoError(t, <-result)

	g = newGroup(t, 2, eventloop.WithQueueLimit(3))
	for err = nil; err == nil; err = g.Submit(func() {}) {
	}
	require.ErrorIs(t, err, eventloop.ErrLoopOverloaded)

	g = newGroup(t, 2, eventloop.WithQueueLimit(3)) // full queues of the loops leave room for the group's tasks
	for i := range g.Len() {
		for g.Loop(i).Submit(func() {}) == nil {
		}
	}
	for range 2 * 3 {
		require.NoError(t, g.Submit(func() {}))
	}
	require.ErrorIs(t, g.Submit(func() {}), eventloop.ErrLoopOverloaded)
}

// holds has a loop that runs wait in a callback until release is called.
func holds(t testing.TB, l *eventloop.Loop) (release func()) {
	begun, end := make(chan struct{}), make(chan struct{})
	require.NoError(t, l.Submit(func() { close(begun); <-end }))
	beat.Wait(begun)
	return func() { close(end) }
}

// A key has one loop, and many keys have all loops.
func TestGroupLoopFor(t *testing.T) {
	g, err := eventloop.NewGroup(4)
	require.NoError(t, err)
	keys := map[*eventloop.Loop]int{}
	for i := range 1000 {
		l := g.LoopFor(strconv.Itoa(i))
		require.Same(t, l, g.LoopFor(strconv.Itoa(i)))
		keys[l]++
	}
	for i := range g.Len() {
		require.Greater(t, keys[g.Loop(i)], 100) // of 250
	}
	require.NoError(t, g.Close())
}

// Least counts descriptors and threadlets, and tasks wherever they wait; what has ended, it counts no more.
func TestGroupLeast(t *testing.T) {
	g := newGroup(t, 3)
	runs(g, context.Background())
	near, far := newPair(t)
	defer closeAll(near, far)
	require.NoError(t, g.Loop(0).RegisterFD(near, eventloop.EventRead, func(eventloop.IOEvents) {}))
	for _, tasks := range []int{0, 1, 100, 100_000} {
		began, ends, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
		block := func() { close(began); <-ends }
		require.NoError(t, g.Loop(1).Submit(block))
		<-began
		for range tasks {
			require.NoError(t, g.Loop(1).Submit(func() {}))
		}
		require.NoError(t, g.Loop(1).Submit(func() { close(ended) }))
		for range 30 {
			require.Equal(t, 2, least(g), "%d tasks", tasks)
		}
		close(ends)
		<-ended
		eventually(t, func() bool { return least(g) == 1 }, "%d tasks that have run count", tasks)
	}

	sleeps, err := threadlet.Go(g.Loop(1), func() { _ = threadlet.Sleep(time.Hour) })
	require.NoError(t, err)
	eventually(t, func() bool { return len(threadlet.Threadlets(g.Loop(1))) == 1 }, "a threadlet does not begin")
	rest(g.Loop(1))
	for range 30 {
		require.Equal(t, 2, least(g))
	}
	sleeps.Signal()
	require.NoError(t, sleeps.Join(context.Background()))
	eventually(t, func() bool { return least(g) == 1 }, "a threadlet that has ended counts")

	// One descriptor is less than a thousand tasks, whether the loop has taken them or not.
	g = newGroup(t, 2)
	near, far = newPair(t)
	defer closeAll(near, far)
	began, ends := make(chan struct{}), make(chan struct{})
	require.NoError(t, g.Loop(1).Submit(func() { close(began); <-ends }))
	for range 30 {
		require.Equal(t, 0, least(g))
	}
	require.NoError(t, g.Loop(0).RegisterFD(near, eventloop.EventRead, func(eventloop.IOEvents) {}))
	for range 1000 {
		require.NoError(t, g.Loop(1).Submit(func() {}))
	}
	for range 30 {
		require.Equal(t, 0, least(g))
	}
	runs(g, context.Background())
	<-began
	for range 30 {
		require.Equal(t, 0, least(g))
	}
	close(ends)

	// So it is less than what a callback submits to its own loop.
	submitted, goesOn := make(chan struct{}), make(chan struct{})
	require.NoError(t, g.Loop(1).Submit(func() {
		for range 1000 {
			g.Loop(1).Submit(func() {})
		}
		close(submitted)
		<-goesOn
	}))
	<-submitted
	for range 30 {
		require.Equal(t, 0, least(g))
	}
	close(goesOn)
}

// least returns the number of the loop that Least returns.
func least(g *eventloop.Group) (i int) {
	for l := g.Least(); g.Loop(i) != l; i++ {
	}
	return i
}

// What a task of a group costs beside one of a single loop, until all have run. A group of one hands its tasks to the loop.
func BenchmarkGroupSubmit(b *testing.B) {
	nop := func() {}
	for _, loops := range []int{1, 2} {
		for how, submit := range map[string]func(g *eventloop.Group) error{
			"group": func(g *eventloop.Group) error { return g.Submit(nop) },
			"loop":  func(g *eventloop.Group) error { return g.Loop(0).Submit(nop) },
		} {
			b.Run(fmt.Sprintf("loops=%d/%s", loops, how), func(b *testing.B) {
				g := newGroup(b, loops)
				ended, running := runs(g, context.Background()), make(chan struct{})
				require.NoError(b, g.Submit(func() { close(running) }))
				<-running
				b.ResetTimer()
				for range b.N {
					_ = submit(g)
				}
				require.NoError(b, g.Shutdown(context.Background()))
				require.NoError(b, <-ended)
			})
		}
	}
}

// A loop that ends refuses calls of Promisify without the lock of its inbox, and changes of its mode without that of its
// descriptors: it needs these for what it has accepted, and would queue behind all goroutines that try again and again.
func TestRefusalsTakeNoLock(t *testing.T) {
	g := newGroup(t, 2)
	result := runs(g, context.Background())
	running, release, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	require.NoError(t, g.Loop(0).Submit(func() { close(running); <-release }))
	<-running
	go func() { ended <- g.Shutdown(context.Background()) }()
	for g.Submit(func() {}) == nil || g.Loop(0).State() != eventloop.StateTerminating {
		runtime.Gosched()
	}
	refused := make(chan error, 2)
	g.Loop(0).LockTable()
	g.Loop(0).WithUrgentLock(func() {
		go func() {
			p := g.Loop(0).Promisify(context.Background(), func(context.Context) (any, error) { return nil, nil })
			_, err := p.Await(context.Background())
			refused <- err
			refused <- g.Loop(0).SetFastPathMode(eventloop.FastPathDisabled)
		}()
		for range 2 {
			require.ErrorIs(t, beat.Receive(t, refused, "a refusal, while somebody has the locks"), eventloop.ErrLoopTerminated)
		}
	})
	g.Loop(0).UnlockTable()
	close(release)
	require.NoError(t, <-ended)
	require.NoError(t, <-result)
}
