//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package threadlet_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/threadlet"
)

// descriptors counts those of the process.
func descriptors(t *testing.T) int {
	t.Helper()
	n := 0
	for fd := range 4096 {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil {
			n++
		}
	}
	return n
}

// unchanged fails the test if descriptors or goroutines are left when everything else of it has been cleaned up.
func unchanged(t *testing.T) {
	_ = descriptors(t)
	goroutines, fds := runtime.NumGoroutine(), descriptors(t)
	t.Cleanup(func() {
		settled(t, goroutines+2) // of the runtime's and of package testing's own
		deadline := time.Now().Add(10 * time.Second)
		for descriptors(t) > fds+2 { // those of the runtime's poller may be new
			if time.Now().After(deadline) {
				t.Fatalf("%d descriptors, there were %d", descriptors(t), fds)
			}
			runtime.Gosched()
		}
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

// pair returns a connection of a loop, and its peer.
func pair(t *testing.T, l *eventloop.Loop) (*threadlet.Conn, *net.TCPConn) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer ln.Close()
	near, err := net.Dial("tcp", ln.Addr().String())
	require.NoError(t, err)
	far, err := ln.Accept()
	require.NoError(t, err)
	t.Cleanup(func() { _ = far.Close() })
	c, err := threadlet.Wrap(l, near)
	require.NoError(t, err)
	require.Equal(t, far.RemoteAddr().String(), c.LocalAddr().String())
	require.Equal(t, far.LocalAddr().String(), c.RemoteAddr().String())
	return c, far.(*net.TCPConn)
}

// unixPair is pair without ports, of which a machine has only so many a minute.
func unixPair(t *testing.T, l *eventloop.Loop) (*threadlet.Conn, *net.UnixConn) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	require.NoError(t, err)
	var conns [2]net.Conn
	for i, fd := range fds {
		file := os.NewFile(uintptr(fd), "")
		conns[i], err = net.FileConn(file)
		require.NoError(t, err)
		require.NoError(t, file.Close())
	}
	c, err := threadlet.Wrap(l, conns[0])
	require.NoError(t, err)
	return c, conns[1].(*net.UnixConn)
}

// Many connections, of which each gets back what it sends, in pieces of any size, while others come and go.
func TestEcho(t *testing.T) {
	for _, network := range []string{"tcp", "unix"} {
		t.Run(network, func(t *testing.T) {
			unchanged(t)
			l := start(t)
			to := listen(t, l, network, echo)
			var group sync.WaitGroup
			for i := range 40 {
				group.Go(func() {
					rng := rand.New(rand.NewPCG(uint64(i), 0))
					c, err := net.Dial(to.Network(), to.String())
					if err != nil {
						t.Error(err)
						return
					}
					defer c.Close()
					sent := make([]byte, rng.IntN(300_000))
					for j := range sent {
						sent[j] = byte(rng.Uint32())
					}
					go func() {
						for rest := sent; len(rest) > 0; {
							n := min(len(rest), 1+rng.IntN(20_000))
							if _, err := c.Write(rest[:n]); err != nil {
								t.Error(err)
								return
							}
							rest = rest[n:]
						}
						_ = c.(interface{ CloseWrite() error }).CloseWrite()
					}()
					got, err := io.ReadAll(c)
					if err != nil || !bytes.Equal(got, sent) {
						t.Errorf("sent %d bytes, got %d: %v", len(sent), len(got), err)
					}
				})
			}
			group.Wait()
		})
	}
}

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
		// Signaled while it connects: whatever comes of that is closed.
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
		_ = c.SetDeadline(time.Time{})
		_ = c.SetWriteDeadline(time.Now().Add(soon))
		n, total := 0, 0
		for err = nil; err == nil; total += n {
			n, err = c.Write(buf)
		}
		expired("a write", err)
		if total == 0 || n == len(buf) {
			t.Errorf("%d bytes written, %d of them by the last write", total, n)
		}
	}))
	// While somebody waits, from elsewhere: later, never, and now.
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
	require.NoError(t, c.Close())
	require.ErrorIs(t, c.SetDeadline(time.Now()), net.ErrClosed)
}

// waiting waits until a threadlet of the loop waits for this.
func waiting(t *testing.T, l *eventloop.Loop, reason string) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; {
		for _, i := range threadlet.Threadlets(l) {
			if i.Reason == reason {
				return
			}
		}
		if time.Now().After(deadline) {
			t.Fatalf("nobody waits for %s: %v", reason, threadlet.Threadlets(l))
		}
	}
}

