//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows

package threadlet_test

// Servers and connections for the tests.

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/threadlet"
	"github.com/turnloop/turnloop/internal/beat"
)

// unchanged fails the test if descriptors or goroutines are left after all other clean-ups.
func unchanged(t *testing.T) {
	_ = descriptors(t)
	goroutines, fds := runtime.NumGoroutine(), descriptors(t)
	t.Cleanup(func() {
		awaitGoroutines(t, goroutines+2) // of the runtime's and of package testing's own
		// Those of the runtime's poller may be new.
		beat.Eventually(t, func() bool { return descriptors(t) <= fds+2 }, "descriptors to be closed")
	})
}

// listen starts a server on a loop, and returns its address.
func listen(t *testing.T, l *eventloop.Loop, network string, handle func(*threadlet.Conn)) net.Addr {
	t.Helper()
	address := "127.0.0.1:0"
	if network == "unix" {
		dir, err := os.MkdirTemp("", "threadlet")
		require.NoError(t, err)
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		address = filepath.Join(dir, "s")
	}
	ln, err := threadlet.Listen(l, network, address)
	require.NoError(t, err)
	_, err = threadlet.Go(l, func() {
		if err := threadlet.Serve(ln, handle); !errors.Is(err, net.ErrClosed) && !errors.Is(err, eventloop.ErrLoopTerminated) {
			t.Errorf("Serve: %v", err)
		}
	})
	require.NoError(t, err)
	return ln.Addr()
}

func echo(c *threadlet.Conn) { _, _ = io.Copy(struct{ io.Writer }{c}, struct{ io.Reader }{c}) }

func dial(t *testing.T, to net.Addr) net.Conn {
	t.Helper()
	c, err := net.Dial(to.Network(), to.String())
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// tcpPair returns two connected sockets.
func tcpPair(t *testing.T) (near, far *net.TCPConn) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer ln.Close()
	a, err := net.Dial("tcp", ln.Addr().String())
	require.NoError(t, err)
	b, err := ln.Accept()
	require.NoError(t, err)
	return a.(*net.TCPConn), b.(*net.TCPConn)
}

// pair returns a connection of a loop, and its peer.
func pair(t *testing.T, l *eventloop.Loop) (*threadlet.Conn, *net.TCPConn) {
	t.Helper()
	near, far := tcpPair(t)
	t.Cleanup(func() { _ = far.Close() })
	c, err := threadlet.Wrap(l, near)
	require.NoError(t, err)
	require.Equal(t, far.RemoteAddr().String(), c.LocalAddr().String())
	require.Equal(t, far.LocalAddr().String(), c.RemoteAddr().String())
	return c, far
}

// peer is the other side of a quickPair.
type peer interface {
	net.Conn
	CloseWrite() error
}

// quickPair is pair on a socketpair.
func quickPair(t *testing.T, l *eventloop.Loop) (*threadlet.Conn, peer) {
	t.Helper()
	near, far := socketpair(t)
	c, err := threadlet.Wrap(l, near)
	require.NoError(t, err)
	return c, far
}

// tightPair is a quickPair that has room for little.
func tightPair(t *testing.T, l *eventloop.Loop) (*threadlet.Conn, peer) {
	t.Helper()
	near, far := socketpair(t)
	if _, slow := net.Conn(near).(*net.TCPConn); slow {
		require.NoError(t, near.Close())
		require.NoError(t, far.Close())
		t.Skip("TCP with so little room moves at the pace of its timers, a few kilobytes a second")
	}
	require.NoError(t, near.SetWriteBuffer(1))
	require.NoError(t, far.SetReadBuffer(1))
	c, err := threadlet.Wrap(l, near)
	require.NoError(t, err)
	return c, far
}

// waiting waits until a threadlet of the loop waits for the given reason.
func waiting(t *testing.T, l *eventloop.Loop, reason string) {
	t.Helper()
	beat.Eventually(t, func() bool {
		return slices.ContainsFunc(threadlet.Threadlets(l), func(i threadlet.Info) bool { return i.Reason == reason })
	}, "a threadlet to wait for "+reason)
}
