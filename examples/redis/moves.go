package main

// Commands that take values out of lists, put them into others, or wait for them.

import (
	"bytes"
	"slices"

	"github.com/turnloop/turnloop/internal/resp"
)

func init() {
	list := func(f func(*client, *deque, [][]byte) bool) func(*client, [][]byte) {
		return on(func() *deque { return new(deque) }, f)
	}
	register(map[string]*command{
		"lpushx":     {-3, writes, list(ifThere(push((*deque).pushFront)))},
		"rpushx":     {-3, writes, list(ifThere(push((*deque).pushBack)))},
		"lset":       {4, writes, list(lset)},
		"lrem":       {4, writes, checked(numbers(2), list(lrem))},
		"linsert":    {5, writes, checked(beforeOrAfter, list(linsert))},
		"lmove":      {5, writes, move(3, 4, 0)},
		"rpoplpush":  {3, writes, move(0, 0, 0)},
		"blmove":     {6, writes, move(3, 4, 5)},
		"brpoplpush": {4, writes, move(0, 0, 3)},
		"lmpop":      {-4, writes, popFromFirst},
		"blmpop":     {-5, writes, popFromFirst},
		"blpop":      {-3, writes, blockingPop("LEFT")},
		"brpop":      {-3, writes, blockingPop("RIGHT")},
	})
}

func ifThere(f func(*client, *deque, [][]byte) bool) func(*client, *deque, [][]byte) bool {
	return func(c *client, d *deque, a [][]byte) bool {
		if d.len() == 0 {
			c.int(0)
			return false
		}
		return f(c, d, a)
	}
}

func lset(c *client, d *deque, a [][]byte) bool {
	n, ok := resp.ParseInt(a[2])
	if n < 0 {
		n += int64(d.len())
	}
	switch {
	case d.len() == 0:
		c.error(noKey)
	case !ok:
		c.notInteger()
	case n < 0 || n >= int64(d.len()):
		c.error("ERR index out of range")
	default:
		*d.place(int(n)) = bytes.Clone(a[3])
		c.ok()
		return true
	}
	return false
}

// lrem removes so many equal values, from the end if the number is negative, or all.
func lrem(c *client, d *deque, a [][]byte) bool {
	n, _ := resp.ParseInt(a[2])
	all, gone := d.all(), int64(0)
	if n < 0 {
		slices.Reverse(all)
	}
	all = slices.DeleteFunc(all, func(v []byte) bool {
		is := (n == 0 || gone < max(n, -n)) && bytes.Equal(v, a[3])
		if is {
			gone++
		}
		return is
	})
	if n < 0 {
		slices.Reverse(all)
	}
	if gone > 0 {
		d.fill(all)
	}
	c.int64(gone)
	return gone > 0
}

func beforeOrAfter(c *client, a [][]byte) bool {
	ok := is(a[2], "before") || is(a[2], "after")
	if !ok {
		c.syntax()
	}
	return ok
}

func linsert(c *client, d *deque, a [][]byte) bool {
	all := d.all()
	at := slices.IndexFunc(all, func(v []byte) bool { return bytes.Equal(v, a[3]) })
	switch {
	case d.len() == 0:
		c.int(0)
		return false
	case at < 0:
		c.int(-1)
		return false
	case is(a[2], "after"):
		at++
	}
	d.fill(slices.Insert(all, at, bytes.Clone(a[4])))
	c.int(d.len())
	return true
}

// ends are the two ends of lists: how a value leaves and enters there, and the events of that.
var ends = map[string]end{
	"LEFT":  {(*deque).popFront, (*deque).pushFront, "lpop", "lpush"},
	"RIGHT": {(*deque).popBack, (*deque).pushBack, "rpop", "rpush"},
}

type end struct {
	pop            func(*deque) []byte
	push           func(*deque, []byte)
	popped, pushed string
}

// end reads the word for an end.
func (c *client) end(word []byte) (name string, ok bool) {
	name = string(bytes.ToUpper(word))
	if _, ok = ends[name]; !ok {
		c.syntax()
	}
	return name, ok
}

