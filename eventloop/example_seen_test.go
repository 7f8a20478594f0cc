package eventloop_test

// Examples of what can be seen of a loop.

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/turnloop/turnloop/eventloop"
)

// The figures of a loop; those of several are merged.
func ExampleLoop_Metrics() {
	loop, err := eventloop.New(eventloop.WithMetrics(true), eventloop.WithAutoExit(true))
	if err != nil {
		panic(err)
	}
	for range 10 {
		loop.Submit(func() { time.Sleep(time.Millisecond) })
	}
	loop.Run(context.Background())
	m := loop.Metrics()
	fmt.Println(m.Run, m.Callback.Count, m.External.Max, m.Callback.P50 >= 980*time.Microsecond)
	m.Merge(loop.Metrics())
	fmt.Println(m.Run)
	// Output:
	// 10 10 10 true
	// 20
}

// What keeps a loop alive, by name.
func ExampleLoop_Active() {
	loop, err := eventloop.New()
	if err != nil {
		panic(err)
	}
	release := loop.HoldNamed("upload")
	loop.Submit(func() {})
	for _, a := range loop.Active() {
		fmt.Println(a.Kind, a.Name+a.Detail)
	}
	release()
	loop.Shutdown(context.Background())
	fmt.Println(len(loop.Active()))
	// Output:
	// task 1 waiting
	// hold upload
	// 0
}

// A callback that blocks the loop is reported while it does.
func ExampleWithStallThreshold() {
	reports := make(chan eventloop.Stall, 2) // one while it blocks, and one when it has returned
	loop, err := eventloop.New(eventloop.WithStallThreshold(10*time.Millisecond, func(s eventloop.Stall) { reports <- s }))
	if err != nil {
		panic(err)
	}
	loop.Submit(func() {
		s := <-reports // blocks until it is reported
		fmt.Println(s.Kind, s.Running > 10*time.Millisecond, strings.Contains(string(s.Stack), "ExampleWithStallThreshold"))
	})
	loop.Shutdown(context.Background())
	// Output: task true true
}

// The last things that a loop did.
func ExampleLoop_DumpEvents() {
	loop, err := eventloop.New(eventloop.WithFlightRecorder(1000))
	if err != nil {
		panic(err)
	}
	loop.Submit(func() {})
	loop.SubmitInternal(func() {})
	loop.Shutdown(context.Background())
	var text strings.Builder
	if err := loop.DumpEvents(&text); err != nil {
		panic(err)
	}
	for line := range strings.Lines(text.String()) {
		if f := strings.Fields(line); f[0] != "loop" && f[2] != "tick" && f[2] != "sleep" {
			fmt.Println(f[2])
		}
	}
	// Output:
	// internal
	// task
	// end
}
