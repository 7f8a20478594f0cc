package main

// Commands on keys of all types.

import (
	"math"
	"strconv"
	"strings"

	"github.com/turnloop/turnloop/internal/resp"
)

func init() {
	register(map[string]*command{
		"del":         {-2, writes, del},
		"unlink":      {-2, writes, del},
		"exists":      {-2, reads, exists},
		"type":        {2, reads, func(c *client, a [][]byte) { c.simple(typeOf(c.keys.find(a[1]))) }},
		"expire":      {-3, writes, expire(true, true)},
		"pexpire":     {-3, writes, expire(false, true)},
		"expireat":    {-3, writes, expire(true, false)},
		"pexpireat":   {-3, writes, expire(false, false)},
		"ttl":         {2, reads, expiry(func(k *keyspace, at int64) int64 { return (at - k.time() + 500) / 1000 })},
		"pttl":        {2, reads, expiry(func(k *keyspace, at int64) int64 { return at - k.time() })},
		"expiretime":  {2, reads, expiry(func(_ *keyspace, at int64) int64 { return (at + 500) / 1000 })},
		"pexpiretime": {2, reads, expiry(func(_ *keyspace, at int64) int64 { return at })},
		"persist":     {2, writes, persist},
		"keys":        {2, reads, keys},
		"scan":        {-2, reads, checked(cursors(1), scanKeys)},
		"dbsize":      {1, reads, func(c *client, _ [][]byte) { c.int(c.keys.entries.len()) }},
		"flushdb":     {-1, writes, flush},
		"flushall":    {-1, writes, flush},
	})
}

func del(c *client, a [][]byte) {
	c.count(a[1:], func(key []byte) bool { return c.keys.find(key) != nil && c.keys.remove(key) })
}

func exists(c *client, a [][]byte) {
	c.count(a[1:], func(key []byte) bool { return c.keys.find(key) != nil })
}

// count answers with the number of words for which f returns true.
func (c *client) count(words [][]byte, f func([]byte) bool) {
	n := 0
	for _, w := range words {
		if f(w) {
			n++
		}
	}
	c.int(n)
}

func typeOf(e *entry) string {
	if e == nil {
		return "none"
	}
	switch e.other.(type) {
	case *deque:
		return "list"
	case *table[[]byte]:
		return "hash"
	case *table[struct{}]:
		return "set"
	}
	return "string"
}

// The conditions of EXPIRE: the key has no expiry, it has one, and the new one is later, or earlier.
const (
	ifNone = 1 << iota
	ifSome
	ifLater
	ifEarlier
)

var conditions = map[string]int{"nx": ifNone, "xx": ifSome, "gt": ifLater, "lt": ifEarlier}

// conditions reads the words behind the time of EXPIRE.
func (c *client) conditions(words [][]byte) (set int, ok bool) {
	for _, w := range words {
		one := conditions[strings.ToLower(string(w))]
		if one == 0 {
			c.error("ERR Unsupported option " + string(w))
			return 0, false
		}
		set |= one
	}
	switch {
	case set&ifNone != 0 && set != ifNone:
		c.error("ERR NX and XX, GT or LT options at the same time are not compatible")
	case set&ifLater != 0 && set&ifEarlier != 0:
		c.error("ERR GT and LT options at the same time are not compatible")
	default:
		return set, true
	}
	return 0, false
}

// meets tells whether an expiry may take the place of another; 0 is never.
func meets(set int, old, at int64) bool {
	return !(set&ifNone != 0 && old != 0 || set&ifSome != 0 && old == 0 ||
		set&ifLater != 0 && (old == 0 || at <= old) || set&ifEarlier != 0 && old != 0 && at >= old)
}

// expire sets when a key expires. A time in the past removes the key at once.
func expire(seconds, fromNow bool) func(*client, [][]byte) {
	return func(c *client, a [][]byte) {
		set, ok := c.conditions(a[3:])
		if !ok {
			return
		}
		at, ok := c.moment(a[0], a[2], math.MinInt64, seconds, fromNow)
		if !ok {
			return
		}
		e := c.keys.find(a[1])
		if e == nil || !meets(set, e.expires, at) {
			c.int(0)
			return
		}
		if at <= c.keys.time() && !c.keys.asleep {
			c.keys.remove(a[1])
			c.amounts([]byte("DEL"), a[1])
		} else {
			c.keys.expireAt(a[1], e, max(1, at))
			c.keys.touch(a[1])
			c.amounts([]byte("PEXPIREAT"), a[1], decimal(at))
		}
		c.int(1)
	}
}

