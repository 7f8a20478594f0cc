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
		"blpop":      {-3, writes, blockingPop("LPOP")},
		"brpop":      {-3, writes, blockingPop("RPOP")},
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

// taken removes an empty list, as pop leaves it.
func (c *client) taken(key []byte, v []byte, d *deque) []byte {
	if d.len() == 0 {
		c.keys.remove(key)
	} else {
		c.keys.touch(key)
	}
	return v
}

// move makes LMOVE and its kin: the places of the words that name the ends, RIGHT and LEFT for 0, and of the timeout, 0 for a command
// that does not wait.
func move(from, to, timeout int) func(*client, [][]byte) {
	return func(c *client, a [][]byte) {
		ends := [][]byte{[]byte("RIGHT"), []byte("LEFT")}
		for i, place := range []int{from, to} {
			if place == 0 {
				continue
			}
			if ends[i] = bytes.ToUpper(a[place]); string(ends[i]) != "LEFT" && string(ends[i]) != "RIGHT" {
				c.syntax()
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
			pop, push := (*deque).popBack, (*deque).pushBack
			if string(ends[0]) == "LEFT" {
				pop = (*deque).popFront
			}
			if string(ends[1]) == "LEFT" {
				push = (*deque).pushFront
			}
			v := pop(d)
			push(to, v)
			c.taken(source, v, d)
			c.keys.make(target).other = to
			c.keys.touch(target)
			c.bulk(v)
			return [][]byte{[]byte("LMOVE"), source, target, ends[0], ends[1]}
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

// blockingPop makes BLPOP and BRPOP; verb is what the file records.
func blockingPop(verb string) func(*client, [][]byte) {
	pop := (*deque).popBack
	if verb == "LPOP" {
		pop = (*deque).popFront
	}
	return func(c *client, a [][]byte) {
		last := len(a) - 1
		wait, ok := c.seconds(a[last])
		if !ok {
			return
		}
		c.awaitValue(a[1:last], wait, func(key []byte, d *deque) [][]byte {
			c.array(2)
			c.bulk(key)
			c.bulk(c.taken(key, pop(d), d))
			return [][]byte{[]byte(verb), bytes.Clone(key)}
		}, c.nullArray)
	}
}

// all returns the values, fill has the list hold others.
func (d *deque) all() [][]byte {
	all := make([][]byte, d.n)
	for i := range all {
		all[i] = d.at(i)
	}
	return all
}

func (d *deque) fill(all [][]byte) {
	*d = deque{}
	for _, v := range all {
		d.pushBack(v)
	}
}
