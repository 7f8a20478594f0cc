//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package threadlet_test

// Benchmarks of servers of straight-line code beside package net's goroutine per connection: what requests cost, and what waiting
// connections hold.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/threadlet"
	client "github.com/turnloop/turnloop/internal/echo"
)

func TestMain(m *testing.M) {
	client.Role()
	os.Exit(m.Run())
}

// services are the servers: threadlets that keep a buffer, that borrow one while there is something to read, or that have none between two
// requests; and goroutines.
var services = []struct {
	name  string
	serve func(*testing.B) (addr string)
	rest  time.Duration // after an answer, until a connection holds no more than it does while it waits; nothing tells when that is
}{
	{"blocked", onLoop(func(b *testing.B) func(*threadlet.Conn) { return func(c *threadlet.Conn) { lost(b, echoes(c)) } }), 10 * time.Millisecond},
	{"borrowed", onLoop(borrowing), 10 * time.Millisecond},
	{"idle", onLoop(func(b *testing.B) func(*threadlet.Conn) { return func(c *threadlet.Conn) { lost(b, c.Idle(idling)) } }), 2200 * time.Millisecond},
	{"net", onNet, 10 * time.Millisecond},
}

// echoes serves a connection as a goroutine would. Its buffer is on the heap; on the stack it would double the size of the stack.
func echoes(conn net.Conn) error {
	for buf := make([]byte, 4096); ; {
		n, err := conn.Read(buf)
		if err != nil {
			return err
		}
		if _, err := conn.Write(buf[:n]); err != nil {
			return err
		}
	}
}

// borrowing waits for something to read without a buffer: all connections share one, as a loop runs one threadlet at a time.
func borrowing(b *testing.B) func(*threadlet.Conn) {
	buf := make([]byte, 4096)
	return func(c *threadlet.Conn) {
		raw, err := c.SyscallConn()
		answer := func(fd uintptr) bool {
			n, failed := unix.Read(int(fd), buf)
			switch {
			case failed == unix.EAGAIN || failed == unix.EINTR:
				return false
			case failed == nil && n == 0:
				failed = io.EOF
			case failed == nil:
				failed = send(int(fd), buf[:n])
			}
			err = failed
			return true
		}
		for err == nil {
			if waited := raw.Read(answer); waited != nil {
				err = waited
			}
		}
		lost(b, err)
	}
}

// send has a frame of its own, which is gone while a threadlet waits for more: together with that of its caller it would double a stack.
//
//go:noinline
func send(fd int, p []byte) error {
	_, err := unix.Write(fd, p)
	return err
}

// idling reads once, answers, and lets the connection wait without a threadlet, and without a buffer.
func idling(c *threadlet.Conn) {
	var buf [client.MessageSize]byte
	n, err := c.Read(buf[:])
	if err == nil {
		_, err = c.Write(buf[:n])
	}
	if err == nil {
		_ = c.Idle(idling) // which fails when the client has gone
	}
}

// onLoop serves with a threadlet for each connection, on a loop that ends with the benchmark.
func onLoop(handler func(*testing.B) func(*threadlet.Conn)) func(*testing.B) string {
	return func(b *testing.B) string {
		l, err := eventloop.New()
		if err != nil {
			b.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- l.Run(context.Background()) }()
		listener, err := threadlet.Listen(l, "tcp4", "127.0.0.1:0")
		if err != nil {
			b.Fatal(err)
		}
		handle := handler(b)
		if _, err := threadlet.Go(l, func() {
			if err := threadlet.Serve(listener, handle); !errors.Is(err, net.ErrClosed) && !errors.Is(err, eventloop.ErrLoopTerminated) {
				b.Error(err)
			}
		}); err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() {
			_ = l.Close() // with all that it serves
			<-ended
		})
		return listener.Addr().String()
	}
}

// lost fails the benchmark, unless the client has closed the connection or the loop ends.
//
//go:noinline
func lost(b *testing.B, err error) {
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, threadlet.ErrDraining) && !errors.Is(err, eventloop.ErrLoopTerminated) {
		b.Error(err)
	}
}

// onNet serves with a goroutine for each connection.
func onNet(b *testing.B) string {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	var served sync.WaitGroup
	served.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return // the benchmark is over
			}
			served.Go(func() {
				_ = echoes(conn) // until the client has gone
				_ = conn.Close()
			})
		}
	})
	b.Cleanup(func() {
		_ = listener.Close()
		served.Wait()
	})
	return listener.Addr().String()
}

// connected starts a client with so many connections, each of which has carried some requests.
func connected(b *testing.B, addr string, conns int) *client.Process {
	b.Helper()
	c, err := client.Start(client.Usual, addr, conns, time.Minute)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(c.End)
	// A server allocates something for each connection, and a loop learns how to wait.
	if _, err := c.Run(max(2*conns, 5000), time.Minute); err != nil {
		b.Fatal(err)
	}
	return c
}

// BenchmarkEcho: a request of 64 bytes answered, all connections of a client process together.
func BenchmarkEcho(b *testing.B) {
	for _, conns := range []int{64, 512} {
		for _, s := range services {
			b.Run(fmt.Sprintf("server=%s/conns=%d", s.name, conns), func(b *testing.B) {
				b.ReportAllocs()
				c := connected(b, s.serve(b), conns)
				b.ResetTimer()
				end := spent(b)
				took, err := c.Run(b.N, time.Minute+time.Duration(b.N)*time.Millisecond)
				end()
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(took)/float64(b.N), "ns/op")
			})
		}
	}
}

// BenchmarkConnection: heap and stacks, and resident memory, of a connection that waits for its next request. It takes one measurement,
// however often it is asked for.
func BenchmarkConnection(b *testing.B) {
	conns := 4096
	if testing.Short() {
		conns = 64
	}
	for _, s := range services {
		b.Run("server="+s.name, func(b *testing.B) {
			addr := s.serve(b)
			before, residentBefore := held()
			connected(b, addr, conns)
			time.Sleep(s.rest)
			after, residentAfter := held()
			b.ReportMetric(0, "ns/op")
			b.ReportMetric((after-before)/float64(conns), "B/conn")
			if residentAfter > 0 {
				b.ReportMetric((residentAfter-residentBefore)/float64(conns), "resident-B/conn")
			}
		})
	}
}

// held is what the process has in heap and stacks, after everything was collected that can be, and in memory, 0 where nothing tells that.
func held() (used, resident float64) {
	for range 3 { // pools keep what they hold for two collections
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if text, err := os.ReadFile("/proc/self/statm"); err == nil {
		if fields := strings.Fields(string(text)); len(fields) > 1 {
			pages, _ := strconv.Atoi(fields[1])
			resident = float64(pages * os.Getpagesize())
		}
	}
	return float64(m.HeapAlloc + m.StackInuse), resident
}
