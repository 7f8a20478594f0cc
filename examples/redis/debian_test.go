package main

// Debian's own clients: package redis-tools.

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/turnloop/turnloop/internal/beat"
)

// tool runs a program of redis-tools against a server, with input. If the program is missing, the test is skipped.
func tool(t *testing.T, addr, in, name string, args ...string) string {
	t.Helper()
	program, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("left out: %s is missing (Debian: apt-get install redis-tools)", name)
	}
	_, port, _ := net.SplitHostPort(addr)
	cmd := exec.CommandContext(t.Context(), program, append([]string{"-h", "127.0.0.1", "-p", port}, args...)...)
	cmd.Stdin = strings.NewReader(in)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return string(out)
}

func TestRedisCLI(t *testing.T) {
	o := usual
	o.fsync = "always"
	i := serve(t, o, new(memory)).stopClock()
	for _, step := range []struct{ in, want string }{
		{"PING\nSET greeting 'hello world'\nGET greeting\nINCRBY n 41\nINCR n\n", "PONG\nOK\nhello world\n41\n42\n"},
		{"RPUSH l a b c\nLRANGE l 0 -1\nHSET h f v\nHGETALL h\nSADD s m\nSMEMBERS s\n", "3\na\nb\nc\n1\nf\nv\n1\nm\n"},
		{"MULTI\nINCR n\nINCR n\nEXEC\n", "OK\nQUEUED\nQUEUED\n43\n44\n"},
		{"GET l\n", "WRONGTYPE Operation against a key holding the wrong kind of value\n\n"},
		{"SET t v EX 100\nTTL t\nSCAN 0 MATCH g*\n", "OK\n100\n0\ngreeting\n"},
	} {
		if got := tool(t, i.addr, step.in, "redis-cli"); got != step.want {
			t.Errorf("%q: %q, want %q", step.in, got, step.want)
		}
	}
	if got := tool(t, i.addr, "", "redis-cli", "--scan", "--pattern", "[lhs]"); len(strings.Fields(got)) != 3 {
		t.Errorf("--scan: %q", got)
	}
	var mass strings.Builder
	for n := range 1000 {
		mass.WriteString("SET mass:" + strconv.Itoa(n) + " x\r\n")
	}
	if got := tool(t, i.addr, mass.String(), "redis-cli", "--pipe"); !strings.Contains(got, "errors: 0, replies: 1000") {
		t.Errorf("--pipe: %q", got)
	}
}

// own are requests that each server answers in its own way: about itself, or by a feature that only one of them has.
var own = map[string]bool{"HELLO": true, "CLIENT ID": true, "COMMAND DOCS": true,
	"CLIENT SETINFO lib-name x": true, "CONFIG GET append*": true, "CONFIG SET a b": true}

// redis starts Debian's server, without persistence, and returns a connection.
func redis(t *testing.T) *talk {
	t.Helper()
	program, err := exec.LookPath("redis-server")
	if err != nil {
		program, err = exec.LookPath("redis-check-rdb") // the same program under another name
	}
	if err != nil {
		t.Skip("left out: redis-server is missing (Debian: apt-get install redis-tools)")
	}
	dir, err := os.MkdirTemp("", "redis") // a short name: addresses of sockets are short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	at := filepath.Join(dir, "s")
	cmd := exec.Command(program, "--port", "0", "--unixsocket", at, "--save", "", "--appendonly", "no", "--dir", dir,
		"--slowlog-log-slower-than", "-1") // what is slow is the machine
	cmd.Args[0] = "redis-server"
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	var conn net.Conn
	beat.Eventually(t, func() bool { conn, err = net.Dial("unix", at); return err == nil }, "redis-server")
	t.Cleanup(func() { _ = conn.Close() })
	return &talk{conn, t, bufio.NewReader(conn)}
}

// unordered are the commands whose arrays have no order.
var unordered = map[string]bool{"HGETALL": true, "HKEYS": true, "SMEMBERS": true, "SUNION": true, "SINTER": true, "SDIFF": true}

