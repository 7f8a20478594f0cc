//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows

package threadlet_test

// Tests of several threadlets that use one side of a connection.

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/threadlet"
)

// shared is a connection to which several threadlets write, and what the test knows of it. The loop alone touches it.
type shared struct {
	t     *testing.T
	l     *eventloop.Loop
	c     *threadlet.Conn
	rng   *rand.Rand
	calls [][]byte // what was written by each call that has begun, in their order; all of it until the call returns
	cut   int      // writes that were ended in the middle
	kept  int      // writes that were ended before their turn
	over  bool
}

// write calls Write or TryWrite with a line, and shortens the record to what the system has taken. It tells whether the
// connection may still be used.
func (s *shared) write(how func([]byte) (int, error), wants ...error) bool {
	call := len(s.calls)
	line := fmt.Appendf(nil, "%d %s\n", call, bytes.Repeat([]byte{byte('a' + call%26)}, s.rng.IntN(1+s.rng.IntN(9000))))
	s.calls = append(s.calls, line)
	n, err := how(line)
	s.calls[call] = line[:n]
	switch {
	case err != nil && n > 0:
		s.cut++
	case err != nil:
		s.kept++
	}
	for _, want := range wants {
		if err == nil || errors.Is(err, want) {
			return !s.over
		}
	}
	s.over = s.over || errors.Is(err, net.ErrClosed) || errors.Is(err, eventloop.ErrLoopTerminated)
	if !s.over {
		s.t.Errorf("a write has returned %v", err)
	}
	return false
}

// writer writes lines until the end, and lets others go on, or changes what may end their waits.
func (s *shared) writer() {
	for range 30 {
		if !s.write(s.c.Write, threadlet.ErrSignaled, os.ErrDeadlineExceeded) {
			return
		}
		switch s.rng.IntN(8) {
		case 0:
			_ = threadlet.Yield()
		case 1:
			_ = threadlet.Sleep(time.Duration(s.rng.IntN(100)) * time.Microsecond)
		case 2:
			_ = s.c.SetWriteDeadline(time.Now().Add(time.Duration(s.rng.IntN(100)-20) * time.Microsecond))
		case 3, 4:
			_ = s.c.SetWriteDeadline(time.Time{})
		case 5:
			_ = s.l.Submit(func() { s.write(s.c.TryWrite, net.ErrClosed) })
		}
	}
}

// Whatever ends their waits: writes neither tear one another apart nor overtake. The peer gets what each has written, by
// its own count, in the order of the calls.
func TestWritersTakeTurns(t *testing.T) {
	unchanged(t)
	cut, kept := 0, 0
	first := rand.Uint64()
	for seed := range scale(20, 100, 5000) {
		l, err := eventloop.New()
		require.NoError(t, err)
		c, far := tightPair(t, l)
		ran := make(chan struct{})
		go func() { _ = l.Run(background); close(ran) }()
		s := &shared{t: t, l: l, c: c, rng: rand.New(rand.NewPCG(first, uint64(seed)))}
		rng := rand.New(rand.NewPCG(uint64(seed), first))
		var writers []*threadlet.Threadlet
		for range 2 + rng.IntN(6) {
			th, err := threadlet.Go(l, s.writer)
			require.NoError(t, err)
			writers = append(writers, th)
		}
		// Interrupts them, and ends it all in one of three ways, maybe in the middle.
		patient := rng.IntN(2) == 0
		go func() {
			for range rng.IntN(100) {
				switch rng.IntN(4) {
				case 0:
					c.Signal()
				case 1:
					writers[rng.IntN(len(writers))].Signal()
				case 2:
					_ = c.SetWriteDeadline(time.Now().Add(time.Duration(rng.IntN(50)) * time.Microsecond))
				default:
					time.Sleep(time.Duration(rng.IntN(50)) * time.Microsecond)
				}
				if rng.IntN(3) == 0 {
					_ = c.SetWriteDeadline(time.Time{})
				}
			}
			_ = c.SetWriteDeadline(time.Time{})
			if patient {
				for _, th := range writers {
					_ = th.Join(background)
				}
			}
			switch rng.IntN(3) {
			case 0:
				_ = l.Close()
			case 1:
				_ = l.Shutdown(background)
			default:
				_ = c.Close()
				_ = l.Shutdown(background)
			}
		}()
		var got []byte
		sizes := rand.New(rand.NewPCG(first, first+uint64(seed)))
		for p := make([]byte, 4096); err == nil; {
			var n int
			n, err = far.Read(p[:1+sizes.IntN(len(p))])
			got = append(got, p[:n]...)
		}
		if err != io.EOF {
			_ = l.Close()
		}
		<-ran
		<-l.Done() // Run returns before that if Shutdown comes first
		want := bytes.Join(s.calls, nil)
		if at := differ(got, want); at >= 0 || err != io.EOF || t.Failed() {
			t.Fatalf("seed %d, %d: %v; at %d of %d and %d bytes the peer got %.40q instead of %.40q", first, seed, err, at, len(got), len(want),
				got[max(at, 0):], want[max(at, 0):])
		}
		cut, kept = cut+s.cut, kept+s.kept
		_ = far.Close()
	}
	t.Logf("%d writes were ended in the middle, %d before their turn", cut, kept)
	require.NotZero(t, cut)
	require.NotZero(t, kept)
}

