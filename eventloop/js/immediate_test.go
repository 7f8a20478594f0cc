package js_test

// Tests of immediates.

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/js"
)

func TestImmediatesKeepTheLoopAlive(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		w.run(func() {
			w.immediate(func() { w.immediate(func() { w.immediate(w.says("third")) }) })
			w.ClearImmediate(w.immediate(w.says("cleared")))
		})
		w.want("third")
		if timers, immediates := w.Held(); timers != 0 || immediates != 0 {
			t.Errorf("holds %d timers and %d immediates", timers, immediates)
		}
	})
}

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
				first = w.immediate(w.says("next turn"))
				w.Unref(first)
				refs(true, false)
			})
			second = w.immediate(w.says("cleared"))
			w.Unref(first)
			w.Unref(second)
			w.Ref(second)
			refs(true, true)
		})
		w.want("next turn")
		refs(false, false)
	})
}

// Immediates that were accepted run although the loop is shut down, as queued tasks do.
func TestImmediatesAtShutdown(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		w.run(func() {
			w.immediate(func() {
				w.say("a")
				w.immediate(w.says("c"))
				w.loop.Shutdown(context.Background())
			})
			w.immediate(w.says("b"))
			w.timeout(0, w.says("never"))
		})
		w.want("a", "b", "c")
	})
	virtual(t, func(t *testing.T, w *world) { // also those that wait for the next turn; and they do not go on for ever
		w.run(func() {
			w.immediate(func() {
				w.immediate(func() {
					w.say("next turn")
					_, err := w.SetImmediate(w.says("never"))
					require.ErrorIs(t, err, eventloop.ErrLoopTerminated)
				})
				require.NoError(t, w.loop.Submit(func() { w.loop.Shutdown(context.Background()) }))
			})
		})
		w.want("next turn")
	})
}

// An adapter that only its next turn holds runs what waits for that turn, also when its timer comes due as the loop
// begins to shut down.
func TestImmediatesOfAForgottenAdapter(t *testing.T) {
	loop, err := eventloop.New()
	require.NoError(t, err)
	ran := false
	func() {
		j, err := js.New(loop)
		require.NoError(t, err)
		_, err = j.SetImmediate(func() {
			_, err := loop.ScheduleTimer(0, func() { // right before that of the next turn
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
			for range rounds {
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
