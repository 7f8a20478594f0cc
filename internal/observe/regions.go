package observe

// What the runtime's tracer sees of a loop: a region for each phase of a tick.

import (
	"context"
	"fmt"
	"runtime/trace"
)

// Phase is a part of a tick.
type Phase int

// The phases, in their order.
const (
	Timers Phase = iota
	Internals
	Externals
	Microtasks
	Sleep
	Descriptors
)

var phaseNames = [...]string{"timers", "internal", "tasks", "microtasks", "sleep", "descriptors"}

// Regions mark the phases of a tick while a trace is written. The loop asks once a tick whether a trace is being written. Only
// the loop's goroutine touches them.
type Regions struct {
	On      bool // a trace is written, as far as the loop knows
	current *trace.Region
	prefix  string // of the regions' names: which loop it is
}

// Look notices that a trace has begun or ended. Each tick of the loop with that number begins with it.
func (r *Regions) Look(loop uint64) {
	if trace.IsEnabled() != r.On {
		r.Leave()
		r.On, r.prefix = !r.On, fmt.Sprintf("loop %d: ", loop)
	}
}

// Enter begins the region of a phase, if a trace is written.
func (r *Regions) Enter(p Phase) {
	if r.On {
		r.begin(p)
	}
}

func (r *Regions) begin(p Phase) {
	r.Leave()
	r.current = trace.StartRegion(context.Background(), r.prefix+phaseNames[p])
}

// Leave ends the region that has begun.
func (r *Regions) Leave() {
	if r.current != nil {
		r.current.End()
	}
	r.Forget()
}

// Forget leaves a region that has ended with its goroutine.
func (r *Regions) Forget() { r.current = nil }

// Within tells whether a region has begun.
func (r *Regions) Within() bool { return r.current != nil }
