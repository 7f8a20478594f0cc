//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows

package threadlet_test

// Tests of connections.

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/threadlet"
	"github.com/turnloop/turnloop/internal/wheel"
)

func TestDial(t *testing.T) {
	unchanged(t)
	l, other := start(t), start(t)
	to := listen(t, l, "tcp", echo)
	require.NoError(t, do(t, other, func() {
		for i := range 3 {
			c, err := threadlet.Dial(background, "tcp", to.String())
			if err != nil {
				t.Error(err)
				return
			}
			text := strings.Repeat("x", 1+i*100_000)
			_, _ = threadlet.Go(other, func() {
				_, _ = io.WriteString(c, text)
				_ = c.(*threadlet.Conn).CloseWrite()
			})
			got, err := io.ReadAll(c)
			if string(got) != text || err != nil {
				t.Errorf("got %d bytes, %v", len(got), err)
			}
			_ = c.Close()
		}
		ctx, cancel := context.WithCancel(background)
		cancel()
		if c, err := threadlet.Dial(ctx, "tcp", to.String()); c != nil || !errors.Is(err, context.Canceled) {
			t.Error(c, err)
		}
		var failed *net.OpError
		if c, err := threadlet.Dial(background, "tcp", "127.0.0.1:1"); c != nil || !errors.As(err, &failed) {
			t.Error(c, err)
		}
		// Signaled while it connects: if that succeeds, the connection is closed.
		for range 20 {
			threadlet.Current().Signal()
			if c, err := threadlet.Dial(background, "tcp", to.String()); c != nil || err != threadlet.ErrSignaled {
				t.Error(c, err)
			}
			_, _ = l.ScheduleTimer(0, threadlet.Current().Signal)
			if c, err := threadlet.Dial(background, "tcp", to.String()); err == nil {
				_ = c.Close()
				_ = threadlet.Sleep(time.Hour) // the signal that is on its way
			}
		}
	}))
	_, err := threadlet.Dial(background, "tcp", to.String())
	require.ErrorIs(t, err, threadlet.ErrNotThreadlet)
	a, b := net.Pipe()
	defer b.Close()
	_, err = threadlet.Wrap(l, a)
	require.ErrorIs(t, err, errors.ErrUnsupported)
}

