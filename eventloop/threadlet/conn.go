package threadlet

// Connections: a net.Conn whose waits suspend the threadlet.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/turnloop/turnloop/eventloop"
)

// Conn is a stream connection, TCP or Unix, of a loop. It is a net.Conn: code that reads and writes these (crypto/tls,
// bufio, http.ReadRequest) works with it in threadlets of its loop.
//
// Read, Write, Idle, and the methods of what SyscallConn returns, are for threadlets of the loop; CloseRead and CloseWrite
// for its callbacks, too. Other callers get [ErrNotThreadlet], and nothing is done. Close, Signal and the setters of
// deadlines may be called from any goroutine; they end waits on the loop, soon after the call. A closed Conn stays valid: its
// methods return net.ErrClosed. The end of the loop closes it.
//
// Threadlets may share a Conn: its reads go one after the other, and so do its writes, in the order of the calls. So do the
// functions that Read and Write of a syscall.RawConn call.
//
// A peer that always has something to read cannot keep the loop busy: now and then an operation lets others go on, as
// Yield does.
//
// A lock that is held over a Read or a Write must be one of this package. A tls.Conn holds locks of package sync, so only
// one threadlet may use it: two could stop the loop for ever. Package secure has TLS for several threadlets.
type Conn struct {
	desc
	local, remote net.Addr
}

var _ net.Conn = (*Conn)(nil)

// Loop returns the loop that the connection belongs to.
func (c *Conn) Loop() *eventloop.Loop { return c.s.loop }

func (c *Conn) opError(op string, err error) error {
	if err == nil {
		return nil
	}
	return &net.OpError{Op: op, Net: c.local.Network(), Source: c.local, Addr: c.remote, Err: err}
}

// Read reads up to len(p) bytes, and waits until there is one. It returns io.EOF when the peer has finished sending. Every
// other error is a *net.OpError around the system's error, net.ErrClosed, os.ErrDeadlineExceeded, ErrSignaled, ErrDraining,
// eventloop.ErrLoopTerminated or ErrNotThreadlet.
func (c *Conn) Read(p []byte) (int, error) {
	t, err := c.caller(&c.in)
	if len(p) == 0 && (err == nil || err == os.ErrDeadlineExceeded) {
		return 0, nil // as package net has it on Unix
	}
	if err != nil {
		return 0, c.opError("read", err)
	}
	if c.in.turn != nil {
		err = c.turnToRead(t)
	}
	for err == nil {
		// A read that did not fill its buffer has emptied the socket: the next one first waits until the system reports more.
		if !c.in.drained || !c.watches(eventloop.EventRead) || t.boundary && t.s.draining {
			n, again, failed := sysRead(c.fd, p)
			if n > 0 {
				c.in.drained, t.boundary = n < len(p), false
				t.countOperation(&c.in)
			}
			if !again {
				c.in.pass(t)
			}
			switch {
			case n > 0:
				return n, nil
			case failed != nil:
				return 0, c.opError("read", os.NewSyscallError("read", failed))
			case !again:
				return 0, io.EOF
			}
		}
		if t.boundary && t.s.draining {
			err = ErrDraining
			break
		}
		if c.in.turn == nil {
			c.in.turn = t
		}
		if err = c.wait(t, &c.in, reading, eventloop.EventRead); err == nil || err == ErrDraining {
			err = c.usable(&c.in) // nil: read again, since data may have arrived even with ErrDraining
		}
	}
	c.in.pass(t)
	return 0, c.opError("read", err)
}

// turnToRead is takeTurn for Read. A read that draining may end waits for no turn: it goes on without one, to see what has
// arrived. But if the owner of the turn is in the middle of a request, what arrives belongs to that.
func (c *Conn) turnToRead(t *Threadlet) error {
	if !t.boundary || !t.s.draining {
		if err := c.takeTurn(t, &c.in, reading, eventloop.EventRead); err != ErrDraining {
			return err
		}
	}
	if o := c.in.turn; o != nil && !o.boundary {
		return ErrDraining
	}
	return c.usable(&c.in)
}

