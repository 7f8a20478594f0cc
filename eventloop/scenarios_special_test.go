//go:build schedules

package eventloop_test

// The scenarios that are more than submissions and an end.

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/flow"
	"github.com/turnloop/turnloop/internal/sched"
)

// A place in the queue is free again when the function that had it begins.
func overload(w *stage) []sched.Thread {
	w.left = -1
	return []sched.Thread{w.thread("run", w.run), w.producer("a", submit, 2), w.thread("b", func() {
		t, fn := w.task("b internal")
		t.err = w.SubmitInternal(func() { fn(); w.shutdown() })
	})}
}

// The goroutine that called Run ends in a callback, and another goes on.
func goexit(w *stage) []sched.Thread {
	return []sched.Thread{w.thread("run", w.run), w.thread("a", func() {
		t, fn := w.task("a external")
		t.err = w.Submit(func() { fn(); runtime.Goexit() })
	}), w.thread("b", func() {
		w.producer("b", submit, 1).Run()
		w.shutdown()
	})}
}

// The end of Run's context is a Shutdown.
func cancel(w *stage) []sched.Thread {
	ctx := newCancellable()
	var err error
	w.verify = func() error {
		if !errors.Is(err, context.Canceled) {
			return fmt.Errorf("Run returned %v", err)
		}
		return nil
	}
	return []sched.Thread{w.thread("run", func() { err = w.Run(ctx) }), w.thread("cancel", ctx.cancel), w.producer("a", submit, 2)}
}

// Releasing the last hold ends a loop that sleeps; what is accepted meanwhile runs.
func hold(w *stage) []sched.Thread {
	release := w.Hold()
	return []sched.Thread{w.thread("run", w.run), w.thread("release", release), w.producer("a", submit, 1)}
}

// Taking back the last timer ends a loop that sleeps.
func lastTimer(w *stage) []sched.Thread {
	id, err := w.ScheduleTimer(math.MaxInt64, func() {}) // so far that no alarm ever wakes the loop
	if err != nil {
		panic(err)
	}
	return []sched.Thread{w.thread("run", w.run), w.thread("cancel", func() { _ = w.CancelTimer(id) }), w.producer("a", internal, 1)}
}

// A timer that is due soon is heard of, whenever one that is not is scheduled beside it.
func farTimer(w *stage) []sched.Thread {
	w.left = 1
	return []sched.Thread{w.thread("run", w.run), w.producer("a", alarm, 1), w.thread("far", func() {
		if _, err := w.ScheduleTimer(sched.Lifetime, func() {}); err != nil && !errors.Is(err, eventloop.ErrLoopTerminated) {
			w.fault("ScheduleTimer: %v", err)
		}
	})}
}

// Alive is asked of a loop that is alive all the time: by one timer, by its callback, and by the timer that this leaves.
func alive(w *stage) []sched.Thread {
	_, fn := w.task("a alarm")
	if _, err := w.ScheduleTimer(1, func() {
		sched.Yield() // neither is pending now
		if _, err := w.ScheduleTimer(math.MaxInt64, func() {}); err != nil {
			w.fault("ScheduleTimer: %v", err)
		}
		fn()
	}); err != nil {
		panic(err)
	}
	w.left = -1
	return []sched.Thread{w.thread("run", w.run), w.thread("alive", func() {
		if !w.Alive() {
			w.fault("not alive")
		}
		sched.Until(func() bool { return w.tasks[0].ran > 0 })
		w.shutdown()
	})}
}

// A loop that ends by itself accepts what it still runs.
func autoExit(w *stage) []sched.Thread {
	return []sched.Thread{w.thread("run", w.run), w.producer("a", submit, 1), w.producer("b", timer, 1)}
}

// Of two calls that exclude each other exactly one fails.
func registerAndForced(w *stage) []sched.Thread {
	var registered, forced error
	left := 2
	last := func() {
		if left--; left == 0 {
			w.shutdown()
		}
	}
	w.verify = func() error {
		if errors.Is(registered, eventloop.ErrFastPathIncompatible) == errors.Is(forced, eventloop.ErrFastPathIncompatible) {
			return fmt.Errorf("RegisterFD: %v, SetFastPathMode: %v", registered, forced)
		}
		return nil
	}
	return []sched.Thread{w.thread("run", w.run), w.thread("register", func() {
		registered = w.RegisterFD(1, eventloop.EventRead, func(eventloop.IOEvents) {})
		last()
	}), w.thread("force", func() {
		forced = w.SetFastPathMode(eventloop.FastPathForced)
		last()
	})}
}

