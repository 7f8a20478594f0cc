package main

// Commands that give a value another key or another database, and those that tell how a value is kept.

import (
	"bytes"
	"maps"

	"github.com/turnloop/turnloop/internal/resp"
)

const noKey = "ERR no such key"

func init() {
	register(map[string]*command{
		"rename":    {3, writes, rename},
		"renamenx":  {3, writes, rename},
		"copy":      {-3, writes, copyKey},
		"move":      {3, writes, moveKey},
		"touch":     {-2, reads, exists},
		"randomkey": {1, reads, randomKey},
		"object":    {-2, family, nil},
		"memory":    {-2, family, nil},
	})
	maps.Copy(subcommands, map[string]*command{
		"memory|usage":    {-3, reads, memoryUsage},
		"object|encoding": {3, reads, object(func(c *client, e *entry) { c.string(encoding(e)) })},
		"object|refcount": {3, reads, object(func(c *client, _ *entry) { c.int(1) })},
	})
}

// rename is RENAME and RENAMENX.
func rename(c *client, a [][]byte) {
	e, only := c.keys.find(a[1]), is(a[0], "renamenx")
	switch {
	case e == nil:
		c.error(noKey)
		return
	case only && c.keys.find(a[2]) != nil:
		c.int(0)
		return
	}
	if !bytes.Equal(a[1], a[2]) {
		expires := e.expires
		c.keys.drop(a[1], e)
		if old := c.keys.find(a[2]); old != nil {
			c.keys.drop(a[2], old)
		}
		c.keys.put(a[2], e, expires)
		c.keys.change("rename_from", a[1])
		c.keys.change("rename_to", a[2])
	}
	if only {
		c.int(1)
	} else {
		c.ok()
	}
}

// copyKey is COPY.
func copyKey(c *client, a [][]byte) {
	to, replace := c.keys, false
	for i := 3; i < len(a); i++ {
		switch {
		case is(a[i], "replace"):
			replace = true
		case is(a[i], "db") && i+1 < len(a):
			i++
			if to = c.database(a[i]); to == nil {
				return
			}
		default:
			c.syntax()
			return
		}
	}
	if to == c.keys && bytes.Equal(a[1], a[2]) {
		c.error("ERR source and destination objects are the same")
		return
	}
	e, old := c.keys.find(a[1]), to.find(a[2])
	if e == nil || old != nil && !replace {
		c.int(0)
		return
	}
	if old != nil {
		to.drop(a[2], old)
	}
	to.put(a[2], e.clone(), e.expires)
	to.change("copy_to", a[2])
	c.int(1)
}

// clone returns a value of its own that is the same, without expiry.
func (e *entry) clone() *entry {
	own := &entry{text: bytes.Clone(e.text), form: e.form}
	switch v := e.other.(type) {
	case *deque:
		d := new(deque)
		d.fill(v.all())
		own.other = d
	case *fields:
		own.other = v.clone()
	case *members:
		own.other = v.clone()
	}
	return own
}

// moveKey is MOVE.
func moveKey(c *client, a [][]byte) {
	to := c.database(a[2])
	if to == nil {
		return
	}
	if to == c.keys {
		c.error("ERR source and destination objects are the same")
		return
	}
	e := c.keys.find(a[1])
	if e == nil || to.find(a[1]) != nil {
		c.int(0)
		return
	}
	expires := e.expires
	c.keys.drop(a[1], e)
	to.put(a[1], e, expires)
	c.keys.change("move_from", a[1])
	to.change("move_to", a[1])
	c.int(1)
}

func randomKey(c *client, _ [][]byte) {
	all := c.keys.entries
	for range 100 { // what has expired is removed meanwhile
		if all.len() == 0 {
			break
		}
		if key := all.random().key; c.keys.find([]byte(key)) != nil {
			c.string(key)
			return
		}
	}
	c.null()
}

func memoryUsage(c *client, a [][]byte) {
	if len(a) > 3 && (len(a) != 5 || !is(a[3], "samples")) {
		c.syntax()
		return
	}
	object(func(c *client, e *entry) { c.int(e.size(a[2])) })(c, a)
}

// object makes a command of OBJECT.
func object(f func(c *client, e *entry)) func(*client, [][]byte) {
	return func(c *client, a [][]byte) {
		if e := c.keys.find(a[2]); e != nil {
			f(c, e)
		} else {
			c.null()
		}
	}
}

// encoding names the form in which redis-server would keep a value.
func encoding(e *entry) string {
	switch v := e.other.(type) {
	case *deque:
		return "quicklist"
	case *fields:
		return oneOf(v.wide, "hashtable", "listpack")
	case *members:
		return oneOf(v.wide, "hashtable", "intset")
	}
	_, integer := resp.ParseInt(e.text)
	switch {
	case e.form == inPlace:
		return "raw"
	case integer && e.form == natural:
		return "int"
	case len(e.text) <= mostEmbedded:
		return "embstr"
	}
	return "raw"
}

func oneOf(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}

// size estimates the bytes that a key and its value take.
func (e *entry) size(key []byte) int {
	const each = 64 // for what is known of it
	n := each + len(key) + cap(e.text)
	switch v := e.other.(type) {
	case *deque:
		for _, b := range v.all() {
			n += each + len(b)
		}
	case *fields:
		for _, i := range v.items {
			n += 2*each + len(i.key) + len(i.value)
		}
	case *members:
		for _, i := range v.items {
			n += each + len(i.key)
		}
	}
	return n
}

const mostEmbedded = 44 // bytes of a string that redis-server keeps together with what it knows of it
