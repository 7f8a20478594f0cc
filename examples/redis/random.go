package main

// Random members of sets, and random fields of hashes.

import (
	"math"
	"math/rand/v2"

	"github.com/turnloop/turnloop/internal/resp"
)

func init() {
	register(map[string]*command{
		"srandmember": {-2, reads, checked(upToOne, on(newTable[struct{}], some(func(c *client, i item[struct{}], _ bool) {
			c.string(i.key)
		})))},
		"hrandfield": {-2, reads, checked(upToOne, on(newTable[[]byte], some(func(c *client, i item[[]byte], value bool) {
			if value && c.version == 3 {
				c.array(2)
			}
			if c.string(i.key); value {
				c.bulk(i.value)
			}
		})))},
	})
}

// upToOne checks that there is at most a number, and behind it of HRANDFIELD that values are wanted.
func upToOne(c *client, a [][]byte) bool {
	values := len(a) == 4 && is(a[0], "hrandfield") && is(a[3], "withvalues")
	if len(a) > 3 && !values {
		c.syntax()
		return false
	}
	if len(a) == 2 {
		return true
	}
	n, ok := resp.ParseInt(a[2])
	switch {
	case !ok:
		c.notInteger()
	case n == math.MinInt64:
		c.error("ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807")
	case n < -resp.MaxArgs, values && n > math.MaxInt64/2:
		c.error("ERR value is out of range")
	default:
		return true
	}
	return false
}

// some makes a command that answers with one random item; with a number, with so many different ones; with a negative
// number, with items that may come again.
func some[V any](show func(c *client, i item[V], value bool)) func(*client, *table[V], [][]byte) bool {
	return func(c *client, t *table[V], a [][]byte) bool {
		if len(a) == 2 {
			if t.len() == 0 {
				c.null()
			} else {
				show(c, t.random(), false)
			}
			return false
		}
		n, _ := resp.ParseInt(a[2])
		var chosen []item[V]
		switch {
		case t.len() == 0:
		case n < 0:
			for range -n {
				chosen = append(chosen, t.random())
			}
		case n >= int64(t.len()):
			chosen = t.items
		default:
			chosen = t.different(int(n))
		}
		values := len(a) == 4
		if values && c.version == 2 {
			c.array(2 * len(chosen))
		} else {
			c.array(len(chosen))
		}
		for _, i := range chosen {
			show(c, i, values)
		}
		return false
	}
}

// different returns n different random items; there are more.
func (t *table[V]) different(n int) (chosen []item[V]) {
	if 2*n > t.len() {
		for _, place := range rand.Perm(t.len())[:n] {
			chosen = append(chosen, t.items[place])
		}
		return chosen
	}
	seen := map[int]bool{}
	for len(chosen) < n {
		if place := rand.IntN(t.len()); !seen[place] {
			seen[place] = true
			chosen = append(chosen, t.items[place])
		}
	}
	return chosen
}
