//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows

package secure_test

// Connections that no threadlet waits for.

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/threadlet"
	"github.com/turnloop/turnloop/eventloop/threadlet/secure"
	"github.com/turnloop/turnloop/internal/beat"
)

// idleEcho serves an echo whose connections are idle between two reads, of two bytes each. Its result counts the times when Idle had
// nothing to wait for.
func idleEcho(t *testing.T, l *eventloop.Loop, config *tls.Config) (addr string, left *atomic.Int64) {
	left = new(atomic.Int64)
	idles := func(s *secure.Conn, handle func(*secure.Conn)) bool {
		err := s.Idle(handle)
		if errors.Is(err, secure.ErrLeft) {
			left.Add(1)
		}
		return err == nil
	}
	var handle func(*secure.Conn)
	handle = func(s *secure.Conn) {
		p := make([]byte, 2)
		for {
			n, err := s.Read(p)
			if err == nil {
				_, err = s.Write(p[:n])
			}
			if err != nil {
				_ = s.Close()
				return
			}
			if idles(s, handle) {
				return
			}
		}
	}
	return listen(t, l, func(c *threadlet.Conn) {
		s := secure.Server(c, config)
		if s.Handshake() == nil && !idles(s, handle) {
			handle(s)
		}
	}), left
}

// Between two requests there is no threadlet, whatever comes, and in whatever pieces.
func TestIdle(t *testing.T) {
	server, client := certificate(t)
	l := start(t)
	addr, left := idleEcho(t, l, server)
	raw, c, in := silentPeer(t, addr, client)
	if c.ConnectionState().CipherSuite != tls.TLS_AES_128_GCM_SHA256 {
		t.Skip("the records are encrypted with AES, which this machine does not prefer")
	}
	rests := func() {
		t.Helper()
		beat.Eventually(t, func() bool { return len(threadlet.Threadlets(l)) == 1 }, "the connection to be idle, beside the acceptor")
	}
	part := func(p []byte) { // after which a threadlet waits for the rest
		_, err := raw.Write(p)
		require.NoError(t, err)
		waiting(t, l, "read")
	}
	for _, step := range []struct {
		name  string
		send  func()
		want  string
		bytes bool // are left when Idle is called
	}{
		{"a record", func() { _, _ = raw.Write(in.data()) }, "x", false},
		{"two at once", func() { _, _ = raw.Write(append(in.data(), in.data()...)) }, "xx", true},
		{"more than is read at once", func() { _, _ = raw.Write(in.record(23, []byte("abcde")...)) }, "abcde", true},
		{"a part, and the rest", func() {
			r := in.data()
			part(r[:7])
			_, _ = raw.Write(r[7:])
		}, "x", false},
		{"a part of a header", func() {
			r := in.data()
			part(r[:1])
			_, _ = raw.Write(r[1:])
		}, "x", false},
		{"new keys", func() {
			part(in.keyUpdate())
			_, _ = raw.Write(in.data())
		}, "x", false},
		{"a record and a part", func() { // which TLS has kept when the connection is idle
			records := append(in.data(), in.data()...)
			_, _ = raw.Write(records[:len(records)-7])
			_, _ = io.ReadFull(c, make([]byte, 1))
			rests()
			_, _ = raw.Write(records[len(records)-7:])
		}, "x", false},
	} {
		rests()
		before := left.Load()
		step.send()
		got := make([]byte, len(step.want))
		_, err := io.ReadFull(c, got)
		require.NoError(t, err, step.name)
		require.Equal(t, step.want, string(got), step.name)
		rests()
		require.Equal(t, step.bytes, left.Load() > before, step.name)
	}
}

// How an idle connection ends: with its peer, or with the loop, which tells the peer.
func TestIdleEnds(t *testing.T) {
	for name, version := range versions {
		server, client := certificate(t)
		client.MinVersion, client.MaxVersion = version, version
		dialled := func(l *eventloop.Loop) *tls.Conn {
			addr, _ := idleEcho(t, l, server)
			raw, err := net.Dial("tcp", addr)
			require.NoError(t, err)
			t.Cleanup(func() { _ = raw.Close() })
			c := tls.Client(raw, client)
			_, err = io.WriteString(c, "x")
			require.NoError(t, err)
			_, err = io.ReadFull(c, make([]byte, 1))
			require.NoError(t, err)
			beat.Eventually(t, func() bool { return len(threadlet.Threadlets(l)) == 1 }, "the connection to be idle")
			return c
		}
		for ending, end := range map[string]func(l *eventloop.Loop, c *tls.Conn){
			"the peer says so": func(_ *eventloop.Loop, c *tls.Conn) { _ = c.CloseWrite() },
			"Shutdown":         func(l *eventloop.Loop, _ *tls.Conn) { require.NoError(t, l.Shutdown(background)) },
		} {
			t.Run(name+"/"+ending, func(t *testing.T) {
				l, err := eventloop.New()
				require.NoError(t, err)
				go func() { _ = l.Run(background) }()
				defer l.Close()
				c := dialled(l)
				end(l, c)
				_, err = c.Read(make([]byte, 1))
				require.Equal(t, io.EOF, err) // crypto/tls has another error for an end that nobody has told
			})
		}
	}
}

// Calls that Idle refuses.
func TestIdleErrors(t *testing.T) {
	server, client := certificate(t)
	l := start(t)
	addr := listen(t, l, secureEcho(server))
	require.NoError(t, do(t, l, func() {
		raw, err := threadlet.Dial(background, "tcp", addr)
		if err != nil {
			t.Error(err)
			return
		}
		c := secure.Client(raw.(*threadlet.Conn), client)
		if err := c.Idle(nil); !errors.Is(err, eventloop.ErrNilCallback) {
			t.Error(err)
		}
		_ = c.Close()
		if err := c.Idle(func(*secure.Conn) {}); !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
	}))
}
