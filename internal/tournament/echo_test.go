//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package tournament

// That the client of echo servers notices what a server does wrong.

import (
	"errors"
	"flag"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/turnloop/turnloop/eventloop/looptest"
	"github.com/turnloop/turnloop/internal/echo"
	"github.com/turnloop/turnloop/internal/loopapi"
)

// A fault is what a server does to one message, on a connection that it closes when fault returns false.
type fault func(conn net.Conn, message []byte) (carryOn bool)

var faults = map[string]struct {
	fault fault
	says  string
}{
	"another message": {says: "is wrong from byte 4 on", fault: func(conn net.Conn, message []byte) bool {
		message[4]++
		_, err := conn.Write(message)
		return err == nil
	}},
	"another connection's": {says: "is wrong from byte 0 on", fault: func(conn net.Conn, message []byte) bool {
		message[0] ^= 1
		_, err := conn.Write(message)
		return err == nil
	}},
	"a byte too many": {says: "is wrong from byte", fault: func(conn net.Conn, message []byte) bool {
		_, err := conn.Write(append([]byte{0xFF}, message...))
		return err == nil
	}},
	"hang-up": {says: "EOF", fault: func(net.Conn, []byte) bool { return false }},
	"half an echo": {says: "EOF", fault: func(conn net.Conn, message []byte) bool {
		_, _ = conn.Write(message[:len(message)/2])
		return false
	}},
	"silence": {says: "gave up waiting", fault: func(net.Conn, []byte) bool { return true }},
}

// faulty is a server that echoes the first messages on each connection, and then does what fault does.
func faulty(t testing.TB, honest int, fault fault) (addr string) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return // the test is over
			}
			go func() {
				defer conn.Close()
				message := make([]byte, echo.MessageSize)
				for n := 0; ; n++ {
					if _, err := io.ReadFull(conn, message); err != nil {
						return // the client has ended
					}
					if n >= honest {
						if !fault(conn, message) {
							return
						}
					} else if _, err := conn.Write(message); err != nil {
						return
					}
				}
			}()
		}
	}()
	return listener.Addr().String()
}

// TestEchoClientNotices: no request counts that was not answered correctly, and every fault ends the cell, in bounded time.
func TestEchoClientNotices(t *testing.T) {
	for kind := range echo.Dialers {
		for name, c := range faults {
			limit := time.Minute
			if name == "silence" {
				limit = 100 * time.Millisecond
			}
			t.Run(kind+"/"+name, func(t *testing.T) {
				t.Parallel()
				client, err := startEchoClient(kind, faulty(t, 3, c.fault), 2, time.Minute)
				if err != nil {
					t.Fatalf("before the fault: %v", err)
				}
				defer client.end()
				if _, err := client.run(1, time.Minute); err != nil {
					t.Fatalf("before the fault: %v", err)
				}
				if _, err := client.run(10, limit); err == nil || !strings.Contains(err.Error(), c.says) {
					t.Errorf("the client says %v, want %q", err, c.says)
				}
				if _, err := client.run(1, limit); err == nil {
					t.Error("a client that has failed goes on")
				}
			})
		}
	}
}

func TestEchoClientFailsToStart(t *testing.T) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	for kind := range echo.Dialers {
		if _, err := startEchoClient(kind, nobody, 1, time.Minute); err == nil || !strings.Contains(err.Error(), "refused") {
			t.Errorf("%s: without a server: %v", kind, err)
		}
		wrong := faulty(t, 0, faults["another message"].fault)
		if _, err := startEchoClient(kind, wrong, 1, time.Minute); err == nil || !strings.Contains(err.Error(), "wrong") {
			t.Errorf("%s: with a wrong first echo: %v", kind, err)
		}
	}
	if _, err := startEchoClient("no such client", nobody, 1, time.Minute); err == nil {
		t.Error("a client of an unknown kind starts")
	}
}

