//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows

package threadlet_test

// Tests of Draining: what an end waits for.

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/threadlet"
	"github.com/turnloop/turnloop/internal/beat"
)

// A server has a client in the middle of a request, one between two requests, an idle one, and one that asks no more.
// Shutdown lets the first finish, tells the second, and waits for no other.
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
				if err := c.Idle(func(*threadlet.Conn) { _, ended["idle"] = c.Read(make([]byte, 1)) }); err != nil {
					t.Error(err)
				}
				_, _ = io.WriteString(c, line)
				return
			}
			_, _ = io.WriteString(c, line)
		}
		ended["slow"] = threadlet.Sleep(time.Millisecond) // waits still work
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
	require.ErrorIs(t, ended["idle"], threadlet.ErrDraining)
	require.NoError(t, ended["slow"])
	require.ErrorIs(t, bystander, eventloop.ErrLoopTerminated)
}

// What an idle connection has got when the end begins is still answered, and Shutdown waits for that.
func TestDrainOfIdleConnections(t *testing.T) {
	l, err := eventloop.New()
	require.NoError(t, err)
	go func() { _ = l.Run(background) }()
	defer l.Close()
	var handle func(c *threadlet.Conn)
	handle = func(c *threadlet.Conn) {
		var line [1]byte
		for {
			if _, err := c.Read(line[:]); err != nil || threadlet.Sleep(time.Millisecond) != nil {
				return
			}
			if _, err := c.Write(line[:]); err != nil || c.Idle(handle) == nil {
				return
			}
		}
	}
	to := listen(t, l, "tcp", handle)
	const conns = 100
	var all [conns]net.Conn
	answers := func(c net.Conn) {
		t.Helper()
		_, err := io.ReadFull(c, make([]byte, 1))
		require.NoError(t, err)
	}
	for i := range all {
		all[i] = dial(t, to)
		_, err := io.WriteString(all[i], "x")
		require.NoError(t, err)
		answers(all[i])
	}
	beat.Eventually(t, func() bool { return len(threadlet.Threadlets(l)) == 1 }, "all to be idle")
	blocks, goOn := make(chan struct{}), make(chan struct{})
	require.NoError(t, l.Submit(func() { close(blocks); <-goOn }))
	<-blocks
	for i := range conns / 2 {
		_, err := io.WriteString(all[i], "x")
		require.NoError(t, err)
	}
	done := make(chan error, 1)
	go func() { done <- l.Shutdown(background) }()
	beat.Eventually(t, func() bool {
		return slices.ContainsFunc(l.Active(), func(a eventloop.Activity) bool { return a.Kind == "internal" })
	}, "Shutdown to ask the loop")
	close(goOn)
	for i, c := range all {
		if i < conns/2 {
			answers(c)
		}
		_, err := c.Read(make([]byte, 1))
		require.ErrorIs(t, err, io.EOF)
	}
	require.NoError(t, <-done)
}

// A threadlet that does not end within the context hears that the loop ends. Shutdown's error tells of it, and of nothing
// that the end drops: timers, holds, registrations, promises.
func TestDrainIsBounded(t *testing.T) {
	l := start(t)
	for range 10 { // more than an error lists
		_, err := l.ScheduleTimer(time.Hour, func() {})
		require.NoError(t, err)
		l.Hold()
	}
	listen(t, l, "tcp", func(*threadlet.Conn) {})
	promise, _, _ := l.NewPromise()
	promise.ToChannel()
	var got error
	th, err := threadlet.Go(l, func() {
		threadlet.Draining()
		got = threadlet.Sleep(time.Hour)
	})
	require.NoError(t, err)
	require.NoError(t, do(t, l, func() {}))
	ctx, cancel := context.WithTimeout(background, 20*time.Millisecond)
	defer cancel()
	err = l.Shutdown(ctx)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorContains(t, err, "threadlet")
	require.NotRegexp(t, "timer|hold|descriptor|promise|more", err.Error())
	<-l.Done()
	require.NoError(t, th.Join(background))
	require.ErrorIs(t, got, eventloop.ErrLoopTerminated)
	require.False(t, threadlet.Draining())
}

