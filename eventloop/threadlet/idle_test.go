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
	"github.com/turnloop/turnloop/internal/beat"
)

// Readiness that no threadlet waits for, data or the peer's end, lets the loop sleep.
func TestUnwantedReadiness(t *testing.T) {
	l := start(t)
	c, far := pair(t, l)
	asleep := func(what string) {
		t.Helper()
		row := 0
		beat.Eventually(t, func() bool {
			for row = 0; row < 200 && l.State() == eventloop.StateSleeping; row++ {
				time.Sleep(50 * time.Microsecond)
			}
			return row == 200
		}, "the loop to rest beside "+what)
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

// A busy connection stays registered as it is, whether somebody waits for it or not: to register it, or to change the events
// that the loop watches for, would be a system call for each request.
func TestRegistrationIsKept(t *testing.T) {
	for _, opts := range [][]eventloop.Option{nil, {eventloop.WithDebug(true)}} { // which tells since when it is registered
		l := start(t, opts...)
		c, far := quickPair(t, l)
		registration := func() (is eventloop.Activity) {
			for _, a := range l.Active() {
				if a.Kind == "descriptor" {
					is, is.Keeps = a, false // it does only while somebody waits
				}
			}
			return is
		}
		var first eventloop.Activity
		same := func(when string) {
			if is := registration(); is != first {
				t.Errorf("%s: %+v, want %+v", when, is, first)
			}
		}
		server, err := threadlet.Go(l, func() {
			for p := make([]byte, 1); ; {
				if _, err := c.Read(p); err != nil {
					return
				}
				if p[0] > 0 {
					same("behind a read")
				}
				_, _ = c.Write(p)
				if p[0] > 0 {
					same("behind a write")
				}
			}
		})
		require.NoError(t, err)
		for i := range 100 {
			waiting(t, l, "read")
			if i == 0 { // at the end of the turn
				beat.Eventually(t, func() bool { return registration().Detail != "" }, "the registration")
				first = registration()
			}
			same("amid a read")
			p := []byte{byte(i)}
			_, err := far.Write(p)
			require.NoError(t, err)
			_, err = io.ReadFull(far, p)
			require.NoError(t, err)
		}
		require.NoError(t, far.Close())
		require.NoError(t, server.Join(background))
	}
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

// Of several deadlines of an idle connection the last counts, and so does the last handler. When it is idle no more, or is
// closed, it keeps neither a timer nor the loop: a loop that ends by itself ends, also if another connection is registered that nobody
// waits for.
func TestIdleLeavesNothing(t *testing.T) {
	for idleLeavesNothing(t) { // the first deadline was over before the second was set: the machine is busy
	}
}

// idleLeavesNothing tells whether it was disturbed, and has no verdict then.
func idleLeavesNothing(t *testing.T) (disturbed bool) {
	l, err := eventloop.New(eventloop.WithAutoExit(true))
	require.NoError(t, err)
	c, far := quickPair(t, l)
	closed, _ := quickPair(t, l)
	unused, sender := quickPair(t, l)
	calls, handled := 0, 0
	wrong := func(*threadlet.Conn) { calls++ }
	_, err = threadlet.Go(l, func() {
		soon := time.Now().Add(5 * time.Millisecond)
		_ = c.SetReadDeadline(soon)
		_ = c.Idle(wrong)
		_ = c.Idle(func(*threadlet.Conn) { handled++ })
		_ = c.SetReadDeadline(time.Now().Add(time.Hour))
		disturbed = !time.Now().Before(soon)
		_ = closed.SetReadDeadline(time.Now().Add(time.Hour))
		_ = closed.Idle(wrong)
		_, _ = l.ScheduleTimer(time.Millisecond, func() { _, _ = sender.Write([]byte("x")) })
		if _, err := unused.Read(make([]byte, 1)); err != nil { // waits, and so registers it
			t.Error(err)
		}
		_ = threadlet.Sleep(20 * time.Millisecond)
		if handled != 0 && !disturbed {
			t.Error("the deadline was put off")
		}
		_ = closed.Close()
		_, _ = far.Write([]byte("x"))
	})
	require.NoError(t, err)
	ctx, cancel := beat.Context(background)
	defer cancel()
	require.NoError(t, l.Run(ctx), "the loop does not end by itself")
	if !disturbed {
		require.Zero(t, calls, "the handler that another has replaced, or of a closed connection")
		require.Equal(t, 1, handled)
	}
	return disturbed
}
