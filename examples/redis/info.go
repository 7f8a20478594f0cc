package main

// Commands on the server and on connections, as far as clients need them.

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/turnloop/turnloop/internal/resp"
)

const version = "7.0.0" // the version of Redis whose commands these are

func init() {
	register(map[string]*command{
		"ping":   {-1, reads, ping},
		"echo":   {2, reads, func(c *client, a [][]byte) { c.bulk(a[1]) }},
		"quit":   {-1, controls, func(c *client, _ [][]byte) { c.ok(); c.ends = true }},
		"reset":  {1, controls, reset},
		"select": {2, reads, selectDB},
		"hello":  {-1, reads, hello},
		"auth": {-2, reads, func(c *client, a [][]byte) {
			if c.authenticate(a[1:]) {
				c.ok()
			}
		}},
		"info": {-1, reads, info},
		"time": {1, reads, func(c *client, _ [][]byte) {
			now := time.Now()
			c.strings(fmt.Sprint(now.Unix()), fmt.Sprint(now.Nanosecond()/1000))
		}},
		"swapdb": {3, writes, swap},
		"client": {-2, family, nil}, "pubsub": {-2, family, nil}, "command": {-1, family, listCommands}, "function": {-2, family, nil},
	})
	maps.Copy(subcommands, map[string]*command{
		"client|id":      {2, reads, func(c *client, _ [][]byte) { c.int64(c.id) }},
		"client|getname": {2, reads, getName},
		"client|setname": {3, reads, func(c *client, a [][]byte) {
			if c.rename(a[2]) {
				c.ok()
			}
		}},
		"client|setinfo": {4, reads, func(c *client, _ [][]byte) { c.ok() }},
		"command|count":  {2, reads, func(c *client, _ [][]byte) { c.int(len(commands)) }},
		"command|docs":   {-2, reads, func(c *client, _ [][]byte) { c.array(0) }},
		"function|flush": {-2, reads, func(c *client, _ [][]byte) { c.ok() }}, // there are none
		"client|list":    {-2, reads, clientList},
		"client|reply":   {3, reads, silence},
		"client|unblock": {-3, reads, unblock},
		"client|info":    {2, reads, func(c *client, _ [][]byte) { c.string(c.about()) }},
		"pubsub|numpat":  {2, reads, func(c *client, _ [][]byte) { c.int(len(c.server.patterns.Of)) }},
		"pubsub|numsub": {-2, reads, func(c *client, a [][]byte) {
			c.array(2 * len(a[2:]))
			for _, name := range a[2:] {
				c.bulk(name)
				c.int(len(c.server.channels.in(string(name))))
			}
		}},
		"pubsub|channels": {-2, reads, channels},
	})
}

func ping(c *client, a [][]byte) {
	switch {
	case len(a) > 2:
		c.wrongCount(a)
	case c.subscribed() > 0 && c.version == 2:
		c.strings("pong", string(bytes.Join(a[1:], nil)))
	case len(a) == 2:
		c.bulk(a[1])
	default:
		c.simple("PONG")
	}
}

func selectDB(c *client, a [][]byte) {
	if k := c.database(a[1]); k != nil {
		c.keys = k
		c.ok()
	}
}

// database reads the number of a database; it answers, and returns nil, if there is no such database.
func (c *client) database(word []byte) *keyspace {
	switch n, ok := resp.ParseInt(word); {
	case !ok:
		c.notInteger()
	case n != int64(int32(n)):
		c.error("ERR value is out of range, value must between -2147483648 and 2147483647")
	case n < 0 || n >= databases:
		c.error("ERR DB index is out of range")
	default:
		return c.databases[n]
	}
	return nil
}

// swap is SWAPDB: two databases take each other's content, for those who have selected them, watch them and wait there.
func swap(c *client, a [][]byte) {
	var two [2]int64
	for i, which := range []string{"first", "second"} {
		var ok bool
		if two[i], ok = resp.ParseInt(a[1+i]); !ok || two[i] != int64(int32(two[i])) {
			c.error("ERR invalid " + which + " DB index")
			return
		}
	}
	if min(two[0], two[1]) < 0 || max(two[0], two[1]) >= databases {
		c.error("ERR DB index is out of range")
		return
	}
	c.keys.changes++
	if c.ok(); two[0] == two[1] {
		return
	}
	one, other := c.databases[two[0]], c.databases[two[1]]
	one.settle(other)
	other.settle(one)
	one.content, other.content = other.content, one.content
	one.home, other.home = one, other
	one.swapped(other)
	other.swapped(one)
}

// settle removes what has expired of the keys that clients watch here. What comes from the other database is no change if it
// is not there any more.
func (k *keyspace) settle(other *keyspace) {
	for key := range k.watched.Of {
		k.find([]byte(key))
		other.find([]byte(key))
	}
}

// swapped tells those who watch keys or wait for them of the content that was the other's.
func (k *keyspace) swapped(other *keyspace) {
	for key := range k.watched.Of {
		if one := []byte(key); k.alive(one) || other.alive(one) {
			k.mark(one)
		}
	}
	for key := range k.waiting {
		if k.alive([]byte(key)) {
			k.ready = append(k.ready, place{k.number, key})
		}
	}
}

// reset brings a connection into the state of a new one.
func reset(c *client, _ [][]byte) {
	c.forget()
	c.unsubscribeAll()
	c.name, c.version, c.keys = "", 2, c.databases[0]
	c.simple("RESET")
}

// authenticate checks a password, or a name and a password. The only user is default, and has none.
func (c *client) authenticate(words [][]byte) bool {
	switch {
	case len(words) == 1:
		c.error("ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?")
	case len(words) > 2:
		c.syntax()
	case string(words[0]) != "default":
		c.error("WRONGPASS invalid username-password pair or user is disabled.")
	default:
		return true
	}
	return false
}

