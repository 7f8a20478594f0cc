//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package eventloop_test

// The server of the example when there are no descriptors, and for a client that does not read.

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/turnloop/turnloop/eventloop"
)

func echoServer(t *testing.T) (address string) {
	t.Helper()
	l, err := eventloop.New()
	require.NoError(t, err)
	s, address, err := listen(l)
	require.NoError(t, err)
	ended := make(chan struct{})
	go func() { _ = l.Run(t.Context()); close(ended) }()
	t.Cleanup(func() {
		_ = l.Submit(s.close)
		<-ended
	})
	return address
}

// Without descriptors the server neither spins nor closes what is not its own, serves who is there, and accepts when there are some again.
func TestEchoWithoutDescriptors(t *testing.T) {
	const child = "TURNLOOP_TEST_ECHO"
	if os.Getenv(child) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestEchoWithoutDescriptors$", "-test.count=1", "-test.v")
		cmd.Env = append(os.Environ(), child+"=1")
		out, err := cmd.CombinedOutput()
		require.NoErrorf(t, err, "%s", out)
		require.Contains(t, string(out), "--- PASS")
		return
	}
	address := echoServer(t)
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
	before := usedTime(t)
	for began := time.Now(); time.Since(began) < 4*acceptAgain; time.Sleep(10 * time.Millisecond) {
		say()
	}
	require.Less(t, usedTime(t)-before, 3*acceptAgain, "of processor time in four: it spins")
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

func usedTime(t *testing.T) time.Duration {
	var u unix.Rusage
	require.NoError(t, unix.Getrusage(unix.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// A client that sends and does not read gets everything when it does: what the system did not take is sent later.
func TestEchoToASlowReader(t *testing.T) {
	address := echoServer(t)
	c, err := net.Dial("tcp", address)
	require.NoError(t, err)
	defer c.Close()
	sent := bytes.Repeat([]byte("0123456789abcde\n"), 1<<18) // more than sockets hold
	go func() {
		_, _ = c.Write(sent)
		_ = c.(*net.TCPConn).CloseWrite()
	}()
	time.Sleep(50 * time.Millisecond)
	got, err := io.ReadAll(c)
	require.NoError(t, err)
	require.True(t, bytes.Equal(sent, got), "%d bytes of %d", len(got), len(sent))
}