// expiry makes a command that answers with what f makes of the moment at which a key expires.
func expiry(f func(k *keyspace, at int64) int64) func(*client, [][]byte) {
	return func(c *client, a [][]byte) {
		switch e := c.keys.find(a[1]); {
		case e == nil:
			c.int(-2)
		case e.expires == 0:
			c.int(-1)
		default:
			c.int64(f(c.keys, e.expires))
		}
	}
}

func persist(c *client, a [][]byte) {
	e := c.keys.find(a[1])
	if e == nil || e.expires == 0 {
		c.int(0)
		return
	}
	c.keys.expireAt(a[1], e, 0)
	c.keys.touch(a[1])
	c.int(1)
}

func keys(c *client, a [][]byte) {
	var found []string
	for _, i := range c.keys.entries.items {
		if c.keys.lives(i.value) && matches(string(a[1]), i.key) {
			found = append(found, i.key)
		}
	}
	c.strings(found...)
}

func flush(c *client, a [][]byte) {
	if len(a) > 2 || len(a) == 2 && !is(a[1], "sync") && !is(a[1], "async") {
		c.syntax()
		return
	}
	if is(a[0], "flushall") {
		for _, k := range c.databases {
			k.clear()
		}
	} else {
		c.keys.clear()
	}
	c.ok()
}

// cursors checks the cursor, which is a number without a sign; but the function that Redis reads it with takes signs,
// and an empty word for zero.
func cursors(place int) func(*client, [][]byte) bool {
	return func(c *client, a [][]byte) bool {
		digits := strings.TrimPrefix(strings.TrimPrefix(string(a[place]), "-"), "+")
		_, err := strconv.ParseUint(digits, 10, 64)
		if len(a[place]) == 0 || err == nil && len(a[place]) <= len(digits)+1 {
			return true
		}
		c.error("ERR invalid cursor")
		return false
	}
}

// scan answers with the next cursor, and with what show returns for the items whose keys match. The words begin with
// a cursor that has been checked. TYPE is allowed if ofType is not nil, which tells whether an item is of a type.
func scan[V any](c *client, t *table[V], a [][]byte, show func(i item[V]) []string, ofType func(i item[V], name []byte) bool) {
	cursor, err := strconv.Atoi(string(a[0]))
	if err != nil || cursor < 0 { // a cursor that was never given: from the beginning
		cursor = 0
	}
	count, pattern := int64(10), "*"
	var kind []byte
	for a = a[1:]; len(a) > 0; a = a[2:] {
		switch {
		case len(a) > 1 && is(a[0], "match"):
			pattern = string(a[1])
		case len(a) > 1 && is(a[0], "count"):
			var ok bool
			if count, ok = resp.ParseInt(a[1]); !ok {
				c.notInteger()
				return
			}
			if count <= 0 {
				c.syntax()
				return
			}
		case len(a) > 1 && is(a[0], "type") && ofType != nil:
			kind = a[1]
		default:
			c.syntax()
			return
		}
	}
	var found []string
	some, next := t.scan(cursor, int(min(count, resp.MaxArgs)))
	for _, i := range some {
		if matches(pattern, i.key) && (kind == nil || ofType(i, kind)) {
			found = append(found, show(i)...)
		}
	}
	c.array(2)
	c.bulk(decimal(int64(next)))
	c.strings(found...)
}

// scanOne makes the scan of a hash or a set. Without one the options are not read.
func scanOne[V any](show func(i item[V]) []string) func(*client, *table[V], [][]byte) bool {
	return func(c *client, t *table[V], a [][]byte) (changed bool) {
		if t.len() == 0 {
			c.list("0", []any{})
		} else {
			scan(c, t, a[2:], show, nil)
		}
		return false
	}
}

func scanKeys(c *client, a [][]byte) {
	scan(c, c.keys.entries, a[1:], func(i item[*entry]) []string {
		if !c.keys.lives(i.value) {
			return nil
		}
		return []string{i.key}
	}, func(i item[*entry], name []byte) bool { return is(name, typeOf(i.value)) })
}
