//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

// Command idle runs loops that have descriptors registered and nothing to do, one in each place where a loop can park,
// so that a tracer can show that they make no system calls: see "make trace-idle".
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/turnloop/turnloop/eventloop"
)

// exchanges are how many events a loop is given before it is left alone, by which it learns to wait for events.
const exchanges = 1000

// observed has all that a loop can tell of itself turned on.
var observed = []eventloop.Option{
	eventloop.WithMetrics(true),
	eventloop.WithDebug(true),
	eventloop.WithFlightRecorder(4096),
	eventloop.WithStallThreshold(50*time.Millisecond, func(s eventloop.Stall) { fmt.Printf("idle: stall: %+v\n", s) }),
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "idle:", err)
		os.Exit(1)
	}
}

func run() error {
	for _, place := range []struct {
		what   string
		mode   eventloop.FastPathMode
		events int
	}{
		{"parks on its channel", eventloop.FastPathAuto, 1},
		{"parks in the runtime's poller, where there is one for it", eventloop.FastPathAuto, exchanges},
		{"blocks in the system's poller", eventloop.FastPathDisabled, 1},
	} {
		for what, opts := range map[string][]eventloop.Option{"": nil, ", with everything that can be observed": observed} {
			if err := idle(place.events, append(opts, eventloop.WithFastPathMode(place.mode))...); err != nil {
				return fmt.Errorf("a loop that %s%s: %w", place.what, what, err)
			}
			fmt.Printf("idle: a loop that %s%s\n", place.what, what)
		}
	}
	fmt.Println("idle: ready")
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, os.Interrupt, syscall.SIGTERM)
	<-ended
	return nil
}

// idle starts a loop, and leaves it when it has answered so many events.
func idle(events int, opts ...eventloop.Option) error {
	loop, err := eventloop.New(opts...)
	if err != nil {
		return err
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	near, far := pair[0], pair[1]
	if err := unix.SetNonblock(near, true); err != nil {
		return err
	}
	err = loop.RegisterFD(near, eventloop.EventRead, func(eventloop.IOEvents) {
		var b [1]byte
		if n, _ := unix.Read(near, b[:]); n == 1 {
			_, _ = unix.Write(near, b[:])
		}
	})
	if err != nil {
		return err
	}
	go func() { _ = loop.Run(context.Background()) }()
	peer := os.NewFile(uintptr(far), "peer")
	for b := make([]byte, 1); events > 0; events-- {
		if _, err := peer.Write(b); err != nil {
			return err
		}
		if _, err := peer.Read(b); err != nil {
			return err
		}
	}
	return nil
}