// differ returns where two texts begin to differ, or -1.
func differ(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	if len(a) == len(b) {
		return -1
	}
	return min(len(a), len(b))
}

// What Write of a syscall.RawConn calls has its turn, too, even while it waits for something else; it may use the connection.
func TestRawTurn(t *testing.T) {
	l := start(t)
	c, far := quickPair(t, l)
	defer far.Close()
	require.NoError(t, do(t, l, func() {
		raw, err := c.SyscallConn()
		if err != nil {
			t.Error(err)
			return
		}
		text := make([]byte, 0, 8)
		var other *threadlet.Threadlet
		if err := raw.Write(func(uintptr) bool {
			if other != nil {
				return true
			}
			other, _ = threadlet.Go(l, func() {
				_, err := c.Write([]byte("b"))
				if text = append(text, 'b'); err != nil {
					t.Error(err)
				}
			})
			for range 10 {
				_ = threadlet.Yield()
			}
			if n, err := c.TryWrite([]byte("x")); n != 0 || err != nil {
				t.Error(n, err)
			}
			_, err := c.Write([]byte("a"))
			if text = append(text, 'a'); err != nil {
				t.Error(err)
			}
			return false
		}); err != nil {
			t.Error(err)
		}
		if err := other.Join(background); err != nil || string(text) != "ab" {
			t.Errorf("%v, %q", err, text)
		}
		for range 2 { // both have passed the turn on
			if err := raw.Write(func(uintptr) bool { return true }); err != nil {
				t.Error(err)
			}
			if n, err := c.TryWrite([]byte("c")); n != 1 || err != nil {
				t.Error(n, err)
			}
		}
	}))
	require.NoError(t, l.Close())
	got, err := io.ReadAll(far)
	require.NoError(t, err)
	require.Equal(t, "abcc", string(got))
}

// What a syscall.RawConn calls may close the connection, or let others go on, which do: it is not waited for any more.
func TestRawClosed(t *testing.T) {
	for _, debug := range []bool{false, true} {
		l := start(t, eventloop.WithDebug(debug))
		for _, use := range []func(syscall.RawConn, func(uintptr) bool) error{syscall.RawConn.Read, syscall.RawConn.Write} {
			c, far := quickPair(t, l)
			defer far.Close()
			raw, err := c.SyscallConn()
			require.NoError(t, err)
			require.NoError(t, do(t, l, func() {
				err = use(raw, func(uintptr) bool {
					closer, _ := threadlet.Go(l, func() { _ = c.Close() })
					_ = closer.Join(background)
					return false
				})
			}))
			require.ErrorIs(t, err, net.ErrClosed)
		}
	}
}