// An event is heard of, whether it comes before, while or after the loop begins to look for it.
func registerAndReady(w *stage) []sched.Thread {
	w.left = 1
	return []sched.Thread{w.thread("run", w.run), w.thread("register", func() {
		t, fn := w.task("a descriptor")
		t.err = w.RegisterFD(1, eventloop.EventRead, func(eventloop.IOEvents) {
			w.poller.ready = false
			fn()
		})
	}), w.thread("event", w.poller.event)}
}

// What follows a registration is called once, behind its callback, whatever becomes of the loop; and on it, if that has
// ended by itself and so for want of this.
func unregisterAnd(end func(*stage)) func(w *stage) []sched.Thread {
	return func(w *stage) []sched.Thread {
		running, followed := false, 0
		if err := w.RegisterFD(1, eventloop.EventRead, func(eventloop.IOEvents) {
			if followed > 0 {
				w.fault("the callback begins after what follows")
			}
			running, w.poller.ready = true, false
			sched.Point()
			running = false
		}); err != nil {
			panic(err)
		}
		w.poller.ready = end == nil // with an end there are enough schedules
		var err error
		w.verify = func() error {
			if errors.Is(err, eventloop.ErrLoopTerminated) != (followed == 0) || followed > 1 {
				return fmt.Errorf("UnregisterFDThen: %v; called %d times", err, followed)
			}
			return nil
		}
		threads := []sched.Thread{w.thread("run", w.run), w.thread("unregister", func() {
			err = w.UnregisterFDThen(1, func() {
				if followed++; running {
					w.fault("what follows is called beside the callback")
				}
				if end == nil && !w.OnLoop() {
					w.fault("the loop has ended, and nobody has ended it")
				}
			})
		})}
		if end != nil {
			threads = append(threads, w.thread("end", func() { end(w) }))
		}
		return threads
	}
}

// Work is heard of wherever the loop goes to sleep.
func modeAndSubmit(w *stage) []sched.Thread {
	w.left = 1
	return []sched.Thread{w.thread("run", w.run), w.thread("mode", func() {
		if err := w.SetFastPathMode(eventloop.FastPathDisabled); err != nil && !errors.Is(err, eventloop.ErrLoopTerminated) {
			w.fault("SetFastPathMode: %v", err)
		}
	}), w.producer("a", submit, 1)}
}

// A worker's outcome is heard of, unless Close comes first; and a function that is refused is not called.
func promisifyAnd(end func(*stage)) func(w *stage) []sched.Thread {
	return func(w *stage) []sched.Thread {
		called := 0
		var heard <-chan eventloop.Result
		w.verify = func() error {
			r, err := outcome(heard)
			switch {
			case err != nil:
				return err
			case r.Err == nil && called != 1, r.Err != nil && !errors.Is(r.Err, eventloop.ErrLoopTerminated),
				r.Err != nil && called != 0 && !w.closed:
				return fmt.Errorf("called %d times, and heard %v", called, r)
			}
			return nil
		}
		return []sched.Thread{w.thread("run", w.run), w.thread("promisify", func() {
			heard = w.Promisify(context.Background(), func(context.Context) (any, error) {
				called++
				return nil, nil
			}).ToChannel()
		}), w.thread("end", func() { end(w) })}
	}
}

// A sleep that the loop's end cuts short is heard of, and its context has forgotten it.
func sleepAnd(end func(*stage)) func(w *stage) []sched.Thread {
	return func(w *stage) []sched.Thread {
		ctx := newCancellable()
		var heard <-chan eventloop.Result
		w.verify = func() error {
			for _, f := range ctx.after {
				if f != nil {
					return errors.New("the context has not forgotten who sleeps")
				}
			}
			if r, err := outcome(heard); err != nil || !errors.Is(r.Err, eventloop.ErrLoopTerminated) {
				return fmt.Errorf("heard %v, %v", r, err)
			}
			return nil
		}
		return []sched.Thread{w.thread("run", w.run), w.thread("sleep", func() {
			heard = flow.Sleep(ctx, w.Loop, math.MaxInt64).ToChannel()
		}), w.thread("end", func() { end(w) })}
	}
}

