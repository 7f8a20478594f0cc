//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows

package threadlet_test

// Tests of servers: listeners, groups, floods of clients.

import (
	"fmt"
	"net"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/threadlet"
)

// flood writes until the connection ends.
func flood(c net.Conn) {
	for p := make([]byte, 1<<20); ; {
		if _, err := c.Write(p); err != nil {
			return
		}
	}
}

// A peer that is so far ahead that its reader never waits does not keep the loop from its end.
func TestFloodAtTheEnd(t *testing.T) {
	ends := map[string]func(*eventloop.Loop){"Close": func(l *eventloop.Loop) { _ = l.Close() }}
	if scale(0, 0, 1) == 1 { // an ending loop gives ready threadlets many turns
		ends["Shutdown"] = func(l *eventloop.Loop) { _ = l.Shutdown(background) }
	}
	for how, end := range ends {
		t.Run(how, func(t *testing.T) {
			unchanged(t)
			l := start(t)
			c, far := pair(t, l)
			go flood(far)
			var last error
			reads := make(chan struct{})
			th, err := threadlet.Go(l, func() {
				p := make([]byte, 1)
				for n := 0; last == nil; n++ {
					if n == 1000 {
						close(reads)
					}
					_, last = c.Read(p)
				}
			})
			require.NoError(t, err)
			<-reads
			end(l)
			<-l.Done()
			require.NoError(t, th.Join(background))
			require.ErrorIs(t, last, eventloop.ErrLoopTerminated)
		})
	}
}

// Connections come and go, and leave nothing: no descriptor, no goroutine, no memory.
func TestComeAndGo(t *testing.T) {
	unchanged(t)
	l := start(t)
	to := listen(t, l, local, func(c *threadlet.Conn) {
		p := make([]byte, 16)
		for {
			n, err := c.Read(p)
			if err != nil {
				return
			}
			if p[0] == 'i' {
				_ = c.Idle(func(c *threadlet.Conn) { _, _ = c.Write(p[:1]) })
				_, _ = c.Write(p[:1])
				return
			}
			_, _ = c.Write(p[:n])
		}
	})
	visit := func(i int) {
		c, err := net.Dial(to.Network(), to.String())
		require.NoError(t, err)
		defer c.Close()
		p := []byte{"xi"[i%2]}
		for range 1 + i%2 { // an idle connection answers the second request, too
			_, err = c.Write(p)
			require.NoError(t, err)
			_, err = c.Read(p)
			require.NoError(t, err)
		}
	}
	heap := func() uint64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	n := scale(200, 2000, 100_000)
	for i := range n / 10 {
		visit(i)
	}
	before := heap()
	for i := range n {
		visit(i)
	}
	if after := heap(); after > before+1<<20 {
		t.Errorf("the heap has grown from %d to %d bytes over %d connections", before, after, n)
	}
}

// The loop's end closes the descriptors that are left, also of a loop that never ran. After it nothing is taken over.
func TestEndClosesDescriptors(t *testing.T) {
	for how, end := range map[string]func(*eventloop.Loop){
		"Shutdown": func(l *eventloop.Loop) { _ = l.Shutdown(background) },
		"Close":    func(l *eventloop.Loop) { _ = l.Close() },
	} {
		for _, ran := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/ran=%t", how, ran), func(t *testing.T) {
				unchanged(t)
				l, err := eventloop.New()
				require.NoError(t, err)
				if ran {
					go func() { _ = l.Run(background) }()
				}
				c, far := pair(t, l)
				_, err = threadlet.Listen(l, "tcp", "127.0.0.1:0")
				require.NoError(t, err)
				var file string
				if local == "unix" {
					file = filepath.Join(t.TempDir(), "s")
					_, err = threadlet.Listen(l, local, file)
					require.NoError(t, err)
					require.FileExists(t, file)
				}
				end(l)
				<-l.Done()
				if local == "unix" {
					require.NoFileExists(t, file)
				}
				_, err = far.Read(make([]byte, 1))
				require.Error(t, err)
				require.ErrorIs(t, c.Close(), net.ErrClosed)
				_, err = threadlet.Listen(l, "tcp", "127.0.0.1:0")
				require.ErrorIs(t, err, eventloop.ErrLoopTerminated)
				never, err := eventloop.New()
				require.NoError(t, err)
				require.NoError(t, never.Close())
				_, err = threadlet.Listen(never, "tcp", "127.0.0.1:0")
				require.ErrorIs(t, err, eventloop.ErrLoopTerminated)
			})
		}
	}
}
