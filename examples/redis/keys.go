package main

// Commands on keys, whatever they hold.

import (
	"path"
	"strings"

	"github.com/turnloop/turnloop/internal/resp"
)

func init() {
	register(map[string]*command{
		"del":       {-2, writes, del},
		"unlink":    {-2, writes, del},
		"exists":    {-2, reads, exists},
		"type":      {2, reads, func(c *client, a [][]byte) { c.simple(typeOf(c.keys.find(a[1]))) }},
		"expire":    {3, writes, expire(true, true)},
		"pexpire":   {3, writes, expire(false, true)},
		"expireat":  {3, writes, expire(true, false)},
		"pexpireat": {3, writes, expire(false, false)},
		"ttl":       {2, reads, ttl(1000)},
		"pttl":      {2, reads, ttl(1)},
		"persist":   {2, writes, persist},
		"keys":      {2, reads, keys},
		"scan":      {-2, reads, scanKeys},
		"dbsize":    {1, reads, func(c *client, _ [][]byte) { c.int(c.keys.entries.len()) }},
		"flushdb":   {-1, writes, flush},
		"flushall":  {-1, writes, flush},
	})
}

func del(c *client, a [][]byte) {
	c.count(a[1:], func(key []byte) bool { return c.keys.find(key) != nil && c.keys.remove(key) })
}

func exists(c *client, a [][]byte) {
	c.count(a[1:], func(key []byte) bool { return c.keys.find(key) != nil })
}

// count answers for how many words f tells true.
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

// expire sets when a key expires; what lies in the past has come already.
func expire(seconds, fromNow bool) func(*client, [][]byte) {
	return func(c *client, a [][]byte) {
		at, ok := c.moment(a[2], seconds, fromNow)
		if !ok {
			return
		}
		e := c.keys.find(a[1])
		if e == nil {
			c.int(0)
			return
		}
		if at <= c.keys.now() && !c.keys.asleep {
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

func ttl(unit int64) func(*client, [][]byte) {
	return func(c *client, a [][]byte) {
		switch e := c.keys.find(a[1]); {
		case e == nil:
			c.int(-2)
		case e.expires == 0:
			c.int(-1)
		default:
			c.int64((e.expires - c.keys.now() + unit/2) / unit)
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

// matches tells whether a pattern of Redis matches all of a name: * is anything, ? one byte, [a-z] and [^a-z] one of some, and what stands
// behind \ means itself. To package path nothing matches a slash.
func matches(pattern, name string) bool {
	slashes := strings.NewReplacer("/", "\x00")
	ok, _ := path.Match(slashes.Replace(pattern), slashes.Replace(name))
	return ok
}

func flush(c *client, _ [][]byte) {
	c.keys.clear()
	c.ok()
}

// scan answers with the next cursor, and what show makes of those items whose keys match. It changes nothing.
func scan[V any](c *client, t *table[V], a [][]byte, show func(i item[V]) []string) (changed bool) {
	cursor, ok := resp.ParseInt(a[0])
	if !ok || cursor < 0 {
		c.error("ERR invalid cursor")
		return false
	}
	count, pattern := int64(10), "*"
	for a = a[1:]; len(a) > 0; a = a[2:] {
		switch {
		case len(a) > 1 && is(a[0], "match"):
			pattern = string(a[1])
		case len(a) > 1 && is(a[0], "count"):
			if count, ok = resp.ParseInt(a[1]); ok && count > 0 {
				break
			}
			c.notInteger()
			return false
		default:
			c.syntax()
			return false
		}
	}
	var found []string
	some, next := t.scan(int(cursor), int(min(count, resp.MaxArgs)))
	for _, i := range some {
		if matches(pattern, i.key) {
			found = append(found, show(i)...)
		}
	}
	c.array(2)
	c.bulk(decimal(int64(next)))
	c.strings(found...)
	return false
}

func scanKeys(c *client, a [][]byte) {
	scan(c, c.keys.entries, a[1:], func(i item[*entry]) []string {
		if !c.keys.lives(i.value) {
			return nil
		}
		return []string{i.key}
	})
}
