package main

// Tables: maps that can be looked through in steps while they change, and have a random element.

import (
	"math/rand/v2"
	"slices"
)

// table keeps its items in a row without gaps: the last one takes the place of one that is removed. So an item only ever moves to a
// lower place, and who goes through the row from its end to its beginning, in as many steps as he likes, sees each one that stays.
type table[V any] struct {
	places map[string]int
	items  []item[V]
}

type item[V any] struct {
	key   string
	value V
}

func newTable[V any]() *table[V] { return &table[V]{places: map[string]int{}} }

func (t *table[V]) len() int { return len(t.items) }

func (t *table[V]) get(key []byte) (value V, ok bool) {
	if i, ok := t.places[string(key)]; ok {
		return t.items[i].value, true
	}
	return value, false
}

// set tells whether the key is new.
func (t *table[V]) set(key []byte, value V) bool {
	if i, ok := t.places[string(key)]; ok {
		t.items[i].value = value
		return false
	}
	own := string(key)
	t.places[own] = len(t.items)
	t.items = append(t.items, item[V]{own, value})
	return true
}

// remove tells whether there was such a key.
func (t *table[V]) remove(key []byte) bool {
	i, ok := t.places[string(key)]
	if !ok {
		return false
	}
	delete(t.places, t.items[i].key)
	last := len(t.items) - 1
	if i != last {
		t.items[i] = t.items[last]
		t.places[t.items[i].key] = i
	}
	t.items[last] = item[V]{}
	t.items = t.items[:last]
	if cap(t.items) > 4*len(t.items)+64 {
		t.items = slices.Clone(t.items)
	}
	return true
}

// random returns an item of a table that is not empty.
func (t *table[V]) random() item[V] { return t.items[rand.IntN(len(t.items))] }

// scan returns some items, and the cursor for the next; 0 is both the beginning and the end.
func (t *table[V]) scan(cursor, count int) (some []item[V], next int) {
	end := min(cursor, len(t.items))
	if cursor == 0 {
		end = len(t.items)
	}
	next = max(0, end-count)
	return t.items[next:end], next
}
