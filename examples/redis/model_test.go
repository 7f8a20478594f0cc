package main

// A simple model of the types, and random requests.

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// model is the types of Redis without regard for speed: maps and slices, searched from end to end.
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

// get returns the value of a key, and whether it is of that kind or missing.
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

// run returns the reply to a request. Arrays without an order are sorted.
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
		return "ERR hash value is not an integer"
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

// request makes a random request, with few keys and values, so that requests meet.
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
