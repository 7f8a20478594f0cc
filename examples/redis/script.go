package main

// The only script, which releases a lock.

import (
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"maps"
	"strings"
)

func init() {
	register(map[string]*command{"eval": {-3, writes, eval}, "evalsha": {-3, writes, eval}, "script": {-2, family, nil}})
	maps.Copy(subcommands, map[string]*command{
		"script|load": {3, reads, func(c *client, a [][]byte) {
			if digest, ok := c.load(a[2]); ok {
				c.string(digest)
			}
		}},
		"script|exists": {-3, reads, func(c *client, a [][]byte) {
			c.array(len(a) - 2)
			for _, digest := range a[2:] {
				c.truth(c.scripts[strings.ToLower(string(digest))])
			}
		}},
		"script|flush": {-2, reads, func(c *client, _ [][]byte) { clear(c.scripts); c.ok() }},
	})
}

// unlock is the only script, without spaces: what clients release a lock with.
const unlock = `ifredis.call("get",keys[1])==argv[1]thenreturnredis.call("del",keys[1])elsereturn0end`

// load learns the digest of a form of the script's text, or answers that it is another script.
func (c *client) load(text []byte) (digest string, ok bool) {
	plain := strings.NewReplacer(";", "", "'", `"`).Replace(strings.ToLower(strings.Join(strings.Fields(string(text)), "")))
	if plain != unlock {
		c.error("ERR the only script is the one that compares a key with a value and deletes it")
		return "", false
	}
	sum := sha1.Sum(text)
	digest = hex.EncodeToString(sum[:])
	if len(c.scripts) < 100 { // of the forms that its text has
		c.scripts[digest] = true
	}
	return digest, true
}

// eval is EVAL and EVALSHA of that script: a key is removed if it has the value.
func eval(c *client, a [][]byte) {
	if is(a[0], "evalsha") {
		if !c.scripts[strings.ToLower(string(a[1]))] {
			c.error("NOSCRIPT No matching script. Please use EVAL.")
			return
		}
	} else if _, ok := c.load(a[1]); !ok {
		return
	}
	if len(a) != 5 || string(a[2]) != "1" {
		c.error("ERR the script has one key and one argument")
		return
	}
	e := c.keys.find(a[3])
	switch {
	case e != nil && e.text == nil:
		c.error(wrongType)
	case e == nil || !bytes.Equal(e.text, a[4]):
		c.int(0)
	default:
		c.keys.remove(a[3])
		c.amounts([]byte("DEL"), a[3])
		c.int(1)
	}
}
