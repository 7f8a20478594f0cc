package main

// Clients of all kinds: sending in pieces, slow, flooding, gone; and a server that is killed.

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/turnloop/turnloop/eventloop/flow"
	"github.com/turnloop/turnloop/internal/resp"
)

func TestReplies(t *testing.T) {
	c := serve(t, usual, nil).stopClock().dial()
	for _, step := range replies {
		got := c.do(strings.Fields(step.request)...)
		if strings.HasPrefix(step.request, "KEYS") {
			got, step.reply = sorted(got), sorted(step.reply)
		}
		if got != step.reply {
			t.Errorf("%s: %.300s, want %s", step.request, got, step.reply)
		}
	}
	if n := strings.Count(c.do("COMMAND"), "["); n < 60 {
		t.Errorf("%d commands", n)
	}
	for _, line := range []string{"connected_clients:1", "aof_enabled:0"} { // numbers, to clients
		if !strings.Contains(c.do("INFO"), line+"\\r\\n") {
			t.Error(c.do("INFO"))
		}
	}
	c.want("OK", "QUIT")
	if _, err := c.in.ReadByte(); err != io.EOF {
		t.Error(err)
	}
}

// pipeline returns a stream of requests, in both forms, with blank lines; and the replies to it.
func pipeline() (stream []byte, replies string) {
	s := []byte("PING\r\n\r\nset greeting \"hello\\x0aworld\"\r\n")
	s = resp.AppendRequest(s, "GET", "greeting")
	s = append(s, "*0\r\nMULTI\r\n"...)
	s = resp.AppendRequest(s, "INCR", "n")
	s = resp.AppendRequest(s, "LPUSH", "l", strings.Repeat("x", 300))
	s = append(s, "EXEC\nLRANGE l 0 -1\r\nnosuch\r\n"...)
	s = resp.AppendRequest(s, "GET", "l")
	return s, "+PONG\r\n+OK\r\n$11\r\nhello\nworld\r\n+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n:1\r\n:1\r\n*1\r\n$300\r\n" + strings.Repeat("x", 300) +
		"\r\n-ERR unknown command 'nosuch', with args beginning with: \r\n-" + wrongType + "\r\n"
}

