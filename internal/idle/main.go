//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

// Command idle runs loops that have descriptors registered and nothing to do, one for each place where a loop can park, and
// a server of threadlets with ten thousand connections. A tracer can then show that they make no system calls: see "make
// trace-idle".
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/turnloop/turnloop/eventloop"
)

// exchanges is the number of events by which a loop learns to wait for events, before it is left alone.
const exchanges = 1000

// observed are the options that turn on all observation of a loop.
var observed = []eventloop.Option{
	eventloop.WithMetrics(true),
	eventloop.WithDebug(true),
	eventloop.WithFlightRecorder(4096),
	eventloop.WithStallThreshold(50*time.Millisecond, func(s eventloop.Stall) { fmt.Printf("idle: stall: %+v\n", s) }),
}

// peers keeps connections reachable: otherwise the garbage collector would close them.
var peers []io.Closer

func main() {
	if len(os.Args) > 1 {
		fmt.Fprintln(os.Stderr, "idle: takes no arguments")
		os.Exit(2)
	}
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
	n, err := idleServer()
	if err != nil {
		return fmt.Errorf("a server of threadlets: %w", err)
	}
	fmt.Printf("idle: a server of threadlets with %d connections\n", n)
	fmt.Println("idle: ready")
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, os.Interrupt, syscall.SIGTERM)
	<-ended
	return nil
}

// idle starts a loop, and returns when the loop has answered that number of events.
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
	peers = append(peers, peer)
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
