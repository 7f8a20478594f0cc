package main

// The types beside a simple model of them, and tables while they are scanned.

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// model is what the types of Redis are to somebody who has time: maps and slices, looked through from end to end.
type model struct {
	now  int64
	keys map[string]*held
}

type held struct {
	text    string
	list    []string
	hash    map[string]string
	set     map[string]bool
	expires int64
}

func (h *held) kind() string {
	switch {
	case h == nil:
		return "none"
	case h.list != nil:
		return "list"
	case h.hash != nil:
		return "hash"
	case h.set != nil:
		return "set"
	}
	return "string"
}

// get returns what a key holds, and whether that is of a kind, or nothing.
func (m *model) get(key, kind string) (h *held, ok bool) {
	h = m.keys[key]
	if h != nil && h.expires != 0 && h.expires <= m.now {
		delete(m.keys, key)
		h = nil
	}
	return h, h == nil || h.kind() == kind
}

func (m *model) dropIfEmpty(key string) {
	if h := m.keys[key]; h.kind() != "string" && len(h.list)+len(h.hash)+len(h.set) == 0 {
		delete(m.keys, key)
	}
}

func quote(s string) string { return strconv.Quote(s) }

func array(all []string) string {
	quoted := make([]string, len(all))
	for i, s := range all {
		quoted[i] = quote(s)
	}
	return "[" + strings.Join(quoted, " ") + "]"
}

const (
	wrong  = wrongType
	notInt = "ERR value is not an integer or out of range"
)

// run is what a request comes to. Arrays without an order are sorted.
func (m *model) run(a []string) string {
	key := ""
	if len(a) > 1 {
		key = a[1]
	}
	switch a[0] {
	case "SET":
		m.keys[key] = &held{text: a[2]}
		if len(a) > 3 {
			n, _ := strconv.Atoi(a[4])
			m.keys[key].expires = m.now + int64(n)
		}
		return "OK"
	case "GET", "GETDEL", "STRLEN", "APPEND", "INCRBY":
		h, ok := m.get(key, "string")
		if !ok {
			return wrong
		}
		return m.text(a, h)
	case "LPUSH", "RPUSH", "LPOP", "RPOP", "LLEN", "LRANGE", "LINDEX", "LTRIM":
		h, ok := m.get(key, "list")
		if !ok {
			return wrong
		}
		return m.list(a, h)
	case "HSET", "HGET", "HDEL", "HLEN", "HGETALL", "HINCRBY", "HKEYS":
		h, ok := m.get(key, "hash")
		if !ok {
			return wrong
		}
		return m.hash(a, h)
	case "SADD", "SREM", "SCARD", "SISMEMBER", "SMEMBERS":
		h, ok := m.get(key, "set")
		if !ok {
			return wrong
		}
		return m.set(a, h)
	case "SUNION", "SINTER", "SDIFF":
		return m.combined(a)
	case "DEL", "EXISTS":
		n := 0
		for _, k := range a[1:] {
			if h, _ := m.get(k, ""); h != nil {
				n++
				if a[0] == "DEL" {
					delete(m.keys, k)
				}
			}
		}
		return strconv.Itoa(n)
	}
	h, _ := m.get(key, "")
	switch a[0] {
	case "TYPE":
		return h.kind()
	case "PEXPIRE":
		n, _ := strconv.Atoi(a[2])
		if h == nil {
			return "0"
		}
		if h.expires = m.now + int64(n); n <= 0 {
			delete(m.keys, key)
		}
		return "1"
	case "PERSIST":
		if h == nil || h.expires == 0 {
			return "0"
		}
		h.expires = 0
		return "1"
	case "PTTL":
		switch {
		case h == nil:
			return "-2"
		case h.expires == 0:
			return "-1"
		}
		return strconv.FormatInt(h.expires-m.now, 10)
	}
	panic(a[0])
}

