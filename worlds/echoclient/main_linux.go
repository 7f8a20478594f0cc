// Command echoclient is the client of the echo servers in this folder: the same for all of them, and that of the tournament's own
// benchmark.
//
//	echo-client PORT CONNECTIONS COUNT
//
// It opens the connections, sends a request on each, and then COUNT requests over all of them. It prints "through" and the
// nanoseconds that these took, or "failed:" and why.
package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/turnloop/turnloop/internal/echo"
)

func main() {
	runtime.GOMAXPROCS(1)
	debug.SetGCPercent(-1)
	took, err := run(os.Args[1:])
	if err != nil {
		fmt.Println("failed:", err)
		fmt.Fprintln(os.Stderr, "echo-client:", err) // a server that finds its connections reset may be the first to tell
		os.Exit(1)
	}
	fmt.Println("through", took.Nanoseconds())
}

func run(args []string) (time.Duration, error) {
	if len(args) != 3 {
		return 0, errors.New("usage: echo-client PORT CONNECTIONS COUNT")
	}
	var numbers [3]int
	for i, arg := range args {
		n, err := strconv.Atoi(arg)
		if err != nil {
			return 0, err
		}
		numbers[i] = n
	}
	port, conns, count := numbers[0], numbers[1], numbers[2]
	client, err := echo.Dial(fmt.Sprintf("127.0.0.1:%d", port), conns)
	if err != nil {
		return 0, err
	}
	if err := client.Exchange(conns); err != nil {
		return 0, err
	}
	begin := time.Now()
	err = client.Exchange(count)
	return time.Since(begin), err
}