// taken tells of what was taken from a list, and removes an empty one.
func (c *client) taken(key []byte, d *deque, event string) {
	if c.keys.event = event; d.len() == 0 {
		c.keys.tellChange(key)
		c.keys.remove(key)
	} else {
		c.keys.touch(key)
	}
}

// move makes LMOVE and its kin: the places of the words that name the ends, RIGHT and LEFT for 0, and of the timeout, 0 for a command
// that does not wait.
func move(from, to, timeout int) func(*client, [][]byte) {
	return func(c *client, a [][]byte) {
		both := []string{"RIGHT", "LEFT"}
		for i, place := range []int{from, to} {
			var ok bool
			if place == 0 {
				continue
			}
			if both[i], ok = c.end(a[place]); !ok {
				return
			}
		}
		source, target := bytes.Clone(a[1]), bytes.Clone(a[2])
		take := func(_ []byte, d *deque) [][]byte {
			to := d
			if e := c.keys.find(target); e == nil {
				to = new(deque)
			} else if held, ok := e.other.(*deque); ok {
				to = held
			} else {
				c.error(wrongType)
				return nil
			}
			v := ends[both[0]].pop(d)
			ends[both[1]].push(to, v)
			c.keys.make(target).other = to
			c.keys.change(ends[both[1]].pushed, target)
			c.taken(source, d, ends[both[0]].popped)
			c.bulk(v)
			return [][]byte{[]byte("LMOVE"), source, target, []byte(both[0]), []byte(both[1])}
		}
		if timeout > 0 {
			if wait, ok := c.seconds(a[timeout]); ok {
				c.awaitValue([][]byte{source}, wait, take, c.null)
			}
			return
		}
		switch e := c.keys.find(source); {
		case e == nil:
			c.null()
		case typeOf(e) != "list":
			c.error(wrongType)
		default:
			take(source, e.other.(*deque))
		}
	}
}

// blockingPop makes BLPOP and BRPOP.
func blockingPop(name string) func(*client, [][]byte) {
	return func(c *client, a [][]byte) {
		last := len(a) - 1
		wait, ok := c.seconds(a[last])
		if !ok {
			return
		}
		c.awaitValue(a[1:last], wait, func(key []byte, d *deque) [][]byte {
			v := ends[name].pop(d)
			c.taken(key, d, ends[name].popped)
			c.array(2)
			c.bulk(key)
			c.bulk(v)
			return [][]byte{[]byte(ends[name].popped), bytes.Clone(key)}
		}, c.nullArray)
	}
}

// popFromFirst is LMPOP, and BLMPOP, which has a timeout before the rest: values from the first list that is there.
func popFromFirst(c *client, a [][]byte) {
	waits, timeout := is(a[0], "blmpop"), a[1]
	if a = a[1:]; waits {
		a = a[1:]
	}
	n, ok := resp.ParseInt(a[0])
	switch {
	case !ok || n <= 0:
		c.error("ERR numkeys should be greater than 0")
		return
	case n >= int64(len(a)-1):
		c.syntax()
		return
	}
	keys, rest := a[1:1+n], a[1+n:]
	name, ok := c.end(rest[0])
	if !ok {
		return
	}
	most := int64(0)
	for rest = rest[1:]; len(rest) > 0; rest = rest[2:] {
		if len(rest) == 1 || !is(rest[0], "count") || most != 0 {
			c.syntax()
			return
		}
		if most, ok = resp.ParseInt(rest[1]); !ok || most <= 0 {
			c.error("ERR count should be greater than 0")
			return
		}
	}
	most = max(1, most)
	take := func(key []byte, d *deque) [][]byte {
		n := int(min(most, int64(d.len())))
		c.array(2)
		c.bulk(key)
		c.array(n)
		for range n {
			c.bulk(ends[name].pop(d))
		}
		c.taken(key, d, ends[name].popped)
		return [][]byte{[]byte(ends[name].popped), bytes.Clone(key), decimal(int64(n))}
	}
	if waits {
		if wait, ok := c.seconds(timeout); ok {
			c.awaitValue(keys, wait, take, c.nullArray)
		}
	} else if !c.servedFrom(keys, take) {
		c.nullArray()
	}
}