func (m *model) text(a []string, h *held) string {
	key := a[1]
	old := ""
	if h != nil {
		old = h.text
	}
	switch a[0] {
	case "STRLEN":
		return strconv.Itoa(len(old))
	case "APPEND":
		if h == nil {
			h = new(held)
			m.keys[key] = h
		}
		h.text += a[2]
		return strconv.Itoa(len(h.text))
	case "INCRBY":
		n, _ := strconv.Atoi(a[2])
		if h == nil {
			h = &held{text: "0"}
		}
		sum, err := strconv.Atoi(h.text)
		if err != nil || strconv.Itoa(sum) != h.text {
			return notInt
		}
		h.text = strconv.Itoa(sum + n)
		m.keys[key] = h
		return h.text
	}
	if h == nil {
		return "nil"
	}
	if a[0] == "GETDEL" {
		delete(m.keys, key)
	}
	return quote(old)
}

func (m *model) list(a []string, h *held) string {
	key := a[1]
	if h == nil {
		h = &held{list: []string{}}
	}
	span := func() (from, to int) {
		from, _ = strconv.Atoi(a[2])
		to, _ = strconv.Atoi(a[3])
		if from < 0 {
			from = max(0, len(h.list)+from)
		}
		if to < 0 {
			to += len(h.list)
		}
		to = min(to, len(h.list)-1) + 1
		if from >= to {
			return 0, 0
		}
		return from, to
	}
	switch a[0] {
	case "LPUSH", "RPUSH":
		for _, v := range a[2:] {
			if a[0] == "LPUSH" {
				h.list = slices.Insert(h.list, 0, v)
			} else {
				h.list = append(h.list, v)
			}
		}
		m.keys[key] = h
		return strconv.Itoa(len(h.list))
	case "LPOP", "RPOP":
		if len(h.list) == 0 {
			return "nil"
		}
		at := 0
		if a[0] == "RPOP" {
			at = len(h.list) - 1
		}
		v := h.list[at]
		h.list = slices.Delete(h.list, at, at+1)
		m.dropIfEmpty(key)
		return quote(v)
	case "LLEN":
		return strconv.Itoa(len(h.list))
	case "LRANGE":
		from, to := span()
		return array(h.list[from:to])
	case "LTRIM":
		from, to := span()
		h.list = append([]string{}, h.list[from:to]...)
		if m.keys[key] != nil {
			m.dropIfEmpty(key)
		}
		return "OK"
	}
	i, _ := strconv.Atoi(a[2])
	if i < 0 {
		i += len(h.list)
	}
	if i < 0 || i >= len(h.list) {
		return "nil"
	}
	return quote(h.list[i])
}

func (m *model) hash(a []string, h *held) string {
	key := a[1]
	if h == nil {
		h = &held{hash: map[string]string{}}
	}
	v, there := "", false
	if len(a) > 2 {
		v, there = h.hash[a[2]]
	}
	switch a[0] {
	case "HSET":
		h.hash[a[2]] = a[3]
		m.keys[key] = h
		return strconv.Itoa(map[bool]int{false: 1}[there])
	case "HGET":
		if !there {
			return "nil"
		}
		return quote(v)
	case "HDEL":
		delete(h.hash, a[2])
		if there {
			m.dropIfEmpty(key)
		}
		return strconv.Itoa(map[bool]int{true: 1}[there])
	case "HLEN":
		return strconv.Itoa(len(h.hash))
	case "HKEYS":
		return array(slices.Sorted(maps.Keys(h.hash)))
	case "HGETALL":
		var all []string
		for k, v := range h.hash {
			all = append(all, k, v)
		}
		slices.Sort(all)
		return array(all)
	}
	n, _ := strconv.Atoi(a[3])
	if !there {
		v = "0"
	}
	sum, err := strconv.Atoi(v)
	if err != nil || strconv.Itoa(sum) != v {
		return notInt
	}
	h.hash[a[2]] = strconv.Itoa(sum + n)
	m.keys[key] = h
	return h.hash[a[2]]
}

