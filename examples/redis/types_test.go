package main

// Tables while they are scanned, and patterns.

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// state is everything that a server holds.
func state(s *server) string {
	s.store.instant = 0
	c := s.newClient(nil)
	var all []string
	for _, k := range s.databases {
		c.keys = k
		all = append(all, stateOf(c, k)...)
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

func stateOf(c *client, k *keyspace) (all []string) {
	for _, i := range slices.Clone(k.entries.items) {
		e := k.find([]byte(i.key))
		if e == nil {
			continue
		}
		line := fmt.Sprintf("%d %q %s %d ", k.number, i.key, typeOf(e), e.expires)
		switch typeOf(e) {
		case "string":
			line += c.answer("GET", i.key)
		case "list":
			line += c.answer("LRANGE", i.key, "0", "-1")
		case "hash":
			line += sorted(c.answer("HGETALL", i.key))
		case "set":
			line += sorted(c.answer("SMEMBERS", i.key))
		}
		all = append(all, line)
	}
	return all
}

// TestScan: a scan returns each item that stays, whatever is added and removed meanwhile.
func TestScan(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		table := newTable[int]()
		stays := map[string]bool{}
		for i := range r.IntN(60) {
			k := fmt.Sprint(i)
			table.set([]byte(k), i)
			if r.IntN(2) == 0 {
				stays[k] = true
			}
		}
		kept := maps.Clone(stays)
		for cursor := 0; ; {
			some, next := table.scan(cursor, 1+r.IntN(5))
			for _, i := range some {
				delete(stays, i.key)
			}
			if cursor = next; cursor == 0 {
				break
			}
			for range r.IntN(4) {
				k := fmt.Sprint(r.IntN(100))
				if r.IntN(2) == 0 {
					table.set([]byte(k), 0)
				} else if _, there := table.places.Of[k]; !kept[k] && table.remove([]byte(k)) != there {
					t.Fatal("remove tells something else")
				}
			}
			for k, i := range table.places.Of {
				if table.items[i].key != k {
					t.Fatal("a place is wrong")
				}
			}
		}
		if len(stays) > 0 {
			t.Fatalf("%v are not seen", stays)
		}
	}
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"*", "", true}, {"*", "a/b:c", true}, {"", "", true}, {"", "a", false}, {"a*c", "abc", true}, {"a*c", "ab", false}, {"a?c", "a/c", true},
		{"[a-c]x", "bx", true}, {"[^a-c]x", "bx", false}, {"[^a-c]x", "dx", true}, {`\*`, "*", true}, {`\*`, "a", false}, {"a/*", "a/b", true}, {"[", "[", false},
		{strings.Repeat("a*", 50) + "b", strings.Repeat("a", 5000), false},
	} {
		if got := matches(c.pattern, c.name); got != c.want {
			t.Errorf("%q, %.20q: %v", c.pattern, c.name, got)
		}
	}
}
