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
	s.keys.now = func() int64 { return *now }
	log := newLog(s.loop, new(memory), "no")
	s.log, s.keys.record = log, log.append
	return s, s.newClient(nil)
}

// same fails unless another server restores the state of s from what it has recorded.
func same(t *testing.T, s *server) {
	t.Helper()
	again := loopless(t)
	again.keys.now = s.keys.now
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
	ran := map[string]bool{}
	for round := range 300 {
		r := rand.New(rand.NewPCG(uint64(round), 27))
		now := int64(1000)
		s, c := recorder(t, &now)
		for range 200 {
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
			}
			before := s.keys.changes
			c.answer(a...)
			ran[name] = ran[name] || s.keys.changes != before
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
			s.keys.now = func() int64 {
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