// TestEchoClientEndsWithItsParent: when the benchmark's process ends, in whatever way, the system closes the client's standard
// input and the connections of the server. The client then ends, whatever it does.
func TestEchoClientEndsWithItsParent(t *testing.T) {
	for kind := range echo.Dialers {
		for _, busy := range []bool{false, true} {
			over := make(chan struct{})
			client, err := startEchoClient(kind, faulty(t, 1, func(net.Conn, []byte) bool { <-over; return false }), 1, time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			if busy {
				if _, err := io.WriteString(client.commands, "1\n"); err != nil {
					t.Fatal(err)
				}
			}
			if err := client.commands.Close(); err != nil {
				t.Fatal(err)
			}
			close(over)
			watchdog := time.AfterFunc(time.Minute, func() { _ = client.cmd.Process.Kill() })
			if _ = client.cmd.Wait(); !watchdog.Stop() {
				t.Errorf("%s, busy %v: the client does not end by itself", kind, busy)
			}
			_ = client.answers.Close()
		}
	}
}

// TestLostConnections: a loop that notices no connection fails its cell, in bounded time.
func TestLostConnections(t *testing.T) {
	defer func(d time.Duration) { hung = d }(hung)
	hung = 500 * time.Millisecond
	c := descriptorLoop(t)
	honest := c.New
	c.New = func(cfg looptest.Config) (looptest.EventLoop, error) {
		loop, err := honest(cfg)
		return deaf{loop}, err
	}
	serve := func(b *testing.B) string { return serveOnLoop(b, c) }
	if result := testing.Benchmark(func(b *testing.B) { runEcho(b, serve, 2) }); result.N != 0 {
		t.Errorf("a loop that watches nothing has a result: %v", result)
	}
}

// descriptorLoop returns a contestant that watches descriptors, and is not the production loop.
func descriptorLoop(t *testing.T) Contestant {
	for _, c := range Own().Contestants[1:] {
		loop, err := c.New(looptest.Config{})
		if err != nil {
			t.Fatal(err)
		}
		_, watches := loop.(loopapi.FDRegistrar)
		if err := loop.Close(); err != nil {
			t.Fatal(err)
		}
		if watches {
			return c
		}
	}
	t.Fatal("no contestant but the first watches descriptors")
	return Contestant{}
}

// TestEchoLeavesNothing: a cell of any server leaves no descriptor and no goroutine to the next.
func TestEchoLeavesNothing(t *testing.T) {
	benchtime := flag.Lookup("test.benchtime").Value
	defer func(before string) { _ = benchtime.Set(before) }(benchtime.String())
	if err := benchtime.Set("50x"); err != nil {
		t.Fatal(err)
	}
	c := descriptorLoop(t)
	for name, serve := range map[string]echoService{
		c.Name:      func(b *testing.B) string { return serveOnLoop(b, c) },
		NetControl:  serveWithNet,
		GnetControl: serveWithGnet,
	} {
		cell := func(b *testing.B) { runEcho(b, serve, 10) }
		testing.Benchmark(cell) // the first use of anything may open something for good
		before := holdings(t)
		if result := testing.Benchmark(cell); result.N != 50 {
			t.Errorf("%s: %v", name, result)
		}
		after := holdings(t)
		for deadline := time.Now().Add(10 * time.Second); after.exceeds(before) && time.Now().Before(deadline); after = holdings(t) {
			runtime.Gosched() // a goroutine that has closed its last channel needs a moment to end
		}
		if after.exceeds(before) {
			t.Errorf("%s: %+v before, %+v after", name, before, after)
		}
	}
}

type holding struct{ descriptors, goroutines int }

func (h holding) exceeds(other holding) bool {
	return h.descriptors > other.descriptors || h.goroutines > other.goroutines
}

func holdings(t *testing.T) holding {
	h := holding{goroutines: runtime.NumGoroutine()}
	for fd := range 256 {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil {
			h.descriptors++
		} else if !errors.Is(err, unix.EBADF) {
			t.Fatal(os.NewSyscallError("fcntl", err))
		}
	}
	return h
}
