package main

// The keys: what they hold, when they expire, and who watches them.

import (
	"bytes"
	"strconv"
	"time"

	"github.com/turnloop/turnloop/eventloop"
)

// entry is what a key holds: a string, or something else.
type entry struct {
	text    []byte            // nil if it is something else
	other   any               // *deque, *table[[]byte] for a hash, *table[struct{}] for a set
	expires int64             // milliseconds since 1970; 0 is never
	timer   eventloop.TimerID // that removes it then
}

// keyspace is all keys. An entry that has expired is gone for whoever asks; a timer of the loop frees its memory although nobody does.
type keyspace struct {
	loop    *eventloop.Loop
	entries *table[*entry]
	watched map[string]map[*client]struct{}
	now     func() int64     // milliseconds since 1970
	record  func(a [][]byte) // tells the file; nil while that is read, when nothing expires, and without one
	asleep  bool             // the file is read
	changes int64
	expired int64
}

func newKeyspace(loop *eventloop.Loop) *keyspace {
	return &keyspace{loop: loop, entries: newTable[*entry](), watched: map[string]map[*client]struct{}{},
		now: func() int64 { return time.Now().UnixMilli() }}
}

// find returns what a key holds, nil if there is no such key.
func (k *keyspace) find(key []byte) *entry {
	e, ok := k.entries.get(key)
	if !ok {
		return nil
	}
	if !k.lives(e) {
		own := bytes.Clone(key)
		k.remove(own)
		k.expired++
		if k.record != nil {
			k.record([][]byte{[]byte("DEL"), own})
		}
		return nil
	}
	return e
}

// lives tells whether an entry has not expired.
func (k *keyspace) lives(e *entry) bool { return e.expires == 0 || k.asleep || k.now() < e.expires }

// make returns what a key holds, and makes it if there is no such key.
func (k *keyspace) make(key []byte) *entry {
	e := k.find(key)
	if e == nil {
		e = new(entry)
		k.entries.set(key, e)
	}
	return e
}

// remove tells whether there was such a key.
func (k *keyspace) remove(key []byte) bool {
	e, ok := k.entries.get(key)
	if !ok {
		return false
	}
	k.expireAt(key, e, 0)
	k.entries.remove(key)
	k.touch(key)
	return true
}

// touch is called after each change of what a key holds: those who watch it hear of it, and so does the file.
func (k *keyspace) touch(key []byte) {
	k.changes++
	for c := range k.watched[string(key)] {
		c.stale = true
	}
}

// expireAt sets when an entry expires; 0 is never.
func (k *keyspace) expireAt(key []byte, e *entry, at int64) {
	if e.timer != 0 {
		_ = k.loop.CancelTimer(e.timer)
		e.timer = 0
	}
	if e.expires = at; at != 0 && !k.asleep {
		k.wait(string(key), e)
	}
}

// wait sets the timer of an entry, which looks again whether the time has come: the clock of the wall may be set, and what is far away
// is waited for in pieces.
func (k *keyspace) wait(key string, e *entry) {
	rest := min(max(0, e.expires-k.now()), int64(24*time.Hour/time.Millisecond))
	e.timer, _ = k.loop.ScheduleTimer(time.Duration(rest)*time.Millisecond, func() {
		e.timer = 0
		if k.find([]byte(key)) == e {
			k.wait(key, e)
		}
	})
}

// awaken lets what was read from the file expire.
func (k *keyspace) awaken() {
	k.asleep = false
	for _, i := range k.entries.items {
		if i.value.expires != 0 {
			k.wait(i.key, i.value)
		}
	}
}

// clear removes all keys.
func (k *keyspace) clear() {
	k.changes++
	for key := range k.watched {
		if _, ok := k.entries.get([]byte(key)); ok {
			k.touch([]byte(key))
		}
	}
	for _, i := range k.entries.items {
		k.expireAt([]byte(i.key), i.value, 0)
	}
	k.entries = newTable[*entry]()
}

const wrongType = "WRONGTYPE Operation against a key holding the wrong kind of value"

// on makes a command of f, which gets what a key holds, or if there is no such key what fresh makes, and tells whether it has changed that.
// Nothing is kept that is empty.
func on[T interface{ len() int }](fresh func() T, f func(c *client, v T, a [][]byte) (changed bool)) func(*client, [][]byte) {
	return func(c *client, a [][]byte) {
		var v T
		e := c.keys.find(a[1])
		if e == nil {
			v = fresh()
		} else if held, ok := e.other.(T); ok {
			v = held
		} else {
			c.error(wrongType)
			return
		}
		switch {
		case !f(c, v, a):
		case v.len() == 0:
			c.keys.remove(a[1])
		default:
			c.keys.make(a[1]).other = v
			c.keys.touch(a[1])
		}
	}
}

func decimal(n int64) []byte { return strconv.AppendInt(nil, n, 10) }
