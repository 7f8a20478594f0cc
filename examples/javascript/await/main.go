// Command await runs a script that awaits Go functions. They read files, each on a goroutine of its own, and return
// checksums.
//
//	go run ./examples/javascript/await README.md LICENSE
package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/dop251/goja"
	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/gojaloop"
)

const script = `
async function tell(name) {
	try {
		const { size, sum } = await read(name)      // other scripts' work and timers go on meanwhile
		console.log(name + ': ' + size + ' bytes, ' + sum)
		return size
	} catch (e) {
		console.log(name + ': ' + e.message)        // a Go error, in e.value too
		return 0
	}
}
async function main() {
	const sizes = await Promise.all(names.map(tell)) // all at once
	return sizes.reduce((a, b) => a + b, 0)
}`

func main() {
	total, err := run(context.Background(), os.Stdout, os.Args[1:])
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(total, "bytes")
}

// run runs the script on a loop of its own, and returns the value that its function main promises.
func run(ctx context.Context, out io.Writer, names []string) (any, error) {
	loop, err := eventloop.New()
	if err != nil {
		return nil, err
	}
	defer loop.Close()
	go loop.Run(ctx)
	host, err := gojaloop.New(loop, gojaloop.WithOutput(out, out))
	if err != nil {
		return nil, err
	}
	var total *eventloop.Promise
	err = host.Do(ctx, func(vm *goja.Runtime) error {
		if err := host.Set("names", names); err != nil {
			return err
		}
		if err := host.Set("read", host.Promisify(read)); err != nil {
			return err
		}
		promise, err := vm.RunString(script + "\nmain()")
		if err == nil {
			total = host.Await(promise)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return total.Await(ctx)
}

// read is the Go function that the script awaits. It may block, and must not use the runtime: the function that it
// returns makes the value, on the loop.
func read(_ context.Context, args []goja.Value) (func(*goja.Runtime) (goja.Value, error), error) {
	text, err := os.ReadFile(args[0].String())
	if err != nil {
		return nil, err // the promise is rejected with it
	}
	sum := fmt.Sprintf("%x", sha256.Sum256(text))[:8]
	return func(vm *goja.Runtime) (goja.Value, error) {
		return vm.ToValue(map[string]any{"size": len(text), "sum": sum}), nil
	}, nil
}