func TestDeadlines(t *testing.T) {
	unchanged(t)
	l := start(t)
	c, far := pair(t, l)
	buf := make([]byte, 1<<20)
	const soon = 20 * time.Millisecond
	expired := func(what string, err error) {
		t.Helper()
		var timeout net.Error
		if !errors.Is(err, os.ErrDeadlineExceeded) || !errors.As(err, &timeout) || !timeout.Timeout() {
			t.Errorf("%s: %v", what, err)
		}
	}
	require.NoError(t, do(t, l, func() {
		began := time.Now()
		_ = c.SetReadDeadline(began.Add(soon))
		_, err := c.Read(buf)
		expired("a read that waits", err)
		if since := time.Since(began); since < soon {
			t.Errorf("too early, after %v", since)
		}
		_, err = c.Read(buf)
		expired("the next read", err)
		_ = far.SetDeadline(began)
		for _, of := range []net.Conn{c, far} {
			if of == far && runtime.GOOS == "windows" {
				continue // there package net asks for the deadline first
			}
			if n, err := of.Read(nil); n != 0 || err != nil {
				t.Errorf("a read of nothing: %d, %v", n, err)
			}
		}
		_ = far.SetDeadline(time.Time{})
		_ = c.SetDeadline(time.Time{})
		n, total := 0, 0
		for later := soon; total == 0; later *= 2 { // a busy machine may not let it begin before
			_ = c.SetWriteDeadline(time.Now().Add(later))
			for err = nil; err == nil; total += n {
				n, err = c.Write(buf)
			}
		}
		expired("a write", err)
		if n == len(buf) {
			t.Errorf("%d bytes written, %d of them by the last write", total, n)
		}
	}))
	// Set during a wait, from another goroutine: later, never, and now.
	reader, err := threadlet.Go(l, func() {
		_, err := c.Read(buf)
		expired("a deadline that was moved", err)
	})
	require.NoError(t, err)
	require.NoError(t, c.SetReadDeadline(time.Now().Add(time.Hour)))
	waiting(t, l, "read")
	require.NoError(t, c.SetReadDeadline(time.Now().Add(2*time.Hour)))
	require.NoError(t, c.SetReadDeadline(time.Time{}))
	require.NoError(t, do(t, l, func() {}))
	waiting(t, l, "read")
	require.NoError(t, c.SetReadDeadline(time.Now().Add(-time.Hour)))
	require.NoError(t, reader.Join(background))
	require.NoError(t, c.SetReadDeadline(time.Now().Add(time.Hour)))
	require.NoError(t, do(t, l, func() {
		go far.Write([]byte("x"))
		if n, err := c.Read(buf); n != 1 || err != nil {
			t.Errorf("before the deadline: %d, %v", n, err)
		}
	}))
	// Of both sides, set while both wait, and moved; then one of them alone.
	var users []*threadlet.Threadlet
	both := func() {
		for _, op := range []func([]byte) (int, error){c.Read, c.Write} { // the peer does not read
			th, err := threadlet.Go(l, func() {
				var err error
				for err == nil { // the first write may find room
					_, err = op(buf)
				}
				expired("a deadline of both sides", err)
			})
			require.NoError(t, err)
			users = append(users, th)
		}
		waiting(t, l, "read")
		waiting(t, l, "write")
	}
	require.NoError(t, c.SetDeadline(time.Time{}))
	both()
	require.NoError(t, c.SetDeadline(time.Now().Add(time.Hour)))
	require.NoError(t, c.SetDeadline(time.Now().Add(-time.Hour)))
	for _, th := range users {
		require.NoError(t, th.Join(background))
	}
	require.NoError(t, c.SetDeadline(time.Now().Add(time.Hour)))
	users = nil
	both()
	began := time.Now()
	require.NoError(t, do(t, l, func() { // in one turn: the first ends no wait before it is moved
		_, _ = c.SetDeadline(began.Add(soon)), c.SetReadDeadline(began.Add(time.Hour))
	}))
	require.NoError(t, users[1].Join(background))
	require.GreaterOrEqual(t, time.Since(began), soon)
	waiting(t, l, "read")
	require.NoError(t, c.SetReadDeadline(time.Now().Add(time.Nanosecond)))
	require.NoError(t, users[0].Join(background))
	require.NoError(t, c.Close())
	require.ErrorIs(t, c.SetDeadline(time.Now()), net.ErrClosed)
}

// A wait for which the loop refuses a timer, because too many are pending, returns that error.
func TestRefusedTimers(t *testing.T) {
	defer func(most uint32) { wheel.Most = most }(wheel.Most)
	wheel.Most = 64
	later := time.Now().Add(time.Hour)
	read := func(c *threadlet.Conn) error {
		_, err := c.Read(make([]byte, 1))
		return err
	}
	for name, wait := range map[string]func(l *eventloop.Loop, c *threadlet.Conn) error{
		"Sleep": func(*eventloop.Loop, *threadlet.Conn) error { return threadlet.Sleep(time.Hour) },
		"deadline before the wait": func(_ *eventloop.Loop, c *threadlet.Conn) error {
			return errors.Join(c.SetDeadline(later), read(c))
		},
		"deadline amid the wait": func(l *eventloop.Loop, c *threadlet.Conn) error {
			_, err := threadlet.Go(l, func() { _ = c.SetReadDeadline(later) })
			return errors.Join(err, read(c))
		},
		"deadline from elsewhere": func(_ *eventloop.Loop, c *threadlet.Conn) error {
			go func() { _ = c.SetReadDeadline(later) }()
			return read(c)
		},
		"deadline of an idle connection": func(l *eventloop.Loop, c *threadlet.Conn) error {
			result := threadlet.NewChan[error](l, 0)
			if err := errors.Join(c.SetReadDeadline(later), c.Idle(func(c *threadlet.Conn) { _ = result.Send(read(c)) })); err != nil {
				return err
			}
			err, ended := result.Receive()
			return errors.Join(err, ended)
		},
	} {
		l := start(t)
		c, _ := quickPair(t, l)
		var err error
		for err == nil {
			_, err = l.ScheduleTimer(time.Hour, func() {})
		}
		require.ErrorIs(t, err, eventloop.ErrLoopOverloaded)
		require.NoError(t, do(t, l, func() { err = wait(l, c) }), name)
		require.ErrorIs(t, err, eventloop.ErrLoopOverloaded, name)
	}
}

