//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package threadlet_test

// What a listener does when no descriptors are left.

import (
	"net"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/turnloop/turnloop/eventloop/threadlet"
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
	waiting(t, l, "accept")
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
