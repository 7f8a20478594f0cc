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
		"spop":      {-2, writes, set(spop)},
		"sinter":    {-2, reads, combine(inter)},
		"sunion":    {-2, reads, combine(union)},
		"sdiff":     {-2, reads, combine(diff)},
		"sscan": {-3, reads, set(func(c *client, t *members, a [][]byte) bool {
			return scan(c, t, a[2:], func(i item[struct{}]) []string { return []string{i.key} })
		})},
	})
}

func (c *client) members(t *members) bool {
	c.array(t.len())
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

// spop removes members that chance chooses; the file says which.
func spop(c *client, t *members, a [][]byte) bool {
	n, many, ok := c.howMany(a)
	n = min(n, t.len())
	switch {
	case !ok:
		return false
	case n < 0:
		c.error("ERR value is out of range, must be positive")
		return false
	case many:
		c.array(n)
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

// combine answers with what is made of several sets.
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

// filter returns what of the first set is in all the others, or in none of them.
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
