package eventloop_test

// Examples of promises on a loop.

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/promise"
)

// Blocking work becomes a value that settles on the loop. Another goroutine waits for it.
func ExampleLoop_Promisify() {
	loop, err := eventloop.New()
	if err != nil {
		panic(err)
	}
	go loop.Run(context.Background())
	defer loop.Shutdown(context.Background())

	answer := loop.Promisify(context.Background(), func(context.Context) (any, error) {
		time.Sleep(time.Millisecond) // a query, say
		return 42, nil
	})
	fmt.Println(answer.Await(context.Background()))
	// Output: 42 <nil>
}

// A chain: each handler runs on the loop, a promise that one returns is followed, and errors pass by until somebody
// handles them. They stay Go errors, for errors.Is and errors.As.
func ExampleLoop_Promisify_chain() {
	loop, err := eventloop.New(eventloop.WithAutoExit(true))
	if err != nil {
		panic(err)
	}
	errClosed := errors.New("closed on Sundays")
	price := func(item string) *eventloop.Promise {
		return loop.Promisify(context.Background(), func(context.Context) (any, error) {
			if item == "bread" {
				return 0, fmt.Errorf("bakery: %w", errClosed)
			}
			return len(item), nil
		})
	}
	loop.Submit(func() {
		price("milk").
			Then(func(v any) (any, error) { fmt.Println("milk:", v); return price("bread"), nil }, nil).
			Then(func(v any) (any, error) { fmt.Println("bread:", v); return v, nil }, nil).
			Catch(func(err error) (any, error) { return errors.Is(err, errClosed), nil }).
			Then(func(v any) (any, error) { fmt.Println("closed:", v); return nil, nil }, nil)
	})
	loop.Run(context.Background())
	// Output:
	// milk: 4
	// closed: true
}

// Fan-in with types and without casts: all results in order, or the first error.
func ExamplePromisify() {
	loop, err := eventloop.New()
	if err != nil {
		panic(err)
	}
	go loop.Run(context.Background())
	defer loop.Shutdown(context.Background())

	var parts []promise.Of[string]
	for _, word := range []string{"all", "in", "order"} {
		parts = append(parts, eventloop.Promisify(context.Background(), loop, func(context.Context) (string, error) {
			return strings.ToUpper(word), nil
		}))
	}
	sentence := promise.Then(promise.All(loop.Promises(), parts...), func(words []string) (string, error) {
		return strings.Join(words, " "), nil
	})
	fmt.Println(sentence.Await(context.Background()))
	// Output: ALL IN ORDER <nil>
}

// The end of the context settles the promise at once, whatever the worker does.
func ExampleLoop_Promisify_cancel() {
	loop, err := eventloop.New(eventloop.WithAutoExit(true))
	if err != nil {
		panic(err)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	loop.Promisify(ctx, func(ctx context.Context) (any, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}).Catch(func(err error) (any, error) {
		fmt.Println(errors.Is(err, context.Canceled), err)
		return nil, nil
	})
	loop.ScheduleTimer(time.Millisecond, func() { cancel(errors.New("the user has left")) })
	loop.Run(context.Background())
	// Output: true context canceled: the user has left
}

// A promise that callbacks of the loop settle, and a goroutine that hears of it through a channel.
func ExampleLoop_NewPromise() {
	loop, err := eventloop.New()
	if err != nil {
		panic(err)
	}
	go loop.Run(context.Background())
	defer loop.Shutdown(context.Background())

	done, resolve, _ := loop.NewPromise()
	loop.ScheduleTimer(time.Millisecond, func() { resolve("rung") })
	result := <-done.ToChannel()
	fmt.Println(result.Value, result.Err)
	// Output: rung <nil>
}

// Errors that nobody handles come to light once, with where the promise was created.
func ExampleWithUnhandledRejection() {
	loop, err := eventloop.New(eventloop.WithAutoExit(true),
		eventloop.WithPromiseDebug(true),
		eventloop.WithUnhandledRejection(func(_ *eventloop.Promise, err error) {
			fmt.Println(strings.Contains(err.Error(), "nobody cares"), strings.Contains(err.Error(), "example_promise_test.go"))
		}))
	if err != nil {
		panic(err)
	}
	loop.Submit(func() { loop.Promises().Rejected(errors.New("nobody cares")) })
	loop.Run(context.Background())
	// Output: true true
}
