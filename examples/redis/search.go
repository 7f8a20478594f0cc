package main

// LPOS: where a list has a value.

import (
	"bytes"
	"math"

	"github.com/turnloop/turnloop/internal/resp"
)

// searching is what the options of LPOS choose: from which match on, from the end if it is negative, how many matches, and in
// how many values; 0 is all of them.
type searching struct {
	rank, count, length int64
	many                bool
}

func (c *client) searching(words [][]byte) (s searching, ok bool) {
	s.rank, s.count = 1, 1
	for ; len(words) > 0; words = words[2:] {
		option := words[0]
		if len(words) == 1 || !is(option, "rank") && !is(option, "count") && !is(option, "maxlen") {
			c.syntax()
			return s, false
		}
		n, ok := resp.ParseInt(words[1])
		switch {
		case !ok && is(option, "rank"):
			c.notInteger()
		case is(option, "rank") && n == math.MinInt64:
			c.error("ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807")
		case is(option, "rank") && n == 0:
			c.error("ERR RANK can't be zero: use 1 to start from the first match, 2 from the second ... " +
				"or use negative to start from the end of the list")
		case is(option, "rank"):
			s.rank = n
			continue
		case !ok || n < 0:
			c.error("ERR " + string(bytes.ToUpper(option)) + " can't be negative")
		case is(option, "count"):
			s.count, s.many = n, true
			continue
		default:
			s.length = n
			continue
		}
		return s, false
	}
	return s, true
}

func search(c *client, a [][]byte) bool {
	_, ok := c.searching(a[3:])
	return ok
}

func lpos(c *client, d *deque, a [][]byte) bool {
	s, _ := c.searching(a[3:])
	var found []any
	skip := max(s.rank, -s.rank) - 1
	for i := range d.len() {
		at := i
		if s.rank < 0 {
			at = d.len() - 1 - i
		}
		if s.length > 0 && int64(i) >= s.length || s.count > 0 && int64(len(found)) >= s.count {
			break
		}
		if !bytes.Equal(d.at(at), a[2]) {
			continue
		}
		if skip--; skip < 0 {
			found = append(found, at)
		}
	}
	switch {
	case s.many:
		c.list(found...)
	case len(found) > 0:
		c.values(found[0])
	default:
		c.null()
	}
	return false
}
