package main

// DEBUG, as far as it harms nobody: what tests of clients ask of redis-server.

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"hash"
	"maps"
	"slices"
	"strings"
)

func init() {
	register(map[string]*command{"debug": {-2, family, nil}})
	fine := func(c *client, _ [][]byte) { c.ok() }
	maps.Copy(subcommands, map[string]*command{
		"debug|log":          {3, reads, fine},
		"debug|jmap":         {2, reads, fine},
		"debug|reload":       {-2, reads, fine}, // what would be read is what is there
		"debug|digest-value": {-2, reads, digests},
		"debug|object": {3, reads, func(c *client, a [][]byte) {
			if e := c.keys.find(a[2]); e == nil {
				c.error(noKey)
			} else {
				c.simple(fmt.Sprintf("Value at:%p refcount:1 encoding:%s serializedlength:%d lru:0 lru_seconds_idle:0",
					e, encoding(e), e.size(a[2])))
			}
		}},
		"debug|set-active-expire": {3, reads, activeExpire},

		"debug|quicklist-packed-threshold": {3, reads, fine}, // lists have one form
	})
}

// activeExpire chooses whether timers remove what has expired; otherwise only a lookup does.
func activeExpire(c *client, a [][]byte) {
	if c.keys.lazy = string(a[2]) == "0"; !c.keys.lazy {
		for _, k := range c.databases {
			k.awaken()
		}
	}
	c.ok()
}

// digests answers with a digest of the value of each key: equal values have equal ones.
func digests(c *client, a [][]byte) {
	c.array(len(a) - 2)
	for _, key := range a[2:] {
		sum := sha1.New()
		if e := c.keys.find(key); e != nil {
			e.digest(sum)
		}
		c.string(hex.EncodeToString(sum.Sum(nil)))
	}
}

func (e *entry) digest(sum hash.Hash) {
	var all []string
	switch v := e.other.(type) {
	case *deque:
		for _, b := range v.all() {
			fmt.Fprintf(sum, "%q", b)
		}
	case *fields:
		for _, i := range v.items {
			all = append(all, fmt.Sprintf("%q%q", i.key, i.value))
		}
	case *members:
		for _, i := range v.items {
			all = append(all, fmt.Sprintf("%q", i.key))
		}
	}
	slices.Sort(all)
	fmt.Fprintf(sum, "%s %d %q %s", typeOf(e), e.expires, e.text, strings.Join(all, ""))
}
