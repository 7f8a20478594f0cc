package main

// Tables: maps that can be scanned in steps while they change, and that can return a random item.

import (
	"math/rand/v2"
	"slices"

	"github.com/turnloop/turnloop/internal/slim"
)

// table keeps its items in a row without gaps: the last item takes the place of a removed one. So an item only ever
// moves to a lower place. A scan from the end to the beginning, in any number of steps, sees each item that stays.
type table[V any] struct {
	places slim.Map[string, int]
	items  []item[V]
	wide   bool // redis-server would not keep them in a compact form any more; see forms
}

type item[V any] struct {
	key   string
	value V
}

func newTable[V any]() *table[V] { return &table[V]{} }

func (t *table[V]) len() int { return len(t.items) }

func (t *table[V]) get(key []byte) (value V, ok bool) {
	if i, ok := t.places.Of[string(key)]; ok {
		return t.items[i].value, true
	}
	return value, false
}

func (t *table[V]) has(key []byte) bool {
	_, ok := t.places.Of[string(key)]
	return ok
}

// set stores a value, and tells whether the key is new.
func (t *table[V]) set(key []byte, value V) bool {
	if i, ok := t.places.Of[string(key)]; ok {
		t.items[i].value = value
		return false
	}
	own := string(key)
	t.places.Put(own, len(t.items))
	t.items = append(t.items, item[V]{own, value})
	return true
}

// remove removes a key, and tells whether there was one.
func (t *table[V]) remove(key []byte) bool {
	i, ok := t.places.Of[string(key)]
	if !ok {
		return false
	}
	t.places.Delete(t.items[i].key)
	last := len(t.items) - 1
	if i != last {
		t.items[i] = t.items[last]
		t.places.Put(t.items[i].key, i)
	}
	t.items[last] = item[V]{}
	t.items = t.items[:last]
	if cap(t.items) > 4*len(t.items)+64 {
		t.items = slices.Clone(t.items)
	}
	return true
}

// random returns a random item. The table must not be empty.
func (t *table[V]) random() item[V] { return t.items[rand.IntN(len(t.items))] }

// clone returns a table with the same items.
func (t *table[V]) clone() *table[V] {
	own := newTable[V]()
	own.wide = t.wide
	for _, i := range t.items {
		own.set([]byte(i.key), i.value)
	}
	return own
}

// scan returns at most count items, and the cursor for the next call. Cursor 0 is both the beginning and the end.
func (t *table[V]) scan(cursor, count int) (some []item[V], next int) {
	end := min(cursor, len(t.items))
	if cursor == 0 {
		end = len(t.items)
	}
	next = max(0, end-count)
	return t.items[next:end], next
}
