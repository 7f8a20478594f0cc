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
		"lpop":   {-2, writes, checked(optional((*client).wrongCount), list(pop((*deque).popFront)))},
		"rpop":   {-2, writes, checked(optional((*client).wrongCount), list(pop((*deque).popBack)))},
		"llen":   {2, reads, list(func(c *client, d *deque, _ [][]byte) bool { c.int(d.len()); return false })},
		"lrange": {4, reads, checked(numbers(2, 3), list(lrange))},
		"lindex": {3, reads, list(lindex)},
		"lpos":   {-3, reads, checked(search, list(lpos))},
		"ltrim":  {4, writes, checked(numbers(2, 3), list(ltrim))},
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
		n, many := howMany(a, d.len())
		switch {
		case many && d.len() == 0:
			c.nullArray()
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

// optional checks the optional number behind a key, and answers with tooMany if there are more words.
func optional(tooMany func(c *client, a [][]byte)) func(*client, [][]byte) bool {
	return func(c *client, a [][]byte) bool {
		if len(a) > 3 {
			tooMany(c, a)
			return false
		}
		if len(a) == 3 {
			if n, ok := resp.ParseInt(a[2]); !ok || n < 0 {
				c.error("ERR value is out of range, must be positive")
				return false
			}
		}
		return true
	}
}

// howMany returns the optional number behind a key, at most limit. many tells whether it was given.
func howMany(a [][]byte, limit int) (n int, many bool) {
	if len(a) == 2 {
		return min(1, limit), false
	}
	number, _ := resp.ParseInt(a[2])
	return int(min(number, int64(limit))), true
}

func lrange(c *client, d *deque, a [][]byte) bool {
	begin, end := limits(a[2], a[3], d.len())
	c.array(end - begin)
	for i := begin; i < end; i++ {
		c.bulk(d.at(i))
	}
	return false
}

// limits reads the first and the last index of a range; negative ones count from the end. It returns the range as
// begin and end within length.
func limits(from, to []byte, length int) (begin, end int) {
	first, _ := resp.ParseInt(from)
	last, _ := resp.ParseInt(to)
	n := int64(length)
	if first < 0 {
		first = max(0, first+n)
	}
	if last < 0 {
		last += n
	}
	if last = min(last, n-1); first > last {
		return 0, 0
	}
	return int(first), int(last) + 1
}

// lindex answers with the value at an index; a negative one counts from the end.
func lindex(c *client, d *deque, a [][]byte) bool {
	n, ok := resp.ParseInt(a[2])
	if n < 0 {
		n += int64(d.len())
	}
	switch {
	case d.len() == 0:
		c.null()
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
	begin, end := limits(a[2], a[3], d.len())
	for range d.len() - end {
		d.popBack()
	}
	for range min(begin, d.len()) {
		d.popFront()
	}
	c.ok()
	return true // also if nothing was cut off: so it is for those who watch the list
}
