package js_test

// Every call of the adapter from every kind of its callbacks, in each phase of a loop's end; and work that was accepted
// before that, however much it is.

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"math"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/js"
	"github.com/turnloop/turnloop/internal/beat"
)

// everything calls all there is to call, odd values included. None of it may block, or fail in a way of its own.
func everything(w *world) error {
	var errs []error
	nothing := func() {}
	may := func(err error, also ...error) {
		for _, ok := range append(also, nil, eventloop.ErrLoopTerminated) {
			if errors.Is(err, ok) {
				return
			}
		}
		errs = append(errs, err)
	}
	for _, id := range []js.ID{0, 1, math.MaxUint64} {
		w.HasRef(id)
		w.Ref(id)
		w.Unref(id)
		may(w.Refresh(id), js.ErrNoTimer)
		if id != 1 {
			w.ClearTimeout(id)
			w.ClearInterval(id)
			w.ClearImmediate(id)
		}
	}
	for _, ms := range []float64{0, -1, 0.5, 1, 1e300, math.NaN(), math.Inf(1)} {
		id, err := w.SetTimeout(nothing, ms)
		may(err)
		may(w.Refresh(id), js.ErrNoTimer)
		w.Unref(id)
		may(w.Refresh(id), js.ErrNoTimer)
		w.Ref(id)
		w.ClearInterval(id)
		id, err = w.SetInterval(nothing, ms)
		may(err)
		may(w.Refresh(id), js.ErrNoTimer)
		w.ClearTimeout(id)
		if signal, err := w.TimeoutSignal(ms); err == nil {
			signal.OnAbort(func(error) {})()
		} else {
			may(err, js.ErrTime)
		}
	}
	immediate, err := w.SetImmediate(nothing)
	may(err)
	w.ClearImmediate(immediate)
	_, err = w.SetImmediate(nothing)
	may(err)
	_, err = w.SetTimeout(nil, 0)
	may(err, eventloop.ErrNilCallback)
	may(w.QueueMicrotask(nothing))
	may(w.NextTick(nothing))
	may(w.NextTick(nil), eventloop.ErrNilCallback)

	c := w.NewAbortController()
	ctx, cancel := c.Signal().Context(context.Background())
	target, listener := w.NewEventTarget(), js.NewEventListener(func(*js.Event) {})
	may(target.AddEventListener("x", listener, js.Once(), js.Until(c.Signal())))
	_, err = target.DispatchEvent(js.NewEvent("x"))
	may(err, js.ErrNotOnLoop)
	may(target.AddEventListener("x", listener, js.Until(c.Signal())))
	first := w.AnySignal(c.Signal(), w.SignalFromContext(ctx), w.AnySignal(c.Signal()))
	first.OnAbort(func(error) { may(c.Abort(nil)) })
	may(c.Abort(io.EOF))
	target.RemoveEventListener("x", listener)
	cancel()
	if !first.Aborted() || ctx.Err() == nil || w.AbortedSignal(nil).ThrowIfAborted() == nil {
		errs = append(errs, errors.New("a signal, or a context, is not aborted"))
	}

	p, resolve, reject := w.WithResolvers()
	resolve(w.Resolve(p))
	reject(nil)
	w.All(w.Any(w.Race(p), w.Try(func() (any any, err error) { return p, nil })), w.AllSettled(p)).Catch(func(error) (any any, err error) { return })
	w.Performance().Mark("x")
	_, err = w.Performance().Measure("y", "x", "x")
	may(err)
	w.Performance().ClearMarks("")
	return errors.Join(errs...)
}

// corners are the kinds of callbacks; begin has the loop call fn from one, once.
var corners = map[string]func(w *world, fn func()) error{
	"timeout":   func(w *world, fn func()) error { _, err := w.SetTimeout(fn, 0); return err },
	"immediate": func(w *world, fn func()) error { _, err := w.SetImmediate(fn); return err },
	"tick":      func(w *world, fn func()) error { return w.NextTick(fn) },
	"microtask": func(w *world, fn func()) error { return w.QueueMicrotask(fn) },
	"interval": func(w *world, fn func()) error {
		return w.loop.Submit(func() {
			var id js.ID
			id, _ = w.SetInterval(func() { fn(); w.ClearInterval(id) }, 0)
		})
	},
	"refreshed": func(w *world, fn func()) error {
		return w.loop.Submit(func() {
			var id js.ID
			n := 0
			id, _ = w.SetTimeout(func() {
				if n++; n == 1 {
					_ = w.Refresh(id)
				} else if n == 2 {
					fn()
				}
			}, 0)
		})
	},
	"immediate of an immediate": func(w *world, fn func()) error {
		_, err := w.SetImmediate(func() { _, _ = w.SetImmediate(fn) })
		return err
	},
	"behind immediates": func(w *world, fn func()) error { // with a tick budget of 1
		return w.loop.Submit(func() {
			_, _ = w.SetImmediate(func() {})
			_, _ = w.SetTimeout(fn, 0)
			_ = w.loop.Submit(func() {}) // from here: elsewhere, fn may have ended the loop already
		})
	},
	"abort": func(w *world, fn func()) error {
		c := w.NewAbortController()
		c.Signal().OnAbort(func(error) { fn() })
		return c.Abort(nil)
	},
	"event": func(w *world, fn func()) error {
		target := w.NewEventTarget()
		return errors.Join(target.AddEventListener("x", js.NewEventListener(func(*js.Event) { fn() })),
			w.loop.Submit(func() { _, _ = target.DispatchEvent(js.NewEvent("x")) }))
	},
	"listener's fault": func(w *world, fn func()) error {
		c := w.NewAbortController()
		c.Signal().OnAbort(func(error) { panic(fault{fn}) })
		return c.Abort(nil)
	},
	"handler": func(w *world, fn func()) error {
		w.Resolve(nil).Finally(func() error { fn(); return nil })
		return nil
	},
}

