package promise

// Origins: with Config.Debug, the places that a promise came through.

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/turnloop/turnloop/internal/sched/atomic"
)

// origin is where a promise was created, and what it came from. It holds no promise.
type origin struct {
	place
	from  *origin // of the promise that it was derived from
	depth int     // how many there are before it

	// followed are the places of the promise whose outcome it gets: the one that it was resolved with, or that decided a
	// combinator. A copy, as what goes on for ever would otherwise keep all that it came through. Written on the loop.
	followed atomic.Pointer[[]place]
}

// place is the stack on which a promise was created: enough of it to see past this package, and zeros.
type place [8]uintptr

// mostPlaces is how many places are told of a promise.
const mostPlaces = 16

func newOrigin(from *origin) *origin {
	o := &origin{from: from}
	if from != nil {
		if o.depth = from.depth + 1; o.depth > 2*mostPlaces { // forget the rest
			o.from, o.depth = from.shortened(mostPlaces), mostPlaces
		}
	}
	runtime.Callers(3, o.place[:])
	return o
}

// shortened returns a copy of the last n, which holds nothing of those before.
func (o *origin) shortened(n int) *origin {
	c := &origin{place: o.place, depth: n - 1}
	if n > 1 && o.from != nil {
		c.from = o.from.shortened(n - 1)
	}
	return c
}

// places returns what is known, the last first.
func (o *origin) places() (all []place) {
	for ; o != nil && len(all) < mostPlaces; o = o.from {
		all = append(all, o.place)
		if followed := o.followed.Load(); followed != nil {
			all = append(all, *followed...)
		}
	}
	return all[:min(len(all), mostPlaces)]
}

// cameThrough notes that p gets the outcome of q.
func (p *Promise) cameThrough(q *Promise) {
	if p.origin != nil && q.origin != nil && q.origin != p.origin.from {
		places := q.origin.places()
		p.origin.followed.Store(&places)
	}
}

// created tells where p was created, and what it came from, or nothing if that was not recorded.
func (p *Promise) created() string {
	if p.origin == nil {
		return ""
	}
	var b strings.Builder
	before := ""
	for i, at := range p.origin.places() {
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

// ownNames are what the names of functions begin with that make promises for others.
var ownNames = []string{
	"github.com/turnloop/turnloop/eventloop/promise.",
	"github.com/turnloop/turnloop/eventloop/js.",
	"github.com/turnloop/turnloop/eventloop.",
}

// String tells the first function on the stack that is not one of ours.
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
