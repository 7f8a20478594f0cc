package main

// SORT: the values of a list or a set in an order, by themselves or by what other keys have for them.

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/turnloop/turnloop/internal/resp"
)

func init() {
	register(map[string]*command{"sort": {-2, writes, sortValues}, "sort_ro": {-2, reads, sortValues}})
}

// order is what the words of SORT choose.
type order struct {
	by, target    []byte // nil if not given
	get           [][]byte
	offset, count int64 // a negative count is no limit
	descends      bool
	alpha         bool // compares texts, not numbers
}

func (c *client) order(a [][]byte) (o order, ok bool) {
	o.count = -1
	for i := 2; i < len(a); i++ {
		rest := len(a) - i - 1
		switch w := a[i]; {
		case is(w, "asc"):
			o.descends = false
		case is(w, "desc"):
			o.descends = true
		case is(w, "alpha"):
			o.alpha = true
		case is(w, "limit") && rest >= 2:
			var first, second bool
			o.offset, first = resp.ParseInt(a[i+1])
			o.count, second = resp.ParseInt(a[i+2])
			if !first || !second {
				c.notInteger()
				return o, false
			}
			i += 2
		case is(w, "by") && rest >= 1:
			i++
			o.by = a[i]
		case is(w, "get") && rest >= 1:
			i++
			o.get = append(o.get, a[i])
		case is(w, "store") && rest >= 1 && !is(a[0], "sort_ro"):
			i++
			o.target = a[i]
		default:
			c.syntax()
			return o, false
		}
	}
	return o, true
}

// sortable is a value with what it is compared by.
type sortable struct {
	value, text []byte
	score       float64
}

func sortValues(c *client, a [][]byte) {
	o, ok := c.order(a)
	if !ok {
		return
	}
	e := c.keys.find(a[1])
	var all []sortable
	inSet := false
	if e != nil {
		switch v := e.other.(type) {
		case *deque:
			for _, value := range v.all() {
				all = append(all, sortable{value: value})
			}
		case *members:
			inSet = true
			for _, i := range v.items {
				all = append(all, sortable{value: []byte(i.key)})
			}
		default:
			c.error(wrongType)
			return
		}
	}
	asItIs := o.by != nil && !bytes.Contains(o.by, []byte{'*'})
	if asItIs && inSet && o.target != nil { // what is stored has an order that does not depend on how the set is kept
		asItIs, o.by, o.alpha = false, nil, true
	}
	if !asItIs && !c.sort(all, o) {
		return
	}
	begin := min(max(o.offset, 0), int64(len(all)))
	end := int64(len(all))
	if o.count >= 0 {
		end = begin + min(o.count, end-begin)
	}
	c.answerSorted(all[begin:end], o)
}

// sort sorts values; it answers, and returns false, if one has no number to compare by.
func (c *client) sort(all []sortable, o order) bool {
	for i := range all {
		one := &all[i]
		if one.text = one.value; o.by != nil {
			one.text = c.keys.lookUp(o.by, one.value)
		}
		if o.alpha || one.text == nil {
			continue
		}
		var ok bool
		if one.score, ok = score(string(one.text)); !ok {
			c.error("ERR One or more scores can't be converted into double")
			return false
		}
	}
	slices.SortStableFunc(all, func(a, b sortable) int {
		order := 0
		switch {
		case !o.alpha && a.score != b.score:
			order = 1
			if a.score < b.score {
				order = -1
			}
		case o.alpha && (a.text == nil) != (b.text == nil):
			order = 1
			if a.text == nil {
				order = -1
			}
		case o.alpha:
			order = bytes.Compare(a.text, b.text)
		}
		if order == 0 {
			order = bytes.Compare(a.value, b.value)
		}
		if o.descends {
			return -order
		}
		return order
	})
	return true
}

// score reads a number as the C library does: a zero byte ends it, nothing is zero, spaces may stand before it, and it may be hexadecimal.
func score(text string) (f float64, ok bool) {
	if text, _, _ = strings.Cut(text, "\x00"); text == "" {
		return 0, true
	}
	text = strings.TrimLeft(text, " \t\n\v\f\r")
	if strings.HasPrefix(strings.ToLower(text), "0x") && !strings.ContainsAny(text, "pP") {
		text += "p0"
	}
	f, err := strconv.ParseFloat(text, 64)
	return f, err == nil && !math.IsNaN(f) && !strings.Contains(text, "_")
}

// lookUp returns what a key has whose name a pattern makes of a value, nil if there is none: a string, or behind -> a field of a
// hash. The pattern # is the value itself.
func (k *keyspace) lookUp(pattern, value []byte) []byte {
	if string(pattern) == "#" {
		return value
	}
	before, after, found := bytes.Cut(pattern, []byte{'*'})
	if !found {
		return nil
	}
	name, field, hash := bytes.Cut(after, []byte("->"))
	if hash = hash && len(field) > 0; !hash {
		name = after
	}
	e := k.find(slices.Concat(before, value, name))
	switch {
	case e == nil:
		return nil
	case !hash:
		return e.text
	}
	if t, ok := e.other.(*fields); ok {
		v, _ := t.get(field)
		return v
	}
	return nil
}

// answerSorted answers with values, or stores them.
func (c *client) answerSorted(all []sortable, o order) {
	if o.get == nil {
		o.get = [][]byte{{'#'}}
	}
	var values [][]byte
	for _, one := range all {
		for _, pattern := range o.get {
			values = append(values, c.keys.lookUp(pattern, one.value))
		}
	}
	if o.target == nil {
		c.array(len(values))
		for _, v := range values {
			c.reply(v)
		}
		return
	}
	c.int(len(values))
	old := c.keys.find(o.target)
	if len(values) == 0 {
		if old != nil {
			c.keys.remove(o.target)
		}
		return
	}
	if old != nil {
		c.keys.drop(o.target, old)
	}
	d := new(deque)
	for _, v := range values {
		d.pushBack(append([]byte{}, v...))
	}
	c.keys.make(o.target).other = d
	c.keys.change("sortstore", o.target)
}
