package promise

// Origins: with Config.Debug, the places that a promise came through.

import (
	"strings"

	"github.com/turnloop/turnloop/internal/place"
	"github.com/turnloop/turnloop/internal/sched/atomic"
)

// origin is the place where a promise was created, and the places that it came through. It holds no promise.
type origin struct {
	at    place.Place
	from  *origin // of the promise that it was derived from
	depth int     // how many origins there are before it

	// followed has the places of the promise whose outcome this one gets: the promise that it was resolved with, or the one
	// that decided a combinator. It is a copy, since with pointers an endless chain of promises would keep all its origins.
	// Written on the loop; any goroutine reads it.
	followed atomic.Pointer[[]place.Place]
}

// mostPlaces is how many places of a promise are reported.
const mostPlaces = 16

func (r *Realm) newOrigin(from *origin) *origin {
	o := &origin{from: from}
	if from != nil {
		if o.depth = from.depth + 1; o.depth > 2*mostPlaces { // forget the rest
			o.from, o.depth = from.shortened(mostPlaces), mostPlaces
		}
	}
	if r.here != nil {
		o.at = *r.here()
	} else {
		o.at = *place.Here(2)
	}
	return o
}

// shortened returns a copy of o and of the n-1 origins before it. The copy refers to no older origins.
func (o *origin) shortened(n int) *origin {
	c := &origin{at: o.at, depth: n - 1}
	if n > 1 && o.from != nil {
		c.from = o.from.shortened(n - 1)
	}
	return c
}

// places returns the places that are known, the latest first.
func (o *origin) places() (all []place.Place) {
	for ; o != nil && len(all) < mostPlaces; o = o.from {
		all = append(all, o.at)
		if followed := o.followed.Load(); followed != nil {
			all = append(all, *followed...)
		}
	}
	return all[:min(len(all), mostPlaces)]
}

// cameThrough notes that p gets the outcome of q. On the loop.
func (p *Promise) cameThrough(q *Promise) {
	if p.origin != nil && q.origin != nil && q.origin != p.origin.from {
		places := q.origin.places()
		p.origin.followed.Store(&places)
	}
}

// String tells where a promise was created, and what it came from; it returns "" for nil.
func (o *origin) String() string {
	if o == nil {
		return ""
	}
	var b strings.Builder
	before := ""
	for i, at := range o.places() {
		switch text := (&at).String(); {
		case i == 0:
			b.WriteString(" (created by " + text)
			before = text
		case text != before:
			b.WriteString("; from " + text)
			before = text
		}
	}
	b.WriteString(")")
	return b.String()
}
