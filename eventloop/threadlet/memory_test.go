//go:build (darwin || dragonfly || freebsd || linux || netbsd || openbsd) && !race

package threadlet_test

// Tests of the memory that threadlets take.

import (
	"io"
	"net"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop/threadlet"
)

// stacks returns the memory that stacks take when unused ones are given back.
func stacks() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.StackInuse
}

// A threadlet that is blocked in Read, after a request or before the first, keeps a stack of the size of a blocked
// goroutine's.
func TestStackOfTheBlocked(t *testing.T) {
	const n = 500
	end := make(chan struct{})
	before := stacks()
	for range n {
		go func() { <-end }()
	}
	goroutines := max(stacks()-before, n*2048) // some may have stacks that others have left
	close(end)

	for _, asks := range []bool{false, true} {
		l := start(t)
		served := 0
		to := listen(t, l, local, func(c *threadlet.Conn) {
			served++
			echoOver(c)
		})
		before = stacks()
		for range n {
			c := dial(t, to)
			if asks {
				_, err := c.Write([]byte("x"))
				require.NoError(t, err)
				_, err = io.ReadFull(c, make([]byte, 1))
				require.NoError(t, err)
			}
		}
		for count := 0; count < n; {
			require.NoError(t, do(t, l, func() { count = served }))
		}
		if threadlets := stacks() - before; threadlets > goroutines*5/4 {
			t.Errorf("%d threadlets that have been asked (%v) keep %d bytes of stacks, %[1]d goroutines %[4]d", n, asks, threadlets, goroutines)
		}
	}
}

func echoOver(c net.Conn) {
	p := make([]byte, 64)
	for {
		n, err := c.Read(p)
		if err == nil {
			_, err = c.Write(p[:n])
		}
		if err != nil {
			return
		}
	}
}
