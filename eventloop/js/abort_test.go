package js_test

// Tests of abort signals.

import (
	"context"
	"errors"
	"io"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/js"
)

func (w *world) timeoutSignal(ms float64) *js.AbortSignal {
	w.t.Helper()
	s, err := w.TimeoutSignal(ms)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// Every way in which a signal is aborted, with every kind of reason: the state before and after, and who hears of it.
func TestAbort(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(w *world) (s *js.AbortSignal, abort func())
		is   []error
	}{
		{"controller", func(w *world) (*js.AbortSignal, func()) {
			c := w.NewAbortController()
			return c.Signal(), func() { c.Abort(nil); c.Abort(io.EOF) }
		}, []error{js.ErrAbort, context.Canceled}},
		{"controller with a reason", func(w *world) (*js.AbortSignal, func()) {
			c := w.NewAbortController()
			return c.Signal(), func() { c.Abort(io.EOF); c.Abort(nil) }
		}, []error{io.EOF}},
		{"timeout", func(w *world) (*js.AbortSignal, func()) {
			return w.timeoutSignal(50), func() {}
		}, []error{js.ErrTimeout, context.DeadlineExceeded}},
		{"any of two", func(w *world) (*js.AbortSignal, func()) {
			a, b := w.NewAbortController(), w.NewAbortController()
			return w.AnySignal(a.Signal(), b.Signal(), a.Signal()), func() { b.Abort(io.EOF); a.Abort(nil) }
		}, []error{io.EOF}},
		{"any of any and timeout", func(w *world) (*js.AbortSignal, func()) {
			a := w.NewAbortController()
			return w.AnySignal(w.AnySignal(a.Signal()), w.timeoutSignal(50)), func() {}
		}, []error{js.ErrTimeout}},
		{"cancelled context", func(w *world) (*js.AbortSignal, func()) {
			ctx, cancel := context.WithCancel(context.Background())
			return w.SignalFromContext(ctx), cancel
		}, []error{js.ErrAbort, context.Canceled}},
		{"context with a cause", func(w *world) (*js.AbortSignal, func()) {
			ctx, cancel := context.WithCancelCause(context.Background())
			return w.SignalFromContext(ctx), func() { cancel(io.EOF) }
		}, []error{io.EOF}},
		{"context with a deadline", func(w *world) (*js.AbortSignal, func()) {
			ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
			context.AfterFunc(ctx, cancel)
			return w.SignalFromContext(ctx), func() {}
		}, []error{js.ErrTimeout, context.DeadlineExceeded}},
	} {
		for _, where := range []string{"on the loop", "elsewhere"} {
			t.Run(c.name+" "+where, func(t *testing.T) {
				virtual(t, func(t *testing.T, w *world) {
					s, abort := c.make(w)
					if s.Aborted() || s.Reason() != nil || s.ThrowIfAborted() != nil {
						t.Fatal("aborted from the beginning")
					}
					ctx, cancel := s.Context(context.Background())
					defer cancel()
					released, release := s.Context(context.Background())
					release()
					heard := 0
					for range 2 {
						s.OnAbort(func(reason error) {
							heard++
							if !w.loop.OnLoop() || reason != s.Reason() || ctx.Err() == nil {
								t.Errorf("a listener: on the loop %v, reason %v, context %v", w.loop.OnLoop(), reason, ctx.Err())
							}
							s.OnAbort(func(error) { t.Error("a listener that came late was called") })()
						})
						remove := s.OnAbort(func(error) { t.Error("a listener that was removed was called") })
						remove()
						remove()
					}
					w.run(func() {
						w.timeout(100, func() {}) // timeouts keep nothing alive
						if where == "on the loop" {
							abort()
						} else {
							w.io(func() {})
							go abort()
						}
					})
					if heard != 2 || !s.Aborted() {
						t.Errorf("%d of 2 listeners were called, aborted is %v", heard, s.Aborted())
					}
					for _, want := range c.is {
						if !errors.Is(s.Reason(), want) || !errors.Is(s.ThrowIfAborted(), want) || !errors.Is(context.Cause(ctx), want) {
							t.Errorf("reason %v, cause %v, want %v", s.Reason(), context.Cause(ctx), want)
						}
					}
					if ctx.Err() != context.Canceled || context.Cause(released) != context.Canceled {
						t.Errorf("the context says %v, the released one %v", ctx.Err(), context.Cause(released))
					}
					for _, late := range []*js.AbortSignal{w.AnySignal(w.NewAbortController().Signal(), s), w.AnySignal(w.AnySignal(s))} {
						if late.Reason() != s.Reason() {
							t.Errorf("a follower that came late has %v", late.Reason())
						}
					}
					late, cancel := s.Context(context.Background())
					defer cancel()
					if context.Cause(late) != s.Reason() {
						t.Errorf("a context that came late has %v", context.Cause(late))
					}
				})
			})
		}
	}
}

