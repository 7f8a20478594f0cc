package modules_test

// Examples of package modules.

import (
	"context"
	"fmt"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/gojaloop"
	"github.com/turnloop/turnloop/gojaloop/modules"
)

// A service loads rules in TypeScript, and calls what they export.
func Example() {
	loop, _ := eventloop.New()
	host, _ := gojaloop.New(loop)
	program, _ := modules.New(host, modules.WithNode())
	go loop.Run(context.Background())
	defer loop.Close()

	ctx := context.Background()
	fmt.Println(program.Load(ctx, "rules", "./testdata/rules/index.ts"))
	fmt.Println(host.Call(ctx, "rules.price", 20))
	// Output:
	// <nil>
	// 3000 <nil>
}

// A program runs until nothing is left to do.
func ExampleProgram_Run() {
	loop, _ := eventloop.New()
	host, _ := gojaloop.New(loop)
	program, _ := modules.New(host, modules.WithNode(), modules.WithArguments([]string{"main", "-v"}, nil))
	fmt.Println(program.Run(context.Background(), "testdata/main.mjs"))
	// Output:
	// [ 'main', '-v' ]
	// 300
	// exit 0
	// <nil>
}
