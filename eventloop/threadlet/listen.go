package threadlet

// Listeners: where connections come from.

import (
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"time"

	"github.com/turnloop/turnloop/eventloop"
)

// listener is a net.Listener whose Accept suspends the threadlet.
type listener struct {
	desc
	address net.Addr
}

// Listen listens for stream connections as net.Listen does: on "tcp", "tcp4", "tcp6" or "unix". Any goroutine may call it.
//
// Accept is for threadlets of the loop, and returns a *[Conn] of it. When the system has no descriptors or no memory for
// another connection, Accept waits for a while and tries again; the listener stays. It returns a *net.OpError with the
// system's error, or what ends a wait, net.ErrClosed for one. Close may come from any goroutine. When its loop ends the listener is closed.
// Listen returns net.Listen's errors, and those of [Wrap].
func Listen(l *eventloop.Loop, network, address string) (net.Listener, error) {
	from, err := net.Listen(network, address)
	if err != nil {
		return nil, err
	}
	ln := &listener{address: from.Addr()}
	ln.listens = true
	if u, ok := from.(interface{ SetUnlinkOnClose(bool) }); ok { // a *net.UnixListener, where there are files for it
		u.SetUnlinkOnClose(false)
		if name := from.Addr().String(); name != "" && name[0] != '@' {
			ln.unlink = name
		}
	}
	fd, err := takeOver(from)
	if err == nil {
		err = schedulerOf(l).open(&ln.desc, fd)
	}
	if err != nil {
		return nil, fmt.Errorf("threadlet: Listen: %w", err)
	}
	return ln, nil
}

func (ln *listener) opError(op string, err error) error {
	return &net.OpError{Op: op, Net: ln.address.Network(), Addr: ln.address, Err: err}
}

func (ln *listener) Addr() net.Addr { return ln.address }

func (ln *listener) Close() error {
	if err := ln.close(); err != nil {
		return ln.opError("close", err)
	}
	return nil
}

func (ln *listener) Accept() (net.Conn, error) {
	c, err := ln.accept(func() *scheduler { return ln.s })
	if err != nil {
		return nil, ln.opError("accept", err)
	}
	return c, nil
}

// How long Accept waits when the system has no room for a connection.
const (
	firstPause = 5 * time.Millisecond
	lastPause  = time.Second
)

// accept accepts a connection for the scheduler that to returns.
func (ln *listener) accept(to func() *scheduler) (*Conn, error) {
	t, err := ln.caller(&ln.in)
	pause := firstPause
	for err == nil {
		c := &Conn{network: ln.address.Network(), local: ln.address}
		fd, again, failed := sysAccept(ln.fd, c)
		switch {
		case failed == nil && !again:
			if err := to().open(&c.desc, fd); err != nil {
				return nil, err
			}
			t.breathe()
			return c, nil
		case again:
			err = ln.wait(t, &ln.in, accepting, eventloop.EventRead)
		case noRoom(failed):
			// Nobody waits for the listener to be ready meanwhile, so it is not told again and again.
			err = ln.rest(t, pause)
			pause = min(2*pause, lastPause)
		default:
			return nil, os.NewSyscallError("accept", failed)
		}
		if err == nil {
			err = ln.usable(&ln.in)
		}
	}
	return nil, err
}

// rest waits for d, or for what ends waits for the listener.
func (ln *listener) rest(t *Threadlet, d time.Duration) error {
	if err := t.enter(); err != nil {
		return err
	}
	w := &waiter[call]{t: t}
	ln.out.waiters.push(w) // a listener has nobody who writes; close wakes both sides
	id, _ := t.startTimer(d, nil)
	err := t.wait(accepting)
	w.leave()
	_ = t.s.loop.CancelTimer(id)
	return err
}

// Serve accepts connections, and has handle called for each in a threadlet of its own, until the listener is closed or
// fails; it returns Accept's error then. A connection is closed when handle has returned, or panicked, unless it has made
// it [Conn.Idle]. Serve is for threadlets of the listener's loop, and for listeners of [Listen].
func Serve(ln net.Listener, handle func(*Conn)) error {
	own, ok := ln.(*listener)
	if !ok {
		return fmt.Errorf("threadlet: Serve on a %T: %w", ln, errors.ErrUnsupported)
	}
	return own.serve(func() *scheduler { return own.s }, handle)
}

// ServeGroup is Serve for a server on all loops of a group: each connection belongs to the loop that has the fewest
// when it is accepted, and stays there.
func ServeGroup(g *eventloop.Group, ln net.Listener, handle func(*Conn)) error {
	own, ok := ln.(*listener)
	if !ok {
		return fmt.Errorf("threadlet: Serve on a %T: %w", ln, errors.ErrUnsupported)
	}
	loops := make([]*scheduler, g.Len())
	for i := range loops {
		loops[i] = schedulerOf(g.Loop(i))
	}
	return own.serve(func() *scheduler {
		return slices.MinFunc(loops, func(a, b *scheduler) int { return int(a.descs.n.Load() - b.descs.n.Load()) })
	}, handle)
}

func (ln *listener) serve(to func() *scheduler, handle func(*Conn)) error {
	if handle == nil {
		return eventloop.ErrNilCallback
	}
	for {
		c, err := ln.accept(to)
		if err != nil {
			return ln.opError("accept", err)
		}
		c.begin(handle)
	}
}
