//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package threadlet_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/threadlet"
)

// A server with one client in the middle of a request, one between two, one idle, one that no longer asks: Shutdown lets the first finish, tells the
// second, and waits for nobody else.
func TestDrain(t *testing.T) {
	unchanged(t)
	l := start(t)
	work := threadlet.NewChan[int](l, 0)
	ended := map[string]error{}
	to := listen(t, l, "tcp", func(c *threadlet.Conn) {
		r := bufio.NewReader(c)
		for !threadlet.Draining() {
			line, err := r.ReadString('\n')
			if err != nil {
				ended["between"] = err
				return
			}
			switch line {
			case "slow\n":
				_, _ = work.Receive()
			case "idle\n":
				ended["idle"] = c.Idle(func(*threadlet.Conn) { t.Error("the idle one was called") })
				_, _ = io.WriteString(c, line)
				return
			}
			_, _ = io.WriteString(c, line)
		}
		ended["slow"] = threadlet.Sleep(time.Millisecond) // nobody is in a hurry
	})
	var bystander error
	_, err := threadlet.Go(l, func() { bystander = threadlet.Sleep(time.Hour) })
	require.NoError(t, err)
	between, slow, idle := dial(t, to), dial(t, to), dial(t, to)
	answers := func(c net.Conn, line string) {
		t.Helper()
		p := make([]byte, len(line))
		_, err := io.ReadFull(c, p)
		require.NoError(t, err)
		require.Equal(t, line, string(p))
	}
	for c, line := range map[net.Conn]string{between: "hello\n", slow: "slow\n", idle: "idle\n"} {
		_, err := io.WriteString(c, line)
		require.NoError(t, err)
	}
	answers(between, "hello\n")
	answers(idle, "idle\n")
	waiting(t, l, "chan receive")
	done := make(chan error)
	go func() { done <- l.Shutdown(background) }()
	for _, c := range []net.Conn{between, idle} {
		_, err = c.Read(make([]byte, 1))
		require.ErrorIs(t, err, io.EOF)
	}
	_, err = net.Dial(to.Network(), to.String())
	require.Error(t, err)
	select {
	case err := <-done:
		t.Fatalf("Shutdown has not waited: %v", err)
	default:
	}
	require.NoError(t, do(t, l, func() { _ = work.Send(1) })) // the loop still takes tasks
	answers(slow, "slow\n")
	require.NoError(t, <-done)
	require.ErrorIs(t, ended["between"], threadlet.ErrDraining)
	require.NoError(t, ended["idle"])
	require.NoError(t, ended["slow"])
	require.ErrorIs(t, bystander, eventloop.ErrLoopTerminated)
}

// Who does not come to an end within the context is told that the loop ends.
func TestDrainIsBounded(t *testing.T) {
	l := start(t)
	var got error
	th, err := threadlet.Go(l, func() {
		threadlet.Draining()
		got = threadlet.Sleep(time.Hour)
	})
	require.NoError(t, err)
	require.NoError(t, do(t, l, func() {}))
	ctx, cancel := context.WithTimeout(background, 20*time.Millisecond)
	defer cancel()
	if err := l.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, nil) {
		t.Error(err)
	}
	<-l.Done()
	require.NoError(t, th.Join(background))
	require.ErrorIs(t, got, eventloop.ErrLoopTerminated)
	require.False(t, threadlet.Draining())
}