func TestAbortedFromTheBeginning(t *testing.T) {
	w := newWorld(t)
	defer w.loop.Close()
	if s := w.AbortedSignal(nil); s.Reason() != js.ErrAbort {
		t.Error(s.Reason())
	}
	if s := w.AbortedSignal(io.EOF); s.ThrowIfAborted() != io.EOF {
		t.Error(s.Reason())
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(io.EOF)
	if s := w.SignalFromContext(ctx); s.Reason() != io.EOF {
		t.Error(s.Reason())
	}
	if w.AnySignal().Aborted() || w.SignalFromContext(context.Background()).Aborted() {
		t.Error("aborted by nothing")
	}
	parent, cancelParent := context.WithCancel(context.Background())
	child, release := w.NewAbortController().Signal().Context(parent)
	defer release()
	if cancelParent(); child.Err() == nil {
		t.Error("the parent does not cancel")
	}
	for _, ms := range []float64{-1, 1 << 54} {
		if _, err := w.TimeoutSignal(ms); !errors.Is(err, js.ErrTime) {
			t.Errorf("TimeoutSignal(%v): %v", ms, err)
		}
	}
	if s := w.timeoutSignal(1<<53 - 1); s.Aborted() {
		t.Error("a far timeout is aborted")
	}
}

// All followers have the reason before any listener runs, and hear of it in the order in which they were made (the DOM
// standard).
func TestAbortReachesFollowersFirst(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		c := w.NewAbortController()
		var followers []*js.AbortSignal
		for _, s := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"} {
			f := w.AnySignal(c.Signal())
			f.OnAbort(func(error) { w.say(s) })
			followers = append(followers, f)
		}
		c.Signal().OnAbort(func(reason error) {
			for i, f := range followers {
				if f.Reason() != reason {
					t.Errorf("follower %d has %v", i, f.Reason())
				}
			}
		})
		w.run(func() { c.Abort(io.EOF) })
		w.want("a", "b", "c", "d", "e", "f", "g", "h", "i", "j")
	})
}

// However often a signal is reached, it is followed once, so that signals made from each other do not double.
func TestSourcesAreFollowedOnce(t *testing.T) {
	w := newWorld(t)
	defer w.loop.Close()
	a, b := w.NewAbortController(), w.NewAbortController()
	s := w.AnySignal(a.Signal(), b.Signal(), a.Signal())
	for range 8 {
		s = w.AnySignal(s, b.Signal(), s)
	}
	if n := s.Sources(); n != 2 {
		t.Errorf("%d sources", n)
	}
	if b.Abort(io.EOF); s.Reason() != io.EOF || s.Sources() != 0 || a.Signal().Followers() != 0 {
		t.Errorf("%v, %d sources, %d followers", s.Reason(), s.Sources(), a.Signal().Followers())
	}
}

// The error is the same whether one signal's listeners cannot be called, or those of many.
func TestAbortManyAfterTheEnd(t *testing.T) {
	ended, w := newWorld(t), newWorld(t)
	ended.loop.Close()
	defer w.loop.Close()
	c := w.NewAbortController()
	var silent []*js.AbortSignal
	for range 3 {
		ended.AnySignal(c.Signal()).OnAbort(func(error) { t.Error("a listener ran after the end") })
		silent = append(silent, ended.AnySignal(c.Signal()))
	}
	if err := c.Abort(nil); err != eventloop.ErrLoopTerminated {
		t.Error(err)
	}
	for _, s := range silent {
		if !s.Aborted() {
			t.Error("not aborted")
		}
	}
}

// A listener that does not return is reported, and the others run; one that another removes does not.
func TestAbortListenersThatFail(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		c := w.NewAbortController()
		var remove func()
		c.Signal().OnAbort(func(error) { panic(io.EOF) })
		c.Signal().OnAbort(func(error) { w.say("a"); remove() })
		remove = c.Signal().OnAbort(func(error) { w.say("removed") })
		c.Signal().OnAbort(func(error) { runtime.Goexit() })
		c.Signal().OnAbort(func(error) { w.say("b") })
		w.run(func() { c.Abort(nil) })
		w.want("a", "b")
		if len(w.heard) != 2 || !errors.Is(w.heard[0], io.EOF) || !errors.Is(w.heard[1], eventloop.ErrGoexit) || len(w.heard[0].Stack) == 0 {
			t.Errorf("reported: %v", w.heard)
		}
	})
}

// Signals of different loops: each listener runs on the loop of its own signal.
func TestSignalsOfTwoLoops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := newWorld(t), newWorld(t)
		c := a.NewAbortController()
		s := b.AnySignal(c.Signal())
		release := b.loop.Hold()
		c.Signal().OnAbort(func(error) {
			if !a.loop.OnLoop() {
				t.Error("the source's listener ran elsewhere")
			}
		})
		s.OnAbort(func(error) {
			if !b.loop.OnLoop() {
				t.Error("the follower's listener ran elsewhere")
			}
			b.say("heard")
			release()
		})
		go b.loop.Run(context.Background())
		a.run(func() { c.Abort(nil) })
		<-b.loop.Done()
		b.want("heard")
	})
}