// Write writes all of p, and waits whenever the system has no room for more. It returns how much the system has taken; if
// that is not all, the error is one of those of Read. Nothing is buffered in between: a peer that does not read makes its
// writers wait. Calls from several threadlets never interleave: one waits until those before it have returned, and what ends
// a wait ends that one, too.
func (c *Conn) Write(p []byte) (n int, err error) {
	t, err := c.caller(&c.out)
	if err != nil {
		return 0, c.opError("write", err)
	}
	if len(p) == 0 {
		t.countOperation(nil)
	} else if c.out.turn != nil {
		err = c.takeTurn(t, &c.out, writing, eventloop.EventWrite)
	}
	for n < len(p) && err == nil {
		m, again, failed := sysWrite(c.fd, p[n:])
		if n += m; n < len(p) && c.out.turn == nil {
			c.out.turn = t
		}
		switch {
		case failed != nil:
			err = os.NewSyscallError("write", failed)
		case m > 0:
			t.countOperation(&c.out)
			if n < len(p) {
				err = c.usable(&c.out)
			}
		case !again:
			err = io.ErrUnexpectedEOF
		default:
			if err = c.wait(t, &c.out, writing, eventloop.EventWrite); err == nil {
				err = c.usable(&c.out)
			}
		}
	}
	c.out.pass(t)
	if err != nil {
		return n, c.opError("write", err)
	}
	return n, nil
}

// TryWrite writes as much of p as the system has room for now, and returns how much; it never waits. Callbacks of the loop
// may call it, too. Deadlines do not apply. Its errors are those of Write; less than len(p) without an error means that
// there is no room now. There is none while a Write waits.
func (c *Conn) TryWrite(p []byte) (n int, err error) {
	switch {
	case !c.s.loop.OnLoop():
		return 0, c.opError("write", c.s.elsewhere())
	case c.closing.Load():
		return 0, c.opError("write", net.ErrClosed)
	case c.out.turn != nil:
		return 0, nil
	}
	for n < len(p) {
		m, again, err := sysWrite(c.fd, p[n:])
		n += m
		switch {
		case err != nil:
			return n, c.opError("write", os.NewSyscallError("write", err))
		case again:
			return n, nil
		case m == 0:
			return n, c.opError("write", io.ErrUnexpectedEOF)
		}
	}
	return n, nil
}

// Close closes the connection. Threadlets that wait for it get net.ErrClosed, and so do later calls of Close. Any goroutine
// may call it.
func (c *Conn) Close() error { return c.opError("close", c.close()) }

// Signal ends all current waits for the connection with ErrSignaled; if there are none, the next wait ends so. Any goroutine
// may call it.
func (c *Conn) Signal() { c.signal() }

// CloseRead shuts down the reading side: reads return io.EOF.
func (c *Conn) CloseRead() error { return c.shutdown(&c.in, shutRead) }

// CloseWrite shuts down the writing side: the peer reads io.EOF when it has read what was written.
func (c *Conn) CloseWrite() error { return c.shutdown(&c.out, shutWrite) }

