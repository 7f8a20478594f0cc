package threadlet

// Listeners: accepting connections, and serving each in a threadlet of its own.

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
// Accept of the listener is for threadlets of the loop, and returns a *[Conn] of the loop. When the system has no descriptor
// or no memory for another connection, or to watch the listener, Accept pauses and tries again; the listener stays open. Accept returns a *net.OpError
// around the system's error, or around what has ended the wait: net.ErrClosed, ErrSignaled, eventloop.ErrLoopTerminated; or
// around ErrNotThreadlet. Close may be called from any goroutine; the end of the loop closes the listener, too.
//
// Listen returns the errors of net.Listen and of [Wrap].
func Listen(l *eventloop.Loop, network, address string) (net.Listener, error) {
	from, err := net.Listen(network, address)
	if err != nil {
		return nil, err
	}
	ln := &listener{address: from.Addr()}
	ln.listens = true
	s := schedulerOf(l)
	if u, ok := from.(interface{ SetUnlinkOnClose(bool) }); ok { // a *net.UnixListener, whose file must stay when takeOver closes it
		u.SetUnlinkOnClose(false)
		if name := from.Addr().String(); name != "" && name[0] != '@' {
			s.descs.keep(&ln.desc, name)
		}
	}
	fd, err := takeOver(from)
	if err == nil {
		err = s.open(&ln.desc, fd)
	}
	if err != nil {
		s.descs.removeFile(&ln.desc)
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

// The first and the longest pause of Accept when the system has no room for a connection.
const (
	firstPause = 5 * time.Millisecond
	lastPause  = time.Second
)

// accept waits for a connection, calls to for a scheduler, and opens the connection there.
func (ln *listener) accept(to func() *scheduler) (*Conn, error) {
	t, err := ln.caller(&ln.in)
	pause := firstPause
	for err == nil {
		c := &Conn{local: ln.address}
		fd, again, failed := sysAccept(ln.fd, c)
		if again {
			failed = ln.wait(t, &ln.in, accepting, eventloop.EventRead)
		}
		switch {
		case failed == nil && !again:
			if err := to().open(&c.desc, fd); err != nil {
				return nil, err
			}
			t.countOperation(nil)
			return c, nil
		case noRoom(failed): // also for what the loop needs to watch the listener
			// A pause waits for no event of the listener. So the loop stops watching the listener, and does not spin.
			err = ln.rest(t, pause)
			pause = min(2*pause, lastPause)
		case again:
			err = failed
		default:
			return nil, os.NewSyscallError("accept", failed)
		}
		if err == nil {
			err = ln.usable(&ln.in)
		}
	}
	return nil, err
}

// unspecified tells whether a listener's address stands for all addresses of the machine. Then the local address of each
// connection is one of them.
func unspecified(a net.Addr) bool {
	t, ok := a.(*net.TCPAddr)
	return ok && (t.IP == nil || t.IP.IsUnspecified())
}

// rest waits for the time d. It ends early for the same reasons as a wait for a connection.
func (ln *listener) rest(t *Threadlet, d time.Duration) error {
	if err := t.enter(); err != nil {
		return err
	}
	ln.out.push(t) // nothing else waits on this side of a listener; close wakes both sides
	t.startTimer(d, nil)
	err := t.wait(accepting)
	t.stopTimer()
	ln.out.runs(t)
	return err
}

// Serve accepts connections and calls handle for each in a threadlet of its own, until the listener is closed or fails; then
// it returns Accept's error. A connection is closed when handle has returned or panicked, unless handle has called
// [Conn.Idle]. Serve is for threadlets of the listener's loop. A listener that is not from [Listen] is refused with
// errors.ErrUnsupported, a nil handle with eventloop.ErrNilCallback.
func Serve(ln net.Listener, handle func(*Conn)) error {
	own, ok := ln.(*listener)
	if !ok {
		return fmt.Errorf("threadlet: Serve on a %T: %w", ln, errors.ErrUnsupported)
	}
	return own.serve(func() *scheduler { return own.s }, handle)
}

// ServeGroup is Serve for a server on all loops of a group. Each connection belongs to the loop that has the fewest
// connections when it is accepted, and stays there; handle runs on that loop. If the queue of that loop is full
// (eventloop.WithQueueLimit), the connection is closed.
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
