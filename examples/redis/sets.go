package main

// Commands on sets.

type members = table[struct{}]

func init() {
	set := func(f func(*client, *members, [][]byte) bool) func(*client, [][]byte) {
		return on(newTable[struct{}], f)
	}
	register(map[string]*command{
		"sadd":      {-3, writes, set(sadd)},
		"srem":      {-3, writes, set(removeAll)},
		"scard":     {2, reads, set(length)},
		"sismember": {3, reads, set(contains)},
		"smembers":  {2, reads, set(func(c *client, t *members, _ [][]byte) bool { return c.members(t) })},
		"spop":      {-2, writes, checked(optional(func(c *client, _ [][]byte) { c.syntax() }), set(spop))},
		"sinter":    {-2, reads, combine(inter)},
		"sunion":    {-2, reads, combine(union)},
		"sdiff":     {-2, reads, combine(diff)},
		"sscan":     {-3, reads, checked(cursors(2), set(scanOne(func(i item[struct{}]) []string { return []string{i.key} })))},
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
		t.set(m, struct{}{})
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

// combine makes a command that answers with the set that how makes of several.
func combine(how func(all []*members) *members) func(*client, [][]byte) {
	return func(c *client, a [][]byte) {
		var all []*members
		for _, key := range a[1:] {
			t := newTable[struct{}]()
			if e := c.keys.find(key); e != nil {
				var ok bool
				if t, ok = e.other.(*members); !ok {
					c.error(wrongType)
					return
				}
			}
			all = append(all, t)
		}
		c.members(how(all))
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
