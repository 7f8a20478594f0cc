package eventloop

// What the runtime's own tools see of a loop: regions in traces, labels in profiles.

import (
	"context"
	"fmt"
	"runtime/pprof"
	"runtime/trace"
	"strconv"
)

// phases are the regions of a tick, in their order; sleep includes what descriptors bring.
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

// regions are there while a trace is being written. The loop looks for that once a tick.
type regions struct {
	on      bool
	current *trace.Region
	names   [phases]string
}

// look is for the beginning of a tick.
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

// label gives the calling goroutine, which is going to run the loop, its label in profiles, beside those of ctx. What it
// starts inherits them.
func (l *Loop) label(ctx context.Context) {
	pprof.SetGoroutineLabels(pprof.WithLabels(ctx, pprof.Labels("loop", strconv.FormatUint(l.id, 10))))
}
