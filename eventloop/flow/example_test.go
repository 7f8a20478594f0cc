package flow_test

// Examples of package flow.

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/flow"
)

// What is not there yet is asked for again, ever later.
func ExampleRetry() {
	loop, _ := eventloop.New(eventloop.WithAutoExit(true))
	backoff := flow.Backoff{First: time.Millisecond, Attempts: 5, OnRetry: func(attempt int, err error, _ time.Duration) {
		fmt.Println("attempt", attempt, "has failed:", err)
	}}
	flow.Retry(context.Background(), loop, backoff, func(_ context.Context, attempt int) (string, error) {
		if attempt < 3 {
			return "", errors.New("not there")
		}
		return "here it is", nil
	}).Settled(func(v string, err error) { fmt.Println(v, err) })
	_ = loop.Run(context.Background())
	// Output:
	// attempt 1 has failed: not there
	// attempt 2 has failed: not there
	// here it is <nil>
}

// A program that runs until it is told to end, with an interval that does not keep it alive.
func ExampleRunUntil() {
	loop, _ := eventloop.New()
	ctx, cancel := context.WithCancel(context.Background()) // or signal.NotifyContext
	runs := 0
	ticker, _ := flow.Every(loop, time.Millisecond, func() {
		if runs++; runs == 3 {
			cancel()
		}
	})
	ticker.Unref()
	fmt.Println(flow.RunUntil(ctx, loop, time.Minute), runs >= 3)
	// Output: <nil> true
}

// State of the loop's is asked for from another goroutine.
func ExampleCall() {
	loop, _ := eventloop.New()
	counts := map[string]int{"a": 1} // the loop's alone
	go loop.Run(context.Background())
	n, err := flow.Call(context.Background(), loop, func() (int, error) { counts["a"]++; return counts["a"], nil })
	fmt.Println(n, err)
	_ = loop.Close()
	// Output: 2 <nil>
}

// What has no result is asked for with Exec.
func ExampleExec() {
	loop, _ := eventloop.New()
	var names []string // the loop's alone
	go loop.Run(context.Background())
	fmt.Println(flow.Exec(context.Background(), loop, func() error { names = append(names, "a"); return nil }))
	fmt.Println(flow.Exec(context.Background(), loop, func() error { return errors.New("no") }))
	_ = loop.Close()
	// Output:
	// <nil>
	// no
}

// Three times, a millisecond apart.
func ExampleEvery() {
	loop, _ := eventloop.New(eventloop.WithAutoExit(true))
	var ticker *flow.Ticker
	runs := 0
	ticker, _ = flow.Every(loop, time.Millisecond, func() {
		if runs++; runs == 3 {
			ticker.Stop() // nothing else keeps the loop alive
		}
	})
	_ = loop.Run(context.Background())
	fmt.Println(runs)
	// Output: 3
}

// A schedule is a function of the present time. Schedules of cron libraries have such a method.
func ExampleRepeat() {
	loop, _ := eventloop.New(eventloop.WithAutoExit(true))
	left := 3
	_, _ = flow.Repeat(loop, func(now time.Time) time.Time {
		if left--; left < 0 {
			return time.Time{} // the end
		}
		return now.Truncate(time.Millisecond).Add(time.Millisecond) // each full millisecond
	}, func() { fmt.Println(left, "left") })
	_ = loop.Run(context.Background())
	// Output:
	// 2 left
	// 1 left
	// 0 left
}

// Sleep is a promise: nothing waits for it but what is to be done then.
func ExampleSleep() {
	loop, _ := eventloop.New(eventloop.WithAutoExit(true))
	flow.Sleep(context.Background(), loop, time.Millisecond).Then(func(any) (any, error) { fmt.Println("later"); return nil, nil }, nil)
	_ = loop.Run(context.Background())
	// Output: later
}

// A stop lets work end that has begun, and begins none that only waits.
func ExampleStopGracefully() {
	loop, _ := eventloop.New(eventloop.WithWorkerLimit(1))
	go loop.Run(context.Background())
	jobs, kill := context.WithCancel(context.Background())
	defer kill() // what outlives the grace
	begun := make(chan struct{})
	loop.Promisify(jobs, func(ctx context.Context) (any, error) {
		close(begun)
		<-ctx.Done()
		return nil, ctx.Err()
	})
	<-begun
	waiting := loop.Promisify(jobs, func(context.Context) (any, error) { return nil, nil }).ToChannel()
	err := flow.StopGracefully(context.Background(), loop, time.Millisecond)
	fmt.Println(errors.Is(err, context.DeadlineExceeded), errors.Is((<-waiting).Err, eventloop.ErrLoopTerminated))
	// Output: true true
}