// fault is what a listener panics with; the handler of the panic calls back.
type fault struct{ fn func() }

// Whatever a callback calls, whenever: nothing blocks, and the end comes.
func TestEverythingFromEverywhere(t *testing.T) {
	moments := map[string]func(l *eventloop.Loop) error{
		"living":   func(*eventloop.Loop) error { return nil },
		"shutdown": func(l *eventloop.Loop) error { return l.Shutdown(context.Background()) },
		"close":    (*eventloop.Loop).Close,
	}
	for place, begin := range corners {
		for moment, enter := range moments {
			name := place + ", " + moment
			l, err := eventloop.New(eventloop.WithTickBudget(1), eventloop.WithOnOverload(func(error) {}),
				eventloop.WithUnhandledRejection(func(*eventloop.Promise, error) {}),
				eventloop.WithLogger(slog.New(slog.NewTextHandler(io.Discard, nil))))
			require.NoError(t, err)
			w := &world{t: t, loop: l}
			w.JS, err = js.New(l, js.WithPanicHandler(func(e *eventloop.PanicError) {
				if f, ok := e.Value.(fault); ok {
					f.fn()
				}
			}))
			require.NoError(t, err)
			go func() { _ = l.Run(context.Background()) }()
			called := make(chan error, 1)
			var once sync.Once // everything refreshes the timer that calls, too
			fn := func() { once.Do(func() { called <- errors.Join(enter(l), everything(w), everything(w)) }) }
			require.NoError(t, begin(w, fn), name)
			require.NoError(t, beat.Receive(t, called, name+": the callback"), name)
			require.NoError(t, everything(w), "%s: elsewhere", name)
			if moment == "living" {
				go func() { _ = l.Shutdown(context.Background()) }()
			}
			beat.Receive(t, l.Done(), name+": the end of the loop")
			require.NoError(t, everything(w), "%s: after the end", name)
		}
	}
}

// Immediates that were accepted run at the end, however many there are, and so does the work that each brings. Functions
// beside them that queue themselves again and again do not run for longer because of them.
func TestManyImmediatesAtShutdown(t *testing.T) {
	const many = 20_000
	for name, begin := range map[string]func(w *world, fn func()){
		"on the loop": func(w *world, fn func()) {
			require.NoError(t, w.loop.Submit(func() {
				for range many {
					w.immediate(fn)
				}
				require.NoError(t, w.loop.Shutdown(context.Background()))
			}))
		},
		"of a next tick": func(w *world, fn func()) {
			w.immediate(func() {
				for range many {
					w.immediate(fn)
				}
				require.NoError(t, w.loop.Shutdown(context.Background()))
			})
		},
		"elsewhere": func(w *world, fn func()) {
			for range many {
				w.immediate(fn)
			}
			require.NoError(t, w.loop.Submit(func() { require.NoError(t, w.loop.Shutdown(context.Background())) }))
		},
	} {
		ran, handled, rounds := 0, 0, 0
		synctest.Test(t, func(t *testing.T) { // so they take no time
			w := newWorld(t, eventloop.WithAutoExit(false), eventloop.WithOnOverload(func(error) {}))
			var again func() error
			again = func() error {
				rounds++
				w.Resolve(nil).Finally(again)
				return nil
			}
			begin(w, func() {
				if ran++; ran == 1 {
					_ = again()
				}
				w.Resolve(nil).Finally(func() error { handled++; return nil })
			})
			require.NoError(t, w.loop.Run(context.Background()))
		})
		require.Equal(t, many, ran, name)
		require.Equal(t, many, handled, name)
		require.Less(t, rounds, 1_000_000, name)
	}
}

// refusing is a loop that takes only so many internal tasks.
type refusing struct {
	*eventloop.Loop
	left int
}

func (l *refusing) SubmitInternal(fn func()) error {
	if l.left--; l.left < 0 {
		return eventloop.ErrLoopTerminated
	}
	return l.Loop.SubmitInternal(fn)
}

// Immediates that the ending loop takes no task for run all the same, in order, whatever an immediate does; unless the loop
// is closed.
func TestImmediatesBeyondTheEnd(t *testing.T) {
	const many = 40
	for left := range 6 {
		for closes := range 2 {
			w := newWorld(t, eventloop.WithAutoExit(false))
			j, err := js.New(&refusing{w.loop, left})
			require.NoError(t, err)
			var ran []int
			for i := range many {
				_, err := j.SetImmediate(func() {
					ran = append(ran, i)
					switch i {
					case 0:
						_, err := j.SetImmediate(func() { ran = append(ran, many) })
						require.NoError(t, err)
						require.NoError(t, w.loop.Shutdown(context.Background()))
					case 10, 11, many - 1:
						panic(i)
					case 20:
						if closes == 1 {
							require.NoError(t, w.loop.Close())
						}
					}
				})
				require.NoError(t, err)
			}
			_ = w.loop.Run(context.Background())
			want := many + 1
			if closes == 1 {
				want = 21
			}
			require.Len(t, ran, want, "%d, %d", left, closes)
			require.True(t, slices.IsSorted(ran), "%v", ran)
		}
	}
}
