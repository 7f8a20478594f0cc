// Command sandbox runs an untrusted script with limits for time, memory, nested calls, output, and calls of Go.
//
//	echo 'for (;;);' | go run ./examples/javascript/sandbox -time 100ms
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/gojaloop"
)

// limits bound one script.
type limits struct {
	time   time.Duration
	memory int64 // bytes that the process's heap may grow by
	calls  int   // nested calls
	output int   // bytes printed
	quotes int   // calls of the function quote
}

var (
	errOutput = errors.New("the script prints too much")
	errQuotes = errors.New("the script asks for too many quotes")
)

func main() {
	var l limits
	flag.DurationVar(&l.time, "time", time.Second, "how long the script may run, its timers included")
	flag.Int64Var(&l.memory, "memory", 64<<20, "how many bytes it may keep")
	flag.IntVar(&l.calls, "calls", 1000, "how many calls may be nested")
	flag.IntVar(&l.output, "output", 64<<10, "how many bytes it may print")
	flag.IntVar(&l.quotes, "quotes", 100, "how often it may call quote(name)")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "sandbox: %q is no flag\n", flag.Arg(0))
		os.Exit(2)
	}
	source, err := io.ReadAll(os.Stdin)
	if err == nil {
		err = run(context.Background(), string(source), l, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "sandbox:", err)
		os.Exit(1)
	}
}

// run runs a script until nothing of it is left, or until it exceeds a limit. The script has the language, timers,
// promises, console and quote, but no files, network, environment or modules.
func run(ctx context.Context, source string, l limits, out io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, l.time)
	defer cancel()
	loop, err := eventloop.New()
	if err != nil {
		return err
	}
	defer loop.Close()
	var exceeded error // used on the loop until Run has returned
	var host *gojaloop.Host
	exceed := func(why error) {
		exceeded = why
		host.Close() // scripts cannot catch this
	}
	printed := &output{to: out, left: l.output, full: func() { exceed(errOutput) }}
	host, err = gojaloop.New(loop, gojaloop.WithSandbox(), gojaloop.WithOutput(printed, printed),
		gojaloop.WithMaxCallStack(l.calls), gojaloop.WithMemoryLimit(l.memory))
	if err != nil {
		return err
	}
	err = host.Set("quote", func(name string) int {
		if l.quotes--; l.quotes < 0 {
			exceed(errQuotes)
		}
		return len(name)
	})
	if err != nil {
		return err
	}
	if _, err = host.Run(ctx, "script.js", source); exceeded != nil {
		return exceeded
	}
	return err
}

// output passes on as many bytes as are left, and calls full when there are more.
type output struct {
	to   io.Writer
	left int
	full func()
}

func (o *output) Write(b []byte) (int, error) {
	if len(b) > o.left {
		o.full()
		b = b[:o.left]
	}
	o.left -= len(b)
	return o.to.Write(b)
}
