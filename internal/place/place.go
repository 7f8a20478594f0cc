// Package place tells where something was created: the first function on the stack that is not this module's own.
package place

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Place is the top of the stack on which something was created: enough frames to see past this module, then zeros.
type Place [8]uintptr

// Here returns the stack of its caller, without as many of the first frames as skip says.
func Here(skip int) *Place {
	p := new(Place)
	runtime.Callers(2+skip, p[:]) // 2 are Callers and Here
	return p
}

// own are prefixes of the names of functions that create things for others.
var own = []string{
	"github.com/turnloop/turnloop/eventloop.",
	"github.com/turnloop/turnloop/eventloop/flow.",
	"github.com/turnloop/turnloop/eventloop/promise.",
	"github.com/turnloop/turnloop/eventloop/js.",
	"github.com/turnloop/turnloop/eventloop/threadlet.",
	"github.com/turnloop/turnloop/internal/observe.",
}

// String returns function, file and line of the first frame that is not in own; "" for nil.
func (p *Place) String() string {
	if p == nil {
		return ""
	}
	f, _ := p.frame()
	return fmt.Sprintf("%s at %s:%d", f.Function, filepath.Base(f.File), f.Line)
}

// From returns "from" and the place; "" for nil.
func (p *Place) From() string {
	if p == nil {
		return ""
	}
	return "from " + p.String()
}

// Outside tells whether a frame is not in own.
func (p *Place) Outside() bool {
	_, outside := p.frame()
	return outside
}

// frame returns the first frame that is not in own; false, and the last frame, if there is none.
func (p *Place) frame() (f runtime.Frame, outside bool) {
	for frames, more := runtime.CallersFrames(p[:]), true; more && !outside; {
		f, more = frames.Next()
		outside = !slices.ContainsFunc(own, func(name string) bool { return strings.HasPrefix(f.Function, name) })
	}
	return f, outside
}
