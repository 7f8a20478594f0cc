package main

// Commands on the server and on connections, as far as clients need them.

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"runtime"
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
		"info":   {-1, reads, info},
		"client": {-2, family, nil}, "pubsub": {-2, family, nil}, "config": {-2, family, nil}, "command": {-1, family, listCommands},
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
		"config|get":     {-3, reads, config},
		"config|set":     {-4, reads, configure},
		"client|list":    {2, reads, clientList},
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
	switch n, ok := resp.ParseInt(a[1]); {
	case !ok:
		c.notInteger()
	case n != int64(int32(n)):
		c.error("ERR value is out of range, value must between -2147483648 and 2147483647")
	case n < 0 || n >= databases:
		c.error("ERR DB index is out of range")
	default:
		c.keys = c.databases[n]
		c.ok()
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

func config(c *client, a [][]byte) {
	appends := "no"
	if c.log != nil {
		appends = "yes"
	}
	var found []string
	for _, p := range [][2]string{{"appendonly", appends}, {"appendfsync", c.fsync}, {"databases", fmt.Sprint(databases)}, {"save", ""},
		{"maxclients", fmt.Sprint(c.maxClients)}, {"timeout", fmt.Sprint(int(c.timeout.Seconds()))}, {"proto-max-bulk-len", fmt.Sprint(resp.MaxBulk)}} {
		if slices.ContainsFunc(a[2:], func(pattern []byte) bool { return matches(string(pattern), p[0]) }) {
			found = append(found, p[:]...)
		}
	}
	c.pairs(len(found) / 2)
	for _, s := range found {
		c.string(s)
	}
}

// configure is CONFIG SET of the few settings that may change while the server runs.
func configure(c *client, a [][]byte) {
	if len(a)%2 != 0 {
		c.wrongCount(a)
		return
	}
	o := c.options
	for i := 2; i < len(a); i += 2 {
		n, ok := resp.ParseInt(a[i+1])
		switch name := a[i]; {
		case is(name, "timeout") && ok && n >= 0 && n < 1<<31:
			o.timeout = time.Duration(n) * time.Second
		case is(name, "maxclients") && ok && n > 0 && n < 1<<31:
			o.maxClients = int(n)
		case is(name, "save") && len(a[i+1]) == 0:
		case is(name, "timeout"), is(name, "maxclients"), is(name, "save"):
			c.error(fmt.Sprintf("ERR CONFIG SET failed (possibly related to argument '%s') - argument is out of range", name))
			return
		default:
			c.error(fmt.Sprintf("ERR Unknown option or number of arguments for CONFIG SET - '%s'", name))
			return
		}
	}
	c.options = o
	c.ok()
}

func clientList(c *client, _ [][]byte) {
	var all []string
	for one := range c.clients {
		all = append(all, one.about())
	}
	slices.Sort(all)
	c.string(strings.Join(all, ""))
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
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
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
		version, os.Getpid(), int(time.Since(c.began).Seconds()), len(c.clients), c.maxClients, c.blocked, m.HeapAlloc, appends,
		c.accepted, c.server.commands, c.refused, c.dropped, c.keys.expired, len(c.server.channels.Of), len(c.server.patterns.Of), keyspaces))
}