// The end of a group waits for the handlers on all of its loops.
func TestDrainOfAGroup(t *testing.T) {
	unchanged(t)
	const loops = 3
	g, err := eventloop.NewGroup(loops)
	require.NoError(t, err)
	ran := make(chan error, 1)
	go func() { ran <- g.Run(background) }()
	ln, err := threadlet.Listen(g.Loop(0), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	const most = 100 // connections
	works, ended := make(chan *threadlet.Chan[int], most), make(chan error, most)
	var served [loops]atomic.Int32
	_, err = threadlet.Go(g.Loop(0), func() {
		_ = threadlet.ServeGroup(g, ln, func(c *threadlet.Conn) {
			threadlet.Draining()
			if _, err := c.Read(make([]byte, 1)); err != nil {
				t.Error(err)
			}
			for i := range served {
				if c.Loop() == g.Loop(i) {
					served[i].Add(1)
				}
			}
			work := threadlet.NewChan[int](c.Loop(), 0)
			works <- work
			_, err := work.Receive()
			if err == nil {
				_, err = io.WriteString(c, "y")
			}
			ended <- err
		})
	})
	require.NoError(t, err)
	var conns []net.Conn
	var handlers []*threadlet.Chan[int]
	for served[0].Load() == 0 || served[1].Load() == 0 || served[2].Load() == 0 {
		require.Less(t, len(conns), most)
		conns = append(conns, dial(t, ln.Addr()))
		_, err := io.WriteString(conns[len(conns)-1], "x")
		require.NoError(t, err)
		handlers = append(handlers, <-works)
	}
	done := make(chan error, 1)
	go func() { done <- g.Shutdown(background) }()
	for i := range loops { // each loop has a connection, and still takes tasks
		for begun := false; !begun; {
			require.NoError(t, do(t, g.Loop(i), func() { begun = threadlet.Draining() }))
		}
		require.NoError(t, do(t, g.Loop(i), func() {
			for _, work := range handlers {
				work.TrySend(1) // does nothing on another loop
			}
		}))
	}
	for _, c := range conns {
		require.NoError(t, <-ended)
		p := make([]byte, 1)
		_, err := io.ReadFull(c, p)
		require.NoError(t, err)
		require.Equal(t, "y", string(p))
	}
	require.NoError(t, <-done)
	<-g.Done()
	require.NoError(t, <-ran)
}

// Of several threadlets that read requests from one connection, each gets what has arrived when the loop is shut down. But
// none takes the rest of a request that another is reading, nor waits for it.
func TestDrainOfSeveralReaders(t *testing.T) {
	for _, c := range []struct {
		name                   string
		began, arrived, follow string // what the peer has sent before, has sent by the end, and sends once three have ended
		drained                int    // how many end with ErrDraining
	}{
		{"requests have arrived", "", "xy", "", 1},
		{"the rest arrives later", "x", "", "yz", 3},
		{"the rest has arrived", "x", "yz", "", 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, err := eventloop.New(eventloop.WithMetrics(true))
			require.NoError(t, err)
			ran, ended := make(chan struct{}), make(chan error, 1)
			go func() { _ = l.Run(background); close(ran) }()
			conn, far := quickPair(t, l)
			defer far.Close()
			read, drained := 0, 0
			reader := func(size, after int) func() {
				return func() {
					for range after {
						_ = threadlet.Yield()
					}
					threadlet.Draining()
					n, err := io.ReadFull(conn, make([]byte, size))
					if read += n; errors.Is(err, threadlet.ErrDraining) {
						drained++
					} else if err != nil {
						t.Error(err)
					}
				}
			}
			require.NoError(t, do(t, l, func() {
				if c.began != "" {
					_, _ = threadlet.Go(l, reader(3, 0))
					_, _ = io.WriteString(far, c.began)
				}
				for i := range 3 {
					_, _ = threadlet.Go(l, reader(1, 3-i)) // the youngest waits first
				}
				for range 5 {
					_ = threadlet.Yield()
				}
			}))
			require.NoError(t, l.Submit(func() { // it hears of the end and of what has arrived at once
				go func() { ended <- l.Shutdown(background) }()
				beat.Until(func() bool { return l.Metrics().Internal.Current > 0 })
				_, _ = io.WriteString(far, c.arrived)
			}))
			if c.follow != "" {
				beat.Eventually(t, func() bool {
					answer := make(chan int)
					return l.Submit(func() { answer <- drained }) == nil && <-answer == c.drained
				}, "those without a request to end")
				_, err := io.WriteString(far, c.follow)
				require.NoError(t, err)
			}
			require.NoError(t, <-ended)
			<-ran
			require.Equal(t, c.drained, drained)
			require.Len(t, c.began+c.arrived+c.follow, read)
		})
	}
}

// Threadlets that drain run, with all that they need workers for, also where these are few and nothing else may begin.
func TestDrainWhileWorkIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := eventloop.New(eventloop.WithWorkerLimit(1))
		require.NoError(t, err)
		go l.Run(background)
		served := 0
		for range 3 {
			_, err := threadlet.Go(l, func() {
				threadlet.Draining()
				for range 2 {
					if threadlet.Do(background, func(context.Context) error { time.Sleep(time.Second); return nil }) == nil {
						served++
					}
				}
			})
			require.NoError(t, err)
		}
		synctest.Wait() // until one of them has the worker
		refused := l.Promisify(background, func(context.Context) (any, error) { t.Error("called"); return nil, nil }).ToChannel()
		l.RefuseWork()
		require.NoError(t, l.Shutdown(background))
		require.Equal(t, 6, served)
		require.ErrorIs(t, (<-refused).Err, eventloop.ErrLoopTerminated)
	})
}
