//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows

package threadlet_test

// Connections and listeners that goroutines use. Module examples/libraries has golang.org/x/net/nettest over them.

import (
	"bytes"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/threadlet"
	"github.com/turnloop/turnloop/internal/beat"
)

// sharedPair returns two shared connections, of loops that may be the same.
func sharedPair(t *testing.T, a, b *eventloop.Loop) (net.Conn, net.Conn) {
	t.Helper()
	near, far := tcpPair(t)
	one, err := threadlet.Wrap(a, near)
	require.NoError(t, err)
	two, err := threadlet.Wrap(b, far)
	require.NoError(t, err)
	return threadlet.Shared(one), threadlet.Shared(two)
}

// What goroutines do with a connection, on one loop and on two.
func TestShared(t *testing.T) {
	type use func(t *testing.T, a, b net.Conn)
	blocked := func(end func(net.Conn), want error) use {
		return func(t *testing.T, a, _ net.Conn) {
			ended := make(chan error, 4)
			for range 2 {
				go func() {
					_, err := a.Read(make([]byte, 1))
					ended <- err
				}()
				go func() {
					var err error
					for err == nil {
						_, err = a.Write(make([]byte, 1<<20))
					}
					ended <- err
				}()
			}
			time.Sleep(time.Millisecond) // some wait by now, and others come too late: all hear of it
			end(a)
			for range 4 {
				require.ErrorIs(t, beat.Receive(t, ended, "the end of a wait"), want)
			}
		}
	}
	for name, use := range map[string]use{
		"there and back": func(t *testing.T, a, b net.Conn) {
			go func() {
				_, _ = io.Copy(b, struct{ io.Reader }{b})
				_ = b.Close()
			}()
			want := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
			go func() {
				_, err := a.Write(want)
				if err == nil {
					err = a.(interface{ CloseWrite() error }).CloseWrite()
				}
				if err != nil {
					t.Error(err)
				}
			}()
			got, err := io.ReadAll(a)
			require.NoError(t, err)
			require.True(t, bytes.Equal(want, got))
		},
		"whole writes": func(t *testing.T, a, b net.Conn) {
			const writers, size = 8, 300 << 10
			var all sync.WaitGroup
			for i := range writers {
				all.Go(func() { _, _ = a.Write(bytes.Repeat([]byte{byte(i)}, size)) })
			}
			p := make([]byte, size)
			for range writers {
				_, err := io.ReadFull(b, p)
				require.NoError(t, err)
				require.Equal(t, size, bytes.Count(p, p[:1]))
			}
			all.Wait()
		},
		"Close":      blocked(func(c net.Conn) { _ = c.Close() }, net.ErrClosed),
		"a deadline": blocked(func(c net.Conn) { _ = c.SetDeadline(time.Now().Add(time.Millisecond)) }, os.ErrDeadlineExceeded),
		"a past one": blocked(func(c net.Conn) { _ = c.SetDeadline(time.Unix(1, 0)) }, os.ErrDeadlineExceeded),
		"no longer one": func(t *testing.T, a, b net.Conn) {
			_ = a.SetDeadline(time.Unix(1, 0))
			_, err := a.Read(make([]byte, 1))
			require.ErrorIs(t, err, os.ErrDeadlineExceeded)
			_ = a.SetDeadline(time.Time{})
			_, err = b.Write([]byte("x"))
			require.NoError(t, err)
			_, err = a.Read(make([]byte, 1))
			require.NoError(t, err)
		},
		"all methods at once": func(t *testing.T, a, b net.Conn) {
			var all sync.WaitGroup
			for range 20 {
				for _, c := range []net.Conn{a, b} {
					all.Go(func() { _, _ = c.Read(make([]byte, 1024)) })
					all.Go(func() { _, _ = c.Write(make([]byte, 1024)) })
					all.Go(func() { _ = c.SetDeadline(time.Now().Add(time.Millisecond)) })
					all.Go(func() { _, _ = c.LocalAddr(), c.RemoteAddr() })
				}
			}
			beat.Do(t, "the end of all calls", all.Wait)
		},
	} {
		for _, loops := range []string{"one loop", "two loops"} {
			t.Run(name+"/"+loops, func(t *testing.T) {
				l := start(t)
				other := l
				if loops == "two loops" {
					other = start(t)
				}
				a, b := sharedPair(t, l, other)
				use(t, a, b)
				_, _ = a.Close(), b.Close()
			})
		}
	}
}

