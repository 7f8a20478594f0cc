package main

// The file brings back what was recorded, whatever that was: nothing in it is refused when it is replayed.

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/turnloop/turnloop/internal/resp"
)

// recorder returns a server whose log only gathers, and whose clock the test moves.
func recorder(t *testing.T, now *int64) (*server, *client) {
	s := loopless(t)
	s.store.now = func() int64 { return *now }
	log := newLog(s.loop, new(memory), "no")
	s.log, s.store.record = log, log.append
	return s, s.newClient(nil)
}

// same fails unless another server restores the state of s from what it has recorded.
func same(t *testing.T, s *server) {
	t.Helper()
	again := loopless(t)
	again.store.now = s.store.now
	file := new(memory)
	if s.log.next != nil {
		file.data = slices.Clone(s.log.next.bytes)
	}
	if err := again.restore(file); err != nil {
		t.Fatal(err)
	}
	if was, is := state(s), state(again); was != is {
		t.Fatalf("the file brings\n%.1000s\nand not\n%.1000s", is, was)
	}
}

const (
	unlockText = `if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) else return 0 end`
	digest     = "cf0e94b2e9ffc7e04395cf88f7583fc309985910"
)

// TestRecord: every command that writes, with random words, in and out of transactions, while keys expire.
func TestRecord(t *testing.T) {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(commands)) {
		if commands[name].kind == writes && !strings.HasPrefix(name, "flush") {
			names = append(names, name)
		}
	}
	words := []string{"k0", "k1", "k2", "a", "b", "", "1", "3", "-2", "0", "99", "px", "ex", "pxat", "1010", "exat", "nx", "xx", "gt", "get", "keepttl"}
	options := [][]string{{"px", "5"}, {"px", "9", "nx"}, {"pxat", "1010", "xx", "get"}, {"ex", "1"}, {"keepttl"}}
	forms := map[string][][]string{
		"eval": {{unlockText, "1", "k1", "a"}}, "evalsha": {{digest, "1", "k0", "a"}}, "linsert": {{"k0", "before", "a", "b"}}, "lset": {{"k0", "0", "x"}, {"l", "0", "b"}},
		"lmove": {{"k0", "k1", "LEFT", "RIGHT"}}, "blmove": {{"k0", "k1", "LEFT", "RIGHT", "0"}}, "incrbyfloat": {{"k0", "1.5"}, {"k2", "3"}},
		"getex": {{"k0", "px", "5"}, {"k1", "persist"}, {"k2", "pxat", "1010"}}, "lrem": {{"k0", "-1", "a"}, {"l", "0", "a"}},
		"rpush": {{"k0", "a", "b", "a"}, {"l", "a", "c"}}, "sadd": {{"s", "a", "b"}, {"k1", "a", "1"}}, "hset": {{"h", "a", "1"}},
		"lmpop": {{"2", "k0", "l", "left", "count", "2"}, {"1", "l", "right"}}, "blmpop": {{"0", "2", "k0", "l", "right", "count", "3"}},
		"smove": {{"s", "k1", "a"}, {"k1", "s", "1"}}, "copy": {{"k0", "k1"}, {"k1", "l", "replace"}, {"s", "s", "db", "1"}}, "move": {{"k1", "1"}, {"l", "0"}},
		"swapdb": {{"0", "1"}}, "setbit": {{"k2", "9", "1"}, {"k2", "0", "0"}}, "hincrbyfloat": {{"h", "a", "1.5"}}, "hincrby": {{"h", "a", "2"}},
		"sinterstore": {{"k1", "s", "s"}}, "sdiffstore": {{"k2", "s", "k1"}}, "sort": {{"l", "alpha", "store", "k0"}, {"k1", "by", "nosort", "store", "l"}}, "psetex": {{"k0", "5", "a"}}, "setex": {{"k1", "1", "a"}},
		"blpop": {{"k0", "k1", "0"}}, "brpop": {{"k0", "k1", "0"}}, "brpoplpush": {{"k0", "k1", "0"}},
	}
	ran := map[string]bool{}
	for round := range 300 {
		r := rand.New(rand.NewPCG(uint64(round), 27))
		now := int64(1000)
		s, c := recorder(t, &now)
		waiter := s.newClient(nil)
		for range 300 {
			if r.IntN(4) == 0 {
				now += int64(r.IntN(6))
			}
			name := names[r.IntN(len(names))]
			a := []string{name, fmt.Sprint("k", r.IntN(3))}
			for n := commands[name].words; len(a) < max(n, -n) || n < 0 && r.IntN(3) == 0; {
				a = append(a, words[r.IntN(len(words))])
			}
			if name == "set" && r.IntN(2) == 0 {
				a = append(a[:3], options[r.IntN(len(options))]...)
			}
			switch r.IntN(60) {
			case 0:
				a = []string{"flushall"}
			case 1, 2, 3, 4, 5, 6:
				a = []string{"multi"}
			case 7, 8, 9:
				a = []string{"exec"}
			case 10:
				a = []string{"discard"}
			case 11:
				a = []string{"select", fmt.Sprint(r.IntN(2))}
			}
			if form := forms[name]; form != nil && r.IntN(4) > 0 {
				a = append([]string{name}, form[r.IntN(len(form))]...)
			}
			before := s.store.changes
			one := c
			if name[0] == 'b' && a[0] == name {
				waiter.stopWaiting()
				one = waiter
			}
			one.answer(a...)
			ran[name] = ran[name] || s.store.changes != before
		}
		c.answer("exec")
		same(t, s)
	}
	for _, name := range names {
		if !ran[name] {
			t.Error("nothing was changed by", name)
		}
	}
}

