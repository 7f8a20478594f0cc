package eventloop_test

// Examples of a loop: its tasks, timers, ends and handlers.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/turnloop/turnloop/eventloop"
)

// The loop owns a counter: no lock, and no work lost at the end.
func Example() {
	loop, err := eventloop.New()
	if err != nil {
		panic(err)
	}
	go loop.Run(context.Background())

	total := 0
	for i := range 1000 {
		loop.Submit(func() { total += i })
	}
	loop.Shutdown(context.Background()) // everything that was accepted runs first
	fmt.Println(total)
	// Output: 499500
}

// Of a task, a microtask and a timer: which runs when.
func Example_script() {
	loop, _ := eventloop.New(eventloop.WithAutoExit(true))
	loop.Submit(func() {
		loop.ScheduleTimer(time.Millisecond, func() { fmt.Println("a timer") })
		loop.ScheduleMicrotask(func() { fmt.Println("a microtask") })
		fmt.Println("a task")
	})
	loop.Run(context.Background()) // returns when nothing is left to do
	// Output:
	// a task
	// a microtask
	// a timer
}

// With auto-exit, Run returns when nothing is left to do, as a script does.
func ExampleWithAutoExit() {
	loop, err := eventloop.New(eventloop.WithAutoExit(true))
	if err != nil {
		panic(err)
	}
	loop.Submit(func() {
		fmt.Println("task")
		loop.ScheduleTimer(0, func() { fmt.Println("next turn") })
		loop.ScheduleTimer(2*time.Millisecond, func() { fmt.Println("later") })
		loop.ScheduleMicrotask(func() { fmt.Println("right after the task") })
	})
	fmt.Println(loop.Run(context.Background()))
	// Output:
	// task
	// right after the task
	// next turn
	// later
	// <nil>
}

// Completions go ahead of all the work that waits.
func ExampleLoop_SubmitInternal() {
	loop, err := eventloop.New(eventloop.WithAutoExit(true))
	if err != nil {
		panic(err)
	}
	loop.Submit(func() {
		fmt.Println("first")
		loop.SubmitInternal(func() { fmt.Println("completion") })
	})
	loop.Submit(func() { fmt.Println("second") })
	loop.Run(context.Background())
	// Output:
	// first
	// completion
	// second
}

// A hold keeps an auto-exit loop alive for work that is under way on another goroutine.
func ExampleLoop_Hold() {
	loop, err := eventloop.New(eventloop.WithAutoExit(true))
	if err != nil {
		panic(err)
	}
	release := loop.Hold()
	go func() {
		answer := 6 * 7 // something slow
		loop.SubmitInternal(func() { fmt.Println(answer) })
		release()
	}()
	loop.Run(context.Background())
	// Output: 42
}

// An unref'd timer fires while the loop lives, and does not make it live on.
func ExampleLoop_UnrefTimer() {
	loop, err := eventloop.New(eventloop.WithAutoExit(true))
	if err != nil {
		panic(err)
	}
	heartbeat, _ := loop.ScheduleTimer(time.Hour, func() { fmt.Println("never reached") })
	loop.UnrefTimer(heartbeat)
	loop.Submit(func() { fmt.Println("done") })
	loop.Run(context.Background())
	// Output: done
}

// The end of Run's context is a graceful shutdown.
func ExampleLoop_Run() {
	loop, err := eventloop.New()
	if err != nil {
		panic(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	loop.Submit(func() {
		cancel()
		loop.SubmitInternal(func() { fmt.Println("cleaning up") })
	})
	fmt.Println(loop.Run(ctx))
	fmt.Println(loop.Submit(func() {}))
	// Output:
	// cleaning up
	// context canceled
	// eventloop: terminated
}

// A panic is reported, and the loop goes on.
func ExampleWithPanicHandler() {
	loop, err := eventloop.New(
		eventloop.WithAutoExit(true),
		eventloop.WithPanicHandler(func(e *eventloop.PanicError) {
			fmt.Println("caught:", e.Value, errors.Is(e, io.ErrUnexpectedEOF))
		}),
	)
	if err != nil {
		panic(err)
	}
	loop.Submit(func() { panic(io.ErrUnexpectedEOF) })
	loop.Submit(func() { fmt.Println("still here") })
	loop.Run(context.Background())
	// Output:
	// caught: unexpected EOF true
	// still here
}

// With a queue limit, Submit refuses what the loop cannot keep up with.
func ExampleWithQueueLimit() {
	loop, err := eventloop.New(eventloop.WithQueueLimit(2), eventloop.WithLogger(slog.Default()))
	if err != nil {
		panic(err)
	}
	for range 3 {
		fmt.Println(loop.Submit(func() {}))
	}
	loop.Close()
	// Output:
	// <nil>
	// <nil>
	// eventloop: overloaded
}

// Close drops what is queued and does not wait.
func ExampleLoop_Close() {
	loop, err := eventloop.New()
	if err != nil {
		panic(err)
	}
	loop.Submit(func() { fmt.Println("dropped") })
	fmt.Println(loop.Close())
	<-loop.Done()
	fmt.Println(loop.State(), loop.Close())
	// Output:
	// <nil>
	// terminated eventloop: terminated
}

// A group is a loop for each processor. Its tasks go to the loop that has time; what is keyed always goes to the same one.
func ExampleNewGroup() {
	group, _ := eventloop.NewGroup(2)
	var tasks atomic.Int64
	for range 100 {
		_ = group.Submit(func() { tasks.Add(1) })
	}
	ann := group.LoopFor("ann") // the loop that has ann's state
	fmt.Println(ann == group.LoopFor("ann"))
	go group.Run(context.Background())
	_ = group.Shutdown(context.Background())
	fmt.Println(tasks.Load())
	// Output:
	// true
	// 100
}

// Four of a hundred requests at once; their results come to the loop one at a time.
func ExampleWithWorkerLimit() {
	loop, _ := eventloop.New(eventloop.WithAutoExit(true), eventloop.WithWorkerLimit(4))
	var atOnce, most atomic.Int64
	sum := 0 // the loop's alone
	for i := range 100 {
		eventloop.Promisify(context.Background(), loop, func(context.Context) (int, error) {
			if n := atOnce.Add(1); n > 4 {
				most.Store(n)
			}
			defer atOnce.Add(-1)
			return i, nil
		}).Settled(func(v int, err error) { sum += v })
	}
	_ = loop.Run(context.Background())
	fmt.Println(sum, most.Load())
	// Output: 4950 0
}
