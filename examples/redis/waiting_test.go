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

// CLIENT UNBLOCK ends the wait of another client as its timeout would, or with an error; CLIENT REPLY leaves answers out, and no
// messages.
func TestClients(t *testing.T) {
	i := serve(t, usual, nil)
	c, w := i.dial(), i.dial()
	id := w.do("CLIENT", "ID")
	for _, step := range [][]string{{"nil", "CLIENT", "UNBLOCK", id}, {"nil", "CLIENT", "UNBLOCK", id, "TIMEOUT"}, {"UNBLOCKED client unblocked via CLIENT UNBLOCK", "CLIENT", "UNBLOCK", id, "error"}} {
		w.send("BLMOVE", "none", "other", "LEFT", "LEFT", "0")
		i.until("the client to wait", func() bool { return i.s.blocked == 1 })
		c.want("1", step[1:]...)
		if got := w.reply(); got != step[0] {
			t.Errorf("%q: %s", step, got)
		}
		c.want("0", step[1:]...)
	}
	for _, request := range [][]string{{"CLIENT", "REPLY", "SKIP"}, {"SET", "a", "1"}, {"CLIENT", "REPLY", "OFF"}, {"SET", "a", "2"}, {"NOSUCH"}} {
		w.send(request...)
	}
	w.want(`["subscribe" "news" 1]`, "SUBSCRIBE", "news")
	c.want("1", "PUBLISH", "news", "x")
	if got := w.reply(); got != `["message" "news" "x"]` {
		t.Error(got)
	}
	w.want(`["unsubscribe" "news" 0]`, "UNSUBSCRIBE", "news")
	w.send("SET", "a", "3")
	w.want("OK", "CLIENT", "REPLY", "ON")
	w.want(`"3"`, "GET", "a")
}

// What SWAPDB brings serves those who wait there, and ends the transactions of those who watch, but not for what has expired. What
// expires goes on to.
func TestSwap(t *testing.T) {
	now := int64(1000)
	s, c := recorder(t, &now)
	for _, step := range [][]string{{"OK", "SET", "k", "0"}, {"OK", "SET", "old", "0", "PX", "10"}, {"OK", "SELECT", "1"}, {"OK", "WATCH", "k"}, {"OK", "SWAPDB", "0", "1"}, {"OK", "MULTI"}, {"nil", "EXEC"},
		{`"0"`, "GET", "k"}, {"OK", "WATCH", "old2"}, {"OK", "SWAPDB", "1", "0"}, {"OK", "MULTI"}, {"[]", "EXEC"}, {"0", "DBSIZE"}, {"OK", "SWAPDB", "0", "1"}, {"10", "PTTL", "old"}} {
		if got := c.answer(step[1:]...); got != step[0] {
			t.Errorf("%q: %s", step, got)
		}
	}
	now += 10
	for _, step := range [][]string{{"OK", "SELECT", "0"}, {"OK", "WATCH", "old"}, {"OK", "SWAPDB", "0", "1"}, {"OK", "MULTI"}, {"[]", "EXEC"}, {"nil", "GET", "old"}} {
		if got := c.answer(step[1:]...); got != step[0] {
			t.Errorf("%q: %s", step, got)
		}
	}
	same(t, s)
	waiter := s.newClient(nil)
	waiter.answer("SELECT", "2")
	waiter.answer("BLPOP", "l", "0")
	c.answer("RPUSH", "l", "x")
	waiter.out = nil
	c.answer("SWAPDB", "0", "2")
	if got := string(waiter.out); got != "*2\r\n$1\r\nl\r\n$1\r\nx\r\n" {
		t.Errorf("%q", got)
	}
	same(t, s)
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
		"HSET h a 1\nHRANDFIELD h 1 WITHVALUES\nHRANDFIELD h -2 WITHVALUES\nHRANDFIELD h 1\nHRANDFIELD h\nHRANDFIELD none\nHRANDFIELD none 2 WITHVALUES\nHINCRBYFLOAT h a 1.5\nHMGET h a none\nHKEYS h\nHVALS h\n",
		"SADD s a\nSRANDMEMBER s 1\nSRANDMEMBER s 5\nSRANDMEMBER s -1\nSRANDMEMBER s\nSRANDMEMBER none\nSRANDMEMBER none 1\nSMISMEMBER s a b\nSUNION s s\nSDIFF s none\nSINTERCARD 1 s\nSORT s ALPHA\nSSCAN s 0\n",
		"SET x ab\nSET y b\nLCS x y IDX WITHMATCHLEN\nLCS x y LEN\nLCS x none IDX\nINCRBYFLOAT z 1.5\nRPUSH l a\nLPOS l a COUNT 0\nLPOS l b\nLMPOP 1 l LEFT\nLMPOP 1 l LEFT\nOBJECT ENCODING none\nSORT none GET x* STORE l\nPUBSUB NUMSUB a\nCLIENT GETNAME\n",
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