// A caller that is no threadlet of the loop is refused, and does no harm.
func TestElsewhere(t *testing.T) {
	unchanged(t)
	l, other := start(t), start(t)
	c, far := pair(t, l)
	ln, err := threadlet.Listen(l, "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	use := func() {
		_, read := c.Read(make([]byte, 1))
		_, write := c.Write([]byte("x"))
		_, accept := ln.Accept()
		raw, _ := c.SyscallConn()
		for what, err := range map[string]error{"Read": read, "Write": write, "Accept": accept, "Serve": threadlet.Serve(ln, echo),
			"Idle": c.Idle(echo), "Control": raw.Control(func(uintptr) { t.Error("called") })} {
			if !errors.Is(err, threadlet.ErrNotThreadlet) {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
	use()
	require.ErrorIs(t, c.CloseWrite(), threadlet.ErrNotThreadlet)
	require.NoError(t, do(t, other, use))
	done := make(chan struct{})
	require.NoError(t, l.Submit(func() { use(); close(done) })) // a callback
	<-done
	_, err = far.Write([]byte("y"))
	require.NoError(t, err)
	require.NoError(t, do(t, l, func() {
		b := make([]byte, 2)
		if n, err := c.Read(b); n != 1 || err != nil || b[0] != 'y' {
			t.Error(n, err)
		}
		raw, _ := c.SyscallConn()
		if err := raw.Control(func(fd uintptr) {
			if err := isSocket(fd); err != nil {
				t.Error(err)
			}
		}); err != nil {
			t.Error(err)
		}
		if err := threadlet.Serve[*threadlet.Conn](ln, nil); err != eventloop.ErrNilCallback {
			t.Error(err)
		}
		if err := c.CloseRead(); err != nil {
			t.Error(err)
		}
		if n, err := c.Read(b); n != 0 || err != io.EOF {
			t.Error(n, err)
		}
	}))
}

// A closed connection has its addresses, and each of its methods returns that it is closed: in a threadlet, elsewhere, and
// when the loop is gone. So does a listener.
func TestClosed(t *testing.T) {
	unchanged(t)
	l := start(t)
	c, _ := pair(t, l)
	ln, err := threadlet.Listen(l, "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	raw, err := c.SyscallConn()
	require.NoError(t, err)
	local, remote, address := c.LocalAddr().String(), c.RemoteAddr().String(), ln.Addr().String()
	never := func(*threadlet.Conn) { t.Error("called") }
	buf := make([]byte, 1)
	methods := map[string]func() error{
		"Read":             func() error { _, err := c.Read(buf); return err },
		"Write":            func() error { _, err := c.Write(buf); return err },
		"TryWrite":         func() error { _, err := c.TryWrite(buf); return err },
		"CloseRead":        c.CloseRead,
		"CloseWrite":       c.CloseWrite,
		"Close":            c.Close,
		"Idle":             func() error { return c.Idle(never) },
		"SetDeadline":      func() error { return c.SetDeadline(time.Now()) },
		"SetReadDeadline":  func() error { return c.SetReadDeadline(time.Now()) },
		"SetWriteDeadline": func() error { return c.SetWriteDeadline(time.Now()) },
		"SyscallConn":      func() error { _, err := c.SyscallConn(); return err },
		"Signal":           func() error { c.Signal(); return net.ErrClosed },
		"Loop":             func() error { require.Same(t, l, c.Loop()); return net.ErrClosed },
		"LocalAddr":        func() error { require.Equal(t, local, c.LocalAddr().String()); return net.ErrClosed },
		"RemoteAddr":       func() error { require.Equal(t, remote, c.RemoteAddr().String()); return net.ErrClosed },
		"raw Control":      func() error { return raw.Control(func(uintptr) { t.Error("called") }) },
		"raw Read":         func() error { return raw.Read(func(uintptr) bool { t.Error("called"); return true }) },
		"raw Write":        func() error { return raw.Write(func(uintptr) bool { t.Error("called"); return true }) },
		"Accept":           func() error { _, err := ln.Accept(); return err },
		"Close, listener":  ln.Close,
		"Addr":             func() error { require.Equal(t, address, ln.Addr().String()); return net.ErrClosed },
		"Serve":            func() error { return threadlet.Serve(ln, never) },
	}
	for m := range reflect.TypeFor[*threadlet.Conn]().Methods() {
		require.Contains(t, methods, m.Name)
	}
	use := func(where string, also error) {
		for name, method := range methods {
			if err := method(); !errors.Is(err, net.ErrClosed) && (also == nil || !errors.Is(err, also)) {
				t.Errorf("%s, %s: %v", name, where, err)
			}
		}
	}
	require.NoError(t, do(t, l, func() {
		_, _ = c.Close(), ln.Close()
		use("at once", nil)
		_ = threadlet.Sleep(time.Millisecond)
		use("later", nil)
	}))
	use("elsewhere", threadlet.ErrNotThreadlet)
	require.NoError(t, l.Shutdown(background))
	use("when the loop has ended", threadlet.ErrNotThreadlet)
}

// Nothing is kept for peers that never read: their writers wait, each for itself, and others are served.
func TestPeersThatNeverRead(t *testing.T) {
	unchanged(t)
	l := start(t)
	heap := func() int64 {
		var m runtime.MemStats
		for range 3 { // what other tests have left in pools goes with the second and third
			runtime.GC()
		}
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	const n, most = 8, 64 << 20 // more than a system buffers
	buf := make([]byte, 1<<20)
	before := heap()
	var conns []*threadlet.Conn
	var writers []*threadlet.Threadlet
	for range n {
		c, _ := pair(t, l)
		th, err := threadlet.Go(l, func() {
			for range most / len(buf) {
				if _, err := c.Write(buf); err != nil {
					if !errors.Is(err, net.ErrClosed) {
						t.Error(err)
					}
					return
				}
			}
			t.Errorf("%d bytes were written, and nobody reads", most)
		})
		require.NoError(t, err)
		conns, writers = append(conns, c), append(writers, th)
	}
	for wait := 0; wait < n && !t.Failed(); runtime.Gosched() {
		wait = 0
		for _, i := range threadlet.Threadlets(l) {
			if i.Reason == "write" {
				wait++
			}
		}
	}
	require.NoError(t, do(t, l, func() {
		for range 100 {
			for _, c := range conns {
				if k, err := c.TryWrite(buf); k == len(buf) || err != nil {
					t.Error(k, err)
				}
			}
		}
	}))
	if more := heap() - before; more > n*64<<10 {
		t.Errorf("%d bytes are kept for %d connections", more, n)
	}
	for i, c := range conns {
		require.NoError(t, c.Close())
		require.NoError(t, writers[i].Join(background))
	}
	runtime.KeepAlive(buf)
}
