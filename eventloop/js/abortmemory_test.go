package js_test

// Tests of what abort signals hold, and what holds them.

import (
	"context"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/js"
	"github.com/turnloop/turnloop/internal/beat"
	"github.com/turnloop/turnloop/internal/garbage"
	"github.com/turnloop/turnloop/internal/race"
)

// A follower that nothing else holds is garbage, unless it has listeners and something can abort it: then it hears. Sources
// do not pile up followers that are garbage.
func TestFollowersAreHeldByListeners(t *testing.T) {
	w := newWorld(t)
	defer w.loop.Close()
	c := w.NewAbortController()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	makers := map[string]func() *js.AbortSignal{
		"any":              func() *js.AbortSignal { return w.AnySignal(c.Signal()) },
		"any any":          func() *js.AbortSignal { return w.AnySignal(w.AnySignal(c.Signal()), w.NewAbortController().Signal()) },
		"context":          func() *js.AbortSignal { return w.SignalFromContext(ctx) },
		"any of a context": func() *js.AbortSignal { return w.AnySignal(w.SignalFromContext(ctx)) },
		"timeout":          func() *js.AbortSignal { return w.timeoutSignal(1e9) },
	}
	type pair struct {
		plain, heard weak.Pointer[js.AbortSignal]
		remove       func()
	}
	pairs := map[string]*pair{}
	for name, maker := range makers {
		s := maker()
		pairs[name] = &pair{weak.Make(maker()), weak.Make(s), s.OnAbort(func(error) {})}
	}
	uncancelled, lost := context.WithCancel(context.Background())
	_ = lost
	endless := map[string]*js.AbortSignal{
		"any of a forgotten controller": w.AnySignal(w.NewAbortController().Signal()),
		"background":                    w.SignalFromContext(context.Background()),
		"forgotten context":             w.SignalFromContext(uncancelled),
	}
	forgotten := map[string]weak.Pointer[js.AbortSignal]{}
	for name, s := range endless {
		s.OnAbort(func(error) {})
		forgotten[name] = weak.Make(s)
	}
	uncancelled, endless = nil, nil
	for range 3 {
		garbage.Collect()
	}
	for name, p := range forgotten {
		if !garbage.Taken(p) {
			t.Errorf("%s: kept although nobody can abort it", name)
		}
	}
	for name, p := range pairs {
		if !garbage.Taken(p.plain) {
			t.Errorf("%s: kept without listeners", name)
		}
		if p.heard.Value() == nil {
			t.Errorf("%s: lost although it has a listener", name)
		}
		p.remove()
		p.remove = nil
	}
	for name, p := range pairs {
		if !garbage.Taken(p.heard) {
			t.Errorf("%s: kept although its listener was removed", name)
		}
	}
	for i := range 5000 {
		w.AnySignal(c.Signal())
		if i%100 == 0 {
			garbage.Collect()
		}
		if n := c.Signal().Followers(); n > 4000 {
			t.Fatalf("%d forgotten followers", n)
		}
	}
	heard := make(chan string, len(makers))
	for name, maker := range makers {
		if name != "timeout" {
			maker().OnAbort(func(error) { heard <- name })
		}
	}
	for range 2 {
		collected := make(chan struct{})
		runtime.AddCleanup(new([64]byte), func(c chan struct{}) { close(c) }, collected)
		garbage.Closed(collected)
	}
	release := w.loop.Hold()
	defer release()
	go w.loop.Run(context.Background())
	c.Abort(nil)
	cancel()
	for range len(makers) - 1 {
		<-heard
	}
}

// A signal that is made from itself again and again holds none of its predecessors, but all that can still abort it: an
// owner of a timer or of a context's function, and nothing of a controller, which holds its signal itself.
func TestSignalsMadeFromThemselves(t *testing.T) {
	for name, end := range map[string]func(w *world, c *js.AbortController, cancel func()){
		"the controller": func(_ *world, c *js.AbortController, _ func()) { c.Abort(nil) },
		"the context":    func(_ *world, _ *js.AbortController, cancel func()) { cancel() },
		"the timer":      func(w *world, _ *js.AbortController, _ func()) { w.run(func() { w.timeout(100, func() {}) }) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			defer w.loop.Close()
			c := w.NewAbortController()
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			timed, bridged := w.timeoutSignal(50), w.SignalFromContext(ctx)
			owners := []weak.Pointer[js.AbortSignal]{weak.Make(timed), weak.Make(bridged)}
			s := w.AnySignal(timed, c.Signal(), bridged)
			timed, bridged = nil, nil
			var before []weak.Pointer[js.AbortSignal]
			for range 100 {
				before = append(before, weak.Make(s))
				fresh := w.NewAbortController()
				before = append(before, weak.Make(fresh.Signal()))
				s = w.AnySignal(s, c.Signal(), fresh.Signal(), s)
			}
			for i, p := range before {
				if !garbage.Taken(p) {
					t.Fatalf("predecessor %d is kept", i)
				}
			}
			for i, p := range owners {
				if p.Value() == nil {
					t.Errorf("owner %d is lost", i)
				}
			}
			s = w.AnySignal(s)
			if n := s.Sources(); n != 3 {
				t.Errorf("%d sources, want 3", n)
			}
			aborted := make(chan struct{})
			derived, cancelDerived := s.Context(context.Background())
			defer cancelDerived()
			context.AfterFunc(derived, func() { close(aborted) })
			end(w, c, cancel)
			<-aborted
			for i, p := range owners {
				if !garbage.Taken(p) {
					t.Errorf("owner %d is kept by a signal that is aborted", i)
				}
			}
			runtime.KeepAlive(s)
		})
	}
}

