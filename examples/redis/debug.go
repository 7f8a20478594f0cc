package main

// DEBUG, as far as it harms nobody: what tests of clients ask of redis-server.

import "maps"

func init() {
	register(map[string]*command{"debug": {-2, family, nil}})
	fine := func(c *client, _ [][]byte) { c.ok() }
	maps.Copy(subcommands, map[string]*command{
		"debug|log":               {3, reads, fine},
		"debug|jmap":              {2, reads, fine},
		"debug|reload":            {-2, reads, fine}, // what would be read is what is there
		"debug|set-active-expire": {3, reads, activeExpire},

		"debug|quicklist-packed-threshold": {3, reads, fine}, // lists have one form
	})
}

// activeExpire chooses whether timers remove what has expired; otherwise only a lookup does.
func activeExpire(c *client, a [][]byte) {
	if c.keys.lazy = string(a[2]) == "0"; !c.keys.lazy {
		for _, k := range c.databases {
			k.awaken()
		}
	}
	c.ok()
}
