package main

// Commands: their table, and how a request finds its command. Each file of commands adds its own.

import (
	"bytes"
	"fmt"
	"maps"
)

// command is a command of Redis. run must not wait: so no client sees a command half done.
type command struct {
	words int  // number of words with the name; if negative, at least so many
	kind  kind // what it does to keys and transactions
	run   func(c *client, a [][]byte)
}

type kind uint8

const (
	reads      kind = iota
	writes          // changes keys, and is recorded in the file
	controls        // runs between MULTI and EXEC too
	subscribes      // allowed to subscribers
	family          // the second word names the command
)

// commands are by their name, those of families by both words: first|second.
var commands, subcommands = map[string]*command{}, map[string]*command{}

// register adds commands. Only init functions call it.
func register(more map[string]*command) { maps.Copy(commands, more) }

// find returns the command of a request, whose name may be in upper or lower case. It is nil if there is none, and a
// family if the second word names none of it.
func find(a [][]byte) *command {
	cmd := named(a[0])
	if cmd != nil && cmd.kind == family && len(a) > 1 {
		if one := lookup(subcommands, bytes.Join(a[:2], []byte{'|'})); one != nil {
			return one
		}
	}
	return cmd
}

func named(name []byte) *command { return lookup(commands, name) }

func lookup(in map[string]*command, name []byte) *command {
	var lower [32]byte
	if len(name) > len(lower) {
		return nil
	}
	for i, b := range name {
		if 'A' <= b && b <= 'Z' {
			b += 'a' - 'A'
		}
		lower[i] = b
	}
	return in[string(lower[:len(name)])]
}

// title returns the name of the command of a request, for errors.
func title(a [][]byte) []byte {
	name := bytes.ToLower(a[0])
	if named(name).kind == family && len(a) > 1 {
		name = append(append(name, '|'), bytes.ToLower(a[1])...)
	}
	return name
}

// run runs a request, or queues it for EXEC.
func (c *client) run(a [][]byte) {
	c.keys.instant = 0
	cmd, before := find(a), len(c.out)
	switch {
	case cmd == nil && (is(a[0], "post") || is(a[0], "host:")): // a browser, made to send HTTP with commands in it
		c.forgo()
		c.ends = true
	case cmd == nil:
		c.refuse(a, unknown(a))
	case cmd.kind == family && len(a) > 1:
		c.refuse(a, fmt.Sprintf("unknown subcommand '%s'. Try %s HELP.", head(a[1], 128), bytes.ToUpper(a[0])))
	case cmd.words > 0 && len(a) != cmd.words, len(a) < -cmd.words:
		c.refuse(a, fmt.Sprintf("wrong number of arguments for '%s' command", title(a)))
	case c.subscribed() > 0 && c.version == 2 && !forSubscribers(cmd, a[0]):
		c.refuse(a, fmt.Sprintf("Can't execute '%s': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context", title(a)))
	case c.forbids(cmd, a[0]) != "":
		c.refuse(a, c.forbids(cmd, a[0]))
	case c.multi && cmd.kind != controls:
		c.enqueue(a)
	default:
		c.call(cmd, a)
		c.handOver()
	}
	if c.silent != 0 && (cmd == nil || cmd.kind != subscribes) { // those have no replies, but messages
		c.hush(before)
	}
}

// hush takes back what has been answered since.
func (c *client) hush(before int) {
	c.out = c.out[:min(before, len(c.out))]
	if c.silent > 0 {
		c.silent--
	}
}

func forSubscribers(cmd *command, name []byte) bool {
	return cmd.kind == subscribes || is(name, "ping") || is(name, "quit") || is(name, "reset")
}

// unknown says that there is no such command, and shows the beginning of the request.
func unknown(a [][]byte) string {
	var args []byte
	for _, word := range a[1:] {
		if len(args) >= 128 {
			break
		}
		args = fmt.Appendf(args, "'%s' ", head(word, 128-len(args)))
	}
	return fmt.Sprintf("unknown command '%s', with args beginning with: %s", head(a[0], 128), args)
}

func head(word []byte, n int) []byte { return word[:min(n, len(word))] }

// refuse answers a request that cannot be run. Within a transaction it makes EXEC fail; an EXEC itself ends the
// transaction.
func (c *client) refuse(a [][]byte, why string) {
	c.broken = c.broken || c.multi
	if is(a[0], "exec") {
		c.forget()
		c.error("EXECABORT Transaction discarded because of: " + why)
		return
	}
	c.refusal(why)
}

// refusal answers with an error that has its own kind, or else the usual one.
func (c *client) refusal(why string) {
	if why != outOfMemory && why != noReplicas {
		why = "ERR " + why
	}
	c.error(why)
}

// call runs a command, and records its changes in the file.
func (c *client) call(cmd *command, a [][]byte) {
	c.server.commands++
	before, database := c.keys.changes, c.keys.number
	c.last = string(title(a))
	c.keys.event = c.last
	cmd.run(c, a)
	if cmd.kind != writes {
		return
	}
	if c.keys.changes != before && c.keys.record != nil {
		if c.effect != nil {
			a = c.effect
		}
		c.keys.record(database, a)
	}
	c.effect = nil
}

// amounts has the file record these words instead of the request: its effect, whenever it is replayed.
func (c *client) amounts(words ...[]byte) { c.effect = words }

func is(word []byte, lower string) bool { return bytes.EqualFold(word, []byte(lower)) }
