package eventloop_test

// Tests of the inboxes: what a submission publishes, and when its caller gives way.

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
)

// What was written before a submission is seen by what was submitted, also when the loop is awake already and nobody
// has to wake it, and what that wrote is seen by who waits for it. The race detector sees to it: nothing else than the
// submission orders these plain accesses.
func TestSubmissionsPublish(t *testing.T) {
	l := observed(t)
	lanes := []func(fn func()) error{
		l.Submit, l.SubmitInternal, l.ScheduleMicrotask, l.NextTick,
		func(fn func()) error { _, err := l.ScheduleTimer(0, fn); return err },
		func(fn func()) error {
			l.Promisify(context.Background(), func(context.Context) (any, error) { return nil, nil }).
				Then(func(any) (any, error) { fn(); return nil, nil }, nil)
			return nil
		},
	}
	type slot struct{ there, back int }
	var producers sync.WaitGroup
	for p := range 4 { // several, so that most find the loop awake or being woken
		producers.Go(func() {
			for i := range scale(200, 2000, 100_000) {
				s := new(slot)
				s.there = i + 1
				back := make(chan struct{}, 1)
				require.NoError(t, lanes[(i+p)%len(lanes)](func() { s.back = s.there; back <- struct{}{} }))
				if i%16 == 0 {
					time.Sleep(time.Microsecond) // now and then the loop sleeps
				}
				<-back
				require.Equal(t, i+1, s.back)
			}
		})
	}
	producers.Wait()
	require.NoError(t, l.Shutdown(context.Background()))
}

// Who is far ahead of the loop lets others run, in every lane: on one processor nobody else would in so short a time.
func TestGivingWay(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	l := made(t)
	defer l.Close()
	g := newGroup(t, 2)
	for name, submit := range map[string]func(fn func()) error{
		"Submit": l.Submit, "SubmitInternal": l.SubmitInternal, "ScheduleMicrotask": l.ScheduleMicrotask, "of a group": g.Submit,
		"ScheduleTimer": func(fn func()) error { _, err := l.ScheduleTimer(0, fn); return err },
	} {
		far := 4000
		if name == "of a group" {
			far *= g.Len() // each loop gets its part
		}
		var err error
		for range far { // or not yet
			err = errors.Join(err, submit(func() {}))
		}
		var ran atomic.Bool
		go ran.Store(true)
		for range far / 4 {
			err = errors.Join(err, submit(func() {}))
		}
		require.NoError(t, err)
		require.True(t, ran.Load(), name)
	}
}

// Those who begin many workers, one caller or dozens, give way before there are more than a processor's own queue has room
// for: the rest would go to a queue of all processors, where what two goroutines do that wake each other keeps it waiting for
// seconds. Workers that have begun need no room, however many there are.
func TestManyWorkersGiveWay(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const room = 256 // of a processor's queue
	for _, callers := range []int{1, room / 4} {
		l := observed(t)
		var ended sync.WaitGroup
		ended.Add(4 * room)
		require.NoError(t, l.Submit(func() {
			for range 4 * room { // what has begun, for whomever, says nothing about later callers
				l.Promisify(context.Background(), func(context.Context) (any, error) { ended.Done(); return nil, nil })
			}
		}))
		ended.Wait()
		before, most := runtime.NumGoroutine(), make([]int, callers)
		var done sync.WaitGroup
		for i := range callers {
			done.Go(func() {
				for range 8 * room / callers {
					l.Promisify(context.Background(), noWork)
					most[i] = max(most[i], runtime.NumGoroutine()-before)
				}
			})
		}
		done.Wait()
		require.Less(t, slices.Max(most)-callers, room, "%d callers", callers)
		require.Greater(t, slices.Max(most), room/4, "who begins few does not give way")

		gate, begun := make(chan struct{}), atomic.Int64{}
		blocked := func(context.Context) (any, error) { begun.Add(1); <-gate; return nil, nil }
		for n := int64(1); n <= 4*room; n++ {
			for l.Promisify(context.Background(), blocked); begun.Load() != n; {
				runtime.Gosched()
			}
		}
		undisturbed(t, func() error {
			var ran atomic.Bool
			go ran.Store(true)
			for range room / 16 {
				l.Promisify(context.Background(), blocked)
			}
			if ran.Load() {
				return errors.New("who begins few beside many that are at work gives way")
			}
			return nil
		})
		close(gate)
		require.NoError(t, l.Shutdown(context.Background()))
	}
}

