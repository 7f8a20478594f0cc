//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows

package threadlet_test

// The ends of waits for a connection, one by one and all at once.

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/threadlet"
)

// Close and Signal, from another goroutine and from the loop, end each wait for a descriptor. After a Close waits are
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
		"turn": func(c *threadlet.Conn, _ net.Listener) error {
			_, _ = threadlet.Go(c.Loop(), func() {
				if raw, err := c.SyscallConn(); err == nil {
					_ = raw.Write(func(uintptr) bool { return threadlet.Sleep(time.Hour) != nil })
				}
			})
			_ = threadlet.Yield()
			n, err := c.Write([]byte("x"))
			if n != 0 {
				return fmt.Errorf("%d bytes were written in another's turn, %w", n, err)
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
					switch name {
					case "raw":
						reason = "read"
					case "turn":
						reason = "write"
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

// Data, deadline, signal, the peer's close and Close come at the same time, again and again: each read returns once, with
// one of them, and nothing is left over for the next.
func TestAllAtOnce(t *testing.T) {
	rounds := scale(300, 2000, 1_000_000)
	unchanged(t)
	l := start(t)
	reads := map[string]int{}
	seed := rand.Uint64()
	for i := range rounds {
		c, far := quickPair(t, l)
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
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
				case errors.Is(err, io.EOF), isReset(err):
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
	t.Logf("seed %d: %v", seed, reads)
	require.Len(t, reads, 5)
}
