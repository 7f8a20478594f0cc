//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows

package threadlet_test

// Tests of Serve and ServeGroup: limits, listeners of others, loops that compute.

import (
	"errors"
	"io"
	"net"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/threadlet"
	"github.com/turnloop/turnloop/internal/beat"
)

// group starts a group.
func group(t *testing.T, n int, opts ...eventloop.Option) *eventloop.Group {
	t.Helper()
	g, err := eventloop.NewGroup(n, opts...)
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() { ended <- g.Run(background) }()
	t.Cleanup(func() {
		_ = g.Close()
		<-ended
	})
	return g
}

// serving runs serve in a threadlet of the loop, and returns its result.
func serving(t *testing.T, l *eventloop.Loop, serve func() error) <-chan error {
	t.Helper()
	ended := make(chan error, 1)
	_, err := threadlet.Go(l, func() { ended <- serve() })
	require.NoError(t, err)
	return ended
}

// answers fails the test unless a connection has an echo server at its other end, which may take its time.
func answers(t *testing.T, c net.Conn) {
	t.Helper()
	_, err := io.WriteString(c, "x")
	require.NoError(t, err)
	beat.Do(t, "an answer", func() { _, err = io.ReadFull(c, make([]byte, 1)) })
	require.NoError(t, err)
}

// A loop of four computes, also the one whose listener it is. New clients are served by the others.
func TestBusyLoopKeepsNobodyWaiting(t *testing.T) {
	for busy := range 4 {
		g := group(t, 4)
		ln, err := threadlet.Listen(g.Loop(0), "tcp", "127.0.0.1:0")
		require.NoError(t, err)
		serving(t, g.Loop(0), func() error { return threadlet.ServeGroup(g, ln, echo) })
		answers(t, dial(t, ln.Addr())) // so each loop accepts
		for i := range g.Len() {
			waiting(t, g.Loop(i), "accept")
		}
		computes, ends := make(chan struct{}), make(chan struct{})
		require.NoError(t, g.Loop(busy).Submit(func() {
			close(computes)
			<-ends
		}))
		<-computes
		for range 20 {
			answers(t, dial(t, ln.Addr()))
		}
		close(ends)
	}
}

// The acceptors of a group end with their listener, whichever of them fails.
func TestServeGroupEnds(t *testing.T) {
	unchanged(t)
	g := group(t, 3)
	ln, err := threadlet.Listen(g.Loop(0), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ended := serving(t, g.Loop(0), func() error { return threadlet.ServeGroup(g, ln, echo) })
	answers(t, dial(t, ln.Addr()))
	require.NoError(t, ln.Close())
	require.ErrorIs(t, <-ended, net.ErrClosed)
	for i := range g.Len() {
		beat.Eventually(t, func() bool { return len(threadlet.Listeners(g.Loop(i))) == 0 }, "the end of the acceptors")
	}
	outside := start(t) // the listener's loop needs not be of the group
	ln, err = threadlet.Listen(outside, "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ended = serving(t, outside, func() error { return threadlet.ServeGroup(g, ln, echo) })
	answers(t, dial(t, ln.Addr()))
	require.NoError(t, ln.Close())
	require.ErrorIs(t, <-ended, net.ErrClosed)
}

// No more connections are open than there may be, on one loop, on several, and behind somebody else's listener; idle ones count.
func TestMaxConns(t *testing.T) {
	const most = 3
	for name, serve := range map[string]func(g *eventloop.Group, ln net.Listener, handle func(*threadlet.Conn)) error{
		"Serve": func(_ *eventloop.Group, ln net.Listener, handle func(*threadlet.Conn)) error {
			return threadlet.Serve(ln, handle, threadlet.MaxConns(most))
		},
		"ServeGroup": func(g *eventloop.Group, ln net.Listener, handle func(*threadlet.Conn)) error {
			return threadlet.ServeGroup(g, ln, handle, threadlet.MaxConns(most))
		},
		"wrapper": func(_ *eventloop.Group, ln net.Listener, handle func(*threadlet.Conn)) error {
			return threadlet.Serve(struct{ net.Listener }{ln}, handle, threadlet.MaxConns(most))
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := group(t, 2)
			ln, err := threadlet.Listen(g.Loop(0), "tcp", "127.0.0.1:0")
			require.NoError(t, err)
			var open, highest, idles atomic.Int32
			serving(t, g.Loop(0), func() error {
				return serve(g, ln, func(c *threadlet.Conn) {
					n := open.Add(1)
					for h := highest.Load(); n > h && !highest.CompareAndSwap(h, n); h = highest.Load() {
					}
					var handle func(*threadlet.Conn)
					handle = func(c *threadlet.Conn) {
						p := make([]byte, 1)
						if _, err := c.Read(p); err == nil {
							_, err = c.Write(p)
							if err == nil && c.Idle(handle) == nil {
								idles.Add(1)
								return
							}
						}
						open.Add(-1)
					}
					handle(c)
				})
			})
			const clients = 12
			var conns [clients]net.Conn
			for i := range conns {
				conns[i] = dial(t, ln.Addr())
				_, err := io.WriteString(conns[i], "x")
				require.NoError(t, err)
			}
			beat.Eventually(t, func() bool { return idles.Load() == most }, "as many connections as there may be")
			for i := range conns { // in their order, as the system has it
				beat.Do(t, "an answer", func() { _, err = io.ReadFull(conns[i], make([]byte, 1)) })
				require.NoError(t, err)
				require.NoError(t, conns[i].Close())
			}
			require.LessOrEqual(t, highest.Load(), int32(most))
		})
	}
}

// named is a connection as a PROXY protocol has it: with another address.
type named struct {
	net.Conn
	closed *atomic.Int32
}

func (c named) Close() error {
	c.closed.Add(1)
	return c.Conn.Close()
}

type namedListener struct {
	net.Listener
	closed *atomic.Int32
}

func (ln namedListener) Accept() (net.Conn, error) {
	c, err := ln.Listener.Accept()
	return named{c, ln.closed}, err
}

// Somebody else's listener, over one of a loop, serves its own connections.
func TestServeWrapped(t *testing.T) {
	l := start(t)
	ln, err := threadlet.Listen(l, "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	over := namedListener{ln, new(atomic.Int32)}
	ended := serving(t, l, func() error {
		return threadlet.Serve(over, func(c net.Conn) { _, _ = io.Copy(c, struct{ io.Reader }{c}) })
	})
	for range 3 {
		c := dial(t, ln.Addr())
		answers(t, c)
		_ = c.Close()
	}
	beat.Eventually(t, func() bool { return over.closed.Load() == 3 }, "the connections to be closed")
	require.NoError(t, ln.Close())
	require.ErrorIs(t, <-ended, net.ErrClosed)

	ln, err = threadlet.Listen(l, "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ended = serving(t, l, func() error { return threadlet.Serve(namedListener{ln, over.closed}, echo) })
	c := dial(t, ln.Addr())
	require.ErrorIs(t, <-ended, errors.ErrUnsupported)
	_, err = c.Read(make([]byte, 1))
	require.Error(t, err)
	require.ErrorIs(t, ln.Close(), net.ErrClosed)
	require.NoError(t, do(t, l, func() {
		require.ErrorIs(t, threadlet.Serve(ln, func(*net.TCPConn) {}), errors.ErrUnsupported)
		g, err := eventloop.NewGroup(1)
		require.NoError(t, err)
		require.ErrorIs(t, threadlet.ServeGroup(g, over, echo), errors.ErrUnsupported)
		require.NoError(t, g.Close())
	}))
}
