//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package threadlet_test

// What a listener does when no descriptors are left, or accepting fails otherwise; and what it sets.

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/threadlet"
	"github.com/turnloop/turnloop/internal/beat"
)

// TestNoDescriptors runs itself in a process of its own, with a limit that leaves only a few descriptors: the listener
// survives, does not spin, and goes on when there are some.
func TestNoDescriptors(t *testing.T) {
	if !alone(t) {
		return
	}
	l := start(t)
	to := listen(t, l, "tcp", echo)
	require.NoError(t, do(t, l, func() {})) // has a poller
	first := dial(t, to)
	say := func(c net.Conn) error {
		p := make([]byte, 1)
		if _, err := c.Write([]byte("x")); err != nil {
			return err
		}
		_, err := c.Read(p)
		return err
	}
	require.NoError(t, say(first))
	clients := make([]net.Conn, 8)
	raw, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0) // connects while there are descriptors, is accepted when there are none
	require.NoError(t, err)
	used := useUp(t)
	port := to.(*net.TCPAddr).Port
	require.NoError(t, unix.Connect(raw, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}, Port: port}))
	waiting(t, l, "a pause of accept")
	rests(t, func() { require.NoError(t, say(first)) }) // the loop serves the connections that it has
	for _, fd := range used {
		_ = unix.Close(fd)
	}
	for i := range clients {
		clients[i] = dial(t, to)
		require.NoError(t, say(clients[i]))
	}
	_ = unix.Close(raw)
}

// TestNoDescriptorsToWatch is TestNoDescriptors for a loop that has no descriptors to watch with: its listener begins to wait when one is
// left, which is enough to ask for a connection and too little to wait for it, and serves when there are some.
func TestNoDescriptorsToWatch(t *testing.T) {
	if !alone(t) {
		return
	}
	l := start(t)
	ln, err := threadlet.Listen(l, "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	used := useUp(t)
	_ = unix.Close(used[0])
	ended := make(chan error, 1)
	_, err = threadlet.Go(l, func() { ended <- threadlet.Serve(ln, echo) })
	require.NoError(t, err)
	rests(t, func() { require.Empty(t, ended) })
	for _, fd := range used[1:] {
		_ = unix.Close(fd)
	}
	c := dial(t, ln.Addr())
	_, err = c.Write([]byte("x"))
	require.NoError(t, err)
	_, err = c.Read(make([]byte, 1))
	require.NoError(t, err)
}

// rests fails the test if the process spins while calls of fn have pauses in between.
func rests(t *testing.T, fn func()) {
	before := processorTime(t)
	for range 30 {
		fn()
		time.Sleep(10 * time.Millisecond)
	}
	if spent := processorTime(t) - before; spent > 200e6 {
		t.Errorf("%d ns of processor time in 300 ms: it spins", spent)
	}
}

// alone tells whether the test has a process of its own. If not, it runs the test in one.
func alone(t *testing.T) bool {
	const child = "TURNLOOP_TEST_ALONE"
	if os.Getenv(child) != "" {
		return true
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.count=1", "-test.v")
	cmd.Env = append(os.Environ(), child+"=1")
	out, err := cmd.CombinedOutput()
	require.NoErrorf(t, err, "%s", out)
	require.Contains(t, string(out), "--- PASS")
	return false
}

// useUp limits the descriptors of the process, and takes all that are left.
func useUp(t *testing.T) (used []int) {
	const limit = 64
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: limit, Max: limit}))
	for fd, err := unix.Dup(0); err == nil; fd, err = unix.Dup(0) {
		used = append(used, fd)
	}
	require.NotEmpty(t, used)
	return used
}

