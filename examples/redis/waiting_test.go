package main

// Clients that wait for a value, the databases, version 3 of the protocol, and the script that releases a lock.

import (
	"strings"
	"testing"
)

// after returns what follows the reply to HELLO, which each server makes of itself.
func after(replies string) string {
	_, rest, _ := strings.Cut(replies, "modules\r\n*0\r\n")
	return rest
}

// Those who wait are served in their order, before the next request runs; who has gone, gets nothing.
func TestWaiting(t *testing.T) {
	i := serve(t, usual, nil)
	c := i.dial()
	blocked := func(n int) { i.until("clients that wait", func() bool { return i.s.blocked == n }) }
	var all []*talk
	for n := range 4 {
		w := i.dial()
		w.send([][]string{{"BLPOP", "none", "q", "0"}, {"BRPOP", "q", "0"}, {"BLMOVE", "q", "r", "LEFT", "LEFT", "0"}, {"BLPOP", "r", "0"}}[n]...)
		w.send("PING") // is answered afterwards
		blocked(n + 1)
		all = append(all, w)
	}
	gone := i.dial()
	gone.send("BLPOP", "q", "0")
	blocked(5)
	_ = gone.Close()
	blocked(4)
	for _, step := range [][]string{{"OK", "MULTI"}, {"QUEUED", "RPUSH", "q", "a", "b", "c", "d"}, {"QUEUED", "LLEN", "q"}, {"[4 4]", "EXEC"}, {`["c"]`, "LRANGE", "q", "0", "-1"}, {"0", "EXISTS", "r"}} {
		c.want(step[0], step[1:]...)
	}
	for n, want := range []string{`["q" "a"]`, `["q" "d"]`, `"b"`, `["r" "b"]`} {
		if got, pong := all[n].reply(), all[n].reply(); got != want || pong != "PONG" {
			t.Errorf("%d: %s, %s, want %s", n, got, pong, want)
		}
	}
	blocked(0)
	if c.do("BLPOP", "none", "0.001") != "nil" || c.do("PING") != "PONG" {
		t.Error("no timeout")
	}
}

func TestDatabases(t *testing.T) {
	now := int64(1000)
	s, c := recorder(t, &now)
	for _, step := range [][]string{{"OK", "SET", "k", "0"}, {"OK", "SELECT", "3"}, {"nil", "GET", "k"}, {"OK", "SET", "k", "3"}, {"OK", "MULTI"}, {"QUEUED", "SELECT", "2"},
		{"QUEUED", "SET", "k", "2"}, {"[OK OK]", "EXEC"}, {"OK", "FLUSHDB"}, {"0", "DBSIZE"}, {"OK", "SET", "l", "x"}, {"OK", "SELECT", "3"}, {`"3"`, "GET", "k"}} {
		if got := c.answer(step[1:]...); got != step[0] {
			t.Errorf("%q: %s", step, got)
		}
	}
	same(t, s)
	if c.answer("FLUSHALL"); s.databases[0].entries.len() != 0 {
		t.Error("FLUSHALL leaves a database")
	}
}

// Version 3 as redis-server has it, byte for byte.
func TestVersion3(t *testing.T) {
	for _, stream := range []string{"GET none\nHSET h a 1\nHGETALL h\nSADD s a\nSMEMBERS s\nSINTER s s\nSPOP s 1\nLPOP none 2\nCONFIG GET databases\nSPOP none\n",
		"SUBSCRIBE a\nPING\nGET a\nPSUBSCRIBE b\nUNSUBSCRIBE\nPUNSUBSCRIBE\n", "MULTI\nHGETALL none\nSMEMBERS none\nEXEC\nWATCH k\nSET k 1\nMULTI\nEXEC\nBLPOP none 0.01\nHSCAN none 0\nRESET\nGET none\n"} {
		theirs, ours := redis(t), serve(t, usual, nil).dial()
		var got [2]string
		for n, to := range []*talk{theirs, ours} {
			got[n] = exchange(t, to.RemoteAddr(), "HELLO 3\n"+stream)
		}
		if want := after(got[0]); want == "" || want != after(got[1]) {
			t.Errorf("%q: %q, and redis-server: %q", stream, got[1], got[0])
		}
	}
}

func TestUnlock(t *testing.T) {
	c := loopless(t).newClient(nil)
	for _, step := range [][]string{{"OK", "SET", "lock", "me", "NX", "PX", "10000"}, {"NOSCRIPT No matching script. Please use EVAL.", "EVALSHA", digest, "1", "lock", "me"},
		{"0", "EVAL", unlockText, "1", "lock", "you"}, {"1", "EVALSHA", digest, "1", "lock", "me"}, {"0", "EXISTS", "lock"},
		{"ERR the only script is the one that compares a key with a value and deletes it", "EVAL", "return 1", "0"}} {
		if got := c.answer(step[1:]...); got != step[0] {
			t.Errorf("%q: %s", step, got)
		}
	}
}
