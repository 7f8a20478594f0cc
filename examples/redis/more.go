package main

// Parts of strings, numbers with a fraction, other names for keys, and the script that releases a lock.

import (
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"math/big"
	"strings"

	"github.com/turnloop/turnloop/internal/resp"
)

const noKey = "ERR no such key"

func init() {
	register(map[string]*command{
		"getrange":    {4, reads, checked(numbers(2, 3), onText(getRange))},
		"setrange":    {4, writes, checked(numbers(2), onText(setRange))},
		"incrbyfloat": {3, writes, onText(incrByFloat)},
		"getex":       {-2, writes, checked(getExOptions, onText(getEx))},
		"msetnx":      {-3, writes, msetnx},
		"rename":      {3, writes, rename},
		"renamenx":    {3, writes, rename},
		"srandmember": {-2, reads, checked(upToOne, on(newTable[struct{}], randomMembers))},
		"eval":        {-3, writes, eval},
		"evalsha":     {-3, writes, eval},
	})
}

func getRange(c *client, old []byte, a [][]byte) {
	begin, end := limits(a[2], a[3], len(old))
	c.bulk(old[begin:end])
}

func setRange(c *client, old []byte, a [][]byte) {
	at, _ := resp.ParseInt(a[2])
	switch {
	case at < 0:
		c.error("ERR offset is out of range")
		return
	case len(a[3]) == 0:
		c.int(len(old))
		return
	case at > int64(resp.MaxBulk-len(a[3])):
		c.error("ERR string exceeds maximum allowed size (proto-max-bulk-len)")
		return
	}
	all := append(make([]byte, 0, max(len(old), int(at)+len(a[3]))), old...)[:max(len(old), int(at)+len(a[3]))]
	copy(all[at:], a[3])
	c.update(a[1], all)
	c.int(len(all))
}

// fraction reads a number with a fraction, in the precision of redis-server's.
func fraction(b []byte) (*big.Float, bool) {
	f, _, err := big.ParseFloat(string(b), 10, 64, big.ToNearestEven)
	if err != nil || bytes.ContainsAny(b, "_p") || !f.IsInf() && (f.MantExp(nil) > 1<<14 || f.MantExp(nil) < -1<<14) {
		return nil, false
	}
	return f, true
}

func incrByFloat(c *client, old []byte, a [][]byte) {
	if old == nil {
		old = []byte("0")
	}
	before, ok := fraction(old)
	amount, also := fraction(a[2])
	if !ok || !also {
		c.error("ERR value is not a valid float")
		return
	}
	if before.IsInf() || amount.IsInf() {
		c.error("ERR increment would produce NaN or Infinity")
		return
	}
	text := strings.TrimRight(strings.TrimRight(new(big.Float).SetPrec(64).Add(before, amount).Text('f', 17), "0"), ".")
	if text == "-0" {
		text = "0"
	}
	c.update(a[1], []byte(text))
	c.string(text)
	c.amounts([]byte("SET"), a[1], []byte(text), []byte("KEEPTTL"))
}

func getExOptions(c *client, a [][]byte) bool {
	ok := len(a) == 2 || len(a) == 3 && is(a[2], "persist") ||
		len(a) == 4 && (is(a[2], "ex") || is(a[2], "px") || is(a[2], "exat") || is(a[2], "pxat"))
	if !ok {
		c.syntax()
	}
	return ok
}

func upToOne(c *client, a [][]byte) bool {
	if len(a) > 3 {
		c.syntax()
	}
	return len(a) <= 3
}

func getEx(c *client, old []byte, a [][]byte) {
	persist, e := len(a) == 3, c.keys.find(a[1])
	if e == nil {
		c.null()
		return
	}
	var at int64
	if len(a) == 4 {
		var ok bool
		if at, ok = c.moment(a[0], a[3], 1, a[2][0]|0x20 == 'e', len(a[2]) == 2); !ok {
			return
		}
	}
	c.bulk(old)
	switch {
	case persist && e.expires != 0:
		c.keys.expireAt(a[1], e, 0)
		c.keys.touch(a[1])
		c.amounts([]byte("PERSIST"), a[1])
	case at != 0 && at <= c.keys.time() && !c.keys.asleep:
		c.keys.remove(a[1])
		c.amounts([]byte("DEL"), a[1])
	case at != 0:
		c.keys.expireAt(a[1], e, at)
		c.keys.touch(a[1])
		c.amounts([]byte("PEXPIREAT"), a[1], decimal(at))
	}
}