// Who is refused by an ending loop lets others run with each call, however fast it tries again.
func TestRefusedGivesWay(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	l := observed(t)
	inside, gate, ended := make(chan struct{}), make(chan struct{}), make(chan error)
	require.NoError(t, l.Submit(func() { close(inside); <-gate }))
	<-inside
	go func() { ended <- l.Shutdown(context.Background()) }()
	for l.State() != eventloop.StateTerminating {
		runtime.Gosched()
	}
	requireTurns(t, func() { require.ErrorIs(t, l.Submit(func() {}), eventloop.ErrLoopTerminated) })
	close(gate)
	require.NoError(t, <-ended)
}

// Who changes the mode again and again lets others run with each call: the loop, which has to take notice of the change, and
// goroutines that watch descriptors for it. So does who reads the metrics, for which the loop's locks are taken.
func TestModeChangeGivesWay(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	l := made(t)
	requireTurns(t, func() { require.NoError(t, l.SetFastPathMode(eventloop.FastPathForced)) })
	requireTurns(t, func() { l.Metrics() })
	require.NoError(t, l.Close())
}

// requireTurns requires that another goroutine runs at least at every other call. There is one processor.
func requireTurns(t *testing.T, call func()) {
	others, stop := turns(0)
	defer stop()
	const calls = 1000 // which take far less than a slice of the scheduler
	for range calls {
		call()
	}
	require.GreaterOrEqual(t, others.Load(), int64(calls/2), "turns of another goroutine")
}

// turns has another goroutine count its turns until it is stopped. In each it computes for so long.
func turns(each time.Duration) (n *atomic.Int64, stop func()) {
	n = new(atomic.Int64)
	var over atomic.Bool
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		for !over.Load() {
			n.Add(1)
			for began := time.Now(); time.Since(began) < each; {
			}
			runtime.Gosched()
		}
	}()
	return n, func() { over.Store(true); <-stopped }
}

// The loop says that it waits for an inbox, so that who gives the lock back lets it run.
func TestLoopWantsItsLock(t *testing.T) {
	l := observed(t)
	inside, gate := make(chan struct{}), make(chan struct{})
	require.NoError(t, l.Submit(func() {
		close(inside)
		<-gate
		l.LockInbox()
		l.UnlockInbox()
	}))
	<-inside
	require.False(t, l.InboxWanted())
	l.LockInbox()
	close(gate)
	eventually(t, l.InboxWanted, "the loop does not say that it waits")
	l.UnlockInbox()
	require.NoError(t, l.Shutdown(context.Background()))
	require.False(t, l.InboxWanted())
}

// Who is far ahead of the loop gives way, but not at each call, not for long, and not for what has run.
func TestGivingWayIsBounded(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	noop := func() {}
	for _, c := range []struct {
		name  string
		begin func(l *eventloop.Loop, gate chan struct{}) // with the loop in a callback that waits for the gate
		free  bool                                        // the gate opens after that, and the loop sleeps
		call  func(l *eventloop.Loop)
		slice time.Duration // that another goroutine computes whenever it runs
		most  int64         // times that it may run in 256 calls
		opts  []eventloop.Option
	}{
		{"a deep queue, beside one that computes", func(l *eventloop.Loop, _ chan struct{}) {
			for range 1 << 21 {
				l.Submit(noop)
			}
		}, false, func(l *eventloop.Loop) { l.Submit(noop) }, 6 * time.Millisecond, 4, nil},
		{"a deep queue that has run", func(l *eventloop.Loop, _ chan struct{}) {
			for range 1 << 18 {
				l.Submit(noop)
			}
		}, true, func(l *eventloop.Loop) { l.Submit(noop) }, 0, 2, nil},
		{"many timers that are not due", func(l *eventloop.Loop, _ chan struct{}) {
			for range 8000 {
				l.ScheduleTimer(999*time.Millisecond, noop)
			}
		}, false, func(l *eventloop.Loop) {
			id, _ := l.ScheduleTimer(999*time.Millisecond, noop)
			l.CancelTimer(id)
		}, 0, 8, nil},
		{"many workers that wait", func(l *eventloop.Loop, gate chan struct{}) {
			for range 600 {
				l.Promisify(context.Background(), func(context.Context) (any, error) { <-gate; return nil, nil })
			}
		}, false, func(l *eventloop.Loop) { l.Promisify(context.Background(), noWork) }, 0, 40, nil},
		{"many workers that were cancelled", func(l *eventloop.Loop, gate chan struct{}) {
			ctx, cancel := context.WithCancel(context.Background())
			l.Promisify(ctx, func(context.Context) (any, error) { <-gate; return nil, nil })
			for range 600 {
				l.Promisify(ctx, noWork)
			}
			cancel()
			for l.Crew().Queued() != 0 {
				runtime.Gosched()
			}
		}, false, func(l *eventloop.Loop) { l.Promisify(context.Background(), noWork) }, 0, 140, []eventloop.Option{eventloop.WithWorkerLimit(1)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			undisturbed(t, func() error {
				l := observed(t, c.opts...)
				gate, inside := make(chan struct{}), make(chan struct{})
				require.NoError(t, l.Submit(func() { close(inside); <-gate }))
				<-inside
				if c.begin(l, gate); c.free {
					close(gate)
					rest(l)
				}
				others, stop := turns(c.slice)
				before := others.Load()
				for range 256 {
					c.call(l)
				}
				ran := others.Load() - before
				if stop(); !c.free {
					close(gate)
				}
				require.NoError(t, l.Shutdown(context.Background()))
				if ran > c.most {
					return fmt.Errorf("another goroutine ran %d times in 256 calls", ran)
				}
				return nil
			})
		})
	}
}

