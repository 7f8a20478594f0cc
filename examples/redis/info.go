package main

// Commands on the server and on connections, as far as clients need them.

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/turnloop/turnloop/internal/resp"
)

const version = "7.0.0" // whose commands these are

func init() {
	register(map[string]*command{
		"ping":   {-1, reads, ping},
		"echo":   {2, reads, func(c *client, a [][]byte) { c.bulk(a[1]) }},
		"quit":   {-1, controls, func(c *client, _ [][]byte) { c.ok(); c.ends = true }},
		"select": {2, reads, selectDB},
		"hello":  {-1, reads, hello},
		"auth": {-2, reads, func(c *client, _ [][]byte) {
			c.error("ERR AUTH called without any password configured for the default user")
		}},
		"client":  {-2, reads, clientInfo},
		"command": {-1, reads, commandInfo},
		"config":  {-2, reads, config},
		"info":    {-1, reads, info},
	})
}

func ping(c *client, a [][]byte) {
	switch {
	case len(a) > 2:
		c.error("ERR wrong number of arguments for 'ping' command")
	case c.subscribed() > 0:
		c.strings("pong", string(bytes.Join(a[1:], nil)))
	case len(a) == 2:
		c.bulk(a[1])
	default:
		c.simple("PONG")
	}
}

func selectDB(c *client, a [][]byte) {
	if is(a[1], "0") {
		c.ok()
	} else {
		c.error("ERR DB index is out of range")
	}
}

func hello(c *client, a [][]byte) {
	if len(a) > 1 && !is(a[1], "2") {
		c.error("NOPROTO unsupported protocol version")
		return
	}
	c.list("server", "redis", "version", version, "proto", 2, "id", int(c.id), "mode", "standalone", "role", "master", "modules", []any{})
}

func clientInfo(c *client, a [][]byte) {
	switch {
	case is(a[1], "id") && len(a) == 2:
		c.int64(c.id)
	case is(a[1], "getname") && len(a) == 2:
		c.string(c.name)
	case is(a[1], "setname") && len(a) == 3:
		c.name = string(a[2])
		c.ok()
	case is(a[1], "setinfo") && len(a) == 4:
		c.ok()
	default:
		c.subcommand(a)
	}
}

func commandInfo(c *client, a [][]byte) {
	switch {
	case len(a) > 1 && is(a[1], "count"):
		c.int(len(commands))
	case len(a) > 1: // its documentation, among others
		c.array(0)
	default:
		c.array(len(commands))
		for name, cmd := range commands {
			c.list(name, cmd.words, []any{}, 0, 0, 0) // flags, and where its keys are
		}
	}
}

func config(c *client, a [][]byte) {
	if !is(a[1], "get") || len(a) != 3 {
		c.subcommand(a)
		return
	}
	appends := "no"
	if c.log != nil {
		appends = "yes"
	}
	var found []string
	for _, p := range [][2]string{{"appendonly", appends}, {"appendfsync", c.fsync}, {"databases", "1"}, {"save", ""},
		{"maxclients", fmt.Sprint(c.maxClients)}, {"timeout", fmt.Sprint(int(c.timeout.Seconds()))}, {"proto-max-bulk-len", fmt.Sprint(resp.MaxBulk)}} {
		if matches(string(a[2]), p[0]) {
			found = append(found, p[:]...)
		}
	}
	c.strings(found...)
}

func info(c *client, _ [][]byte) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	c.string(fmt.Sprintf("# Server\r\nredis_version:%s\r\nprocess_id:%d\r\nuptime_in_seconds:%d\r\n\r\n"+
		"# Clients\r\nconnected_clients:%d\r\nmaxclients:%d\r\n\r\n# Memory\r\nused_memory:%d\r\n\r\n"+
		"# Persistence\r\naof_enabled:%t\r\n\r\n# Stats\r\ntotal_connections_received:%d\r\ntotal_commands_processed:%d\r\n"+
		"rejected_connections:%d\r\nclient_output_buffer_limit_disconnections:%d\r\nexpired_keys:%d\r\n"+
		"pubsub_channels:%d\r\npubsub_patterns:%d\r\n\r\n# Replication\r\nrole:master\r\n\r\n# Keyspace\r\ndb0:keys=%d\r\n",
		version, os.Getpid(), int(time.Since(c.began).Seconds()), len(c.clients), c.maxClients, m.HeapAlloc, c.log != nil,
		c.accepted, c.server.commands, c.refused, c.dropped, c.keys.expired, len(c.server.channels), len(c.server.patterns), c.keys.entries.len()))
}
