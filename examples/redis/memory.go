package main

// Memory: what of it is used, and what maxmemory keeps from growing. Nothing is evicted.

import (
	"runtime/metrics"
	"strings"
)

// frees are the commands that write and run when memory is short, too: they add nothing to what is kept.
var frees = map[string]bool{}

func init() {
	for _, name := range strings.Fields(`del unlink getdel getex expire pexpire expireat pexpireat persist flushdb flushall
		hdel srem spop smove lpop rpop lrem ltrim lmpop blmpop blpop brpop rename renamenx move swapdb eval evalsha`) {
		frees[name] = true
	}
}

const outOfMemory = "OOM command not allowed when used memory > 'maxmemory'."

// used returns the bytes of the program's objects.
func used() int64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}

// tooMuch tells whether a command may not run for want of memory.
func (c *client) tooMuch(cmd *command, name []byte) bool {
	return c.maxMemory > 0 && cmd.kind == writes && !c.keys.asleep && !frees[strings.ToLower(string(name))] && used() > c.maxMemory
}