// request makes a random request, with few keys and values, so that requests meet.
func request(r *rand.Rand) []string {
	key := func() string { return fmt.Sprint("k", r.IntN(6)) }
	value := func() string {
		return []string{"", "a", "b", "c", "7", "-3", "12", "longer than the others", "\r\n"}[r.IntN(9)]
	}
	number := func() string { return strconv.Itoa(r.IntN(9) - 4) }
	end := func() string { return []string{"LEFT", "RIGHT"}[r.IntN(2)] }
	forms := [][]string{
		{"SET", key(), value()}, {"GET", key()}, {"GETDEL", key()}, {"STRLEN", key()},
		{"APPEND", key(), value()}, {"INCRBY", key(), number()},
		{"LPUSH", key(), value()}, {"LPUSH", key(), value(), value(), value()}, {"RPUSH", key(), value()}, {"RPUSH", key(), value(), value()},
		{"LPOP", key()}, {"RPOP", key()}, {"LLEN", key()}, {"LRANGE", key(), number(), number()}, {"LINDEX", key(), number()}, {"LTRIM", key(), number(), number()},
		{"HSET", key(), value(), value()}, {"HGET", key(), value()}, {"HDEL", key(), value()}, {"HLEN", key()}, {"HGETALL", key()}, {"HKEYS", key()},
		{"HINCRBY", key(), value(), number()},
		{"SADD", key(), value()}, {"SADD", key(), value(), value()}, {"SREM", key(), value()}, {"SCARD", key()}, {"SISMEMBER", key(), value()}, {"SMEMBERS", key()},
		{"SUNION", key(), key()}, {"SINTER", key(), key()}, {"SDIFF", key(), key(), key()},
		{"DEL", key()}, {"DEL", key(), key()}, {"EXISTS", key(), key()}, {"TYPE", key()},
		{"LPOS", key(), value(), "RANK", number(), "COUNT", number()}, {"LPOS", key(), value(), "MAXLEN", number()}, {"LREM", key(), number(), value()},
		{"LINSERT", key(), "BEFORE", value(), value()}, {"LSET", key(), number(), value()}, {"LMOVE", key(), key(), end(), end()}, {"RPOPLPUSH", key(), key()},
		{"LMPOP", "2", key(), key(), end(), "COUNT", number()}, {"LPUSHX", key(), value()}, {"LPOP", key(), number()},
		{"SMISMEMBER", key(), value(), value()}, {"SMOVE", key(), key(), value()}, {"SINTERCARD", "2", key(), key(), "LIMIT", number()}, {"SINTERSTORE", key(), key(), key()},
		{"SUNIONSTORE", key(), key(), key()}, {"SDIFFSTORE", key(), key(), key()}, {"HSTRLEN", key(), value()}, {"HINCRBYFLOAT", key(), value(), number()},
		{"HMGET", key(), value(), value()}, {"HSETNX", key(), value(), value()}, {"COPY", key(), key()}, {"COPY", key(), key(), "REPLACE"}, {"COPY", key(), key(), "DB", number()},
		{"MOVE", key(), number()}, {"SWAPDB", number(), number()}, {"TOUCH", key(), key()}, {"RENAME", key(), key()}, {"RENAMENX", key(), key()}, {"GETRANGE", key(), number(), number()},
		{"SETRANGE", key(), number(), value()}, {"SETBIT", key(), number(), "1"}, {"GETBIT", key(), number()}, {"LCS", key(), key()}, {"LCS", key(), key(), "IDX", "WITHMATCHLEN"},
		{"LCS", key(), key(), "IDX", "MINMATCHLEN", number()}, {"INCRBYFLOAT", key(), number()}, {"GETEX", key(), "PERSIST"}, {"SORT", key()}, {"SORT", key(), "ALPHA", "DESC", "LIMIT", number(), number()},
		{"SORT", key(), "STORE", key()}, {"OBJECT", "ENCODING", key()}, {"MSETNX", key(), value(), key(), value()},
		{"EXPIRETIME", key()}, {"PERSIST", key()},
	}
	return forms[r.IntN(len(forms))]
}

// odd are unusual arguments.
var odd = []string{"", "-0", "+1", "01", " 1", "1 ", "1.5", "0x1", "-1", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "\x00", strings.Repeat("9", 200),
	"NX", "XX", "GET", "KEEPTTL", "EX", "PXAT", "EXAT", "COUNT", "MATCH", "*"}

// The replies equal those of Debian's server, errors too, for the listed requests and for random ones.
func TestRedisServer(t *testing.T) {
	theirs, ours := redis(t), serve(t, usual, nil).stopClock().dial()
	for _, step := range replies {
		if a := strings.Fields(step.request); !own[step.request] {
			want := theirs.do(a...)
			got := ours.do(a...)
			if a[0] == "KEYS" {
				want, got = sorted(want), sorted(got)
			}
			if got != want && !(a[0] == "TTL" && got == step.reply) { // on a busy machine a second may pass there
				t.Errorf("%s: %s, and redis-server: %s", step.request, got, want)
			}
		}
	}
	r := rand.New(rand.NewPCG(1, 26))
	for range 30_000 {
		a := request(r)
		switch r.IntN(9) {
		case 0, 1, 2:
			a[1+r.IntN(len(a)-1)] = odd[r.IntN(len(odd))]
		case 3:
			a = append(a, odd[r.IntN(len(odd))])
		case 4:
			a = a[:len(a)-1]
		}
		if a[0] == "OBJECT" && a[1] != "ENCODING" {
			continue // a zero byte ends an error's text there
		}
		want, got := theirs.do(a...), ours.do(a...)
		if a[0] == "SORT" && strings.Contains(want+got, `\x00`) {
			continue // a zero byte ends a text there, so its place is another
		}
		if unordered[a[0]] {
			want, got = sorted(want), sorted(got)
		}
		if got != want {
			t.Fatalf("%q: %s, and redis-server: %s", a, got, want)
		}
	}
}

func TestRedisBenchmark(t *testing.T) {
	i := serve(t, usual, new(memory))
	rates := regexp.MustCompile(`(?m)^"([^"]+)","([0-9.]+)"`)
	for _, pipeline := range []string{"1", "16"} {
		out := tool(t, i.addr, "", "redis-benchmark", "-n", "2000", "-c", "50", "-P", pipeline, "--csv",
			"-t", "ping,set,get,incr,lpush,rpush,lpop,rpop,sadd,hset,spop,lrange_100,mset")
		all := rates.FindAllStringSubmatch(out, -1)
		for _, r := range all {
			if rate, err := strconv.ParseFloat(r[2], 64); err != nil || rate <= 0 {
				t.Errorf("%q", r)
			}
		}
		if len(all) < 14 || strings.Contains(out, "rror") {
			t.Errorf("pipeline %s:\n%s", pipeline, out)
		}
	}
}
