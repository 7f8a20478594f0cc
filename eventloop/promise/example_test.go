package promise_test

// Examples of package promise.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/turnloop/turnloop/eventloop/promise"
)

// A promise is settled by one goroutine, transformed on the loop, and awaited by another goroutine.
func Example() {
	loop := newFake() // stands for an eventloop.Loop
	owner := promise.NewOwner(loop, promise.Config{})
	stop := loop.start(owner)
	defer stop()

	text, resolve, _ := promise.New[string](&owner.Realm) // eventloop.Loop.Promises gives users the realm
	number := promise.Then(text, strconv.Atoi)
	twice := promise.Then(number, func(n int) (int, error) { return 2 * n, nil })
	go resolve("21")
	fmt.Println(twice.Await(context.Background()))
	// Output: 42 <nil>
}

// onLoop runs a program on a loop until nothing is left to do.
func onLoop(program func(realm *promise.Realm)) {
	loop, owner := newOwner(promise.Config{})
	program(&owner.Realm)
	loop.drain()
}

func show(v any) (any, error) {
	fmt.Println(v)
	return nil, nil
}

func showError(err error) (any, error) {
	fmt.Println("failed:", err)
	return nil, nil
}

func ExamplePromise_Then() {
	onLoop(func(realm *promise.Realm) {
		realm.Resolved(20).
			Then(func(v any) (any, error) { return v.(int) + 1, nil }, nil).
			Then(func(v any) (any, error) { return nil, fmt.Errorf("%d is not enough", v) }, nil).
			Then(show, showError)
		fmt.Println("handlers run later")
	})
	// Output:
	// handlers run later
	// failed: 21 is not enough
}

func ExamplePromise_Catch() {
	onLoop(func(realm *promise.Realm) {
		realm.Rejected(io.EOF).
			Then(func(any) (any, error) { panic("not called") }, nil).
			Catch(func(err error) (any, error) {
				if errors.Is(err, io.EOF) {
					return "the end", nil
				}
				return nil, err
			}).
			Then(show, nil)
	})
	// Output: the end
}

func ExamplePromise_Finally() {
	onLoop(func(realm *promise.Realm) {
		realm.Resolved("value").
			Finally(func() error { fmt.Println("clean up"); return nil }).
			Then(show, nil)
	})
	// Output:
	// clean up
	// value
}

func ExampleRealm_All() {
	onLoop(func(realm *promise.Realm) {
		later, resolve, _ := realm.New()
		realm.All(later, realm.Resolved("b"), realm.Resolved("c")).Then(show, showError)
		realm.All(later, realm.Rejected(io.EOF)).Then(show, showError)
		resolve("a")
	})
	// Output:
	// failed: EOF
	// [a b c]
}

func ExampleRealm_AllSettled() {
	onLoop(func(realm *promise.Realm) {
		realm.AllSettled(realm.Resolved(1), realm.Rejected(io.EOF)).Then(func(v any) (any, error) {
			for _, result := range v.([]promise.Result) {
				fmt.Println(result.Value, result.Err)
			}
			return nil, nil
		}, nil)
	})
	// Output:
	// 1 <nil>
	// <nil> EOF
}

func ExampleRealm_Race() {
	onLoop(func(realm *promise.Realm) {
		slow, resolveSlow, _ := realm.New()
		fast, resolveFast, _ := realm.New()
		realm.Race(slow, fast).Then(show, nil)
		resolveFast("fast")
		resolveSlow("slow")
	})
	// Output: fast
}

func ExampleRealm_Any() {
	onLoop(func(realm *promise.Realm) {
		realm.Any(realm.Rejected(io.EOF), realm.Resolved("a value")).Then(show, nil)
		realm.Any(realm.Rejected(io.EOF), realm.Rejected(io.ErrNoProgress)).Catch(func(err error) (any, error) {
			fmt.Println(errors.Is(err, io.EOF), err)
			return nil, nil
		})
	})
	// Output:
	// a value
	// true promise: none of 2 was fulfilled: EOF; multiple Read calls return no data or error
}

func ExampleAll() {
	onLoop(func(realm *promise.Realm) {
		words := promise.All(realm, promise.Resolved(realm, "typed"), promise.Resolved(realm, "values"))
		promise.Then(words, func(words []string) (int, error) {
			fmt.Println(len(words), words[0], words[1])
			return 0, nil
		})
	})
	// Output: 2 typed values
}

func ExamplePromise_ToChannel() {
	loop, realm := newOwner(promise.Config{})
	p, resolve, _ := realm.New()
	ch := p.ToChannel()
	resolve("sent")
	loop.drain()
	for result := range ch {
		fmt.Println(result.Value, result.Err)
	}
	// Output: sent <nil>
}

// A rejection that has no handler is reported when the microtasks have run.
func ExampleConfig() {
	loop, realm := newOwner(promise.Config{
		OnUnhandled: func(_ *promise.Promise, err error) { fmt.Println("unhandled:", err) },
	})
	realm.Rejected(errors.New("handled")).Catch(func(error) (any, error) { return nil, nil })
	realm.Resolved(1).Then(func(any) (any, error) { return nil, errors.New("not handled") }, nil)
	loop.checkpoint(realm)
	// Output: unhandled: not handled
}
