// The figures of the ranking, each of a phenomenon of its own. What else there is to measure of a package is a benchmark of that package.

package tournament

import (
	"testing"
	"time"

	"github.com/turnloop/turnloop/internal/tournament/record"
)

// The units that count.
const (
	mean   = "ns/op"
	median = "p50-ns/op"
	tail   = "p99-ns/op"
)

const (
	// usual is what is measured in a round. That is what testing is asked for; on the way to it, it takes about as much again.
	usual = 50 * time.Millisecond

	// longer is for what has to have many values, or meets the system's scheduler so often that a shorter time shows only that.
	longer = 200 * time.Millisecond
)

// Figures returns all figures, in the order of reports.
func Figures() []Figure {
	row := func(name, unit, measures string, run func(*testing.B, Contestant)) Figure {
		return Figure{Figure: record.Figure{Name: name, Unit: unit, Measures: measures, Window: usual}, Run: run}
	}
	out := []Figure{
		row("Submit", mean, "a task, submitted by one producer over and over", submit).quick(),
		row("SubmitOnLoop", mean, "a task that submits itself from the loop", submitOnLoop),
		row("PingPong", mean, "a task that is a fresh closure, counted in and out of a WaitGroup", pingPong),
		row("MultiProducer", mean, "a task, submitted by ten producers at once", func(b *testing.B, c Contestant) { produce(b, c, 10) }),
		row("Burst", mean, "a task of a burst of 1000, each burst drained before the next", bursts),
		row("ManyLoops/loops=64", mean, "a task for each of 64 loops, and the next when all have run", manyLoops).window(longer / 2),
		row("PingPongLatency/fd=0", mean, "a round trip: submit a task, wait until it has run", latency(false)).quick(),
		row("PingPongLatency/fd=1", mean, "the same while the loop watches a descriptor on which nothing happens", latency(true)).
			beside(BlockingControl, func(b *testing.B) { latency(true)(b, Blocking()) }),
		row("CrossLoop", mean, "a round trip of tasks between two loops", crossLoop).window(longer / 2),
		row("InternalPriority", median, "from SubmitInternal to the task's start while 10000 external tasks wait", internalPriority),
		row("OpenLoopLatency/rate=50k", median, "from the moment a task was due to arrive, at a fixed rate, to its start",
			func(b *testing.B, c Contestant) { openLoop(b, c, b.N, 20*time.Microsecond) }).window(longer),
		row("WakeFromIdle/fd=1", median, "from Submit on a parked loop, which watches a descriptor, to the task's start", wakeBesideDescriptor).quick().
			beside(BlockingControl, func(b *testing.B) { wakeBesideDescriptor(b, Blocking()) }),
		row("WakeFromIdle/then=busy", median, "the same without a descriptor, while the submitter goes on computing for up to a millisecond", wakeByBusy),
		row("Timer/op=cancel/pending=1000", mean, "a timer scheduled and cancelled on the loop, beside 1000 others", onTimers(cancelOnLoop, 1000)).quick().
			beside(RuntimeControl, inRuntime(cancelInRuntime, 1000)),
		row("Timer/op=fire/pending=1000", mean, "a timer scheduled for now by the one that fires, beside 1000 others", onTimers(fireOnLoop, 1000)).
			beside(RuntimeControl, inRuntime(fireInRuntime, 1000)),
		row("Timer/op=timeout/pending=1000", mean, "the oldest of 1000 equal timeouts cancelled, and another scheduled", onTimers(timeoutsOnLoop, 1000)).
			beside(RuntimeControl, inRuntime(timeoutsInRuntime, 1000)),
		row("TimerLateness", median, "from a timer's deadline to its start, 16 of 1 to 3 ms pending", latenessOnLoop).window(longer/2).
			beside(RuntimeControl, latenessInRuntime),
		row("Microtask/kind=chain", mean, "a microtask that queues its successor", microtaskChain).quick(),
	}
	out = append(out, descriptorFigures(row)...)
	return append(out,
		row("Footprint/what=loop", "B/loop", "heap of an idle loop", footprintOf(idleLoops)),
		row("Footprint/what=timer", "B/timer", "heap of a pending timer", footprintOf(pendingTimers)).
			beside(RuntimeControl, func(b *testing.B) { footprint(b, Contestant{}, runtimeTimers) }),
		row("Footprint/what=task", "B/task", "heap of a queued task", footprintOf(queuedTasks)),
		row("GCPressure", mean, "a task of a burst that owns 256 fresh bytes, the collector's work included", gcPressure),
		row("Lifecycle", mean, "a loop's life: New, Run, one task, Shutdown", lives).quick(),
	)
}

func (f Figure) quick() Figure { f.Quick = true; return f }

func (f Figure) window(d time.Duration) Figure { f.Window = d; return f }

// beside adds a control that is no loop, or not one that takes part elsewhere.
func (f Figure) beside(control string, run func(*testing.B)) Figure {
	controls := map[string]func(*testing.B){control: run}
	for name, other := range f.Controls {
		controls[name] = other
	}
	f.Controls = controls
	return f
}
