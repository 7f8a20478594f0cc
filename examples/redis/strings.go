package main

// Commands on strings and numbers.

import (
	"bytes"
	"fmt"
	"math"
	"strconv"

	"github.com/turnloop/turnloop/internal/resp"
)

func init() {
	register(map[string]*command{
		"get":    {2, reads, onText(func(c *client, old []byte, _ [][]byte) { c.reply(old) })},
		"set":    {-3, writes, set},
		"setex":  {4, writes, func(c *client, a [][]byte) { set(c, [][]byte{a[0], a[1], a[3], []byte("ex"), a[2]}) }},
		"psetex": {4, writes, func(c *client, a [][]byte) { set(c, [][]byte{a[0], a[1], a[3], []byte("px"), a[2]}) }},
		"setnx":  {3, writes, func(c *client, a [][]byte) { c.truth(c.keys.find(a[1]) == nil && c.store(a[1], a[2]) != nil) }},
		"getset": {3, writes, onText(func(c *client, old []byte, a [][]byte) { c.reply(old); c.store(a[1], a[2]) })},
		"getdel": {2, writes, onText(func(c *client, old []byte, a [][]byte) { c.reply(old); c.keys.remove(a[1]) })},
		"mget":   {-2, reads, mget},
		"mset":   {-3, writes, mset},
		"msetnx": {-3, writes, msetnx},
		"getex":  {-2, writes, checked(getExOptions, onText(getEx))},
		"append": {3, writes, onText(appendTo)},
		"strlen": {2, reads, onText(func(c *client, old []byte, _ [][]byte) { c.int(len(old)) })},
		"incr":   {2, writes, onText(func(c *client, old []byte, a [][]byte) { c.add(a[1], old, 1) })},
		"decr":   {2, writes, onText(func(c *client, old []byte, a [][]byte) { c.add(a[1], old, -1) })},
		"incrby": {3, writes, checked(numbers(2), onText(addSome(1)))},
		"decrby": {3, writes, checked(negatable, onText(addSome(-1)))},
	})
}

// onText makes a command of f, which gets the string of the key, nil if there is no such key.
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

// reply answers with a string, or with null for nil.
func (c *client) reply(b []byte) {
	if b == nil {
		c.null()
	} else {
		c.bulk(b)
	}
}

// store sets a key to a copy of a string, without expiry.
func (c *client) store(key, v []byte) *entry {
	e := c.keys.make(key)
	if e.text == nil || cap(e.text) > 2*len(v)+64 {
		e.text = make([]byte, 0, len(v))
	}
	e.text, e.other, e.form = append(e.text[:0], v...), nil, natural
	c.keys.expireAt(key, e, 0)
	c.keys.touch(key)
	return e
}

// update sets a key to a string, and keeps its expiry.
func (c *client) update(key, v []byte) *entry {
	e := c.keys.make(key)
	e.text, e.form = v, natural
	c.keys.touch(key)
	return e
}

// set is SET, with the options NX, XX, GET, KEEPTTL, EX, PX, EXAT and PXAT.
func set(c *client, a [][]byte) {
	var onlyNew, onlyOld, keep, get bool
	var unit, amount []byte
	for i := 3; i < len(a); i++ {
		switch w := a[i]; {
		case is(w, "nx") && !onlyOld:
			onlyNew = true
		case is(w, "xx") && !onlyNew:
			onlyOld = true
		case is(w, "get"):
			get = true
		case is(w, "keepttl") && unit == nil:
			keep = true
		case (is(w, "ex") || is(w, "px") || is(w, "exat") || is(w, "pxat")) && i+1 < len(a) && !keep && (unit == nil || bytes.EqualFold(w, unit)):
			i++
			unit, amount = w, a[i]
		default:
			c.syntax()
			return
		}
	}
	var at int64 // when the key expires; 0 is never
	if unit != nil {
		var ok bool
		if at, ok = c.moment(a[0], amount, 1, unit[0]|0x20 == 'e', len(unit) == 2); !ok {
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
		if unit != nil {
			c.keys.tell('g', "expire", a[1])
		}
		c.amounts([]byte("SET"), a[1], a[2], []byte("PXAT"), decimal(at))
	}
}

// moment reads a time in seconds or milliseconds, from now or since 1970, which is at least least, and returns it in
// milliseconds since 1970.
func (c *client) moment(command, b []byte, least int64, seconds, fromNow bool) (at int64, ok bool) {
	at, ok = resp.ParseInt(b)
	if !ok {
		c.notInteger()
		return 0, false
	}
	var base int64
	if fromNow {
		base = c.keys.time()
	}
	ok = at >= least
	if seconds {
		ok = ok && at <= math.MaxInt64/1000 && at >= math.MinInt64/1000
		at *= 1000
	}
	if !ok || at > math.MaxInt64-base {
		c.invalidExpiry(command)
		return 0, false
	}
	return at + base, true
}

func (c *client) invalidExpiry(command []byte) {
	c.error(fmt.Sprintf("ERR invalid expire time in '%s' command", bytes.ToLower(command)))
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
		c.wrongCount(a)
		return
	}
	c.storeAll(a)
	c.ok()
}

