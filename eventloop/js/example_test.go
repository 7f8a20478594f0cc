package js_test

// Examples of package js.

import (
	"context"
	"errors"
	"fmt"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/js"
)

// run runs a program, as Node runs a script: until nothing is left to do.
func run(program func(j *js.JS)) {
	runOn(func(_ *eventloop.Loop, j *js.JS) { program(j) })
}

// runOn runs a program that needs the loop too.
func runOn(program func(loop *eventloop.Loop, j *js.JS)) {
	loop, err := eventloop.New(eventloop.WithAutoExit(true))
	if err != nil {
		panic(err)
	}
	j, err := js.New(loop)
	if err != nil {
		panic(err)
	}
	loop.Submit(func() { program(loop, j) })
	loop.Run(context.Background())
}

// Functions that are set at the same time run in Node's order.
func Example() {
	run(func(j *js.JS) {
		j.SetTimeout(func() { fmt.Println("timeout") }, 5)
		j.SetImmediate(func() { fmt.Println("immediate") })
		j.QueueMicrotask(func() { fmt.Println("microtask") })
		j.Resolve("promise").Then(func(v any) (any, error) { fmt.Println(v); return nil, nil }, nil)
		j.NextTick(func() { fmt.Println("tick") })
		fmt.Println("script")
	})
	// Output:
	// script
	// tick
	// microtask
	// promise
	// immediate
	// timeout
}

func ExampleJS_SetTimeout() {
	run(func(j *js.JS) {
		j.SetTimeout(func() { fmt.Println("later") }, 10)
		never, _ := j.SetTimeout(func() { fmt.Println("never") }, 5)
		j.ClearTimeout(never)
		fmt.Println("now")
	})
	// Output:
	// now
	// later
}

// An interval ends itself.
func ExampleJS_SetInterval() {
	run(func(j *js.JS) {
		runs := 0
		var id js.ID
		id, _ = j.SetInterval(func() {
			runs++
			fmt.Println("run", runs)
			if runs == 3 {
				j.ClearInterval(id)
			}
		}, 2)
	})
	// Output:
	// run 1
	// run 2
	// run 3
}

// A loop does not live on for a timer that is unref'd.
func ExampleJS_Unref() {
	run(func(j *js.JS) {
		heartbeat, _ := j.SetInterval(func() { fmt.Println("never reached") }, 60_000)
		j.Unref(heartbeat)
		fmt.Println("done")
	})
	// Output: done
}

// Work that is cut into immediates lets timers through.
func ExampleJS_SetImmediate() {
	run(func(j *js.JS) {
		var work func()
		chunk := 0
		work = func() {
			if chunk++; chunk < 4 {
				j.SetImmediate(work)
			}
			fmt.Println("chunk", chunk)
		}
		j.SetImmediate(work)
	})
	// Output:
	// chunk 1
	// chunk 2
	// chunk 3
	// chunk 4
}

// A timeout cancels a context that Go code works under.
func ExampleJS_TimeoutSignal() {
	run(func(j *js.JS) {
		signal, err := j.TimeoutSignal(5)
		if err != nil {
			panic(err)
		}
		ctx, cancel := signal.Context(context.Background())
		j.SetTimeout(func() {
			fmt.Println(ctx.Err())
			fmt.Println(context.Cause(ctx))
			fmt.Println(errors.Is(signal.Reason(), context.DeadlineExceeded))
			cancel()
		}, 20)
	})
	// Output:
	// context canceled
	// TimeoutError: the operation timed out
	// true
}

// A controller stops blocking work, and the promise tells why.
func ExampleAbortSignal_Context() {
	errAborted := errors.New("the user has left")
	runOn(func(loop *eventloop.Loop, j *js.JS) {
		user := j.NewAbortController()
		ctx, cancel := user.Signal().Context(context.Background())
		work := func(ctx context.Context) (any, error) {
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}
		j.All(loop.Promisify(ctx, work), loop.Promisify(ctx, work)).Finally(func() error {
			cancel()
			return nil
		}).Catch(func(err error) (any, error) {
			fmt.Println("stopped:", errors.Is(err, errAborted))
			return nil, nil
		})
		j.SetTimeout(func() { user.Abort(errAborted) }, 5)
	})
	// Output: stopped: true
}

// A timer as a promise, in a race.
func ExampleJS_WithResolvers() {
	run(func(j *js.JS) {
		sleep := func(ms float64, value string) *eventloop.Promise {
			p, resolve, _ := j.WithResolvers()
			j.SetTimeout(func() { resolve(value) }, ms)
			return p
		}
		print := func(v any) (any, error) {
			fmt.Println(v)
			return nil, nil
		}
		fast, slow := sleep(5, "fast"), sleep(20, "slow")
		j.Race(slow, fast).Then(print, nil)
		j.All(slow, fast).Then(print, nil)
	})
	// Output:
	// fast
	// [slow fast]
}

// Several reasons to stop, one signal.
func ExampleJS_AnySignal() {
	run(func(j *js.JS) {
		user := j.NewAbortController()
		timeout, _ := j.TimeoutSignal(60_000)
		signal := j.AnySignal(user.Signal(), timeout)
		signal.OnAbort(func(reason error) { fmt.Println("stopped:", reason) })
		user.Abort(errors.New("enough"))
		fmt.Println(signal.ThrowIfAborted())
	})
	// Output:
	// stopped: enough
	// enough
}

// The end of a context aborts what JavaScript does.
func ExampleJS_SignalFromContext() {
	ctx, cancel := context.WithCancel(context.Background())
	run(func(j *js.JS) {
		keep, _ := j.SetTimeout(func() {}, 60_000)
		j.SignalFromContext(ctx).OnAbort(func(reason error) {
			fmt.Println(reason)
			j.ClearTimeout(keep)
		})
		cancel()
	})
	// Output: AbortError: the operation was aborted
}

func ExampleEventTarget() {
	run(func(j *js.JS) {
		target := j.NewEventTarget()
		target.AddEventListener("greet", js.NewEventListener(func(e *js.Event) {
			fmt.Println("hello", e.Detail)
		}))
		target.AddEventListener("greet", js.NewEventListener(func(*js.Event) {
			fmt.Println("(said once)")
		}), js.Once())
		target.DispatchEvent(js.NewCustomEvent("greet", "world"))
		target.DispatchEvent(js.NewCustomEvent("greet", "moon"))
	})
	// Output:
	// hello world
	// (said once)
	// hello moon
}

// Listeners that end with a signal.
func ExampleUntil() {
	run(func(j *js.JS) {
		target, stop := j.NewEventTarget(), j.NewAbortController()
		target.AddEventListener("tick", js.NewEventListener(func(*js.Event) { fmt.Println("heard") }), js.Until(stop.Signal()))
		target.DispatchEvent(js.NewEvent("tick"))
		stop.Abort(nil)
		target.DispatchEvent(js.NewEvent("tick"))
	})
	// Output: heard
}

func ExamplePerformance() {
	run(func(j *js.JS) {
		p := j.Performance()
		p.Mark("begin")
		j.SetTimeout(func() {
			p.Mark("end")
			m, err := p.Measure("waiting", "begin", "end")
			if err != nil {
				panic(err)
			}
			fmt.Println(m.Name, m.EntryType, m.Duration >= 5)
			fmt.Println(len(p.GetEntriesByType("mark")), "marks")
		}, 5)
	})
	// Output:
	// waiting measure true
	// 2 marks
}
