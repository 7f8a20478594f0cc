//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows

package threadlet_test

// Connections that no threadlet waits for.

import (
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/threadlet"
)

// Readiness that no threadlet waits for, data or the peer's end, lets the loop sleep.
func TestUnwantedReadiness(t *testing.T) {
	l := start(t)
	c, far := pair(t, l)
	asleep := func(what string) {
		t.Helper()
		wakes := 0
		for deadline := time.Now().Add(10 * time.Second); wakes < 200; {
			if l.State() == eventloop.StateSleeping {
				wakes++
			} else {
				wakes = 0
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s: the loop does not come to rest", what)
			}
			time.Sleep(50 * time.Microsecond)
		}
	}
	buf := make([]byte, 16)
	require.NoError(t, do(t, l, func() { // registered by a wait
		go far.Write([]byte("x"))
		_, _ = c.Read(buf)
	}))
	_, err := far.Write([]byte("more"))
	require.NoError(t, err)
	asleep("data")
	require.NoError(t, do(t, l, func() { _, err = c.Write(nil) }))
	require.NoError(t, far.Close())
	asleep("the peer's end")
	require.NoError(t, do(t, l, func() {
		if n, err := c.Read(buf); n != 4 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
		if n, err := c.Read(buf); n != 0 || err != io.EOF {
			t.Errorf("%d, %v", n, err)
		}
	}))
	asleep("the end, read")
}

// An idle connection has no coroutine. Data, the deadline and a signal give it one; its last handler closes it.
func TestIdle(t *testing.T) {
	unchanged(t)
	const n = 300
	l := start(t)
	var handled atomic.Int64
	var answer func(c *threadlet.Conn)
	answer = func(c *threadlet.Conn) {
		handled.Add(1)
		p := make([]byte, 64)
		k, err := c.Read(p)
		if err != nil {
			if !errors.Is(err, io.EOF) {
				_, _ = io.WriteString(c, "late")
			}
			return // and the connection is closed
		}
		_, _ = c.Write(p[:k])
		if err := c.Idle(answer); err != nil {
			t.Error(err)
		}
		_ = threadlet.Yield() // the next handler may come before this one has gone
	}
	to := listen(t, l, "tcp", func(c *threadlet.Conn) {
		if err := c.Idle(answer); err != nil {
			t.Error(err)
		}
	})
	before := runtime.NumGoroutine()
	var conns []net.Conn
	for range n {
		conns = append(conns, dial(t, to))
	}
	p := make([]byte, 64)
	for round := range 2 {
		for i, c := range conns {
			text := fmt.Sprint(round, i)
			_, err := io.WriteString(c, text)
			require.NoError(t, err)
			k, err := c.Read(p)
			require.NoError(t, err)
			require.Equal(t, text, string(p[:k]))
		}
	}
	awaitGoroutines(t, before+threadlet.MostIdle) // idle coroutines are kept
	require.EqualValues(t, 2*n, handled.Load())
	for _, c := range conns[1:] {
		require.NoError(t, c.(*net.TCPConn).CloseWrite())
		_, err := c.Read(p)
		require.ErrorIs(t, err, io.EOF)
	}

	c, far := pair(t, l)
	require.NoError(t, do(t, l, func() {
		_ = c.SetReadDeadline(time.Now().Add(time.Hour))
		if err := c.Idle(answer); err != nil {
			t.Error(err)
		}
	}))
	require.NoError(t, c.SetReadDeadline(time.Now().Add(time.Millisecond)))
	got, err := io.ReadAll(far)
	require.NoError(t, err)
	require.Equal(t, "late", string(got))

	c, far = pair(t, l)
	require.NoError(t, do(t, l, func() { _ = c.Idle(answer) }))
	c.Signal()
	got, err = io.ReadAll(far)
	require.NoError(t, err)
	require.Equal(t, "late", string(got))
	require.ErrorIs(t, c.Idle(nil), threadlet.ErrNotThreadlet)

	c, _ = pair(t, l)
	require.NoError(t, do(t, l, func() { // closed when its handler is about to begin
		_ = c.Idle(func(*threadlet.Conn) { t.Error("the connection is closed") })
		c.Signal()
		_ = c.Close()
		_ = threadlet.Yield()
	}))
}
