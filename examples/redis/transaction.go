package main

// Transactions: requests that are queued, and run together unless a watched key has changed.

import (
	"bytes"
)

// transaction is the state of a client between WATCH, MULTI and EXEC.
type transaction struct {
	multi     bool
	executing bool // EXEC runs
	broken    bool // a request was refused
	queue     [][][]byte
	size      int // bytes in the queue
	watches   []place
	stale     bool // a watched key has changed
}

func init() {
	register(map[string]*command{
		"multi":   {1, controls, multi},
		"exec":    {1, controls, execute},
		"discard": {1, controls, discard},
		"watch":   {-2, controls, watch},
		"unwatch": {1, reads, func(c *client, _ [][]byte) { c.unwatch(); c.ok() }},
	})
}

func multi(c *client, _ [][]byte) {
	if c.multi {
		c.error("ERR MULTI calls can not be nested")
		return
	}
	c.multi = true
	c.ok()
}

// enqueue queues a request for EXEC.
func (c *client) enqueue(a [][]byte) {
	own := make([][]byte, len(a))
	for i, word := range a {
		own[i] = bytes.Clone(word)
		c.size += len(word) + 64
	}
	if c.size > queueLimit && !c.keys.asleep { // what a file records of a transaction may be longer than it was
		c.queue = nil
		c.refuse(a, "the transaction is too big")
		return
	}
	c.queue = append(c.queue, own)
	c.simple("QUEUED")
}

// execute runs the queued requests. Nothing else runs meanwhile, since no command waits.
func execute(c *client, _ [][]byte) {
	if !c.multi {
		c.error("ERR EXEC without MULTI")
		return
	}
	for _, w := range c.watches {
		c.databases[w.database].find([]byte(w.key)) // a key that has expired since WATCH was changed
	}
	t := c.transaction
	c.forget()
	switch {
	case t.broken:
		c.error("EXECABORT Transaction discarded because of previous errors.")
		return
	case t.stale:
		c.nullArray()
		return
	}
	for _, a := range t.queue {
		if why := c.forbids(find(a), a[0]); why != "" {
			c.error("EXECABORT Transaction discarded because of: " + why)
			return
		}
	}
	c.array(len(t.queue))
	c.executing = true
	defer func() { c.executing = false }()
	c.log.group(func() {
		for _, a := range t.queue {
			c.call(find(a), a)
		}
	})
}

func discard(c *client, _ [][]byte) {
	if !c.multi {
		c.error("ERR DISCARD without MULTI")
		return
	}
	c.forget()
	c.ok()
}

// forget ends a transaction, and the watches with it.
func (c *client) forget() {
	c.unwatch()
	c.transaction = transaction{}
}

func watch(c *client, a [][]byte) {
	if c.multi {
		c.error("ERR WATCH inside MULTI is not allowed")
		return
	}
	for _, key := range a[1:] {
		c.keys.find(key) // expired before WATCH: no change
		k := string(key)
		if c.keys.watched.add(k, c) {
			c.watches = append(c.watches, place{c.keys.number, k})
		}
	}
	c.ok()
}

func (c *client) unwatch() {
	for _, w := range c.watches {
		c.databases[w.database].watched.remove(w.key, c)
	}
	c.watches, c.stale = nil, false
}
