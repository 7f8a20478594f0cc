//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

// A server whose clients are silent.

import (
	"context"
	"io"
	"net"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/threadlet"
)

const mostClients = 10_000

// idleServer starts a server, and returns when each of its clients has had an answer. Half of the connections have a
// threadlet that waits for them, and half have none. It returns the number of connections, which is smaller where a process
// may not open enough descriptors.
func idleServer() (n int, err error) {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return 0, err
	}
	const wanted = 2*mostClients + 1000
	if raised := (unix.Rlimit{Cur: wanted, Max: max(limit.Max, wanted)}); unix.Setrlimit(unix.RLIMIT_NOFILE, &raised) == nil {
		limit = raised
	} else {
		limit.Cur = max(limit.Cur, min(limit.Max, wanted))
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
			return 0, err
		}
	}
	loop, err := eventloop.New()
	if err != nil {
		return 0, err
	}
	dir, err := os.MkdirTemp("", "idle")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	listener, err := threadlet.Listen(loop, "unix", filepath.Join(dir, "s"))
	if err != nil {
		return 0, err
	}
	accepted := 0
	if _, err := threadlet.Go(loop, func() {
		_ = threadlet.Serve(listener, func(c *threadlet.Conn) {
			accepted++
			idles := accepted%2 == 0
			for answer(c) {
				if idles {
					_ = c.Idle(func(c *threadlet.Conn) { answer(c) })
					return
				}
			}
		})
	}); err != nil {
		return 0, err
	}
	go func() { _ = loop.Run(context.Background()) }()
	for n = 0; n < min(mostClients, int(limit.Cur-100)/2); n++ {
		c, err := net.Dial("unix", listener.Addr().String())
		if err != nil {
			return n, err
		}
		peers = append(peers, c)
		b := []byte{'x'}
		if _, err := c.Write(b); err != nil {
			return n, err
		}
		if _, err := io.ReadFull(c, b); err != nil {
			return n, err
		}
	}
	return n, nil
}

// answer waits for bytes, sends them back, and reports whether that has succeeded.
func answer(c *threadlet.Conn) bool {
	var b [16]byte
	n, err := c.Read(b[:])
	if err == nil {
		_, err = c.Write(b[:n])
	}
	return err == nil
}