// A lookup that finds an expired key changes the key, but not on behalf of its command.
func TestRecordOfExpired(t *testing.T) {
	for _, a := range [][]string{{"SPOP", "k"}, {"LPOP", "k"}, {"GETDEL", "k"}, {"HDEL", "k", "a"}, {"PERSIST", "k"}, {"SET", "k", "v", "XX"}} {
		now := int64(1000)
		s, c := recorder(t, &now)
		c.answer("SADD", "k", "a")
		c.answer("PEXPIRE", "k", "1")
		now += 2
		before := len(s.log.next.bytes)
		c.answer(a...)
		if got, want := s.log.next.bytes[before:], resp.AppendRequest(nil, "DEL", "k"); !bytes.Equal(got, want) {
			t.Errorf("%q records %q", a, got)
		}
	}
}

// A key that expires while a command runs is there for all of that command, or for none of it.
func TestRecordOfExpiring(t *testing.T) {
	for _, a := range [][]string{{"SET", "s", "w", "XX"}, {"SET", "s", "w", "KEEPTTL"}, {"APPEND", "s", "w"}, {"INCR", "s"}, {"RPUSH", "l", "w"}, {"HSET", "h", "g", "w"}, {"SREM", "m", "a"}} {
		for readings := range 4 {
			now := int64(1000)
			s, c := recorder(t, &now)
			for _, b := range [][]string{{"SET", "s", "1"}, {"RPUSH", "l", "v"}, {"HSET", "h", "f", "v"}, {"SADD", "m", "a", "b"}, {"PEXPIREAT", a[1], "1005"}} {
				c.answer(b...)
			}
			s.store.now = func() int64 {
				if readings--; readings < 0 {
					now = 1005
				}
				return now
			}
			c.answer(a...)
			now = 1005
			same(t, s)
		}
	}
}

// What is recorded of a request can be longer than a request, as SPOP's members, and what is recorded of a transaction
// longer than a transaction, as the points in time of EXPIRE.
func TestRecordIsLonger(t *testing.T) {
	s := loopless(t)
	words := slices.Repeat([]string{"m"}, resp.MaxArgs+2)
	words[0], words[1] = "SREM", "s"
	if err := s.restore(&memory{data: resp.AppendRequest(nil, words...)}); err != nil {
		t.Error(err)
	}

	now := int64(1e12)
	s, c := recorder(t, &now)
	c.answer("SET", "k", "v")
	c.answer("MULTI")
	for c.size < queueLimit-1000 {
		c.answer("EXPIRE", "k", "9")
	}
	c.answer("SET", "k", "w")
	if got := c.answer("EXEC"); got[0] != '[' {
		t.Fatalf("%.80s", got)
	}
	same(t, s)
}
