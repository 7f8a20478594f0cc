package threadlet

// Connections: a net.Conn whose waits suspend the threadlet.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/turnloop/turnloop/eventloop"
)

// Conn is a stream connection, TCP or Unix, of a loop. It is a net.Conn: what reads and writes these (crypto/tls, bufio,
// http.ReadRequest) works with it within threadlets of its loop.
//
// Read, Write, SyscallConn, CloseRead, CloseWrite and Idle are for threadlets of its loop, and return [ErrNotThreadlet] to
// others, with no effect. Close, Signal and the setting of deadlines may come from any goroutine; what they end they end on the loop,
// soon. A Conn that was closed stays valid, and returns net.ErrClosed. When its loop ends it is closed.
//
// A peer that always has something to read keeps nobody waiting: now and then an operation lets others go on, as Yield does.
//
// Locks that are held over a Read or a Write must be this package's. A tls.Conn has others: Handshake first, and then at
// most one threadlet that reads and one that writes, and Close from anywhere. Two that read, or that write, at once
// would block the loop for ever.
type Conn struct {
	desc
	network       string
	local, remote net.Addr
	idles         int // calls of Idle
}

var _ net.Conn = (*Conn)(nil)

// Loop returns the loop that the connection belongs to.
func (c *Conn) Loop() *eventloop.Loop { return c.s.loop }

func (c *Conn) opError(op string, err error) error {
	return &net.OpError{Op: op, Net: c.network, Source: c.local, Addr: c.remote, Err: err}
}

// Read reads up to len(p) bytes, and waits until there is one. It returns io.EOF when the peer has finished sending, and
// otherwise a *net.OpError with the system's error, net.ErrClosed, os.ErrDeadlineExceeded, ErrSignaled,
// eventloop.ErrLoopTerminated or ErrNotThreadlet in it.
func (c *Conn) Read(p []byte) (int, error) {
	t, err := c.caller(&c.in)
	if err != nil {
		return 0, c.opError("read", err)
	}
	if len(p) == 0 {
		return 0, nil
	}
	for {
		// A read that has left room in its buffer has left nothing else, so the system is asked when it says that there is more.
		if !c.in.drained || !c.watches(eventloop.EventRead) || t.boundary && t.s.closing {
			n, again, err := sysRead(c.fd, p)
			switch {
			case n > 0:
				c.in.drained, t.boundary = n < len(p), false
				t.breathe()
				return n, nil
			case err != nil:
				return 0, c.opError("read", os.NewSyscallError("read", err))
			case !again:
				return 0, io.EOF
			}
		}
		if t.boundary && t.s.closing {
			err = ErrDraining
		} else if err = c.wait(t, &c.in, reading, eventloop.EventRead); err == nil || err == ErrDraining {
			err = c.usable(&c.in) // and try: data may have come at the same time
		}
		if err != nil {
			return 0, c.opError("read", err)
		}
	}
}

// Write writes all of p, and waits for as long as the system has no room for it. It returns how much the system took, and
// if that is not all, why, as Read does. Nothing is kept in between: a peer that does not read makes its writers wait.
func (c *Conn) Write(p []byte) (n int, err error) {
	t, err := c.caller(&c.out)
	if err != nil {
		return 0, c.opError("write", err)
	}
	for n < len(p) {
		m, again, err := sysWrite(c.fd, p[n:])
		n += m
		switch {
		case err != nil:
			return n, c.opError("write", os.NewSyscallError("write", err))
		case m > 0:
			t.breathe()
			err = c.usable(&c.out)
		case !again:
			err = io.ErrUnexpectedEOF
		default:
			if err = c.wait(t, &c.out, writing, eventloop.EventWrite); err == nil {
				err = c.usable(&c.out)
			}
		}
		if err != nil && n < len(p) {
			return n, c.opError("write", err)
		}
	}
	return n, nil
}

// Close closes the connection; those who wait for it get net.ErrClosed, and so does whoever closes it again. Any goroutine
// may call it.
func (c *Conn) Close() error {
	if err := c.close(); err != nil {
		return c.opError("close", err)
	}
	return nil
}

