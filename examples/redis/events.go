package main

// Events: who has subscribed to what happens to keys is told of it, as far as notify-keyspace-events says.

import (
	"fmt"
	"strings"
)

// The classes of events, each with its letter. K and E are the two kinds of channels, m and n are outside of A.
const (
	allEvents   = "g$lshzxetd"
	otherEvents = "nKEm"
)

// events are the names of commands' events where they are not the commands' own.
var events = map[string]string{
	"setex": "set", "psetex": "set", "setnx": "set", "getset": "set", "mset": "set", "msetnx": "set",
	"incr": "incrby", "decr": "incrby", "decrby": "incrby",
	"lpushx": "lpush", "rpushx": "rpush", "hmset": "hset", "hsetnx": "hset",
	"expireat": "expire", "pexpire": "expire", "pexpireat": "expire",
}

// general are the events of all types of values.
var general = map[string]bool{
	"expire": true, "persist": true, "rename_from": true, "rename_to": true, "copy_to": true, "move_from": true, "move_to": true,
}

// letters reads the classes of a setting, and returns each once, in the order of redis-server. ok is false if there is no
// such class.
func letters(setting string) (heard string, ok bool) {
	setting = strings.ReplaceAll(setting, "A", allEvents)
	for _, l := range allEvents + otherEvents {
		if strings.ContainsRune(setting, l) {
			heard += string(l)
		}
	}
	return heard, strings.Trim(setting, allEvents+otherEvents) == ""
}

// tell publishes an event of a class.
func (k *keyspace) tell(class byte, event string, key []byte) {
	if strings.IndexByte(k.heard, class) < 0 {
		return
	}
	if strings.Contains(k.heard, "K") {
		k.publish(fmt.Sprintf("__keyspace@%d__:%s", k.number, key), event)
	}
	if strings.Contains(k.heard, "E") {
		k.publish(fmt.Sprintf("__keyevent@%d__:%s", k.number, event), string(key))
	}
}

// tellChange publishes the event of the command that runs.
func (k *keyspace) tellChange(key []byte) {
	if k.heard == "" {
		return
	}
	event, class := k.event, byte('g')
	if other := events[event]; other != "" {
		event = other
	}
	if e, _ := k.entries.get(key); !general[event] && e != nil {
		class = map[string]byte{"string": '$', "list": 'l', "hash": 'h', "set": 's'}[typeOf(e)]
	}
	k.tell(class, event, key)
}
