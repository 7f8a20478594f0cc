package threadlet

// Connections and listeners for any goroutine: a threadlet of the loop makes each call.

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"strings"

	"github.com/turnloop/turnloop/eventloop"
)

// Shared returns c, a [Conn] or a connection of package secure, for libraries that start goroutines: any goroutine may use
// it. Each Read and each Write runs in a threadlet of the loop, and costs the way there and back. Several at once do what
// they do in threadlets: each Write is whole, and deadlines and Close end all that wait.
//
// A call in a threadlet of the connection's loop is one of c itself. In a callback of that loop, and in another loop's
// threadlet, it would block a loop, and returns eventloop.ErrAwaitOnLoop; other callbacks must not make it: they block their loop
// until the call has ended. When the loop ends, calls return eventloop.ErrLoopTerminated.
//
// Whoever has the result closes it: [Serve] does not, when a handler returns that has called Shared. Any other connection is
// returned as it is.
func Shared(c net.Conn) net.Conn {
	own, _ := c.(*Conn)
	if over, is := c.(interface{ NetConn() *Conn }); is {
		own = over.NetConn()
	}
	if own == nil {
		return c
	}
	own.kept = true
	return &shared{c, own.s}
}

// SharedListener returns ln, a listener of this package, for any goroutine: Accept runs on the loop, and returns what
// [Shared] makes of its connections. Any other listener is returned as it is.
func SharedListener(ln net.Listener) net.Listener {
	if own, is := ln.(*listener); is {
		return sharedListener{ln, own.s}
	}
	return ln
}

type shared struct {
	net.Conn
	s *scheduler
}

func (c *shared) Read(p []byte) (n int, err error) {
	err = c.call("read", func() (err error) { n, err = c.Conn.Read(p); return err })
	return n, err
}

func (c *shared) Write(p []byte) (n int, err error) {
	err = c.call("write", func() (err error) { n, err = c.Conn.Write(p); return err })
	return n, err
}

// CloseWrite is for connections that have it.
func (c *shared) CloseWrite() error {
	half, is := c.Conn.(interface{ CloseWrite() error })
	if !is {
		return fmt.Errorf("threadlet: CloseWrite of a %T: %w", c.Conn, errors.ErrUnsupported)
	}
	return c.call("close", half.CloseWrite)
}

func (c *shared) call(op string, fn func() error) (err error) {
	if refused := c.s.call(func() { err = fn() }); refused != nil {
		return &net.OpError{Op: op, Net: c.LocalAddr().Network(), Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: refused}
	}
	return err
}

type sharedListener struct {
	net.Listener
	s *scheduler
}

func (ln sharedListener) Accept() (c net.Conn, err error) {
	if refused := ln.s.call(func() { c, err = ln.Listener.Accept() }); refused != nil {
		return nil, &net.OpError{Op: "accept", Net: ln.Addr().Network(), Addr: ln.Addr(), Err: refused}
	}
	return Shared(c), err
}

// call calls fn in a threadlet of the loop, and returns when it has returned. It returns an error if fn has not run.
func (s *scheduler) call(fn func()) error {
	switch c := current(); {
	case c != nil && c.t != nil && c.t.s == s:
		fn()
		return nil
	case c != nil, s.loop.OnLoop():
		return eventloop.ErrAwaitOnLoop
	}
	t := &Threadlet{s: s, fn: fn}
	if err := s.loop.SubmitInternal(func() { s.enter(t) }); err != nil {
		return err
	}
	return t.joinOutside(context.Background())
}

// errElsewhere is returned where a connection or a listener is used by no threadlet of its loop.
var errElsewhere = fmt.Errorf("%w; threadlet.Shared makes a connection for any goroutine, SharedListener a listener", ErrNotThreadlet)

// elsewhere returns errElsewhere, and has the loop's logger tell the first such caller: servers drop the errors of their
// connections. Any goroutine may call it.
func (s *scheduler) elsewhere() error {
	if s.told.Swap(true) {
		return errElsewhere
	}
	var at [32]uintptr
	frames, more := runtime.CallersFrames(at[:runtime.Callers(2, at[:])]), true
	var f runtime.Frame
	for own := true; own && more; own = strings.HasPrefix(f.Function, ownPackage+".") || strings.HasPrefix(f.Function, ownPackage+"/") {
		f, more = frames.Next()
	}
	s.host.Log().Error("a connection or a listener is used by no threadlet of its loop: a library that starts goroutines needs threadlet.Shared; told once",
		"kind", "threadlet", "from", fmt.Sprintf("%s at %s:%d", f.Function, f.File, f.Line))
	return errElsewhere
}

// ownPackage begins the names of the functions here and in package secure.
const ownPackage = "github.com/turnloop/turnloop/eventloop/threadlet"