func (m *model) set(a []string, h *held) string {
	key := a[1]
	if h == nil {
		h = &held{set: map[string]bool{}}
	}
	before := len(h.set)
	switch a[0] {
	case "SADD":
		for _, v := range a[2:] {
			h.set[v] = true
		}
		m.keys[key] = h
		return strconv.Itoa(len(h.set) - before)
	case "SREM":
		for _, v := range a[2:] {
			delete(h.set, v)
		}
		if before > 0 {
			m.dropIfEmpty(key)
		}
		return strconv.Itoa(before - len(h.set))
	case "SCARD":
		return strconv.Itoa(before)
	case "SISMEMBER":
		return strconv.Itoa(map[bool]int{true: 1}[h.set[a[2]]])
	}
	return array(slices.Sorted(maps.Keys(h.set)))
}

func (m *model) combined(a []string) string {
	var result map[string]bool
	for i, key := range a[1:] {
		h, ok := m.get(key, "set")
		if !ok {
			return wrong
		}
		var s map[string]bool
		if h != nil {
			s = h.set
		}
		if i == 0 {
			if result = maps.Clone(s); result == nil {
				result = map[string]bool{}
			}
			continue
		}
		if a[0] == "SUNION" {
			maps.Copy(result, s)
		} else {
			maps.DeleteFunc(result, func(k string, _ bool) bool { return s[k] == (a[0] == "SDIFF") })
		}
	}
	return array(slices.Sorted(maps.Keys(result)))
}

// unordered are the commands whose arrays have no order.
var unordered = map[string]bool{"HGETALL": true, "HKEYS": true, "SMEMBERS": true, "SUNION": true, "SINTER": true, "SDIFF": true}

// request makes one by chance, of few keys, so that they meet, and few values.
func request(r *rand.Rand) []string {
	key := func() string { return fmt.Sprint("k", r.IntN(6)) }
	value := func() string {
		return []string{"", "a", "b", "c", "7", "-3", "longer than the others", "\r\n"}[r.IntN(8)]
	}
	number := func() string { return strconv.Itoa(r.IntN(9) - 4) }
	forms := [][]string{
		{"SET", key(), value()}, {"SET", key(), value(), "PX", strconv.Itoa(1 + r.IntN(20))}, {"GET", key()}, {"GETDEL", key()}, {"STRLEN", key()},
		{"APPEND", key(), value()}, {"INCRBY", key(), number()},
		{"LPUSH", key(), value()}, {"LPUSH", key(), value(), value(), value()}, {"RPUSH", key(), value()}, {"RPUSH", key(), value(), value()},
		{"LPOP", key()}, {"RPOP", key()}, {"LLEN", key()}, {"LRANGE", key(), number(), number()}, {"LINDEX", key(), number()}, {"LTRIM", key(), number(), number()},
		{"HSET", key(), value(), value()}, {"HGET", key(), value()}, {"HDEL", key(), value()}, {"HLEN", key()}, {"HGETALL", key()}, {"HKEYS", key()},
		{"HINCRBY", key(), value(), number()},
		{"SADD", key(), value()}, {"SADD", key(), value(), value()}, {"SREM", key(), value()}, {"SCARD", key()}, {"SISMEMBER", key(), value()}, {"SMEMBERS", key()},
		{"SUNION", key(), key()}, {"SINTER", key(), key()}, {"SDIFF", key(), key(), key()},
		{"DEL", key()}, {"DEL", key(), key()}, {"EXISTS", key(), key()}, {"TYPE", key()},
		{"PEXPIRE", key(), strconv.Itoa(r.IntN(20) - 2)}, {"PERSIST", key()}, {"PTTL", key()},
	}
	return forms[r.IntN(len(forms))]
}

func sorted(reply string) string {
	if len(reply) < 2 || reply[0] != '[' {
		return reply
	}
	var all []string
	for rest := reply[1 : len(reply)-1]; rest != ""; {
		q, err := strconv.QuotedPrefix(rest)
		if err != nil {
			return reply
		}
		s, _ := strconv.Unquote(q)
		all = append(all, s)
		rest = strings.TrimPrefix(rest[len(q):], " ")
	}
	slices.Sort(all)
	return array(all)
}

