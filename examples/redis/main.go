// Command redis is a server for clients of Redis: strings, lists, hashes, sets, expiry, transactions, pub/sub, and an
// append-only file. All of it runs on one event loop, with a threadlet for each connection and without a lock.
//
//	go run ./examples/redis -append appendonly.aof -fsync always
//	redis-cli -p 6379 set greeting hello
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/flow"
	"github.com/turnloop/turnloop/eventloop/threadlet"
)

func main() {
	o := options{}
	addr := flag.String("addr", "localhost:6379", "where to listen")
	flag.StringVar(&o.file, "append", "", "the append-only file; without one everything is lost at the end")
	flag.StringVar(&o.fsync, "fsync", "everysec", "when the file is forced to the disk: always, before a reply leaves; everysec; no")
	flag.IntVar(&o.outputLimit, "output-limit", 32<<20, "bytes that may wait for a subscriber that does not read")
	flag.IntVar(&o.softLimit, "output-soft-limit", 8<<20, "bytes that may wait for such a subscriber for long")
	flag.DurationVar(&o.softTime, "output-soft-time", time.Minute, "how long more than the soft limit may wait")
	flag.IntVar(&o.maxClients, "maxclients", 10000, "connections at a time")
	flag.DurationVar(&o.timeout, "timeout", 0, "how long a connection may neither send nor read anything, unless it has subscribed; 0 is for ever")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "redis: %q is no flag\n", flag.Arg(0))
		os.Exit(2)
	}
	if err := run(*addr, o); err != nil {
		fmt.Fprintln(os.Stderr, "redis:", err)
		os.Exit(1)
	}
}

// run serves until SIGINT or SIGTERM; a second one ends the wait for requests that are under way.
func run(addr string, o options) error {
	group, err := newGroup(o)
	if err != nil {
		return err
	}
	s, err := newServer(group.Loop(0), o)
	if err != nil {
		return err
	}
	listener, err := s.listen(addr)
	if err != nil {
		return errors.Join(err, s.close())
	}
	fmt.Println("listening on", listener.Addr())
	signals, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return errors.Join(flow.RunUntil(signals, group, 10*time.Second), s.close())
}

// newGroup returns a group with the server's loop. When an fsync is done, both threadlets of each client may wait for it, each with a
// microtask; these are work for one checkpoint, and no chain without end that the loop should report.
func newGroup(o options, more ...eventloop.Option) (*eventloop.Group, error) {
	return eventloop.NewGroup(1, append([]eventloop.Option{eventloop.WithMicrotaskBudget(max(1024, 2*o.maxClients)),
		eventloop.WithStallThreshold(2*time.Second, reportStall)}, more...)...)
}

func reportStall(s eventloop.Stall) {
	fmt.Fprintf(os.Stderr, "redis: a callback has held the loop for %v:\n%s\n", s.Running, s.Stack)
}

// listen accepts connections, each served by a threadlet.
func (s *server) listen(addr string) (net.Listener, error) {
	listener, err := threadlet.Listen(s.loop, "tcp", addr)
	if err != nil {
		return nil, err
	}
	_, err = threadlet.Go(s.loop, func() {
		_ = threadlet.Serve(listener, s.serve)
		s.ending = true
	})
	return listener, err
}
