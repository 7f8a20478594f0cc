package gojaloop_test

// Examples of package gojaloop.

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/dop251/goja"
	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/gojaloop"
)

// A script with timers that awaits a Go function.
func Example() {
	loop, _ := eventloop.New()
	host, _ := gojaloop.New(loop)
	host.Set("print", func(s string) { fmt.Println(s) })
	host.Set("slow", host.Promisify(func(_ context.Context, args []goja.Value) (func(*goja.Runtime) (goja.Value, error), error) {
		time.Sleep(time.Millisecond) // on a goroutine of its own
		answer := "hello, " + args[0].String()
		return func(vm *goja.Runtime) (goja.Value, error) { return vm.ToValue(answer), nil }, nil
	}))
	_, err := host.Run(context.Background(), "main.js", `
		setTimeout(async () => print(await slow('world')), 1)
		print('first')`)
	fmt.Println(err)
	// Output:
	// first
	// hello, world
	// <nil>
}

// A script with timers, fetch, and a Go function that takes time.
func ExampleHost_Run() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "5") }))
	defer server.Close()
	err := run(`setTimeout(async () => console.log(await lookup('a') + Number(await (await fetch('` + server.URL + `')).text())), 1)`)
	fmt.Println(err)
	// Output:
	// 12
	// <nil>
}

func run(script string) error {
	loop, err := eventloop.New()
	if err != nil {
		return err
	}
	host, err := gojaloop.New(loop)
	if err != nil {
		return err
	}
	host.Set("lookup", host.Promisify(func(_ context.Context, args []goja.Value) (func(*goja.Runtime) (goja.Value, error), error) {
		found := map[string]int{"a": 7}[args[0].String()] // on a goroutine of its own
		return func(vm *goja.Runtime) (goja.Value, error) { return vm.ToValue(found), nil }, nil
	}))
	_, err = host.Run(context.Background(), "main.js", script)
	return err
}

// A script that would run for ever, also behind an await, is ended, and the loop goes on.
func ExampleWithCallbackLimit() {
	loop, _ := eventloop.New(eventloop.WithPanicHandler(func(*eventloop.PanicError) {}))
	host, _ := gojaloop.New(loop, gojaloop.WithCallbackLimit(time.Millisecond))
	_, err := host.Run(context.Background(), "main.js", `for (;;);`)
	fmt.Println(errors.Is(err, gojaloop.ErrCallbackLimit))
	// Output: true
}

// A call of a script's function with a deadline, as in an HTTP handler.
func ExampleHost_Do() {
	loop, _ := eventloop.New()
	go loop.Run(context.Background())
	defer loop.Shutdown(context.Background())
	host, _ := gojaloop.New(loop)

	call := func(source string, limit time.Duration) (answer string, err error) {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		err = host.Do(ctx, func(vm *goja.Runtime) error {
			v, err := vm.RunString(source)
			if err == nil {
				answer = v.String()
			}
			return err
		})
		return answer, err
	}
	fmt.Println(call("6 * 7", time.Minute))
	_, err := call("for (;;);", 50*time.Millisecond)
	fmt.Println(errors.Is(err, context.DeadlineExceeded))
	fmt.Println(call("'still there'", time.Minute))
	// Output:
	// 42 <nil>
	// true
	// still there <nil>
}

// A script's promise in Go.
func ExampleHost_Await() {
	loop, _ := eventloop.New()
	go loop.Run(context.Background())
	defer loop.Shutdown(context.Background())
	host, _ := gojaloop.New(loop)

	var promise *eventloop.Promise
	host.Do(context.Background(), func(vm *goja.Runtime) error {
		v, err := vm.RunString("new Promise(resolve => setTimeout(() => resolve(7), 1))")
		promise = host.Await(v)
		return err
	})
	fmt.Println(promise.Await(context.Background()))
	// Output: 7 <nil>
}
