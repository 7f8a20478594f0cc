package main

// Parts of strings: bytes, bits, numbers with a fraction, and what two strings have in common.

import (
	"bytes"
	"math/big"
	"slices"
	"strings"

	"github.com/turnloop/turnloop/internal/resp"
)

func init() {
	register(map[string]*command{
		"getrange":    {4, reads, checked(numbers(2, 3), onText(getRange))},
		"substr":      {4, reads, checked(numbers(2, 3), onText(getRange))},
		"setrange":    {4, writes, checked(offset, onText(setRange))},
		"getbit":      {3, reads, checked(bit, onText(getBit))},
		"setbit":      {4, writes, checked(bit, onText(setBit))},
		"incrbyfloat": {3, writes, onText(incrByFloat)},
		"lcs":         {-3, reads, lcs},
	})
}

func getRange(c *client, old []byte, a [][]byte) {
	first, _ := resp.ParseInt(a[2])
	last, _ := resp.ParseInt(a[3])
	if n := int64(len(old)); last < 0 && last+n < 0 && !(first < 0 && first > last) {
		a[3] = []byte{'0'} // an end before the beginning is the beginning, not as in a list
	}
	begin, end := limits(a[2], a[3], len(old))
	c.bulk(old[begin:end])
}

// offset checks where SETRANGE begins.
func offset(c *client, a [][]byte) bool {
	n, ok := resp.ParseInt(a[2])
	switch {
	case !ok:
		c.notInteger()
	case n < 0:
		c.error("ERR offset is out of range")
		return false
	}
	return ok
}

func setRange(c *client, old []byte, a [][]byte) {
	at, _ := resp.ParseInt(a[2])
	switch {
	case len(a[3]) == 0:
		c.int(len(old))
		return
	case at > int64(resp.MaxBulk-len(a[3])):
		c.error("ERR string exceeds maximum allowed size (proto-max-bulk-len)")
		return
	}
	all := append(make([]byte, 0, max(len(old), int(at)+len(a[3]))), old...)[:max(len(old), int(at)+len(a[3]))]
	copy(all[at:], a[3])
	c.update(a[1], all).form = inPlace
	c.int(len(all))
}

// bit checks the offset of a bit, and its new value if there is one.
func bit(c *client, a [][]byte) bool {
	n, ok := resp.ParseInt(a[2])
	if !ok || n < 0 || n >= 8*resp.MaxBulk {
		c.error("ERR bit offset is not an integer or out of range")
		return false
	}
	if len(a) > 3 && string(a[3]) != "0" && string(a[3]) != "1" {
		c.error("ERR bit is not an integer or out of range")
		return false
	}
	return true
}

// bitAt returns the value of a bit, the byte that it is in, and where it is there. The first bit is the highest of the first
// byte.
func bitAt(text, offset []byte) (value, at int, mask byte) {
	n, _ := resp.ParseInt(offset)
	at, mask = int(n/8), 0x80>>(n%8)
	if at < len(text) && text[at]&mask != 0 {
		value = 1
	}
	return value, at, mask
}

func getBit(c *client, old []byte, a [][]byte) {
	value, _, _ := bitAt(old, a[2])
	c.int(value)
}

func setBit(c *client, old []byte, a [][]byte) {
	value, at, mask := bitAt(old, a[2])
	all := append(old, make([]byte, max(0, at+1-len(old)))...)
	all[at] &^= mask
	if a[3][0] == '1' {
		all[at] |= mask
	}
	c.update(a[1], all).form = inPlace
	c.int(value)
}

// fraction reads a number with a fraction, in the precision of redis-server's.
func fraction(b []byte) (*big.Float, bool) {
	base, no := 10, "_p"
	if sign := bytes.TrimLeft(b, "+-"); len(sign) > 1 && sign[0] == '0' && sign[1]|0x20 == 'x' {
		base, no = 0, "_"
	}
	f, _, err := big.ParseFloat(string(b), base, 64, big.ToNearestEven)
	if err != nil || bytes.ContainsAny(b, no) || !f.IsInf() && (f.MantExp(nil) > 1<<14 || f.MantExp(nil) < -1<<14) {
		return nil, false
	}
	return f, true
}

