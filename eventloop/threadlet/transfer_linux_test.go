//go:build (amd64 || arm64) && !race

package threadlet_test

// Reads and writes that do not tell the scheduler.

import (
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/turnloop/turnloop/eventloop/threadlet"
	"github.com/turnloop/turnloop/internal/beat"
)

// Whoever shares a socket can make it a blocking one. A read without data, or a write without room, still does
// not block the loop.
func TestSharedSocketMadeBlocking(t *testing.T) {
	l := start(t)
	for what, op := range map[string]func(c *threadlet.Conn, p []byte) (int, error){
		"Read": (*threadlet.Conn).Read,
		"Write": func(c *threadlet.Conn, p []byte) (n int, err error) {
			for err == nil {
				n, err = c.Write(p)
			}
			return n, err
		},
	} {
		t.Run(what, func(t *testing.T) {
			c, far := quickPair(t, l)
			begun, ended := make(chan struct{}), make(chan error, 1)
			_, err := threadlet.Go(l, func() {
				raw, err := c.SyscallConn()
				if err == nil {
					err = raw.Control(func(fd uintptr) { _ = unix.SetNonblock(int(fd), false) })
				}
				close(begun)
				if err == nil {
					_, err = op(c, make([]byte, 4096))
				}
				ended <- err
			})
			require.NoError(t, err)
			<-begun
			ran := make(chan struct{})
			require.NoError(t, l.Submit(func() { close(ran) })) // when the operation lets it
			beat.Receive(t, ran, "a task beside an operation that must not block the loop")
			_ = far.Close()
			require.Error(t, <-ended) // of the peer's end
		})
	}
}
