package main

// Commands on sets.

import (
	"slices"

	"github.com/turnloop/turnloop/internal/resp"
)

type members = table[struct{}]

func init() {
	set := func(f func(*client, *members, [][]byte) bool) func(*client, [][]byte) {
		return on(newTable[struct{}], f)
	}
	register(map[string]*command{
		"sadd":        {-3, writes, set(sadd)},
		"srem":        {-3, writes, set(removeAll)},
		"scard":       {2, reads, set(length)},
		"sismember":   {3, reads, set(contains)},
		"smembers":    {2, reads, set(func(c *client, t *members, _ [][]byte) bool { return c.members(t) })},
		"spop":        {-2, writes, checked(optional(func(c *client, _ [][]byte) { c.syntax() }), set(spop))},
		"smismember":  {-3, reads, set(smismember)},
		"smove":       {4, writes, smove},
		"sinter":      {-2, reads, combine(inter)},
		"sunion":      {-2, reads, combine(union)},
		"sdiff":       {-2, reads, combine(diff)},
		"sinterstore": {-3, writes, combineInto(inter)},
		"sunionstore": {-3, writes, combineInto(union)},
		"sdiffstore":  {-3, writes, combineInto(diff)},
		"sintercard":  {-3, reads, sintercard},
		"sscan":       {-3, reads, checked(cursors(2), set(scanOne(func(i item[struct{}]) []string { return []string{i.key} })))},
	})
}

func (c *client) members(t *members) bool {
	c.set(t.len())
	for _, i := range t.items {
		c.string(i.key)
	}
	return false
}

func sadd(c *client, t *members, a [][]byte) bool {
	before := t.len()
	for _, m := range a[2:] {
		c.addMember(t, m)
	}
	c.int(t.len() - before)
	return t.len() > before
}

// spop removes random members; the file records which.
func spop(c *client, t *members, a [][]byte) bool {
	n, many := howMany(a, t.len())
	switch {
	case many:
		c.set(n)
	case n == 0:
		c.null()
	}
	gone := [][]byte{[]byte("SREM"), a[1]}
	for range n {
		m := []byte(t.random().key)
		c.bulk(m)
		t.remove(m)
		gone = append(gone, m)
	}
	c.amounts(gone...)
	return n > 0
}

// addMember tells whether a member is new.
func (c *client) addMember(t *members, m []byte) bool {
	is := t.set(m, struct{}{})
	if !t.wide {
		_, integer := resp.ParseInt(m)
		t.wide = !integer || t.len() > c.forms.setIntegers
	}
	return is
}

func smismember(c *client, t *members, a [][]byte) bool {
	c.array(len(a) - 2)
	for _, m := range a[2:] {
		c.truth(t.has(m))
	}
	return false
}

// smove moves a member to another set.
func smove(c *client, a [][]byte) {
	var both [2]*members
	for i, key := range a[1:3] {
		e := c.keys.find(key)
		if e == nil && i == 0 {
			c.int(0)
			return
		}
		if e != nil {
			var ok bool
			if both[i], ok = e.other.(*members); !ok {
				c.error(wrongType)
				return
			}
		}
	}
	from, to := both[0], both[1]
	there := from.has(a[3])
	if c.truth(there); !there || from == to {
		return
	}
	from.remove(a[3])
	c.keys.event = "srem"
	if from.len() == 0 {
		c.keys.tellChange(a[1])
		c.keys.remove(a[1])
	} else {
		c.keys.touch(a[1])
	}
	if to == nil {
		to = newTable[struct{}]()
	}
	added := c.addMember(to, a[3])
	c.keys.make(a[2]).other = to
	if added {
		c.keys.change("sadd", a[2])
	}
}

// sets returns the sets of these keys, empty ones for those that are not there. If one is something else, it answers.
func (c *client) sets(keys [][]byte) (all []*members, ok bool) {
	for _, key := range keys {
		t := newTable[struct{}]()
		if e := c.keys.find(key); e != nil {
			if t, ok = e.other.(*members); !ok {
				c.error(wrongType)
				return nil, false
			}
		}
		all = append(all, t)
	}
	return all, true
}

// combine makes a command that answers with the set that how makes of several.
func combine(how func(all []*members) *members) func(*client, [][]byte) {
	return func(c *client, a [][]byte) {
		if all, ok := c.sets(a[1:]); ok {
			c.members(how(all))
		}
	}
}

// combineInto makes a command that stores the set that how makes of several, in place of what the key has.
func combineInto(how func(all []*members) *members) func(*client, [][]byte) {
	return func(c *client, a [][]byte) {
		all, ok := c.sets(a[2:])
		if !ok {
			return
		}
		result := how(all)
		old := c.keys.find(a[1])
		if c.int(result.len()); result.len() == 0 {
			if old != nil {
				c.keys.remove(a[1])
			}
			return
		}
		if old != nil {
			c.keys.drop(a[1], old)
		}
		result.wide = result.len() > c.forms.setIntegers || slices.ContainsFunc(result.items, noInteger)
		c.keys.make(a[1]).other = result
		c.keys.touch(a[1])
	}
}

func noInteger(i item[struct{}]) bool {
	_, is := resp.ParseInt([]byte(i.key))
	return !is
}

// sintercard answers with how many members several sets have in common, at most with a limit.
func sintercard(c *client, a [][]byte) {
	n, ok := resp.ParseInt(a[1])
	if !ok || n <= 0 {
		c.error("ERR numkeys should be greater than 0")
		return
	}
	if n > int64(len(a)-2) {
		c.error("ERR Number of keys can't be greater than number of args")
		return
	}
	limit, keys := int64(0), a[2:2+n]
	for rest := a[2+n:]; len(rest) > 0; rest = rest[2:] {
		if len(rest) == 1 || !is(rest[0], "limit") {
			c.syntax()
			return
		}
		if limit, ok = resp.ParseInt(rest[1]); !ok || limit < 0 {
			c.error("ERR LIMIT can't be negative")
			return
		}
	}
	if all, ok := c.sets(keys); ok {
		count := inter(all).len()
		if limit > 0 {
			count = int(min(limit, int64(count)))
		}
		c.int(count)
	}
}

func union(all []*members) *members {
	result := newTable[struct{}]()
	for _, t := range all {
		for _, i := range t.items {
			result.set([]byte(i.key), struct{}{})
		}
	}
	return result
}

func inter(all []*members) *members { return filter(all, true) }
func diff(all []*members) *members  { return filter(all, false) }

// filter returns the members of the first set that are in all the others if in is true, in none of them if it is
// false.
func filter(all []*members, in bool) *members {
	result := newTable[struct{}]()
next:
	for _, i := range all[0].items {
		for _, t := range all[1:] {
			if _, there := t.get([]byte(i.key)); there != in {
				continue next
			}
		}
		result.set([]byte(i.key), struct{}{})
	}
	return result
}
