package main

// The keys: their values, their expiry, and the clients that watch them.

import (
	"bytes"
	"container/list"
	"strconv"
	"time"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/internal/resp"
)

// entry is the value of a key: a string, or something else.
type entry struct {
	text    []byte            // the string; nil if it is something else
	form    form              // of the string, for OBJECT ENCODING
	other   any               // *deque, *table[[]byte] for a hash, *table[struct{}] for a set
	expires int64             // milliseconds since 1970; 0 is never
	timer   eventloop.TimerID // removes it then; 0 without expiry
}

// form tells what redis-server would know of a string besides its bytes.
type form uint8

const (
	natural form = iota // it follows from the bytes
	noInt               // a sum of fractions is no integer, whatever its bytes are
	inPlace             // it was changed where it is
)

// store is what the databases have in common.
type store struct {
	loop    *eventloop.Loop
	now     func() int64                   // milliseconds since 1970; the clock itself, which time reads
	instant int64                          // what time has read for the command or callback that runs; 0 if nothing yet
	record  func(database int, a [][]byte) // appends to the file; nil without one, and while it is replayed
	asleep  bool                           // the file is being replayed: nothing expires
	changes int64                          // by commands
	expired int64
	ready   []place // keys that have changed while clients wait for them
	lazy    bool    // only a lookup removes what has expired; see DEBUG

	event   string // of the command that runs: its name, or what it tells of
	heard   string // the classes of events that are published
	publish func(channel, message string) int
}

// place is a key of a database.
type place struct {
	database int
	key      string
}

// keyspace is a database. A lookup removes an entry that has expired; a timer of the loop removes it if there is no
// lookup.
type keyspace struct {
	*store
	*content
	number  int
	watched listeners
	waiting map[string]*list.List // the clients that wait for a value of a key, the first in front; see blocking.go
}

// content is what SWAPDB gives to another database.
type content struct {
	home     *keyspace // that has it
	entries  *table[*entry]
	expiring int // entries that expire
}

func newStore(loop *eventloop.Loop) *store {
	return &store{loop: loop, now: func() int64 { return time.Now().UnixMilli() }}
}

func newKeyspace(s *store, number int) *keyspace {
	k := &keyspace{store: s, content: &content{entries: newTable[*entry]()}, number: number, waiting: map[string]*list.List{}}
	k.home = k
	return k
}

// time returns the time at which the command that runs, or the whole transaction, happens. It stays the same meanwhile: if a
// key expired between two lookups of a command, the command would change what the file says is gone.
func (k *store) time() int64 {
	if k.instant == 0 {
		k.instant = k.now()
	}
	return k.instant
}

// find returns the value of a key, nil if there is no such key.
func (k *keyspace) find(key []byte) *entry {
	e, ok := k.entries.get(key)
	if !ok {
		return nil
	}
	if !k.lives(e) {
		own := bytes.Clone(key)
		k.drop(own, e)
		k.expired++
		k.tell('x', "expired", own)
		if k.record != nil {
			k.record(k.number, [][]byte{[]byte("DEL"), own})
		}
		return nil
	}
	return e
}

// lives tells whether an entry has not expired yet.
func (k *store) lives(e *entry) bool { return e.expires == 0 || k.asleep || k.time() < e.expires }

// alive tells whether there is a key, and leaves it there if it has expired.
func (k *keyspace) alive(key []byte) bool {
	e, ok := k.entries.get(key)
	return ok && k.lives(e)
}

// make returns the value of a key, and makes an empty one if there is no such key.
func (k *keyspace) make(key []byte) *entry {
	e := k.find(key)
	if e == nil {
		e = new(entry)
		k.put(key, e, 0)
	}
	return e
}

// put gives a new key a value that has its expiry already.
func (k *keyspace) put(key []byte, e *entry, expires int64) {
	k.entries.set(key, e)
	k.expireAt(key, e, expires)
	k.tell('n', "new", key)
}

