package main

// CONFIG: what the server tells of its settings, and which of them may change while it runs.

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/turnloop/turnloop/internal/resp"
)

// setting is a setting: its names, how it is read, and how it is changed, if it can be. set tells whether the value is
// allowed.
type setting struct {
	names []string
	get   func(s *server) string
	set   func(o *options, value string) bool
}

// forms are the settings that choose how redis-server keeps values. Here they choose what OBJECT ENCODING answers, and
// nothing else.
type forms struct{ hashEntries, hashValue, setIntegers, listSize, listDepth int }

var usualForms = forms{512, 64, 512, -2, 0}

var settings = []setting{
	fixed("appendonly", func(s *server) string {
		if s.log != nil {
			return "yes"
		}
		return "no"
	}),
	fixed("appendfsync", func(s *server) string { return s.fsync }),
	fixed("databases", func(*server) string { return strconv.Itoa(databases) }),
	fixed("save", func(*server) string { return "" }),
	fixed("maxmemory-policy", func(*server) string { return "noeviction" }),
	fixed("proto-max-bulk-len", func(*server) string { return strconv.Itoa(resp.MaxBulk) }),
	number("min-replicas-to-write min-slaves-to-write", 0, func(o *options) *int { return &o.minReplicas }),
	number("maxclients", 1, func(o *options) *int { return &o.maxClients }),
	number("hash-max-listpack-entries hash-max-ziplist-entries", 0, func(o *options) *int { return &o.forms.hashEntries }),
	number("hash-max-listpack-value hash-max-ziplist-value", 0, func(o *options) *int { return &o.forms.hashValue }),
	number("set-max-intset-entries", 0, func(o *options) *int { return &o.forms.setIntegers }),
	number("list-max-listpack-size list-max-ziplist-size", -1<<31, func(o *options) *int { return &o.forms.listSize }),
	number("list-compress-depth", 0, func(o *options) *int { return &o.forms.listDepth }),
	{[]string{"timeout"}, func(s *server) string { return strconv.Itoa(int(s.timeout.Seconds())) },
		func(o *options, value string) bool {
			n, ok := between(value, 0)
			o.timeout = time.Duration(n) * time.Second
			return ok
		}},
	{[]string{"maxmemory"}, func(s *server) string { return strconv.FormatInt(s.maxMemory, 10) },
		func(o *options, value string) (ok bool) {
			o.maxMemory, ok = resp.ParseInt([]byte(value))
			return ok && o.maxMemory >= 0
		}},
	{[]string{"notify-keyspace-events"}, func(s *server) string {
		return strings.NewReplacer(allEvents+"n", "A", allEvents, "A").Replace(s.events)
	},
		func(o *options, value string) (ok bool) {
			o.events, ok = letters(value)
			return ok
		}},
}

func fixed(name string, get func(s *server) string) setting { return setting{[]string{name}, get, nil} }

func number(names string, least int, of func(o *options) *int) setting {
	return setting{strings.Fields(names), func(s *server) string { return strconv.Itoa(*of(&s.options)) },
		func(o *options, value string) (ok bool) {
			*of(o), ok = between(value, least)
			return ok
		}}
}

// between reads a number of 31 bits that is at least least.
func between(value string, least int) (n int, ok bool) {
	long, ok := resp.ParseInt([]byte(value))
	return int(long), ok && long >= int64(least) && long < 1<<31
}

func init() {
	register(map[string]*command{"config": {-2, family, nil}})
	maps.Copy(subcommands, map[string]*command{
		"config|get": {-3, reads, config},
		"config|set": {-4, reads, configure},
		"config|resetstat": {2, reads, func(c *client, _ [][]byte) {
			c.statistics, c.keys.expired = statistics{}, 0
			c.ok()
		}},
	})
}

func config(c *client, a [][]byte) {
	var found []string
	for _, s := range settings {
		for _, name := range s.names {
			if slices.ContainsFunc(a[2:], func(p []byte) bool { return matches(strings.ToLower(string(p)), name) }) {
				found = append(found, name, s.get(c.server))
			}
		}
	}
	c.pairs(len(found) / 2)
	for _, s := range found {
		c.string(s)
	}
}

// configure is CONFIG SET: of all the settings that it names, or of none. A setting that cannot change may be set to what it is.
func configure(c *client, a [][]byte) {
	if len(a)%2 != 0 {
		c.wrongCount(a)
		return
	}
	o := c.options
	for i := 2; i < len(a); i += 2 {
		name, value := string(bytes.ToLower(a[i])), string(a[i+1])
		at := slices.IndexFunc(settings, func(s setting) bool { return slices.Contains(s.names, name) })
		if at < 0 {
			c.error(fmt.Sprintf("ERR Unknown option or number of arguments for CONFIG SET - '%s'", a[i]))
			return
		}
		if s := settings[at]; s.set == nil && value != s.get(c.server) || s.set != nil && !s.set(&o, value) {
			c.error(fmt.Sprintf("ERR CONFIG SET failed (possibly related to argument '%s') - argument is out of range", a[i]))
			return
		}
	}
	c.options = o
	c.server.store.heard = o.events
	c.ok()
}
