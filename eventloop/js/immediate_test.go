package js_test

// Tests of immediates.

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/js"
	"github.com/turnloop/turnloop/internal/beat"
)

// An immediate has a ref until it starts or is cleared, and Unref does not take it: the loop stays until it has run.
func TestUnrefOfAnImmediate(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		var first, second js.ID
		refs := func(want ...bool) {
			t.Helper()
			if got := []bool{w.HasRef(first), w.HasRef(second)}; !slices.Equal(got, want) {
				t.Errorf("refs %v, want %v", got, want)
			}
		}
		w.run(func() {
			first = w.immediate(func() {
				refs(false, true) // it has started, in a batch with the other
				w.ClearImmediate(second)
				refs(false, false)
				first = w.immediate(w.says("next tick"))
				w.Unref(first)
				refs(true, false)
			})
			second = w.immediate(w.says("cleared"))
			w.Unref(first)
			w.Unref(second)
			w.Ref(second)
			refs(true, true)
		})
		w.want("next tick")
		refs(false, false)
	})
}

// Immediates that wait for the timer of the next tick run, although only that timer holds the adapter, and also when it
// comes due as the loop begins to shut down.
func TestImmediatesOfAForgottenAdapter(t *testing.T) {
	loop, err := eventloop.New()
	require.NoError(t, err)
	ran := false
	func() {
		j, err := js.New(loop)
		require.NoError(t, err)
		_, err = j.SetImmediate(func() {
			_, err := loop.ScheduleTimer(0, func() { // right before the timer of armCheck
				require.NoError(t, loop.Submit(func() { runtime.GC(); runtime.GC() }))
				require.NoError(t, loop.Shutdown(context.Background()))
			})
			require.NoError(t, err)
			_, err = j.SetImmediate(func() { ran = true })
			require.NoError(t, err)
		})
		require.NoError(t, err)
	}()
	require.NoError(t, loop.Run(context.Background()))
	require.True(t, ran, "an immediate that was accepted did not run")
}

// At the loop's limit of tasks an immediate is refused or runs, however many are set at once.
func TestImmediatesAtTheLimit(t *testing.T) {
	w := newWorld(t, eventloop.WithQueueLimit(1))
	release := w.loop.Hold()
	go w.loop.Run(context.Background())
	var accepted, refused, ran atomic.Int64
	var all sync.WaitGroup
	rounds := 2000
	if testing.Short() {
		rounds = 200
	}
	for range 4 {
		all.Go(func() {
			for n := 0; n < rounds || accepted.Load() == 0; n++ { // the loop may begin late
				_ = w.loop.Submit(func() {})
				switch _, err := w.SetImmediate(func() { ran.Add(1) }); {
				case err == nil:
					accepted.Add(1)
				case errors.Is(err, eventloop.ErrLoopOverloaded):
					refused.Add(1)
				default:
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	release()
	<-w.loop.Done()
	if ran.Load() != accepted.Load() || accepted.Load() == 0 {
		t.Errorf("%d were accepted, %d refused, %d have run", accepted.Load(), refused.Load(), ran.Load())
	}
}

// slowSubmit is a loop whose callers of Submit are held up, as if the system took their processor away; gate tells for how
// long each is.
type slowSubmit struct {
	*eventloop.Loop
	gate func() <-chan struct{}
}

func (l *slowSubmit) Submit(fn func()) error {
	if !l.OnLoop() {
		<-l.gate()
	}
	return l.Loop.Submit(fn)
}

// An immediate does not wait for another goroutine that set one before and has not come back, whether the loop goes on or
// ends meanwhile; nor do those of later turns. All of them run, once and in order.
func TestImmediatesBesideOneThatIsHeldUp(t *testing.T) {
	for _, ends := range []bool{false, true} {
		loop, err := eventloop.New()
		require.NoError(t, err)
		held, open, inside := make(chan struct{}), make(chan struct{}), make(chan struct{})
		close(open)
		var calls atomic.Int64
		j, err := js.New(&slowSubmit{loop, func() <-chan struct{} {
			if calls.Add(1) == 1 {
				close(inside)
				return held
			}
			return open
		}})
		require.NoError(t, err)
		ran := make(chan string, 10)
		says := func(what string) func() { return func() { ran <- what } }
		set := func(fn func()) {
			_, err := j.SetImmediate(fn)
			require.NoError(t, err)
		}
		want := func(whats ...string) {
			t.Helper()
			for _, what := range whats {
				require.Equal(t, what, beat.Receive(t, ran, what))
			}
		}
		first := make(chan error, 1)
		go func() {
			_, err := j.SetImmediate(says("held up"))
			first <- err
		}()
		<-inside
		set(func() {
			_, err := j.SetImmediate(says("next turn"))
			ran <- fmt.Sprint("second, ", err)
		})
		if ends {
			require.NoError(t, loop.Shutdown(context.Background()))
			want("held up", "second, eventloop: terminated")
		} else {
			go loop.Run(context.Background())
			want("held up", "second, <nil>", "next turn")
			set(says("third"))
			want("third")
		}
		close(held)
		require.NoError(t, <-first, "it has run")
		if !ends {
			set(says("fourth"))
			want("fourth")
			require.NoError(t, loop.Shutdown(context.Background()))
		}
		require.Empty(t, ran)
	}
}

// An ending loop refuses immediates and timers without the adapter's lock: it needs that for each immediate that is left, and
// would queue behind all goroutines that try again and again.
func TestRefusalsTakeNoLock(t *testing.T) {
	loop, err := eventloop.New()
	require.NoError(t, err)
	j, err := js.New(loop)
	require.NoError(t, err)
	running, release, ran := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	require.NoError(t, loop.Submit(func() { close(running); <-release }))
	go func() { ran <- loop.Run(context.Background()) }()
	<-running
	go func() { _ = loop.Shutdown(context.Background()) }()
	for loop.State() != eventloop.StateTerminating {
		runtime.Gosched()
	}
	refused := make(chan [3]error, 1)
	j.Locked(func() {
		go func() {
			_, immediate := j.SetImmediate(func() {})
			_, timeout := j.SetTimeout(func() {}, 0)
			_, interval := j.SetInterval(func() {}, 0)
			refused <- [3]error{immediate, timeout, interval}
		}()
		for _, err := range beat.Receive(t, refused, "a refusal, which takes no lock") {
			require.ErrorIs(t, err, eventloop.ErrLoopTerminated)
		}
	})
	close(release)
	require.NoError(t, <-ran)
}

// The loop takes the immediates of a batch without the adapter's lock: it would queue for each behind all goroutines that call
// the adapter.
func TestImmediatesRunWithoutTheLock(t *testing.T) {
	loop, err := eventloop.New()
	require.NoError(t, err)
	j, err := js.New(loop)
	require.NoError(t, err)
	running, release, last, ran := make(chan struct{}), make(chan struct{}), make(chan struct{}), make(chan error, 1)
	for _, fn := range []func(){func() { close(running); <-release }, func() {}, func() { close(last) }} {
		_, err := j.SetImmediate(fn)
		require.NoError(t, err)
	}
	go func() { ran <- loop.Run(context.Background()) }()
	<-running
	j.Locked(func() {
		close(release)
		beat.Receive(t, last, "an immediate, which waits for no lock")
	})
	require.NoError(t, loop.Shutdown(context.Background()))
	require.NoError(t, <-ran)
}
