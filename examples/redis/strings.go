package main

// Commands on strings and numbers.

import (
	"math"
	"strconv"

	"github.com/turnloop/turnloop/internal/resp"
)

func init() {
	register(map[string]*command{
		"get":    {2, reads, onText(func(c *client, old []byte, _ [][]byte) { c.reply(old) })},
		"set":    {-3, writes, set},
		"setex":  {4, writes, func(c *client, a [][]byte) { set(c, [][]byte{nil, a[1], a[3], []byte("ex"), a[2]}) }},
		"setnx":  {3, writes, onText(func(c *client, old []byte, a [][]byte) { c.truth(old == nil && c.store(a[1], a[2]) != nil) })},
		"getset": {3, writes, onText(func(c *client, old []byte, a [][]byte) { c.reply(old); c.store(a[1], a[2]) })},
		"getdel": {2, writes, onText(func(c *client, old []byte, a [][]byte) { c.reply(old); c.keys.remove(a[1]) })},
		"mget":   {-2, reads, mget},
		"mset":   {-3, writes, mset},
		"append": {3, writes, onText(appendTo)},
		"strlen": {2, reads, onText(func(c *client, old []byte, _ [][]byte) { c.int(len(old)) })},
		"incr":   {2, writes, onText(func(c *client, old []byte, a [][]byte) { c.add(a[1], old, 1) })},
		"decr":   {2, writes, onText(func(c *client, old []byte, a [][]byte) { c.add(a[1], old, -1) })},
		"incrby": {3, writes, onText(addSome(1))},
		"decrby": {3, writes, onText(addSome(-1))},
	})
}

// onText makes a command of f, which gets the string that a key holds, nil if there is no such key.
func onText(f func(c *client, old []byte, a [][]byte)) func(*client, [][]byte) {
	return func(c *client, a [][]byte) {
		e := c.keys.find(a[1])
		switch {
		case e == nil:
			f(c, nil, a)
		case e.text == nil:
			c.error(wrongType)
		default:
			f(c, e.text, a)
		}
	}
}

// reply answers with a string, or that there is none.
func (c *client) reply(b []byte) {
	if b == nil {
		c.null()
	} else {
		c.bulk(b)
	}
}

// store has the key hold a copy of a string, for ever.
func (c *client) store(key, v []byte) *entry {
	e := c.keys.make(key)
	if e.text == nil || cap(e.text) > 2*len(v)+64 {
		e.text = make([]byte, 0, len(v))
	}
	e.text, e.other = append(e.text[:0], v...), nil
	c.keys.expireAt(key, e, 0)
	c.keys.touch(key)
	return e
}

// update has the key hold a string, for as long as before.
func (c *client) update(key, v []byte) {
	c.keys.make(key).text = v
	c.keys.touch(key)
}

// set knows the options NX, XX, GET, KEEPTTL, EX, PX, EXAT and PXAT.
func set(c *client, a [][]byte) {
	var onlyNew, onlyOld, keep, get bool
	var at int64 // when it expires; 0 is never
	for i := 3; i < len(a); i++ {
		switch w := a[i]; {
		case is(w, "nx") && !onlyOld:
			onlyNew = true
		case is(w, "xx") && !onlyNew:
			onlyOld = true
		case is(w, "get"):
			get = true
		case is(w, "keepttl") && at == 0:
			keep = true
		case (is(w, "ex") || is(w, "px") || is(w, "exat") || is(w, "pxat")) && i+1 < len(a) && at == 0 && !keep:
			i++
			var ok bool
			if at, ok = c.moment(a[i], w[0]|0x20 == 'e', len(w) == 2); !ok {
				return
			}
			if at <= 0 {
				c.error("ERR invalid expire time in 'set' command")
				return
			}
		default:
			c.syntax()
			return
		}
	}
	old := c.keys.find(a[1])
	if get && old != nil && old.text == nil {
		c.error(wrongType)
		return
	}
	sets := !(onlyNew && old != nil || onlyOld && old == nil)
	switch {
	case get && old != nil:
		c.bulk(old.text)
	case get || !sets:
		c.null()
	default:
		c.ok()
	}
	if !sets {
		return
	}
	if keep && old != nil {
		at = old.expires
	}
	e := c.store(a[1], a[2])
	if at != 0 {
		c.keys.expireAt(a[1], e, at)
		c.amounts([]byte("SET"), a[1], a[2], []byte("PXAT"), decimal(at))
	}
}

// moment reads a time, of seconds or milliseconds, from now or since 1970, and returns it in milliseconds since then.
func (c *client) moment(b []byte, seconds, fromNow bool) (at int64, ok bool) {
	at, ok = resp.ParseInt(b)
	switch {
	case !ok:
		c.notInteger()
		return 0, false
	case at > math.MaxInt64/2000 || at < -math.MaxInt64/2000:
		c.error("ERR invalid expire time")
		return 0, false
	case seconds:
		at *= 1000
	}
	if fromNow && at > 0 {
		at += c.keys.now()
	}
	return at, true
}

func mget(c *client, a [][]byte) {
	c.array(len(a) - 1)
	for _, key := range a[1:] {
		if e := c.keys.find(key); e != nil {
			c.reply(e.text)
		} else {
			c.null()
		}
	}
}

func mset(c *client, a [][]byte) {
	if len(a)%2 == 0 {
		c.error("ERR wrong number of arguments for MSET")
		return
	}
	for i := 1; i < len(a); i += 2 {
		c.store(a[i], a[i+1])
	}
	c.ok()
}

func appendTo(c *client, old []byte, a [][]byte) {
	if len(old)+len(a[2]) > resp.MaxBulk {
		c.error("ERR string exceeds maximum allowed size (512MB)")
		return
	}
	if old == nil {
		old = []byte{}
	}
	all := append(old, a[2]...)
	c.update(a[1], all)
	c.int(len(all))
}

func addSome(sign int64) func(*client, []byte, [][]byte) {
	return func(c *client, old []byte, a [][]byte) {
		if n, ok := resp.ParseInt(a[2]); !ok || sign < 0 && n == math.MinInt64 {
			c.notInteger()
		} else {
			c.add(a[1], old, sign*n)
		}
	}
}

// add adds to the number that a key holds.
func (c *client) add(key, old []byte, n int64) {
	if sum, ok := c.sum(old, n); ok {
		if old == nil {
			old = []byte{}
		}
		c.update(key, strconv.AppendInt(old[:0], sum, 10))
		c.int64(sum)
	}
}

// sum adds a number to one that is written down; without one to zero.
func (c *client) sum(old []byte, n int64) (sum int64, ok bool) {
	ok = true
	if old != nil {
		if sum, ok = resp.ParseInt(old); !ok {
			c.notInteger()
			return 0, false
		}
	}
	if n > 0 && sum > math.MaxInt64-n || n < 0 && sum < math.MinInt64-n {
		c.error("ERR increment or decrement would overflow")
		return 0, false
	}
	return sum + n, true
}