// A threadlet that reads whatever comes, and lets others go on in between, does not take everything from one that has
// waited before it.
func TestReadersTakeTurns(t *testing.T) {
	l := start(t)
	c, far := quickPair(t, l)
	served := false
	_, err := threadlet.Go(l, func() {
		_, err := c.Read(make([]byte, 1))
		served = err == nil
		_, _ = far.Write([]byte("x")) // for the other, which may wait now
	})
	require.NoError(t, err)
	waiting(t, l, "read")
	require.NoError(t, do(t, l, func() {
		p := make([]byte, 1) // which is full afterwards: the socket may have more
		for range 1000 {
			if _, err := far.Write([]byte("x")); err != nil { // has room
				t.Error(err)
				return
			}
			if _, err := c.Read(p); err != nil {
				t.Error(err)
				return
			}
			if served {
				return
			}
			_ = threadlet.Yield()
		}
		t.Error("one threadlet has got everything")
	}))
}

// Reads and writes that do not wait let others go on now and then, and keep their turn meanwhile: what a threadlet has read
// is what comes before that which others read after it, also if it does not hear of it at once; and so are writes.
func TestTurnWhileOthersGoOn(t *testing.T) {
	const each, threadlets = 300, 3
	l := start(t)
	c, far := quickPair(t, l)
	var all []byte
	for i := range each * threadlets {
		all = append(all, byte(i))
	}
	_, err := far.Write(all)
	require.NoError(t, err)
	got, ended := make([]byte, len(all)), make(chan error, 1)
	go func() {
		_, err := io.ReadFull(far, got)
		ended <- err
	}()
	read, written := []byte{}, 0
	var users []*threadlet.Threadlet
	use := func(op func() error) {
		for range threadlets {
			th, err := threadlet.Go(l, func() {
				for range each {
					if err := op(); err != nil {
						t.Error(err)
						return
					}
				}
			})
			require.NoError(t, err)
			users = append(users, th)
		}
	}
	require.NoError(t, do(t, l, func() {
		use(func() error {
			p := make([]byte, 1)
			_, err := c.Read(p)
			read = append(read, p...)
			return err
		})
		begun := 0
		use(func() error {
			call := begun
			begun++
			_, err := c.Write(all[call : call+1])
			if written != call {
				t.Errorf("write %d has returned when %d writes had", call, written)
			}
			written++
			return err
		})
	}))
	for _, th := range users {
		require.NoError(t, th.Join(background))
	}
	require.Equal(t, all, read)
	require.NoError(t, <-ended)
	require.Equal(t, all, got)
}

// Many may wait for their turn, and stop waiting in whatever order: each leaves at once.
func TestManyLeaveInAnyOrder(t *testing.T) {
	const n = 20_000
	l := start(t)
	c, far := quickPair(t, l)
	defer far.Close()
	leave := func(reverse bool) (spent int64) {
		var waiters []*threadlet.Threadlet
		ended := 0
		require.NoError(t, do(t, l, func() {
			for range n {
				th, err := threadlet.Go(l, func() {
					if _, err := c.Read(make([]byte, 1)); errors.Is(err, threadlet.ErrSignaled) {
						ended++
					}
				})
				if err != nil {
					t.Error(err)
					return
				}
				waiters = append(waiters, th)
			}
			_ = threadlet.Sleep(time.Millisecond) // they wait
			if reverse {
				slices.Reverse(waiters)
			}
			began := processorTime(t)
			for _, th := range waiters {
				th.Signal()
			}
			spent = processorTime(t) - began
			for _, th := range waiters {
				_ = th.Join(background)
			}
		}))
		require.Equal(t, n, ended)
		return spent
	}
	costs(t, "to leave when the first is the last to leave", 10, func() int64 { return leave(false) }, func() int64 { return leave(true) })
}