// Who asks what keeps a loop alive, in debug mode, hears why accepting pauses, and no more of it when a connection has come.
func TestActiveTellsOfFailedAccepts(t *testing.T) {
	l := start(t, eventloop.WithDebug(true), eventloop.WithLogger(slog.New(slog.DiscardHandler)))
	ln, err := threadlet.Listen(l, "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var heals atomic.Bool
	threadlet.FailAccepts(ln, func() error {
		if heals.Load() {
			return nil
		}
		return unix.EMFILE
	})
	serving(t, l, func() error { return threadlet.Serve(ln, echo) })
	client := dial(t, ln.Addr())
	says := func(text string) func() bool {
		return func() bool {
			return slices.ContainsFunc(l.Active(), func(a eventloop.Activity) bool { return strings.HasPrefix(a.Detail, text) })
		}
	}
	beat.Eventually(t, says("waits for a pause of accept: too many open files"), "the error")
	heals.Store(true)
	answers(t, client)
	beat.Eventually(t, says("waits for accept from "), "another wait")
}

// Whatever accepting fails with, the server either goes on, and says so once, or its listener is closed, and the error is
// returned and logged. Clients that are there meanwhile are served in the end, or refused.
func TestFailedAccepts(t *testing.T) {
	for _, c := range []struct {
		err  unix.Errno
		ends bool
	}{
		{unix.EPROTO, false}, {unix.EHOSTUNREACH, false}, {unix.EPERM, false}, {unix.ENOBUFS, false}, {unix.EMFILE, false},
		{unix.ENFILE, false}, {unix.ENETDOWN, false}, {unix.ENOPROTOOPT, false}, {unix.EOPNOTSUPP, false}, {unix.ENETUNREACH, false},
		{unix.ENOMEM, false}, {unix.ENOSPC, false}, {unix.EHOSTDOWN, false}, {unix.ETIMEDOUT, false}, {unix.ECONNRESET, false},
		{unix.EBADF, true}, {unix.EINVAL, true}, {unix.EFAULT, true}, {unix.ENOTSOCK, true}, {unix.EIO, true}, {unix.EACCES, true},
	} {
		for _, grouped := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/grouped=%v", unix.ErrnoName(c.err), grouped), func(t *testing.T) {
				const fails = 3
				var log lockedBuffer
				g := group(t, 2, eventloop.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
				l := g.Loop(0)
				ln, err := threadlet.Listen(l, "tcp", "127.0.0.1:0")
				require.NoError(t, err)
				var left, told atomic.Int32
				threadlet.FailAccepts(ln, func() error {
					if left.Add(-1) >= 0 {
						return c.err
					}
					return nil
				})
				var opts []threadlet.ServeOption
				if !grouped {
					opts = append(opts, threadlet.OnPause(func(err error) {
						told.Add(1)
						if !errors.Is(err, c.err) {
							t.Error(err)
						}
					}))
				}
				ended := serving(t, l, func() error {
					if grouped {
						return threadlet.ServeGroup(g, ln, echo, opts...)
					}
					return threadlet.Serve(ln, echo, opts...)
				})
				answers(t, dial(t, ln.Addr()))
				left.Store(fails)
				if c.ends {
					if conn, err := net.Dial("tcp", ln.Addr().String()); err == nil { // wakes an acceptor
						_ = conn.Close()
					}
					require.ErrorIs(t, beat.Receive(t, ended, "the end of Serve"), c.err)
					beat.Eventually(t, func() bool {
						conn, err := net.Dial("tcp", ln.Addr().String())
						if err == nil {
							_ = conn.Close()
						}
						return err != nil
					}, "the listener to be closed")
					require.Contains(t, log.String(), "the listener is closed")
					return
				}
				for range 2 {
					answers(t, dial(t, ln.Addr()))
				}
				failed, accepted := uint64(0), uint64(0)
				for i := range g.Len() {
					for _, info := range threadlet.Listeners(g.Loop(i)) {
						failed, accepted = failed+info.Failed, accepted+info.Accepted
						require.LessOrEqual(t, info.Failed, info.Paused)
					}
				}
				require.EqualValues(t, fails, failed)
				require.EqualValues(t, 3, accepted)
				if grouped {
					n := strings.Count(log.String(), "tried again")
					require.True(t, n == 1 || n == 2, log.String()) // once for each loop that has met it
				} else {
					require.EqualValues(t, 1, told.Load())
					require.Empty(t, log.String())
				}
			})
		}
	}
}

// A connection is probed as one of package net is, or as one has asked for.
func TestKeepAlive(t *testing.T) {
	l := start(t)
	options := func(c syscall.Conn) (got [3]int) {
		raw, err := c.SyscallConn()
		require.NoError(t, err)
		require.NoError(t, raw.Control(func(fd uintptr) {
			got[0], _ = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_KEEPALIVE)
			got[1], _ = unix.GetsockoptInt(int(fd), unix.IPPROTO_TCP, probes[0])
			got[2], _ = unix.GetsockoptInt(int(fd), unix.IPPROTO_TCP, probes[1])
		}))
		return got
	}
	for name, lc := range map[string]net.ListenConfig{
		"by default":     {},
		"a minute":       {KeepAlive: time.Minute},
		"as configured":  {KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 7 * time.Second, Interval: 3 * time.Second, Count: 2}},
		"not kept alive": {KeepAlive: -1},
	} {
		for _, network := range []string{"tcp4", "tcp"} {
			plain, err := lc.Listen(background, network, "127.0.0.1:0")
			require.NoError(t, err)
			dial(t, plain.Addr())
			accepted, err := plain.Accept()
			require.NoError(t, err)
			want := options(accepted.(*net.TCPConn))
			_, _ = accepted.Close(), plain.Close()

			ln, err := threadlet.ListenConfig(background, l, lc, network, "127.0.0.1:0")
			require.NoError(t, err)
			dial(t, ln.Addr())
			require.NoError(t, do(t, l, func() {
				c, err := ln.Accept()
				require.NoError(t, err)
				if got := options(c.(*threadlet.Conn)); got != want {
					t.Errorf("%s, %s: %v, want %v", name, network, got, want)
				}
			}))
		}
	}
}

// A listener is passed on by its file, as socket activation and restarts do it, and both serve.
func TestWrapListener(t *testing.T) {
	for _, network := range []string{"tcp", "unix"} {
		l, heir := start(t), start(t)
		address := "127.0.0.1:0"
		if network == "unix" {
			address = filepath.Join(t.TempDir(), "s")
		}
		ln, err := threadlet.Listen(l, network, address)
		require.NoError(t, err)
		file, err := ln.(interface{ File() (*os.File, error) }).File()
		require.NoError(t, err)
		given, err := net.FileListener(file)
		require.NoError(t, err)
		require.NoError(t, file.Close())
		next, err := threadlet.WrapListener(heir, given)
		require.NoError(t, err)
		raw, err := next.(syscall.Conn).SyscallConn()
		require.NoError(t, err)
		require.NoError(t, do(t, heir, func() {
			require.NoError(t, raw.Control(func(fd uintptr) { require.NoError(t, isSocket(fd)) }))
		}))
		serving(t, heir, func() error { return threadlet.Serve(next, echo) })
		answers(t, dial(t, ln.Addr()))
		if network == "tcp" {
			require.NoError(t, ln.Close())
			_, err = ln.(interface{ File() (*os.File, error) }).File()
			require.ErrorIs(t, err, net.ErrClosed)
			answers(t, dial(t, next.Addr()))
		} else {
			require.NoError(t, next.Close())
			require.FileExists(t, address) // it is the other's
		}
	}
}