func getName(c *client, _ [][]byte) {
	if c.name == "" {
		c.null()
	} else {
		c.string(c.name)
	}
}

func (c *client) rename(name []byte) bool {
	for _, b := range name {
		if b < '!' || b > '~' {
			c.error("ERR Client names cannot contain spaces, newlines or special characters.")
			return false
		}
	}
	c.name = string(name)
	return true
}

func hello(c *client, a [][]byte) {
	version2or3 := c.version
	if len(a) > 1 {
		if n, ok := resp.ParseInt(a[1]); !ok {
			c.error("ERR Protocol version is not an integer or out of range")
			return
		} else if version2or3 = int(n); n != 2 && n != 3 {
			c.error("NOPROTO unsupported protocol version")
			return
		}
	}
	for i := 2; i < len(a); i++ {
		switch rest := len(a) - i - 1; {
		case is(a[i], "auth") && rest >= 2:
			if !c.authenticate(a[i+1 : i+3]) {
				return
			}
			i += 2
		case is(a[i], "setname") && rest >= 1:
			if i++; !c.rename(a[i]) {
				return
			}
		default:
			c.error(fmt.Sprintf("ERR Syntax error in HELLO option '%s'", a[i]))
			return
		}
	}
	c.version = version2or3
	c.pairs(7)
	c.values("server", "redis", "version", version, "proto", c.version, "id", int(c.id), "mode", "standalone", "role", "master", "modules", []any{})
}

func listCommands(c *client, _ [][]byte) {
	c.array(len(commands))
	for name, cmd := range commands {
		c.list(name, cmd.words, []any{}, 0, 0, 0) // no flags, no positions of keys
	}
}

func clientList(c *client, a [][]byte) {
	if len(a) > 2 && (!is(a[2], "id") || len(a) == 3) {
		c.syntax()
		return
	}
	var all []string
	for one := range c.clients {
		if len(a) == 2 || slices.ContainsFunc(a[3:], func(id []byte) bool { return string(id) == fmt.Sprint(one.id) }) {
			all = append(all, one.about())
		}
	}
	slices.Sort(all)
	c.string(strings.Join(all, ""))
}

// silence is CLIENT REPLY, which chooses whether requests are answered at all.
func silence(c *client, a [][]byte) {
	switch {
	case is(a[2], "on"):
		c.silent = 0
		c.ok()
	case is(a[2], "off"):
		c.silent = -1
	case is(a[2], "skip"):
		if c.silent == 0 {
			c.silent = 2
		}
	default:
		c.syntax()
	}
}

// unblock is CLIENT UNBLOCK: it ends the wait of another client, as its timeout or with an error.
func unblock(c *client, a [][]byte) {
	answer := (*client).nullArray
	if len(a) > 3 {
		if is(a[3], "error") {
			answer = func(c *client) { c.error("UNBLOCKED client unblocked via CLIENT UNBLOCK") }
		} else if !is(a[3], "timeout") || len(a) > 4 {
			c.error("ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR")
			return
		}
	}
	n, ok := resp.ParseInt(a[2])
	if !ok {
		c.notInteger()
		return
	}
	for one := range c.clients {
		if one.id == n && one.wait != nil {
			one.endWait(func() { answer(one) })
			c.int(1)
			return
		}
	}
	c.int(0)
}

func channels(c *client, a [][]byte) {
	if len(a) > 3 {
		c.wrongCount(a)
		return
	}
	var found []string
	for name := range c.server.channels.Of {
		if len(a) == 2 || matches(string(a[2]), name) {
			found = append(found, name)
		}
	}
	slices.Sort(found)
	c.strings(found...)
}

func info(c *client, _ [][]byte) {
	appends := 0
	if c.log != nil {
		appends = 1
	}
	keyspaces := ""
	for _, k := range c.databases {
		if n := k.entries.len(); n > 0 {
			keyspaces += fmt.Sprintf("db%d:keys=%d,expires=%d,avg_ttl=0\r\n", k.number, n, k.expiring)
		}
	}
	c.string(fmt.Sprintf("# Server\r\nredis_version:%s\r\nprocess_id:%d\r\nuptime_in_seconds:%d\r\n\r\n"+
		"# Clients\r\nconnected_clients:%d\r\nmaxclients:%d\r\nblocked_clients:%d\r\n\r\n# Memory\r\nused_memory:%d\r\n\r\n"+
		"# Persistence\r\naof_enabled:%d\r\n\r\n# Stats\r\ntotal_connections_received:%d\r\ntotal_commands_processed:%d\r\n"+
		"rejected_connections:%d\r\nclient_output_buffer_limit_disconnections:%d\r\nexpired_keys:%d\r\n"+
		"pubsub_channels:%d\r\npubsub_patterns:%d\r\n\r\n# Replication\r\nrole:master\r\n\r\n# Keyspace\r\n%s",
		version, os.Getpid(), int(time.Since(c.began).Seconds()), len(c.clients), c.maxClients, c.blocked, used(), appends,
		c.accepted, c.server.commands, c.refused, c.dropped, c.keys.expired, len(c.server.channels.Of), len(c.server.patterns.Of), keyspaces))
}

// about describes a client, as CLIENT LIST does.
func (c *client) about() string {
	addr := ""
	if c.conn != nil {
		addr = c.conn.RemoteAddr().String()
	}
	multi := -1
	if c.multi {
		multi = len(c.queue)
	}
	return fmt.Sprintf("id=%d addr=%s name=%s db=%d sub=%d psub=%d multi=%d cmd=%s user=default resp=%d\n", c.id, addr, c.name,
		c.keys.number, len(c.subscriptions.channels), len(c.subscriptions.patterns), multi, c.last, c.version)
}
