package promise

// Origins: with Config.Debug, the places that a promise came through.

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/turnloop/turnloop/internal/sched/atomic"
)

// origin is the place where a promise was created, and the places that it came through. It holds no promise.
type origin struct {
	place
	from  *origin // of the promise that it was derived from
	depth int     // how many origins there are before it

	// followed has the places of the promise whose outcome this one gets: the promise that it was resolved with, or the one
	// that decided a combinator. It is a copy, since with pointers an endless chain of promises would keep all its origins.
	// Written on the loop; any goroutine reads it.
	followed atomic.Pointer[[]place]
}

// place is the top of the stack on which a promise was created: enough of it to see past this package; unused entries are 0.
type place [8]uintptr

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
		o.place = *r.here()
	} else {
		runtime.Callers(3, o.place[:])
	}
	return o
}

// shortened returns a copy of o and of the n-1 origins before it. The copy refers to no older origins.
func (o *origin) shortened(n int) *origin {
	c := &origin{place: o.place, depth: n - 1}
	if n > 1 && o.from != nil {
		c.from = o.from.shortened(n - 1)
	}
	return c
}

// places returns the places that are known, the latest first.
func (o *origin) places() (all []place) {
	for ; o != nil && len(all) < mostPlaces; o = o.from {
		all = append(all, o.place)
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

// ownNames are the prefixes of functions of this module that make promises for their callers.
var ownNames = []string{
	"github.com/turnloop/turnloop/eventloop/promise.",
	"github.com/turnloop/turnloop/eventloop/flow.",
	"github.com/turnloop/turnloop/eventloop/js.",
	"github.com/turnloop/turnloop/eventloop.",
}

// String names the first function on the stack that ownNames does not match, and its line.
func (p *place) String() string {
	for frames := runtime.CallersFrames(p[:]); ; {
		f, more := frames.Next()
		own := false
		for _, name := range ownNames {
			own = own || strings.HasPrefix(f.Function, name)
		}
		if !own || !more {
			return fmt.Sprintf("%s at %s:%d", f.Function, filepath.Base(f.File), f.Line)
		}
	}
}
