package nodejs_test

// Examples of package nodejs.

import (
	"fmt"

	"github.com/dop251/goja"

	eventloop "github.com/turnloop/turnloop/gojaloop/nodejs"
)

// A program written for goja_nodejs, of which only an import has changed.
func Example() {
	loop := eventloop.NewEventLoop()
	loop.Run(func(vm *goja.Runtime) {
		_ = vm.Set("print", fmt.Println)
		_, _ = vm.RunString(`setTimeout(() => print("later"), 1); Promise.resolve("soon").then(print); print("first")`)
	})
	// Output:
	// first
	// soon
	// later
}