// change is touch for an event that is not the command's own.
func (k *keyspace) change(event string, key []byte) {
	k.event = event
	k.touch(key)
}

// remove removes a key, and tells whether there was one.
func (k *keyspace) remove(key []byte) bool {
	e, ok := k.entries.get(key)
	if !ok {
		return false
	}
	k.drop(key, e)
	k.changes++
	k.tell('g', "del", key)
	return true
}

// drop removes an entry, by a command or because it has expired. The latter is no change by the command that looks it up.
func (k *keyspace) drop(key []byte, e *entry) {
	k.expireAt(key, e, 0)
	k.entries.remove(key)
	k.mark(key)
}

// touch counts a change of a key and marks the clients that watch it. Each change of a value by a command must call it.
func (k *keyspace) touch(key []byte) {
	k.changes++
	k.mark(key)
	k.tellChange(key)
	if len(k.waiting) > 0 && k.waiting[string(key)] != nil {
		k.ready = append(k.ready, place{k.number, string(key)})
	}
}

func (k *keyspace) mark(key []byte) {
	for c := range k.watched.in(string(key)) {
		c.stale = true
	}
}

// expireAt sets when an entry expires; 0 is never.
func (k *keyspace) expireAt(key []byte, e *entry, at int64) {
	if e.timer != 0 {
		_ = k.loop.CancelTimer(e.timer)
		e.timer = 0
	}
	if e.expires != 0 {
		k.expiring--
	}
	if at != 0 {
		k.expiring++
	}
	if e.expires = at; at != 0 && !k.asleep {
		k.wait(string(key), e)
	}
}

// wait sets the timer of an entry. The timer looks at the clock again and may wait longer: the wall clock may have
// been set, and a long time is waited for in pieces.
func (k *keyspace) wait(key string, e *entry) {
	rest := min(max(0, e.expires-k.time()), int64(24*time.Hour/time.Millisecond))
	in := k.content
	e.timer, _ = k.loop.ScheduleTimer(time.Duration(rest)*time.Millisecond, func() {
		e.timer, in.home.instant = 0, 0
		if k := in.home; !k.lazy && k.find([]byte(key)) == e {
			k.wait(key, e)
		}
	})
}

// awaken starts the expiry of what was read from the file, or has expired while DEBUG kept it.
func (k *keyspace) awaken() {
	for _, i := range k.entries.items {
		if i.value.expires != 0 && i.value.timer == 0 {
			k.wait(i.key, i.value)
		}
	}
}

// clear removes all keys.
func (k *keyspace) clear() {
	k.changes++
	for key := range k.watched.Of {
		if k.alive([]byte(key)) {
			k.mark([]byte(key))
		}
	}
	for _, i := range k.entries.items {
		k.expireAt([]byte(i.key), i.value, 0)
	}
	k.entries = newTable[*entry]()
}

const notInteger = "value is not an integer or out of range"

const wrongType = "WRONGTYPE Operation against a key holding the wrong kind of value"

// on makes a command of f. f gets the value of the key, or one made by fresh if there is no such key, and tells
// whether it has changed it. An empty value is removed.
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
			c.keys.tellChange(a[1])
			c.keys.remove(a[1])
		default:
			c.keys.make(a[1]).other = v
			c.keys.touch(a[1])
		}
	}
}

// checked makes a command that looks at its words before it looks at a key. check tells whether they are right, or
// answers.
func checked(check func(c *client, a [][]byte) bool, run func(*client, [][]byte)) func(*client, [][]byte) {
	return func(c *client, a [][]byte) {
		if check(c, a) {
			run(c, a)
		}
	}
}

// numbers checks that these words are numbers.
func numbers(places ...int) func(*client, [][]byte) bool {
	return func(c *client, a [][]byte) bool {
		for _, i := range places {
			if _, ok := resp.ParseInt(a[i]); !ok {
				c.notInteger()
				return false
			}
		}
		return true
	}
}

func decimal(n int64) []byte { return strconv.AppendInt(nil, n, 10) }