// Signal has those who wait for the connection get ErrSignaled, or the next one who would. Any goroutine may call it.
func (c *Conn) Signal() { c.signal() }

// CloseRead shuts down the reading side: reads return io.EOF.
func (c *Conn) CloseRead() error { return c.shutdown(&c.in, shutRead) }

// CloseWrite shuts down the writing side: the peer reads io.EOF when it has read what was written.
func (c *Conn) CloseWrite() error { return c.shutdown(&c.out, shutWrite) }

func (c *Conn) shutdown(sd *side, how int) error {
	if !c.s.loop.OnLoop() {
		return c.opError("close", ErrNotThreadlet)
	}
	if c.closing.Load() {
		return c.opError("close", net.ErrClosed)
	}
	if err := sysShutdown(c.fd, how); err != nil {
		return c.opError("close", os.NewSyscallError("shutdown", err))
	}
	sd.drained = false
	return nil
}

// LocalAddr returns the address of this side.
func (c *Conn) LocalAddr() net.Addr { return c.local }

// RemoteAddr returns that of the peer.
func (c *Conn) RemoteAddr() net.Addr { return c.remote }

// SetDeadline sets when Read and Write stop waiting, with os.ErrDeadlineExceeded; the zero time is never. It counts for
// who waits now, and for all later waits until it is set again. Any goroutine may call it, as SetReadDeadline and
// SetWriteDeadline. It returns net.ErrClosed. It costs a timer for each wait.
func (c *Conn) SetDeadline(at time.Time) error { return c.deadline(at, &c.in, &c.out) }

// SetReadDeadline is SetDeadline for Read.
func (c *Conn) SetReadDeadline(at time.Time) error { return c.deadline(at, &c.in) }

// SetWriteDeadline is SetDeadline for Write.
func (c *Conn) SetWriteDeadline(at time.Time) error { return c.deadline(at, &c.out) }

func (c *Conn) deadline(at time.Time, sides ...*side) error {
	if err := c.setDeadline(at, sides...); err != nil {
		return c.opError("set", err)
	}
	return nil
}

// Idle ends the interest of the calling threadlet in the connection, and has handle called in a new threadlet when there is something to
// read (which may be the peer's end), when the deadline of reading has come, or when the connection is signaled. So a connection that
// waits for a request needs no coroutine meanwhile. When handle returns and has not called Idle again, the connection is
// closed. If it is closed before, or the loop ends, handle is not called. It returns what Read does, eventloop.ErrNilCallback, or
// ErrDraining when the loop is about to end, which closes idle connections.
func (c *Conn) Idle(handle func(*Conn)) error {
	t := Current()
	switch {
	case t == nil || t.s != c.s:
		return c.opError("read", ErrNotThreadlet)
	case handle == nil:
		return c.opError("read", eventloop.ErrNilCallback)
	case c.closing.Load():
		return c.opError("read", net.ErrClosed)
	case c.s.closing:
		return c.opError("read", ErrDraining)
	}
	if err := t.enter(); err != nil {
		return c.opError("read", err)
	}
	if err := c.watch(eventloop.EventRead); err != nil {
		return c.opError("read", err)
	}
	c.idles++
	if c.idle == nil {
		c.s.wanted++
	}
	c.idle = func() { c.begin(handle) }
	c.limitIdle()
	if c.signaled.Load() {
		c.resumeIdle()
	}
	return nil
}

// begin has handle called in a threadlet of its own, on the loop.
func (c *Conn) begin(handle func(*Conn)) {
	if _, err := Go(c.s.loop, func() { c.handle(handle) }); err != nil {
		_ = c.close()
	}
}

// handle calls handle, and closes the connection behind it unless it is idle.
func (c *Conn) handle(handle func(*Conn)) {
	idles := c.idles
	c.called = false
	defer func() {
		if c.idles == idles {
			_ = c.close()
		}
	}()
	handle(c)
}

