package main

// Commands on hashes.

import (
	"bytes"

	"github.com/turnloop/turnloop/internal/resp"
)

type fields = table[[]byte]

func init() {
	hash := func(f func(*client, *fields, [][]byte) bool) func(*client, [][]byte) { return on(newTable[[]byte], f) }
	register(map[string]*command{
		"hset":         {-4, writes, checked(pairs, hash(hset))},
		"hmset":        {-4, writes, checked(pairs, hash(hset))},
		"hsetnx":       {4, writes, hash(hsetnx)},
		"hget":         {3, reads, hash(hget)},
		"hmget":        {-3, reads, hash(hmget)},
		"hdel":         {-3, writes, hash(removeAll)},
		"hlen":         {2, reads, hash(length)},
		"hexists":      {3, reads, hash(contains)},
		"hgetall":      {2, reads, hash(items(true, true))},
		"hkeys":        {2, reads, hash(items(true, false))},
		"hvals":        {2, reads, hash(items(false, true))},
		"hincrby":      {4, writes, checked(numbers(3), hash(hincrby))},
		"hstrlen":      {3, reads, hash(hstrlen)},
		"hincrbyfloat": {4, writes, checked(finite, hash(hincrbyfloat))},
		"hscan":        {-3, reads, checked(cursors(2), hash(scanOne(func(i item[[]byte]) []string { return []string{i.key, string(i.value)} })))},
	})
}

// pairs checks that each name of a field has a value.
func pairs(c *client, a [][]byte) bool {
	if len(a)%2 != 0 {
		c.wrongCount(a)
	}
	return len(a)%2 == 0
}

// setField tells whether a field is new.
func (c *client) setField(t *fields, name, value []byte) bool {
	is := t.set(name, value)
	t.wide = t.wide || max(len(name), len(value)) > c.forms.hashValue || t.len() > c.forms.hashEntries
	return is
}

// hset is HSET and HMSET. HMSET answers with OK only.
func hset(c *client, t *fields, a [][]byte) bool {
	added := 0
	for i := 2; i < len(a); i += 2 {
		if c.setField(t, a[i], bytes.Clone(a[i+1])) {
			added++
		}
	}
	if is(a[0], "hmset") {
		c.ok()
	} else {
		c.int(added)
	}
	return true
}

func hsetnx(c *client, t *fields, a [][]byte) bool {
	_, there := t.get(a[2])
	if !there {
		c.setField(t, a[2], bytes.Clone(a[3]))
	}
	c.truth(!there)
	return !there
}

func hget(c *client, t *fields, a [][]byte) bool {
	v, _ := t.get(a[2])
	c.reply(v)
	return false
}

func hmget(c *client, t *fields, a [][]byte) bool {
	c.array(len(a) - 2)
	for _, name := range a[2:] {
		v, _ := t.get(name)
		c.reply(v)
	}
	return false
}

func items(names, values bool) func(*client, *fields, [][]byte) bool {
	return func(c *client, t *fields, _ [][]byte) bool {
		if names && values {
			c.pairs(t.len())
		} else {
			c.array(t.len())
		}
		for _, i := range t.items {
			if names {
				c.string(i.key)
			}
			if values {
				c.bulk(i.value)
			}
		}
		return false
	}
}

func hincrby(c *client, t *fields, a [][]byte) bool {
	n, _ := resp.ParseInt(a[3])
	old, _ := t.get(a[2])
	sum, ok := c.sum(old, n, "hash value is not an integer")
	if ok {
		c.setField(t, a[2], decimal(sum))
		c.int64(sum)
	}
	return ok
}

// finite checks what is to be added.
func finite(c *client, a [][]byte) bool {
	amount, ok := fraction(a[3])
	switch {
	case !ok:
		c.error("ERR " + notFloat)
	case amount.IsInf():
		c.error("ERR value is NaN or Infinity")
		return false
	}
	return ok
}

func hincrbyfloat(c *client, t *fields, a [][]byte) bool {
	old, _ := t.get(a[2])
	text, ok := c.sumOfFractions(old, a[3], "hash value is not a float")
	if ok {
		c.setField(t, a[2], []byte(text))
		c.string(text)
		c.amounts([]byte("HSET"), a[1], a[2], []byte(text))
	}
	return ok
}

func hstrlen(c *client, t *fields, a [][]byte) bool {
	v, _ := t.get(a[2])
	c.int(len(v))
	return false
}

// Commands that hashes and sets have in common.

func length[V any](c *client, t *table[V], _ [][]byte) bool {
	c.int(t.len())
	return false
}

func contains[V any](c *client, t *table[V], a [][]byte) bool {
	_, there := t.get(a[2])
	c.truth(there)
	return false
}

func removeAll[V any](c *client, t *table[V], a [][]byte) bool {
	before := t.len()
	c.count(a[2:], t.remove)
	return t.len() < before
}
