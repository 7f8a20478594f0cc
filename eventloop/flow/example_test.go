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
	}).Untyped().Then(func(v any) (any, error) { fmt.Println(v); return nil, nil }, nil)
	_ = loop.Run(context.Background())
	// Output:
	// attempt 1 has failed: not there
	// attempt 2 has failed: not there
	// here it is
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