func (c *client) storeAll(a [][]byte) {
	for i := 1; i < len(a); i += 2 {
		c.store(a[i], a[i+1])
	}
}

func msetnx(c *client, a [][]byte) {
	if len(a)%2 == 0 {
		c.wrongCount(a)
		return
	}
	for i := 1; i < len(a); i += 2 {
		if c.keys.find(a[i]) != nil {
			c.int(0)
			return
		}
	}
	c.storeAll(a)
	c.int(1)
}

func appendTo(c *client, old []byte, a [][]byte) {
	if len(old)+len(a[2]) > resp.MaxBulk {
		c.error("ERR string exceeds maximum allowed size (512MB)")
		return
	}
	if old == nil {
		c.store(a[1], a[2])
		c.int(len(a[2]))
		return
	}
	all := append(old, a[2]...)
	c.update(a[1], all).form = inPlace
	c.int(len(all))
}

func addSome(sign int64) func(*client, []byte, [][]byte) {
	return func(c *client, old []byte, a [][]byte) {
		n, _ := resp.ParseInt(a[2])
		c.add(a[1], old, sign*n)
	}
}

// negatable checks the number that DECRBY takes away.
func negatable(c *client, a [][]byte) bool {
	n, ok := resp.ParseInt(a[2])
	switch {
	case !ok:
		c.notInteger()
	case n == math.MinInt64:
		c.error("ERR decrement would overflow")
		return false
	}
	return ok
}

// add adds n to the number of a key, and answers with the sum.
func (c *client) add(key, old []byte, n int64) {
	if sum, ok := c.sum(old, n, notInteger); ok {
		if old == nil {
			old = []byte{}
		}
		c.update(key, strconv.AppendInt(old[:0], sum, 10))
		c.int64(sum)
	}
}

// sum adds n to the number in old, or to zero if old is nil. If old is not a number, it answers with an error, whose
// text is what.
func (c *client) sum(old []byte, n int64, what string) (sum int64, ok bool) {
	ok = true
	if old != nil {
		if sum, ok = resp.ParseInt(old); !ok {
			c.error("ERR " + what)
			return 0, false
		}
	}
	if n > 0 && sum > math.MaxInt64-n || n < 0 && sum < math.MinInt64-n {
		c.error("ERR increment or decrement would overflow")
		return 0, false
	}
	return sum + n, true
}

func getExOptions(c *client, a [][]byte) bool {
	ok := len(a) == 2 || len(a) == 3 && is(a[2], "persist") ||
		len(a) == 4 && (is(a[2], "ex") || is(a[2], "px") || is(a[2], "exat") || is(a[2], "pxat"))
	if !ok {
		c.syntax()
	}
	return ok
}

func getEx(c *client, old []byte, a [][]byte) {
	persist, e := len(a) == 3, c.keys.find(a[1])
	if e == nil {
		c.null()
		return
	}
	var at int64
	if len(a) == 4 {
		var ok bool
		if at, ok = c.moment(a[0], a[3], 1, a[2][0]|0x20 == 'e', len(a[2]) == 2); !ok {
			return
		}
	}
	c.bulk(old)
	switch {
	case persist && e.expires != 0:
		c.keys.expireAt(a[1], e, 0)
		c.keys.change("persist", a[1])
		c.amounts([]byte("PERSIST"), a[1])
	case at != 0 && at <= c.keys.time() && !c.keys.asleep:
		c.keys.remove(a[1])
		c.amounts([]byte("DEL"), a[1])
	case at != 0:
		c.keys.expireAt(a[1], e, at)
		c.keys.change("expire", a[1])
		c.amounts([]byte("PEXPIREAT"), a[1], decimal(at))
	}
}