func msetnx(c *client, a [][]byte) {
	if len(a)%2 == 0 {
		c.wrongCount(a)
		return
	}
	for i := 1; i < len(a); i += 2 {
		if c.keys.find(a[i]) != nil {
			c.int(0)
			return
		}
	}
	at := len(c.out)
	mset(c, a)
	c.out = c.out[:at]
	c.int(1)
}

// rename is RENAME and RENAMENX.
func rename(c *client, a [][]byte) {
	e, only := c.keys.find(a[1]), is(a[0], "renamenx")
	switch {
	case e == nil:
		c.error(noKey)
		return
	case only && c.keys.find(a[2]) != nil:
		c.int(0)
		return
	}
	if !bytes.Equal(a[1], a[2]) {
		expires := e.expires
		c.keys.remove(a[1])
		if c.keys.find(a[2]) != nil {
			c.keys.remove(a[2])
		}
		c.keys.entries.set(a[2], e)
		c.keys.expireAt(a[2], e, expires)
		c.keys.touch(a[2])
	}
	if only {
		c.int(1)
	} else {
		c.ok()
	}
}

// randomMembers is SRANDMEMBER: with a number so many different members, with a negative one members that may come again.
func randomMembers(c *client, t *members, a [][]byte) bool {
	n := int64(1)
	if len(a) > 2 {
		var ok bool
		if n, ok = resp.ParseInt(a[2]); !ok {
			c.notInteger()
			return false
		}
	}
	switch {
	case len(a) == 2 && t.len() == 0:
		c.null()
	case len(a) == 2:
		c.string(t.random().key)
	case t.len() == 0:
		c.array(0)
	case n < -resp.MaxArgs:
		c.error("ERR value is out of range")
	case n < 0:
		c.array(int(-n))
		for range -n {
			c.string(t.random().key)
		}
	default:
		chosen := map[string]bool{}
		if n >= int64(t.len()) {
			c.members(t)
			return false
		}
		c.array(int(n))
		for int64(len(chosen)) < n {
			if m := t.random().key; !chosen[m] {
				chosen[m] = true
				c.string(m)
			}
		}
	}
	return false
}

// unlock is the only script, without spaces: what clients release a lock with.
const unlock = `ifredis.call("get",keys[1])==argv[1]thenreturnredis.call("del",keys[1])elsereturn0end`

// eval is EVAL and EVALSHA of that script: a key is removed if it has the value.
func eval(c *client, a [][]byte) {
	if is(a[0], "evalsha") {
		if !c.scripts[strings.ToLower(string(a[1]))] {
			c.error("NOSCRIPT No matching script. Please use EVAL.")
			return
		}
	} else {
		text := strings.NewReplacer(";", "", "'", `"`).Replace(strings.ToLower(strings.Join(strings.Fields(string(a[1])), "")))
		if text != unlock {
			c.error("ERR the only script is the one that compares a key with a value and deletes it")
			return
		}
		digest := sha1.Sum(a[1])
		if len(c.scripts) < 100 { // of the forms that its text has
			c.scripts[hex.EncodeToString(digest[:])] = true
		}
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

// about describes a client, as CLIENT LIST does.
func (c *client) about() string {
	addr := ""
	if c.conn != nil {
		addr = c.conn.RemoteAddr().String()
	}
	multi := -1
	if c.multi {
		multi = len(c.queue)
	}
	return fmt.Sprintf("id=%d addr=%s name=%s db=%d sub=%d psub=%d multi=%d cmd=%s user=default resp=%d\n", c.id, addr, c.name,
		c.keys.number, len(c.subscriptions.channels), len(c.subscriptions.patterns), multi, c.last, c.version)
}
