//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package eventloop_test

// The server of the example when there are no descriptors, and for a client that does not read.

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/turnloop/turnloop/eventloop"
)

func echoServer(t *testing.T) (s *lineServer, address string) {
	t.Helper()
	l, err := eventloop.New()
	require.NoError(t, err)
	s, address, err = listen(l)
	require.NoError(t, err)
	ended := make(chan struct{})
	go func() { _ = l.Run(t.Context()); close(ended) }()
	t.Cleanup(func() {
		_ = l.Submit(s.close)
		<-ended
	})
	return s, address
}

// Without descriptors the server neither spins nor closes what is not its own, serves who is there, and accepts when there are some again.
func TestEchoWithoutDescriptors(t *testing.T) {
	if !alone(t) {
		return
	}
	s, address := echoServer(t)
	first, err := net.Dial("tcp", address)
	require.NoError(t, err)
	in := bufio.NewReader(first)
	say := func() {
		_, err := io.WriteString(first, "hello\n")
		require.NoError(t, err)
		line, err := in.ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, "hello\n", line)
	}
	say()
	raw, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	require.NoError(t, err)
	const limit = 64
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: limit, Max: limit}))
	var used []int
	for fd, err := unix.Dup(0); err == nil; fd, err = unix.Dup(0) {
		used = append(used, fd)
	}
	require.NotEmpty(t, used)
	_, port, _ := strings.Cut(address, ":")
	at, _ := strconv.Atoi(port)
	require.NoError(t, unix.Connect(raw, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}, Port: at}))
	say()           // the listener is told of before it
	const each = 10 // ticks, at most, to send back a line, and to try to accept again
	began, before := time.Now(), s.loop.Metrics().Ticks
	for n := uint64(1); time.Since(began) < 4*acceptAgain; n++ {
		say()
		time.Sleep(10 * time.Millisecond)
		ticks := s.loop.Metrics().Ticks - before
		require.Less(t, ticks, each*(n+2+uint64(time.Since(began)/acceptAgain)), "it spins")
	}
	for _, fd := range used {
		require.NoError(t, unix.Close(fd), "it was closed by somebody else")
	}
	_, err = unix.Write(raw, []byte("late\n"))
	require.NoError(t, err)
	var line [5]byte
	n, err := unix.Read(raw, line[:])
	require.NoError(t, err)
	require.Equal(t, "late\n", string(line[:n]))
	say()
}

// A client that sends and does not read gets everything when it does: what the system did not take is sent later.
func TestEchoToASlowReader(t *testing.T) {
	s, address := echoServer(t)
	c, err := net.Dial("tcp", address)
	require.NoError(t, err)
	defer c.Close()
	require.NoError(t, c.(*net.TCPConn).SetReadBuffer(64<<10))
	sent := bytes.Repeat([]byte("0123456789abcde\n"), 1<<20) // more than sockets hold
	go func() {
		_, _ = c.Write(sent)
		_ = c.(*net.TCPConn).CloseWrite()
	}()
	eventually(t, func() (held bool) {
		require.NoError(t, onLoop(t, s.loop, func() error {
			for _, c := range s.conns {
				held = len(c.out) >= maxOut
			}
			return nil
		}))
		return held
	}, "the server does not hold back")
	got, err := io.ReadAll(c)
	require.NoError(t, err)
	require.True(t, bytes.Equal(sent, got), "%d bytes of %d", len(got), len(sent))
}