// The loop's end ends what goroutines wait for.
func TestSharedAtTheEnd(t *testing.T) {
	for _, end := range []func(*eventloop.Loop){func(l *eventloop.Loop) { _ = l.Close() }, func(l *eventloop.Loop) { _ = l.Shutdown(background) }} {
		l := start(t)
		a, b := sharedPair(t, l, l)
		ended := make(chan error, 1)
		go func() {
			p := make([]byte, 1)
			_, err := io.ReadFull(a, p)
			for err == nil {
				_, err = a.Read(p)
			}
			ended <- err
		}()
		_, err := b.Write([]byte("x"))
		require.NoError(t, err)
		end(l)
		require.Error(t, beat.Receive(t, ended, "the end of Read"))
		<-l.Done()
		_, err = a.Write([]byte("x"))
		require.Error(t, err)
	}
}

// On a loop a call is a direct one, or is refused where it would block the loop.
func TestSharedOnLoops(t *testing.T) {
	l, other := start(t), start(t)
	a, b := sharedPair(t, l, l)
	refused := func() {
		_, read := a.Read(make([]byte, 1))
		_, write := a.Write([]byte("x"))
		for what, err := range map[string]error{"Read": read, "Write": write, "CloseWrite": a.(interface{ CloseWrite() error }).CloseWrite()} {
			require.ErrorIs(t, err, eventloop.ErrAwaitOnLoop, what)
		}
	}
	require.NoError(t, do(t, other, refused))
	done := make(chan struct{})
	require.NoError(t, l.Submit(func() { defer close(done); refused() }))
	<-done
	require.NoError(t, do(t, l, func() {
		before := len(threadlet.Threadlets(l))
		_, err := threadlet.Go(l, func() { _, _ = b.Write([]byte("x")) })
		require.NoError(t, err)
		_, err = a.Read(make([]byte, 1))
		require.NoError(t, err)
		require.Len(t, threadlet.Threadlets(l), before) // none has read for this one
	}))
	near, far := tcpPair(t)
	require.Same(t, near, threadlet.Shared(near))
	_, _ = near.Close(), far.Close()
}

// A listener that goroutines use: a server of package net's kind on it. A connection stays open when a handler returns that has
// shared it.
func TestSharedListener(t *testing.T) {
	l := start(t)
	ln, err := threadlet.Listen(l, "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	shared := threadlet.SharedListener(ln)
	served := make(chan error, 1)
	go func() {
		for {
			c, err := shared.Accept()
			if err != nil {
				served <- err
				return
			}
			go func() {
				_, _ = io.Copy(c, struct{ io.Reader }{c})
				_ = c.Close()
			}()
		}
	}()
	echoes := func(to net.Addr) {
		c := dial(t, to)
		_, err := io.WriteString(c, "hello")
		require.NoError(t, err)
		require.NoError(t, c.(*net.TCPConn).CloseWrite())
		got, err := io.ReadAll(c)
		require.NoError(t, err)
		require.Equal(t, "hello", string(got))
	}
	for range 3 {
		echoes(ln.Addr())
	}
	require.NoError(t, shared.Close())
	require.ErrorIs(t, <-served, net.ErrClosed)
	echoes(listen(t, l, "tcp", func(c *threadlet.Conn) {
		shared := threadlet.Shared(c)
		go func() {
			_, _ = io.Copy(shared, struct{ io.Reader }{shared})
			_ = shared.Close()
		}()
	}))
}

// A library that uses a connection on a goroutine of its own hears why it cannot, and so does the log, once and with the
// place: many drop their errors.
func TestElsewhereIsTold(t *testing.T) {
	var log lockedBuffer
	l := start(t, eventloop.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
	c, _ := pair(t, l)
	for range 3 {
		_, err := io.ReadFull(c, make([]byte, 1))
		require.ErrorIs(t, err, threadlet.ErrNotThreadlet)
		require.ErrorContains(t, err, "threadlet.Shared")
	}
	require.Equal(t, 1, strings.Count(log.String(), "threadlet.Shared"))
	require.Contains(t, log.String(), "io.ReadAtLeast at ")
}

// lockedBuffer is what a log is written to.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