// SyscallConn returns the connection as the system knows it. Control, Read and Write of what it returns are for threadlets
// of the loop. The descriptor is non-blocking and registered with the loop; who closes it closes somebody else's.
func (c *Conn) SyscallConn() (syscall.RawConn, error) {
	if c.closing.Load() {
		return nil, c.opError("raw", net.ErrClosed)
	}
	return rawConn{c}, nil
}

type rawConn struct{ c *Conn }

func (r rawConn) Control(f func(fd uintptr)) error {
	return r.until(&r.c.in, 0, 0, func(fd uintptr) bool { f(fd); return true })
}

func (r rawConn) Read(f func(fd uintptr) (done bool)) error {
	return r.until(&r.c.in, reading, eventloop.EventRead, f)
}

func (r rawConn) Write(f func(fd uintptr) (done bool)) error {
	return r.until(&r.c.out, writing, eventloop.EventWrite, f)
}

func (r rawConn) until(sd *side, why reason, events eventloop.IOEvents, f func(fd uintptr) bool) error {
	t, err := r.c.caller(sd)
	if events == 0 && errors.Is(err, os.ErrDeadlineExceeded) {
		err = nil // nothing is waited for
	}
	for err == nil && !f(uintptr(r.c.fd)) {
		sd.drained = false
		if err = r.c.wait(t, sd, why, events); err == nil {
			err = r.c.usable(sd)
		}
	}
	if err != nil {
		return r.c.opError("raw", err)
	}
	if events != 0 {
		t.breathe()
	}
	return nil
}

// Wrap takes a connection of package net over: c is closed, and what it was goes on as a Conn of the loop, without
// deadlines. Any goroutine may call it, when nobody uses c any more. It returns an error for what is no stream socket, and
// eventloop.ErrLoopTerminated once the loop has ended; c is closed all the same. It returns errors.ErrUnsupported where RegisterFD
// watches no sockets, and on Windows.
func Wrap(l *eventloop.Loop, c net.Conn) (*Conn, error) {
	local, remote := c.LocalAddr(), c.RemoteAddr()
	fd, err := takeOver(c)
	if err != nil {
		return nil, fmt.Errorf("threadlet: Wrap of a %T: %w", c, err)
	}
	conn := &Conn{network: local.Network(), local: local, remote: remote}
	if err := schedulerOf(l).open(&conn.desc, fd); err != nil {
		return nil, fmt.Errorf("threadlet: Wrap: %w", err)
	}
	return conn, nil
}

// takeOver returns another descriptor of a connection or a listener of package net, and closes that.
func takeOver(c io.Closer) (fd int, err error) {
	defer func() {
		if closed := c.Close(); err == nil {
			err = closed
		}
	}()
	sc, ok := c.(syscall.Conn)
	if !ok {
		return 0, errors.ErrUnsupported
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return 0, err
	}
	if failed := raw.Control(func(of uintptr) { fd, err = sysDup(of) }); failed != nil {
		return 0, failed
	}
	return fd, err
}

// Dial connects as net.Dialer.DialContext does, on a worker; the connection is a *[Conn] of the caller's loop.
// It is for threadlets. It returns what DialContext returns, what Do returns, or what Wrap returns.
func Dial(ctx context.Context, network, address string) (net.Conn, error) {
	t := Current()
	if t == nil {
		return nil, ErrNotThreadlet
	}
	var result handoff
	err := Do(ctx, func(ctx context.Context) error {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		if err != nil {
			return err
		}
		return result.give(conn)
	})
	conn := result.take()
	if err != nil {
		if conn != nil {
			_ = conn.Close()
		}
		return nil, err
	}
	c, err := Wrap(t.s.loop, conn)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// handoff passes a connection from a worker to a threadlet that may not wait for it any more.
type handoff struct {
	mu    sync.Mutex
	conn  net.Conn
	taken bool
}

func (h *handoff) give(conn net.Conn) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.taken {
		return conn.Close()
	}
	h.conn = conn
	return nil
}

func (h *handoff) take() net.Conn {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.taken = true
	return h.conn
}