// countingLoop counts the timers that are pending.
type countingLoop struct {
	js.Loop
	pending atomic.Int64
}

func (l *countingLoop) ScheduleTimer(delay time.Duration, fn func()) (eventloop.TimerID, error) {
	id, err := l.Loop.ScheduleTimer(delay, func() { l.pending.Add(-1); fn() })
	if err == nil {
		l.pending.Add(1)
	}
	return id, err
}

func (l *countingLoop) CancelTimer(id eventloop.TimerID) error {
	err := l.Loop.CancelTimer(id)
	if err == nil {
		l.pending.Add(-1)
	}
	return err
}

// Timeouts that are forgotten leave no timer and no memory; those that have a listener, directly or not, fire.
func TestForgottenTimeouts(t *testing.T) {
	n := 100_000
	if testing.Short() || race.Enabled {
		n = 10_000
	}
	w := newWorld(t)
	loop := &countingLoop{Loop: w.loop}
	var err error
	if w.JS, err = js.New(loop); err != nil {
		t.Fatal(err)
	}
	before := garbage.Heap()
	heard := make(chan error, 3)
	hear := func(reason error) { heard <- reason }
	w.timeoutSignal(1).OnAbort(hear)
	w.AnySignal(w.timeoutSignal(1), w.NewAbortController().Signal()).OnAbort(hear)
	ctx, cancel := w.timeoutSignal(1).Context(context.Background())
	defer cancel()
	for range n {
		w.timeoutSignal(1e9)
		w.timeoutSignal(1e9).OnAbort(func(error) { t.Error("called") })()
	}
	beat.Eventually(t, func() bool {
		runtime.GC() // again and again, on all processors: a collection on one does not run cleanups that others have found
		return loop.pending.Load() == 3
	}, "three timers alone to be pending")
	if after := garbage.Heap(); after > before+4<<20 {
		t.Errorf("the heap grew from %d to %d bytes", before, after)
	}
	release := w.loop.Hold()
	go w.loop.Run(context.Background())
	for range 2 {
		if reason := <-heard; reason != js.ErrTimeout {
			t.Error(reason)
		}
	}
	<-ctx.Done()
	if cause := context.Cause(ctx); cause != js.ErrTimeout {
		t.Error(cause)
	}
	release()
	<-w.loop.Done()
}

// The same in a bubble of synctest: the goroutine that takes the timer back is not of the bubble, and must not wake the
// loop.
func TestForgottenTimeoutsInABubble(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		release := w.loop.Hold()
		go w.loop.Run(context.Background())
		for range 100 {
			w.timeoutSignal(1e9)
		}
		for range 10 {
			synctest.Wait() // the loop sleeps
			runtime.GC()
			runtime.Gosched()
		}
		release()
		<-w.loop.Done()
	})
}

// countingContext tells when a function that was registered with it is taken back.
type countingContext struct {
	context.Context
	done  chan struct{}
	taken chan struct{}
	fn    func() // that was registered
}

func (c *countingContext) Done() <-chan struct{} { return c.done }

func (c *countingContext) AfterFunc(fn func()) func() bool {
	c.fn = fn
	return func() bool {
		close(c.taken)
		return true
	}
}

// A context holds nothing of a signal that is garbage.
func TestContextForgetsSignals(t *testing.T) {
	w := newWorld(t)
	defer w.loop.Close()
	ctx := &countingContext{Context: context.Background(), done: make(chan struct{}), taken: make(chan struct{})}
	w.SignalFromContext(ctx)
	if !garbage.Closed(ctx.taken) {
		t.Error("the context still holds it")
	}
	runtime.KeepAlive(ctx)
}

// A context that was released, or that its parent has ended, is not held by the signal.
func TestSignalForgetsContexts(t *testing.T) {
	w := newWorld(t)
	defer w.loop.Close()
	c := w.NewAbortController()
	for _, released := range []bool{true, false} {
		collected := make(chan struct{})
		func() {
			type key struct{}
			value := new([64]byte)
			runtime.AddCleanup(value, func(c chan struct{}) { close(c) }, collected)
			parent, end := context.WithCancel(context.WithValue(context.Background(), key{}, value))
			_, release := c.Signal().Context(parent)
			if ends := []func(){end, release}; released {
				ends[1]()
			} else {
				ends[0]()
			}
		}()
		if !garbage.Closed(collected) {
			t.Errorf("the signal still holds it; released: %v", released)
		}
	}
	runtime.KeepAlive(c)
}

// A signal that is aborted and forgotten while another is made from it aborts that one, too, although it may be garbage
// before that one could follow it.
func TestSignalThatEndsMeanwhile(t *testing.T) {
	w := newWorld(t)
	defer w.loop.Close()
	many := make([]*js.AbortSignal, 100_000)
	for i := range many {
		many[i] = w.NewAbortController().Signal()
	}
	for name, from := range map[string]func(s *js.AbortSignal) *js.AbortSignal{
		"from it":               func(s *js.AbortSignal) *js.AbortSignal { return s },
		"from one made from it": func(s *js.AbortSignal) *js.AbortSignal { return w.AnySignal(s) },
	} {
		t.Run(name, func(t *testing.T) {
			c := w.NewAbortController()
			inputs := append(slices.Clone(many), from(c.Signal()))
			before, ended := many[0].Followers(), make(chan struct{})
			go func() {
				defer close(ended)
				for many[0].Followers() == before { // until the new signal begins to follow
					runtime.Gosched()
				}
				_ = c.Abort(nil)
				c = nil
				runtime.GC()
			}()
			s := w.AnySignal(inputs...)
			inputs = nil
			<-ended
			if !s.Aborted() {
				t.Error("it is not aborted")
			}
		})
	}
}
