//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package threadlet_test

// Examples of package threadlet.

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"time"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/threadlet"
)

// Two threadlets of one loop share a variable without a lock: one runs until it waits.
func Example() {
	loop, _ := eventloop.New(eventloop.WithAutoExit(true))
	sum := 0
	for n := range 3 {
		_, _ = threadlet.Go(loop, func() {
			for range 10 {
				sum += n
				_ = threadlet.Yield()
			}
		})
	}
	_ = loop.Run(context.Background())
	fmt.Println(sum)
	// Output: 30
}

// Blocking work is done on another goroutine, and does not block the loop.
func ExampleDo() {
	loop, _ := eventloop.New(eventloop.WithAutoExit(true))
	_, _ = threadlet.Go(loop, func() {
		var answer int
		err := threadlet.Do(context.Background(), func(context.Context) error {
			time.Sleep(time.Millisecond)
			answer = 42
			return nil
		})
		fmt.Println(answer, err)
	})
	_ = loop.Run(context.Background())
	// Output: 42 <nil>
}

// A channel between a producer and a consumer.
func ExampleChan() {
	loop, _ := eventloop.New(eventloop.WithAutoExit(true))
	ch := threadlet.NewChan[string](loop, 1)
	_, _ = threadlet.Go(loop, func() {
		defer ch.Close()
		for _, word := range []string{"one", "two", "three"} {
			if ch.Send(word) != nil {
				return
			}
		}
	})
	_, _ = threadlet.Go(loop, func() {
		for {
			word, err := ch.Receive()
			if err != nil {
				fmt.Println(err)
				return
			}
			fmt.Println(word)
		}
	})
	_ = loop.Run(context.Background())
	// Output:
	// one
	// two
	// three
	// EOF
}

// A server that answers lines, and a client, on one loop. Shutdown lets the server finish what it answers.
func ExampleServe() {
	loop, _ := eventloop.New()
	listener, _ := threadlet.Listen(loop, "tcp", "127.0.0.1:0")
	_, _ = threadlet.Go(loop, func() {
		_ = threadlet.Serve(listener, func(conn *threadlet.Conn) {
			lines := bufio.NewReader(conn)
			for {
				threadlet.Draining() // Shutdown waits, and ReadString fails when nothing more has arrived
				_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
				line, err := lines.ReadString('\n')
				if err != nil {
					return
				}
				fmt.Fprintf(conn, "you said %s", line)
			}
		})
	})
	_, _ = threadlet.Go(loop, func() {
		conn, err := threadlet.Dial(context.Background(), "tcp", listener.Addr().String())
		if err != nil {
			fmt.Println(err)
			return
		}
		defer conn.Close()
		fmt.Fprintln(conn, "hello")
		answer, _ := bufio.NewReader(conn).ReadString('\n')
		fmt.Print(answer)
		go loop.Shutdown(context.Background())
	})
	_ = loop.Run(context.Background())
	// Output: you said hello
}

// Connections that arrive at one listener are served by all loops of a group; the handlers of one loop run one at a time.
func ExampleServeGroup() {
	group, _ := eventloop.NewGroup(2)
	listener, _ := threadlet.Listen(group.Loop(0), "tcp", "127.0.0.1:0")
	_, _ = threadlet.Go(group.Loop(0), func() {
		_ = threadlet.ServeGroup(group, listener, func(conn *threadlet.Conn) { fmt.Fprintln(conn, "hello") })
	})
	go group.Run(context.Background())
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		fmt.Println(err)
		return
	}
	line, _ := bufio.NewReader(conn).ReadString('\n')
	fmt.Print(line)
	_ = conn.Close()
	_ = group.Shutdown(context.Background())
	// Output: hello
}

// A threadlet that sleeps keeps nothing waiting but itself.
func ExampleSleep() {
	loop, _ := eventloop.New(eventloop.WithAutoExit(true))
	_, _ = threadlet.Go(loop, func() {
		fmt.Println("tick")
		_ = threadlet.Sleep(time.Millisecond)
		fmt.Println("tock")
	})
	_ = loop.Submit(func() { fmt.Println("meanwhile") })
	_ = loop.Run(context.Background())
	// Output:
	// meanwhile
	// tick
	// tock
}
