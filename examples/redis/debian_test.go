package main

// Debian's own clients: package redis-tools.

import (
	"context"
	"net"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// tool runs a program of redis-tools against a server, with some input. Where it is missing the test is left out.
func tool(t *testing.T, addr, in, name string, args ...string) string {
	t.Helper()
	program, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("left out: %s is missing (Debian: apt-get install redis-tools)", name)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	_, port, _ := net.SplitHostPort(addr)
	cmd := exec.CommandContext(ctx, program, append([]string{"-h", "127.0.0.1", "-p", port}, args...)...)
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
	i := serve(t, o, new(memory))
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