func (c *Conn) shutdown(sd *side, how int) error {
	if !c.s.loop.OnLoop() {
		return c.opError("close", c.s.elsewhere())
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

// RemoteAddr returns the address of the peer.
func (c *Conn) RemoteAddr() net.Addr { return c.remote }

// SetDeadline sets the time at which Read and Write stop waiting, with os.ErrDeadlineExceeded; the zero time means never.
// It applies to current waits and to all later ones until it is set again. SetDeadline, SetReadDeadline and
// SetWriteDeadline may be called from any goroutine. They return net.ErrClosed if the connection is closed. A deadline costs
// a timer for each wait; if the loop refuses the timer, the wait returns that error.
func (c *Conn) SetDeadline(at time.Time) error {
	return c.opError("set", c.setDeadline(at, &c.in, &c.out))
}

// SetReadDeadline sets the deadline of Read alone; see SetDeadline.
func (c *Conn) SetReadDeadline(at time.Time) error { return c.opError("set", c.setDeadline(at, &c.in)) }

// SetWriteDeadline sets the deadline of Write alone; see SetDeadline.
func (c *Conn) SetWriteDeadline(at time.Time) error {
	return c.opError("set", c.setDeadline(at, &c.out))
}

// Idle lets a connection wait for its next request without a threadlet, and so without a coroutine: the calling threadlet
// may end. handle is called in a new threadlet when there is something to read (maybe the peer's end), when the read
// deadline has passed, or when the connection is signaled. If handle returns without having called Idle again, the
// connection is closed. If the connection or the loop is closed before, handle is not called. Shutdown of the loop has it
// called: what has arrived is still answered, and otherwise Read returns ErrDraining. Then Idle, too, counts as [Draining].
//
// The errors are those of Read, eventloop.ErrNilCallback, and ErrDraining once the loop is about to end.
func (c *Conn) Idle(handle func(*Conn)) error {
	t := Current()
	switch {
	case t == nil || t.s != c.s:
		return c.opError("read", c.s.elsewhere())
	case handle == nil:
		return c.opError("read", eventloop.ErrNilCallback)
	case c.closing.Load():
		return c.opError("read", net.ErrClosed)
	case c.s.draining:
		t.betweenRequests()
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
		c.idle = &idle{conn: c}
		c.s.wanted++
	}
	c.idle.handle = handle
	c.startIdleDeadline()
	if c.signaled.Load() {
		c.resumeIdle()
	}
	return nil
}

// begin calls handle in a new threadlet, and then closes the connection unless Idle was called meanwhile. It is called on the
// loop, whose end ends the threadlet, too.
func (c *Conn) begin(handle func(*Conn)) *Threadlet {
	t := c.s.make()
	t.fn = func() {
		idles := c.idles
		if c.called = false; c.closing.Load() {
			return // Close came in the meantime
		}
		defer func() {
			if c.idles == idles && !c.kept {
				c.closeLater()
			}
		}()
		handle(c)
	}
	c.s.enter(t)
	return t
}

// SyscallConn returns the connection as the system knows it. Control, Read and Write of what it returns are for threadlets
// of the loop. The descriptor is non-blocking and registered with the loop. It must not be closed: the loop would go on to
// use a number that may be another file's.
func (c *Conn) SyscallConn() (syscall.RawConn, error) { return rawOf(&c.desc, c.opError) }

// rawConn is a descriptor as a syscall.RawConn.
type rawConn struct {
	*desc
	opError func(op string, err error) error
}

func rawOf(d *desc, opError func(string, error) error) (syscall.RawConn, error) {
	if d.closing.Load() {
		return nil, opError("raw", net.ErrClosed)
	}
	return rawConn{d, opError}, nil
}

func (r rawConn) Control(f func(fd uintptr)) error {
	// A deadline does not matter: nothing is waited for.
	if _, err := r.caller(&r.in); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		return r.opError("raw", err)
	}
	f(uintptr(r.fd))
	return nil
}

func (r rawConn) Read(f func(fd uintptr) (done bool)) error {
	return r.until(&r.in, reading, eventloop.EventRead, f)
}

func (r rawConn) Write(f func(fd uintptr) (done bool)) error {
	return r.until(&r.out, writing, eventloop.EventWrite, f)
}

func (r rawConn) until(sd *side, why reason, events eventloop.IOEvents, f func(fd uintptr) bool) error {
	t, err := r.caller(sd)
	if err == nil {
		defer sd.pass(t)
		err = r.takeTurn(t, sd, why, events)
	}
	for err == nil && !f(uintptr(r.fd)) {
		sd.drained = false
		if err = r.usable(sd); err == nil { // f may have closed the connection, or let another do so
			err = r.wait(t, sd, why, events)
		}
		if err == nil {
			err = r.usable(sd)
		}
		if err == nil {
			err = r.takeTurn(t, sd, why, events) // f may have used the side, and passed the turn on
		}
	}
	if err != nil {
		return r.opError("raw", err)
	}
	t.countOperation(sd)
	return nil
}

// Wrap turns c, a connection of package net, into a Conn of the loop. It takes the socket over and closes c; deadlines of c
// are lost. Any goroutine may call it, when c is not in use any more. It returns an error unless c is a stream socket,
// eventloop.ErrLoopTerminated once the loop is ending, and errors.ErrUnsupported where RegisterFD watches no sockets. With
// an error c is closed, too.
func Wrap(l *eventloop.Loop, c net.Conn) (*Conn, error) {
	local, remote := c.LocalAddr(), c.RemoteAddr()
	fd, err := takeOver(c)
	if err != nil {
		return nil, fmt.Errorf("threadlet: Wrap of a %T: %w", c, err)
	}
	conn := &Conn{local: local, remote: remote}
	if err := schedulerOf(l).open(&conn.desc, fd); err != nil {
		return nil, fmt.Errorf("threadlet: Wrap: %w", err)
	}
	return conn, nil
}

// takeOver returns a duplicate of the descriptor of c, a connection or a listener of package net, and closes c.
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

// Dial connects as net.Dialer.DialContext does, on a worker goroutine, and returns a *[Conn] of the caller's loop. Only
// threadlets may call it. The errors are those of DialContext, of Do and of Wrap.
func Dial(ctx context.Context, network, address string) (net.Conn, error) {
	_ = ctx.Done() // a nil context panics here
	t := Current()
	if t == nil {
		return nil, ErrNotThreadlet
	}
	var result atomic.Pointer[net.Conn]
	err := Do(ctx, func(ctx context.Context) error {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		if err != nil {
			return err
		}
		result.Store(&conn)
		if err = ctx.Err(); err != nil { // then the caller may have looked before
			discard(&result)
		}
		return err
	})
	if err != nil {
		discard(&result)
		return nil, err
	}
	c, err := Wrap(t.s.loop, *result.Load())
	if err != nil {
		return nil, err
	}
	return c, nil
}

func discard(conn *atomic.Pointer[net.Conn]) {
	if c := conn.Swap(nil); c != nil {
		_ = (*c).Close()
	}
}
