//go:build unix

package echo

// That the client notices what a server does wrong.

import (
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	Role()
	os.Exit(m.Run())
}

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
				message := make([]byte, MessageSize)
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

// TestClientNotices: no request counts that was not answered correctly, and every fault ends the cell, in bounded time.
func TestClientNotices(t *testing.T) {
	for kind := range Dialers {
		for name, c := range faults {
			limit := time.Minute
			if name == "silence" {
				limit = 100 * time.Millisecond
			}
			t.Run(kind+"/"+name, func(t *testing.T) {
				t.Parallel()
				client, err := Start(kind, faulty(t, 3, c.fault), 2, time.Minute)
				if err != nil {
					t.Fatalf("before the fault: %v", err)
				}
				defer client.End()
				if _, err := client.Run(1, time.Minute); err != nil {
					t.Fatalf("before the fault: %v", err)
				}
				if _, err := client.Run(10, limit); err == nil || !strings.Contains(err.Error(), c.says) {
					t.Errorf("the client says %v, want %q", err, c.says)
				}
				if _, err := client.Run(1, limit); err == nil {
					t.Error("a client that has failed goes on")
				}
			})
		}
	}
}

func TestClientFailsToStart(t *testing.T) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	for kind := range Dialers {
		if _, err := Start(kind, nobody, 1, time.Minute); err == nil || !strings.Contains(err.Error(), "refused") {
			t.Errorf("%s: without a server: %v", kind, err)
		}
		wrong := faulty(t, 0, faults["another message"].fault)
		if _, err := Start(kind, wrong, 1, time.Minute); err == nil || !strings.Contains(err.Error(), "wrong") {
			t.Errorf("%s: with a wrong first echo: %v", kind, err)
		}
	}
	if _, err := Start("no such client", nobody, 1, time.Minute); err == nil {
		t.Error("a client of an unknown kind starts")
	}
}

// TestClientEndsWithItsParent: when the benchmark's process ends, in whatever way, the system closes the client's standard
// input and the connections of the server. The client then ends, whatever it does.
func TestClientEndsWithItsParent(t *testing.T) {
	for kind := range Dialers {
		for _, busy := range []bool{false, true} {
			over := make(chan struct{})
			client, err := Start(kind, faulty(t, 1, func(net.Conn, []byte) bool { <-over; return false }), 1, time.Minute)
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