// A callback that a group refuses a task does not let others run, whichever loop the task was for: it would hold up its own
// loop, and beside goroutines that compute each time for a rotation of them.
func TestRefusedCallbackOfAGroupGoesOn(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	g := newGroup(t, 2)
	result := runs(g, context.Background())
	turned, stop := turns(0)
	const calls = 1000
	release, yielded := make(chan struct{}), make(chan int64)
	require.NoError(t, g.Loop(1).Submit(func() { <-release })) // so that it does not end meanwhile
	require.NoError(t, g.Loop(0).Submit(func() {
		_ = g.Shutdown(context.Background())
		for g.Submit(func() {}) == nil {
		}
		before := turned.Load()
		for range calls {
			_ = g.Submit(func() {})
		}
		yielded <- turned.Load() - before
	}))
	others := <-yielded
	stop()
	close(release)
	require.NoError(t, <-result)
	require.Less(t, others, int64(calls/10), "turns of another goroutine")
}

// A producer makes a chunk without the lock. What others do meanwhile is as if they had come before.
func TestWhileAChunkIsMade(t *testing.T) {
	t.Run("another producer", func(t *testing.T) {
		l, err := eventloop.New(eventloop.WithAutoExit(true), eventloop.WithPanicHandler(func(p *eventloop.PanicError) {
			t.Error(p) // a slot that nobody has written
		}))
		require.NoError(t, err)
		var ran []int
		eventloop.WhileAChunkIsMade(func() { require.NoError(t, l.Submit(func() { ran = append(ran, 1) })) })
		require.NoError(t, l.Submit(func() { ran = append(ran, 2) }))
		require.NoError(t, l.Submit(func() { ran = append(ran, 3) }))
		require.NoError(t, l.Run(context.Background()))
		require.Equal(t, []int{1, 2, 3}, ran)
	})
	t.Run("the end", func(t *testing.T) {
		for _, submit := range []func(*eventloop.Loop, func()) error{
			(*eventloop.Loop).Submit, (*eventloop.Loop).SubmitInternal, (*eventloop.Loop).ScheduleMicrotask,
		} {
			l := made(t)
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

// What a callback submits to its own loop runs behind what others had submitted before, and behind what it submitted itself,
// also once the loop is to end; and not at all once it was closed.
func TestOwnSubmissionsKeepTheirPlace(t *testing.T) {
	for name, opts := range map[string][]eventloop.Option{"plain": nil, "measured": {eventloop.WithMetrics(true)}} {
		l := made(t, append(opts, eventloop.WithAutoExit(true))...)
		var ran []int
		note := func(n int) func() { return func() { ran = append(ran, n) } }
		var late error
		require.NoError(t, l.Submit(func() {
			l.Submit(note(1))
			others := make(chan error)
			go func() { others <- l.Submit(note(2)) }()
			<-others
			l.Submit(note(3))
			l.Submit(func() { l.Submit(note(4)); l.Shutdown(context.Background()); late = l.Submit(note(5)) })
		}))
		require.NoError(t, l.Run(context.Background()))
		require.Equal(t, []int{1, 2, 3, 4}, ran, name)
		require.ErrorIs(t, late, eventloop.ErrLoopTerminated, name)
	}
}
