package main

// Commands on lists.

import (
	"bytes"

	"github.com/turnloop/turnloop/internal/resp"
)

func init() {
	list := func(f func(*client, *deque, [][]byte) bool) func(*client, [][]byte) {
		return on(func() *deque { return new(deque) }, f)
	}
	register(map[string]*command{
		"lpush":  {-3, writes, list(push((*deque).pushFront))},
		"rpush":  {-3, writes, list(push((*deque).pushBack))},
		"lpop":   {-2, writes, list(pop((*deque).popFront))},
		"rpop":   {-2, writes, list(pop((*deque).popBack))},
		"llen":   {2, reads, list(func(c *client, d *deque, _ [][]byte) bool { c.int(d.len()); return false })},
		"lrange": {4, reads, list(lrange)},
		"lindex": {3, reads, list(lindex)},
		"ltrim":  {4, writes, list(ltrim)},
	})
}

func push(end func(*deque, []byte)) func(*client, *deque, [][]byte) bool {
	return func(c *client, d *deque, a [][]byte) bool {
		for _, v := range a[2:] {
			end(d, bytes.Clone(v))
		}
		c.int(d.len())
		return true
	}
}

func pop(end func(*deque) []byte) func(*client, *deque, [][]byte) bool {
	return func(c *client, d *deque, a [][]byte) bool {
		n, many, ok := c.howMany(a)
		n = min(n, d.len())
		switch {
		case !ok:
			return false
		case n < 0:
			c.error("ERR value is out of range, must be positive")
			return false
		case many && d.len() == 0:
			c.out = resp.AppendNullArray(c.out)
		case many:
			c.array(n)
		case n == 0:
			c.null()
		}
		for range n {
			c.bulk(end(d))
		}
		return n > 0
	}
}

// howMany reads the number that may stand behind a key.
func (c *client) howMany(a [][]byte) (n int, many, ok bool) {
	if len(a) == 2 {
		return 1, false, true
	}
	if len(a) > 3 {
		c.syntax()
		return 0, false, false
	}
	number, ok := resp.ParseInt(a[2])
	if limit := int64(resp.MaxArgs); !ok || number > limit || number < -limit {
		c.notInteger()
		return 0, false, false
	}
	return int(number), true, true
}

func lrange(c *client, d *deque, a [][]byte) bool {
	if begin, end, ok := c.limits(a[2], a[3], d.len()); ok {
		c.array(end - begin)
		for i := begin; i < end; i++ {
			c.bulk(d.at(i))
		}
	}
	return false
}

// limits reads two places of something that is so long, counted from its beginning, or below zero from its end, and returns
// where what lies between them begins and ends.
func (c *client) limits(from, to []byte, length int) (begin, end int, ok bool) {
	first, ok1 := resp.ParseInt(from)
	last, ok2 := resp.ParseInt(to)
	if !ok1 || !ok2 {
		c.notInteger()
		return 0, 0, false
	}
	n := int64(length)
	if first < 0 {
		first = max(0, first+n)
	}
	if last < 0 {
		last += n
	}
	if last = min(last, n-1); first > last {
		return 0, 0, true
	}
	return int(first), int(last) + 1, true
}

// lindex answers with a value, counted from the beginning, or below zero from the end.
func lindex(c *client, d *deque, a [][]byte) bool {
	n, ok := resp.ParseInt(a[2])
	if n < 0 {
		n += int64(d.len())
	}
	switch {
	case !ok:
		c.notInteger()
	case n < 0 || n >= int64(d.len()):
		c.null()
	default:
		c.bulk(d.at(int(n)))
	}
	return false
}

func ltrim(c *client, d *deque, a [][]byte) bool {
	begin, end, ok := c.limits(a[2], a[3], d.len())
	if !ok {
		return false
	}
	before := d.len()
	for range before - end {
		d.popBack()
	}
	for range min(begin, d.len()) {
		d.popFront()
	}
	c.ok()
	return d.len() < before
}