// TestPieces: the pieces in which requests arrive make no difference. A client that has finished sending gets all
// replies, and then the end.
func TestPieces(t *testing.T) {
	stream, want := pipeline()
	for _, size := range []int{1, 2, 7, 100, len(stream)} {
		i := serve(t, usual, nil)
		c := i.dial()
		for rest := stream; len(rest) > 0; {
			n, err := c.Write(rest[:min(size, len(rest))])
			if err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if err := c.Conn.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(c.in); err != nil || string(got) != want {
			t.Errorf("pieces of %d: %q, %v", size, got, err)
		}
		i.until("the end of the connection", func() bool { return len(i.s.clients) == 0 })
	}
}

// TestReplyDoesNotWait: a reply leaves although the next request has begun.
func TestReplyDoesNotWait(t *testing.T) {
	c := serve(t, usual, nil).dial()
	if _, err := c.Write([]byte("PING\r\nPI")); err != nil {
		t.Fatal(err)
	}
	if got := c.reply(); got != "PONG" {
		t.Error(got)
	}
}

func TestProtocolErrors(t *testing.T) {
	i := serve(t, usual, nil)
	c := i.dial()
	if _, err := c.Write([]byte("PING\r\n*1\r\n$-5\r\n")); err != nil {
		t.Fatal(err)
	}
	if all, err := io.ReadAll(c.in); string(all) != "+PONG\r\n-ERR Protocol error: invalid bulk length\r\n" {
		t.Errorf("%q, %v", all, err)
	}
	half := i.dial()
	if _, err := half.Write([]byte("*2\r\n$3\r\nGET\r\n$100\r\nx")); err != nil {
		t.Fatal(err)
	}
	_ = half.Conn.(*net.TCPConn).CloseWrite()
	if all, err := io.ReadAll(half.in); len(all) > 0 || err != nil {
		t.Errorf("%q, %v", all, err)
	}
}

// TestFloodWithoutReading: the server stops reading from a client that sends and does not read. Other clients do not
// notice.
func TestFloodWithoutReading(t *testing.T) {
	i := serve(t, usual, nil)
	other, flood := i.dial(), i.dial()
	other.want("OK", "SET", "big", strings.Repeat("x", 1<<20))
	requests := bytes.Repeat(resp.AppendRequest(nil, "GET", "big"), 1000)
	_ = flood.SetWriteDeadline(time.Now().Add(300 * time.Millisecond))
	for err := error(nil); err == nil; _, err = flood.Write(requests) {
	}
	for n := range 100 {
		other.want(strconv.Itoa(n+1), "INCR", "n")
	}
	i.on(func() {
		for c := range i.s.clients {
			if cap(c.out) > 4<<20 {
				t.Errorf("%d bytes of replies are kept", cap(c.out))
			}
		}
	})
}

func TestTransactions(t *testing.T) {
	i := serve(t, usual, nil)
	c, other := i.dial(), i.dial()
	c.want("OK", "MULTI")
	c.want("ERR MULTI calls can not be nested", "MULTI")
	c.want("ERR WATCH inside MULTI is not allowed", "WATCH", "a")
	c.want("QUEUED", "INCR", "a")
	c.want("QUEUED", "LPUSH", "a", "x")
	other.want("nil", "GET", "a")
	c.want("[1 "+wrongType+"]", "EXEC")
	c.want("OK", "MULTI")
	c.want("QUEUED", "INCR", "a")
	c.want("OK", "DISCARD")
	c.want("OK", "MULTI")
	c.want("ERR unknown command 'NOSUCH', with args beginning with: ", "NOSUCH")
	c.want("EXECABORT Transaction discarded because of previous errors.", "EXEC")
	for _, step := range []struct {
		change []string
		reply  string
	}{
		{[]string{"SET", "a", "5"}, "nil"}, {[]string{"GET", "a"}, "[PONG]"}, {[]string{"DEL", "a"}, "nil"}, {[]string{"FLUSHALL"}, "[PONG]"},
		{[]string{"SET", "a", "5"}, "nil"}, {[]string{"EXPIRE", "a", "100"}, "nil"}, {[]string{"FLUSHALL"}, "nil"}, {[]string{"RPUSH", "a", "x"}, "nil"},
		{[]string{"LTRIM", "a", "0", "-1"}, "nil"}, {[]string{"LPOP", "a"}, "nil"}, {[]string{"SET", "b", "1"}, "[PONG]"},
	} {
		c.want("OK", "WATCH", "a", "a")
		other.do(step.change...)
		c.want("OK", "MULTI")
		c.want("QUEUED", "PING")
		c.want(step.reply, "EXEC")
	}
	c.want("OK", "WATCH", "b")
	c.want("OK", "UNWATCH")
	other.want("OK", "SET", "b", "2")
	c.want("OK", "MULTI")
	c.want("[]", "EXEC")
	c.want("OK", "WATCH", "b")
	_ = c.Close()
	i.until("the watched keys to be forgotten", func() bool { return len(i.s.databases[0].watched.Of) == 0 })
}

// TestExpiry: an expired key is removed from memory without a lookup, and clients that watch it notice.
func TestExpiry(t *testing.T) {
	i := serve(t, usual, nil)
	c := i.dial()
	for n := range 100 {
		c.want("OK", "SET", fmt.Sprint("k", n), "v", "PX", "20")
	}
	for persisted := "0"; persisted == "0"; persisted = c.do("PERSIST", "kept") { // on a busy machine it may have expired
		c.want("OK", "SET", "kept", "v", "PX", "20")
	}
	for px, watched := 20, "nil"; watched == "nil"; px, watched = 2*px, c.do("GET", "w") {
		c.want("OK", "SET", "w", "v", "PX", strconv.Itoa(px))
		c.want("OK", "UNWATCH")
		c.want("OK", "WATCH", "w")
	}
	i.until("the keys to expire", func() bool { return i.s.databases[0].entries.len() == 1 })
	c.want("OK", "MULTI")
	c.want("nil", "EXEC")
	c.want(`"v"`, "GET", "kept")
}

func TestLimits(t *testing.T) {
	o := usual
	o.maxClients = 1
	i := serve(t, o, nil)
	i.dial()
	i.until("the first client", func() bool { return len(i.s.clients) == 1 })
	if got := i.dial().reply(); got != "ERR max number of clients reached" {
		t.Error(got)
	}
	s := loopless(t)
	d := s.newClient(nil)
	d.answer("MULTI")
	big := strings.Repeat("x", 1<<20)
	for n := 0; d.answer("SET", "a", big) == "QUEUED"; n++ {
		if n > 100 {
			t.Fatal("a transaction has no limit")
		}
	}
	if got := d.answer("EXEC"); !strings.HasPrefix(got, "EXECABORT") || d.size != 0 {
		t.Error(got)
	}
}

// TestTimeout: clients that say nothing, or read nothing, are disconnected, and subscribers are not.
func TestTimeout(t *testing.T) {
	i := serve(t, usual, nil)
	subscriber := i.subscriber(50 * time.Millisecond)
	flood := resp.AppendRequest(nil, "SET", "k", strings.Repeat("x", 1<<20))
	for range 100 { // replies that the system has no room for
		flood = resp.AppendRequest(flood, "GET", "k")
	}
	for n, sends := range [][]byte{nil, flood} {
		c := i.dial()
		_, _ = c.Write(sends) // fails if it is disconnected before
		if sends == nil {
			if _, err := c.in.ReadByte(); err != io.EOF { // no reply, only the end
				t.Error(err)
			}
		}
		i.until("the client", func() bool { return i.s.accepted == int64(2+n) })
		i.until("the end of the client", func() bool { return len(i.s.clients) <= 1 })
	}
	i.on(func() { i.s.publish("news", "b") })
	if got := subscriber.reply(); got != `["message" "news" "b"]` {
		t.Error(got)
	}
}

// TestStop: a server that is told to end answers the requests that have arrived, and has them in the file.
func TestStop(t *testing.T) {
	file := new(memory)
	i := serve(t, usual, file)
	idle, subscriber, c := i.dial(), i.dial(), i.dial()
	subscriber.want(`["subscribe" "a" 1]`, "SUBSCRIBE", "a")
	c.want("1", "INCR", "n")
	if err := flow.StopGracefully(context.Background(), i.group, patience); err != nil {
		t.Fatal(err)
	}
	for _, c := range []*talk{idle, subscriber, c} {
		if _, err := c.in.ReadByte(); err != io.EOF {
			t.Error(err)
		}
	}
	if err := i.s.close(); err != nil {
		t.Error(err)
	}
	again := loopless(t)
	if err := again.restore(&memory{data: file.data}); err != nil || again.newClient(nil).answer("GET", "n") != `"1"` {
		t.Errorf("%v, %q", err, file.data)
	}
}

// TestStopAmidReplies: also the requests that the server has not read yet have arrived. If it left them unread, the system would
// take back the replies that are under way.
func TestStopAmidReplies(t *testing.T) {
	const large, more = 50, 100
	i := serve(t, usual, new(memory))
	idle, c := i.dial(), i.dial()
	value := strings.Repeat("x", 1<<20)
	c.want("OK", "SET", "k", value)
	if _, err := c.Write(bytes.Repeat(resp.AppendRequest(nil, "GET", "k"), large)); err != nil {
		t.Fatal(err)
	}
	i.until("a reply that waits", func() bool {
		for c := range i.s.clients {
			if c.sending > 0 && c.in.Offset() > int64(len(value))+100 {
				return true
			}
		}
		return false
	})
	if _, err := c.Write(bytes.Repeat(resp.AppendRequest(nil, "INCR", "n"), more)); err != nil {
		t.Fatal(err)
	}
	stopped := make(chan error, 1)
	go func() { stopped <- flow.StopGracefully(context.Background(), i.group, patience) }()
	if _, err := idle.in.ReadByte(); err != io.EOF {
		t.Error(err)
	}
	for n := range large {
		if got := c.reply(); len(got) != len(value)+2 {
			t.Fatalf("%d: %.100s", n, got)
		}
	}
	for n := range more {
		if got := c.reply(); got != strconv.Itoa(n+1) {
			t.Fatal(got)
		}
	}
	if _, err := c.in.ReadByte(); err != io.EOF {
		t.Error(err)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

// process starts the server in a process of its own, with a file, and returns its address.
func process(t *testing.T, file, fsync string) (cmd *exec.Cmd, addr string) {
	cmd = exec.CommandContext(t.Context(), os.Args[0], "-addr", "127.0.0.1:0", "-append", file, "-fsync", fsync)
	cmd.Env = append(os.Environ(), asServer+"=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	addr, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if !ok {
		t.Fatalf("%q, %v", line, err)
	}
	return cmd, addr
}

// TestKill: a server that is killed during writes has lost no change that it had confirmed, and goes on from there.
func TestKill(t *testing.T) {
	const conns = 8
	modes := []string{"everysec", "always", "no"}
	rounds := 2 * len(modes)
	if testing.Short() {
		rounds = len(modes)
	}
	file := filepath.Join(t.TempDir(), "file")
	var done [conns]int
	for round := range rounds {
		cmd, addr := process(t, file, modes[round%len(modes)])
		var all sync.WaitGroup
		for n := range conns {
			c := dial(t, addr)
			key := fmt.Sprint("list", n)
			stored, _ := strconv.Atoi(c.do("LLEN", key))
			if stored < done[n] {
				t.Fatalf("round %d: %d of %d are left", round, stored, done[n])
			}
			done[n] = stored
			all.Go(func() {
				for {
					if _, err := c.Write(resp.AppendRequest(nil, "RPUSH", key, strings.Repeat("x", 100))); err != nil {
						return
					}
					reply, err := text(c.in)
					if err != nil {
						return
					}
					if done[n]++; reply != strconv.Itoa(done[n]) {
						t.Errorf("%s, want %d", reply, done[n])
						return
					}
				}
			})
		}
		time.Sleep(time.Duration(50+20*round) * time.Millisecond)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		all.Wait()
		_ = cmd.Wait()
	}
	cmd, addr := process(t, file, "everysec")
	c := dial(t, addr)
	for n := range conns {
		if stored, _ := strconv.Atoi(c.do("LLEN", fmt.Sprint("list", n))); stored < done[n] {
			t.Errorf("%d of %d are left", stored, done[n])
		}
	}
	c.want("OK", "SET", "last", "1")
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("told to end it ends with %v", err)
	}
	if data, err := os.ReadFile(file); err != nil || !bytes.HasSuffix(data, resp.AppendRequest(nil, "SET", "last", "1")) {
		t.Errorf("the end of the file is missing: %v", err)
	}
}