// The end of its context ends a sleep, which alone has kept the loop alive; and of the two who sleeps hears the former.
func sleepAndCancel(w *stage) []sched.Thread {
	ctx := newCancellable()
	var heard <-chan eventloop.Result
	w.verify = func() error {
		if r, err := outcome(heard); err != nil || !errors.Is(r.Err, context.Canceled) {
			return fmt.Errorf("heard %v, %v", r, err)
		}
		return nil
	}
	return []sched.Thread{w.thread("sleep and run", func() {
		heard = flow.Sleep(ctx, w.Loop, math.MaxInt64).ToChannel()
		w.run()
	}), w.thread("cancel", func() {
		sched.Until(func() bool { return heard != nil })
		ctx.cancel()
	})}
}

// Each function is called and its outcome told, or neither called nor told of but refused, at once or later; and the loop ends.
func workAndRefuse(w *stage) []sched.Thread {
	const n = 2
	var called, told, refused [n]int
	w.verify = func() error {
		for i := range n {
			if told[i]+refused[i] != 1 || called[i] != told[i] {
				return fmt.Errorf("called %v, told %v, refused %v", called, told, refused)
			}
		}
		return nil
	}
	return []sched.Thread{w.thread("run", w.run), w.thread("work", func() {
		for i := range n {
			tell := func(_ any, err error) {
				if err != nil {
					refused[i]++
				} else {
					told[i]++
				}
			}
			if err := w.Work(context.Background(), func(context.Context) (any, error) { called[i]++; return nil, nil }, tell); err != nil {
				tell(nil, err)
			}
		}
	}), w.thread("refuse", func() {
		w.RefuseWork()
		if err := w.Work(context.Background(), func(context.Context) (any, error) { return nil, nil }, func(any, error) {}); err == nil {
			w.fault("work is accepted")
		}
		w.shutdown()
	})}
}

// Who waits for a promise hears of it once, whoever settles it; and if it was fulfilled, so does a handler.
func resolveAnd(end func(*stage)) func(w *stage) []sched.Thread {
	return func(w *stage) []sched.Thread {
		p, resolve, _ := w.NewPromise()
		var handled []bool
		p.Then(func(any) (any, error) { handled = append(handled, true); return nil, nil },
			func(error) (any, error) { handled = append(handled, false); return nil, nil })
		var heard <-chan eventloop.Result
		w.verify = func() error {
			r, err := outcome(heard)
			switch {
			case err != nil:
				return err
			case r.Err != nil && !errors.Is(r.Err, eventloop.ErrLoopTerminated):
				return r.Err
			case len(handled) > 1, len(handled) == 1 && handled[0] != (r.Err == nil), len(handled) == 0 && !w.closed:
				return fmt.Errorf("heard %v, handlers called: %v", r, handled)
			}
			return nil
		}
		return []sched.Thread{w.thread("run", w.run), w.thread("resolve", func() {
			resolve(1)
			heard = p.ToChannel()
		}), w.thread("end", func() { end(w) })}
	}
}

// Who waits for a promise hears of it while the loop runs.
func resolveAndWait(w *stage) []sched.Thread {
	p, resolve, _ := w.NewPromise()
	return []sched.Thread{w.thread("run", w.run), w.thread("resolve", func() { resolve(1) }), w.thread("wait", func() {
		heard := p.ToChannel()
		sched.Until(func() bool { return len(heard) > 0 })
		if r := <-heard; r.Value != 1 {
			w.fault("heard %v", r)
		}
		w.shutdown()
	})}
}

// outcome is what a channel of a promise has.
func outcome(heard <-chan eventloop.Result) (r eventloop.Result, err error) {
	select {
	case r, ok := <-heard:
		if ok {
			return r, nil
		}
	default:
	}
	return r, errors.New("who waits for the promise has not heard")
}

// cancellable is a context whose end is an event of the schedule.
type cancellable struct {
	context.Context
	done  chan struct{}
	err   error
	after []func()
}

func newCancellable() *cancellable {
	return &cancellable{Context: context.Background(), done: make(chan struct{})}
}

func (c *cancellable) Done() <-chan struct{} { return c.done }

func (c *cancellable) Err() error {
	sched.Point()
	return c.err
}

// AfterFunc is what sched.AfterContext calls.
func (c *cancellable) AfterFunc(f func()) (stop func() bool) {
	sched.Point()
	if c.err != nil {
		sched.Go(f)
		return func() bool { return false }
	}
	i := len(c.after)
	c.after = append(c.after, f)
	return func() bool {
		sched.Point()
		pending := c.after[i] != nil
		c.after[i] = nil
		return pending
	}
}

func (c *cancellable) cancel() {
	sched.Point()
	c.err = context.Canceled
	close(c.done)
	for i, f := range c.after {
		if f != nil {
			c.after[i] = nil
			sched.Go(f)
		}
	}
}