// TestModel: every reply is that of the model, whose time the test makes pass; and the file, read by another server, brings the same
// state, whenever it is read.
func TestModel(t *testing.T) {
	rounds := 60
	if testing.Short() {
		rounds = 10
	}
	for round := range rounds {
		r := rand.New(rand.NewPCG(uint64(round), 26))
		s := loopless(t)
		m := &model{now: 1000, keys: map[string]*held{}}
		s.keys.now = func() int64 { return m.now }
		file := new(memory)
		log, err := newLog(s.loop, file, "no")
		if err != nil {
			t.Fatal(err)
		}
		s.log, s.keys.record = log, log.append
		c := s.newClient(nil)
		for step := range 2000 {
			if r.IntN(4) == 0 {
				m.now += int64(r.IntN(5))
			}
			a := request(r)
			want, got := m.run(a), c.answer(a...)
			if unordered[a[0]] {
				got = sorted(got)
			}
			if got != want {
				t.Fatalf("round %d, step %d: %q: %s, want %s", round, step, a, got, want)
			}
		}
		if log.next == nil {
			t.Fatal("nothing is in the file")
		}
		again := loopless(t)
		again.keys.now = func() int64 { return m.now }
		if err := again.restore(&memory{data: log.next.bytes}); err != nil {
			t.Fatal(err)
		}
		if was, is := state(s), state(again); was != is {
			t.Fatalf("round %d: the file brings\n%s\nand not\n%s", round, is, was)
		}
	}
}

// state is all that a server holds.
func state(s *server) string {
	c := s.newClient(nil)
	var all []string
	for _, i := range slices.Clone(s.keys.entries.items) {
		e := s.keys.find([]byte(i.key))
		if e == nil {
			continue
		}
		line := fmt.Sprintf("%q %s %d ", i.key, typeOf(e), e.expires)
		switch typeOf(e) {
		case "string":
			line += c.answer("GET", i.key)
		case "list":
			line += c.answer("LRANGE", i.key, "0", "-1")
		case "hash":
			line += sorted(c.answer("HGETALL", i.key))
		case "set":
			line += sorted(c.answer("SMEMBERS", i.key))
		}
		all = append(all, line)
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// TestScan: who stays is seen, whatever comes and goes meanwhile.
func TestScan(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		table := newTable[int]()
		stays := map[string]bool{}
		for i := range r.IntN(60) {
			k := fmt.Sprint(i)
			table.set([]byte(k), i)
			if r.IntN(2) == 0 {
				stays[k] = true
			}
		}
		kept := maps.Clone(stays)
		for cursor := 0; ; {
			some, next := table.scan(cursor, 1+r.IntN(5))
			for _, i := range some {
				delete(stays, i.key)
			}
			if cursor = next; cursor == 0 {
				break
			}
			for range r.IntN(4) {
				k := fmt.Sprint(r.IntN(100))
				if r.IntN(2) == 0 {
					table.set([]byte(k), 0)
				} else if _, there := table.places[k]; !kept[k] && table.remove([]byte(k)) != there {
					t.Fatal("remove tells something else")
				}
			}
			for k, i := range table.places {
				if table.items[i].key != k {
					t.Fatal("a place is wrong")
				}
			}
		}
		if len(stays) > 0 {
			t.Fatalf("%v are not seen", stays)
		}
	}
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"*", "", true}, {"*", "a/b:c", true}, {"", "", true}, {"", "a", false}, {"a*c", "abc", true}, {"a*c", "ab", false}, {"a?c", "a/c", true},
		{"[a-c]x", "bx", true}, {"[^a-c]x", "bx", false}, {"[^a-c]x", "dx", true}, {`\*`, "*", true}, {`\*`, "a", false}, {"a/*", "a/b", true}, {"[", "[", false},
		{strings.Repeat("a*", 50) + "b", strings.Repeat("a", 5000), false},
	} {
		if got := matches(c.pattern, c.name); got != c.want {
			t.Errorf("%q, %.20q: %v", c.pattern, c.name, got)
		}
	}
}
