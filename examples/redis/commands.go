package main

// How requests find the commands that they name. Each file of commands adds its own.

import (
	"bytes"
	"fmt"
	"maps"
)

// command is one of them. Its function must not wait: that is why nobody sees a command half done.
type command struct {
	words int  // of a request, the name among them; negative is so many at least
	kind  kind // what else is to be known of it
	run   func(c *client, a [][]byte)
}

type kind uint8

const (
	reads      kind = iota
	writes          // it changes keys, and so the file
	controls        // it runs between MULTI and EXEC, too
	subscribes      // it is for subscribers, and not between MULTI and EXEC
)

var commands = map[string]*command{}

// register adds commands. It is called by init functions.
func register(more map[string]*command) { maps.Copy(commands, more) }

// find returns the command with a name, in whatever letters.
func find(name []byte) *command {
	var lower [24]byte
	if len(name) > len(lower) {
		return nil
	}
	for i, b := range name {
		if 'A' <= b && b <= 'Z' {
			b += 'a' - 'A'
		}
		lower[i] = b
	}
	return commands[string(lower[:len(name)])]
}

// run runs a request, or keeps it for EXEC.
func (c *client) run(a [][]byte) {
	cmd := find(a[0])
	switch {
	case cmd == nil:
		c.refuse(fmt.Sprintf("ERR unknown command '%.128s'", a[0]))
	case cmd.words > 0 && len(a) != cmd.words, len(a) < -cmd.words:
		c.refuse(fmt.Sprintf("ERR wrong number of arguments for '%s' command", bytes.ToLower(a[0])))
	case c.multi && cmd.kind == subscribes:
		c.refuse(fmt.Sprintf("ERR %s is not allowed in transactions", bytes.ToUpper(a[0])))
	case c.multi && cmd.kind != controls:
		c.enqueue(a)
	case c.subscribed() > 0 && !forSubscribers(cmd, a[0]):
		c.error(fmt.Sprintf("ERR Can't execute '%s': only (P)SUBSCRIBE / (P)UNSUBSCRIBE / PING / QUIT are allowed in this context", bytes.ToLower(a[0])))
	default:
		c.call(cmd, a)
	}
}

func forSubscribers(cmd *command, name []byte) bool {
	return cmd.kind == subscribes || bytes.EqualFold(name, []byte("ping")) || bytes.EqualFold(name, []byte("quit"))
}

// refuse answers a request that is none, which makes a transaction fail.
func (c *client) refuse(why string) {
	c.broken = c.broken || c.multi
	c.error(why)
}

// call runs a command, and notes in the file what it has changed.
func (c *client) call(cmd *command, a [][]byte) {
	c.server.commands++
	before := c.keys.changes
	cmd.run(c, a)
	if cmd.kind != writes {
		return
	}
	if c.keys.changes != before && c.keys.record != nil {
		if c.effect != nil {
			a = c.effect
		}
		c.keys.record(a)
	}
	c.effect = nil
}

// amounts has the file say something else than the request: what the request has come to, whenever it is read.
func (c *client) amounts(words ...[]byte) { c.effect = words }

func is(word []byte, lower string) bool { return bytes.EqualFold(word, []byte(lower)) }
