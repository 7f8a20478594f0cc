package main

// What may not be written: more than maxmemory, of which nothing is evicted, and anything while replicas are wanted.

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

const (
	outOfMemory = "OOM command not allowed when used memory > 'maxmemory'."
	noReplicas  = "NOREPLICAS Not enough good replicas to write."
)

// used returns the bytes of the program's objects.
func used() int64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}

// forbids returns why a command that writes may not run: for want of memory, or of replicas, of which there are none.
func (c *client) forbids(cmd *command, name []byte) string {
	switch {
	case cmd.kind != writes || c.keys.asleep:
	case c.minReplicas > 0:
		return noReplicas
	case c.maxMemory > 0 && !frees[strings.ToLower(string(name))] && used() > c.maxMemory:
		return outOfMemory
	}
	return ""
}