// Close and Signal, from elsewhere and from the loop, end each wait for a descriptor; and what comes after a Close is
// refused.
func TestInterruptions(t *testing.T) {
	ops := map[string]func(c *threadlet.Conn, ln net.Listener) error{
		"read": func(c *threadlet.Conn, _ net.Listener) error { _, err := c.Read(make([]byte, 1)); return err },
		"write": func(c *threadlet.Conn, _ net.Listener) error {
			_, err := c.Write(make([]byte, 64<<20))
			return err
		},
		"accept": func(_ *threadlet.Conn, ln net.Listener) error { _, err := ln.Accept(); return err },
		"raw": func(c *threadlet.Conn, _ net.Listener) error {
			raw, err := c.SyscallConn()
			if err == nil {
				err = raw.Read(func(uintptr) bool { return false })
			}
			return err
		},
	}
	for name, op := range ops {
		for how, want := range map[string]error{"Close": net.ErrClosed, "Conn.Signal": threadlet.ErrSignaled,
			"Threadlet.Signal": threadlet.ErrSignaled, "Shutdown": eventloop.ErrLoopTerminated, "Loop.Close": eventloop.ErrLoopTerminated} {
			if name == "accept" && how == "Conn.Signal" {
				continue
			}
			for _, onLoop := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/loop=%t", name, how, onLoop), func(t *testing.T) {
					unchanged(t)
					l := start(t)
					c, _ := pair(t, l)
					ln, err := threadlet.Listen(l, "tcp", "127.0.0.1:0")
					require.NoError(t, err)
					var result error
					th, err := threadlet.Go(l, func() { result = op(c, ln) })
					require.NoError(t, err)
					reason := name
					if name == "raw" {
						reason = "read"
					}
					waiting(t, l, reason)
					act := func() {
						switch how {
						case "Close":
							_, _ = c.Close(), ln.Close()
						case "Conn.Signal":
							c.Signal()
						case "Threadlet.Signal":
							th.Signal()
						case "Shutdown":
							_ = l.Shutdown(background)
						default:
							_ = l.Close()
						}
					}
					if onLoop {
						require.NoError(t, l.Submit(act))
					} else {
						act()
					}
					require.NoError(t, th.Join(background))
					if name == "accept" && how == "Shutdown" && !onLoop {
						require.ErrorIs(t, result, net.ErrClosed) // listeners go first
					} else {
						require.ErrorIs(t, result, want)
					}
					if how == "Close" {
						require.ErrorIs(t, c.Close(), net.ErrClosed)
						require.NoError(t, do(t, l, func() { result = op(c, ln) }))
						require.ErrorIs(t, result, net.ErrClosed)
					}
				})
			}
		}
	}
}

// Who is no threadlet of the loop is refused, and disturbs nobody.
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
			if _, err := unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TYPE); err != nil {
				t.Error(err)
			}
		}); err != nil {
			t.Error(err)
		}
		if err := threadlet.Serve(ln, nil); err != eventloop.ErrNilCallback {
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

// What is ready and nobody waits for, data or the end of the peer, lets the loop sleep.
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

// A connection that is idle has no coroutine. What is read, the deadline and a signal give it one; its last handler closes
// it.
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
	settled(t, before+threadlet.MostIdle) // coroutines that are kept for others
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
}

// Data, deadline, signal, the peer's close and Close come at the same time, again and again: each read returns once, with
// one of them, and nothing is left that disturbs the next.
func TestAllAtOnce(t *testing.T) {
	rounds := scale(300, 2000, 1_000_000)
	unchanged(t)
	l := start(t)
	reads := map[string]int{}
	for i := range rounds {
		c, far := unixPair(t, l)
		rng := rand.New(rand.NewPCG(uint64(i), 1))
		var returned int
		reader, err := threadlet.Go(l, func() {
			for {
				_, err := c.Read(make([]byte, 1))
				returned++
				switch {
				case err == nil:
					reads["data"]++
					continue
				case errors.Is(err, threadlet.ErrSignaled):
					reads["signal"]++
					continue
				case errors.Is(err, os.ErrDeadlineExceeded):
					reads["deadline"]++
				case errors.Is(err, io.EOF), errors.Is(err, unix.ECONNRESET):
					reads["peer"]++
				case errors.Is(err, net.ErrClosed):
					reads["close"]++
				default:
					t.Errorf("a read has returned %v", err)
				}
				_ = c.Close()
				return
			}
		})
		require.NoError(t, err)
		acts := []func(){
			func() { _, _ = far.Write([]byte("x")) },
			func() { _ = c.SetReadDeadline(time.Now().Add(time.Duration(rng.IntN(50)) * time.Microsecond)) },
			reader.Signal,
			c.Signal,
			func() { _ = far.CloseWrite() },
			func() { _ = c.Close() },
		}
		rng.Shuffle(len(acts), func(i, j int) { acts[i], acts[j] = acts[j], acts[i] })
		var group sync.WaitGroup
		for j, act := range acts[:2+rng.IntN(len(acts)-1)] {
			if j%2 == 0 {
				group.Go(act)
			} else {
				act()
			}
		}
		group.Wait()
		_ = far.Close() // which ends every reader
		require.NoError(t, reader.Join(background))
		if returned > len(acts) {
			t.Fatalf("%d reads have returned", returned)
		}
	}
	t.Log(reads)
	require.Len(t, reads, 5)
}