func incrByFloat(c *client, old []byte, a [][]byte) {
	if text, ok := c.sumOfFractions(old, a[2], notFloat); ok {
		c.update(a[1], []byte(text)).form = noInt
		c.string(text)
		c.amounts([]byte("SET"), a[1], []byte(text), []byte("KEEPTTL"))
	}
}

const notFloat = "value is not a valid float"

// sumOfFractions adds to old, which is zero if it is nil. If old is not a number, it answers with the error what.
func (c *client) sumOfFractions(old, amount []byte, what string) (text string, ok bool) {
	if old == nil {
		old = []byte("0")
	}
	more, ok := fraction(amount)
	if !ok {
		c.error("ERR " + notFloat)
		return "", false
	}
	before, ok := fraction(old)
	if !ok {
		c.error("ERR " + what)
		return "", false
	}
	if before.IsInf() || more.IsInf() {
		c.error("ERR increment would produce NaN or Infinity")
		return "", false
	}
	text = strings.TrimRight(strings.TrimRight(new(big.Float).SetPrec(64).Add(before, more).Text('f', 17), "0"), ".")
	if text == "-0" {
		text = "0"
	}
	return text, true
}

// lcs is LCS, which finds the longest text that two strings have in common, with gaps.
func lcs(c *client, a [][]byte) {
	var two [2][]byte
	for i, key := range a[1:3] {
		if e := c.keys.find(key); e != nil {
			if two[i] = e.text; e.text == nil {
				c.error("ERR The specified keys must contain string values")
				return
			}
		}
	}
	var length, ranges, lengths bool
	least := int64(0)
	for i := 3; i < len(a); i++ {
		switch w := a[i]; {
		case is(w, "len"):
			length = true
		case is(w, "idx"):
			ranges = true
		case is(w, "withmatchlen"):
			lengths = true
		case is(w, "minmatchlen") && i+1 < len(a):
			var ok bool
			i++
			if least, ok = resp.ParseInt(a[i]); !ok {
				c.notInteger()
				return
			}
		default:
			c.syntax()
			return
		}
	}
	if length && ranges {
		c.error("ERR If you want both the length and indexes, please just use IDX.")
		return
	}
	if (len(two[0])+1)*(len(two[1])+1) > mostCells {
		c.error("ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len")
		return
	}
	pairs := common(two[0], two[1])
	switch {
	case length:
		c.int(len(pairs))
	case !ranges:
		text := make([]byte, len(pairs))
		for i, p := range pairs {
			text[i] = two[0][p[0]]
		}
		c.bulk(text)
	default:
		c.runs(pairs, least, lengths)
	}
}

const mostCells = resp.MaxBulk / 4

// runs answers with the runs of pairs that are next to each other in both strings, the last first.
func (c *client) runs(pairs [][2]int, least int64, lengths bool) {
	var all []any
	for end := len(pairs); end > 0; {
		begin := end - 1
		for begin > 0 && pairs[begin-1][0]+1 == pairs[begin][0] && pairs[begin-1][1]+1 == pairs[begin][1] {
			begin--
		}
		if first, last := pairs[begin], pairs[end-1]; int64(end-begin) >= least {
			run := []any{[]any{first[0], last[0]}, []any{first[1], last[1]}}
			if lengths {
				run = append(run, end-begin)
			}
			all = append(all, run)
		}
		end = begin
	}
	c.pairs(2)
	c.values("matches", all, "len", len(pairs))
}

// common returns the places in a and b of the longest text that they have in common.
func common(a, b []byte) (pairs [][2]int) {
	width := len(b) + 1
	longest := make([]uint32, (len(a)+1)*width) // of the first i bytes of a and the first j of b, at i*width+j
	for i := range a {
		for j := range b {
			at := (i+1)*width + j + 1
			if longest[at] = max(longest[at-1], longest[at-width]); a[i] == b[j] {
				longest[at] = longest[at-width-1] + 1
			}
		}
	}
	for i, j := len(a), len(b); i > 0 && j > 0; {
		switch at := i*width + j; {
		case a[i-1] == b[j-1]:
			i, j = i-1, j-1
			pairs = append(pairs, [2]int{i, j})
		case longest[at-width] > longest[at-1]:
			i--
		default:
			j--
		}
	}
	slices.Reverse(pairs)
	return pairs
}
