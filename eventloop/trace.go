package eventloop

// What the runtime's own tools see of a loop: regions in traces, labels in profiles.

import (
	"context"
	"fmt"
	"runtime/pprof"
	"runtime/trace"
	"strconv"
)

// phase is a part of a tick that is a region in traces; these are in their order.
type phase int

const (
	inTimers phase = iota
	inInternal
	inExternal
	inMicrotasks
	inSleep
	inDescriptors
	phases
)

var phaseNames = [phases]string{"timers", "internal", "tasks", "microtasks", "sleep", "descriptors"}

// regions mark the phases of a tick while a trace is written. The loop asks once a tick whether a trace is being written. Only
// the loop's goroutine touches them.
type regions struct {
	on      bool
	current *trace.Region
	names   [phases]string
}

// look notices that a trace has begun or ended. Each tick begins with it.
func (r *regions) look(l *Loop) {
	if trace.IsEnabled() != r.on {
		r.change(l)
	}
}

func (r *regions) change(l *Loop) {
	r.leave()
	if r.on = !r.on; r.on && r.names[0] == "" {
		for i, name := range phaseNames {
			r.names[i] = fmt.Sprintf("loop %d: %s", l.id, name)
		}
	}
}

func (r *regions) enter(p phase) {
	if r.on {
		r.begin(p)
	}
}

// workInRegions runs the work of a tick, each phase in its region, and begins the region of the sleep.
func (l *Loop) workInRegions() {
	r := &l.regions
	r.begin(inTimers)
	l.runTimers()
	r.begin(inInternal)
	l.runInternal()
	r.begin(inExternal)
	l.runExternal()
	l.runGuest()
	r.begin(inMicrotasks)
	l.checkpoint()
	l.promises.Scavenge()
	r.begin(inSleep)
}

func (r *regions) begin(p phase) {
	r.leave()
	r.current = trace.StartRegion(context.Background(), r.names[p])
}

func (r *regions) leave() {
	if r.current != nil {
		r.current.End()
		r.current = nil
	}
}

// label gives the calling goroutine, which is going to run the loop, the labels of ctx and the loop's own label for profiles.
// Goroutines that it starts inherit them.
func (l *Loop) label(ctx context.Context) {
	pprof.SetGoroutineLabels(pprof.WithLabels(ctx, pprof.Labels("loop", strconv.FormatUint(l.id, 10))))
}
