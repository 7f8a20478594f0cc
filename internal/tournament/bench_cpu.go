// What tasks cost in processor time, on all processors together: also where nobody waits for it.

//go:build unix

package tournament

import (
	"testing"
	"time"

	"github.com/turnloop/turnloop/internal/tournament/record"
)

func init() {
	register(Benchmark{
		Benchmark: record.Benchmark{
			Name: "CPUTime", Category: Throughput, Units: []string{"cpu-ns/op", "ns/op"},
			Op:       "one task submitted and run",
			Measures: "processor time of the process: one producer that submits without a pause, or with one of a millisecond after each task",
			Why:      "what a loop burns while it waits and looks out for work shows on the bill and in the battery, not in its latency",
			Needs:    []record.Need{{Window: 60 * time.Millisecond}},
		},
		Variants: []Variant{
			{Name: "load=full", Core: true, Long: "at full load it follows the time that Submit takes", Run: func(b *testing.B, c Contestant) { processor(b, c, 0) }},
			{Name: "load=light", Core: true, Long: "what a loop burns is no matter of a glance", Run: func(b *testing.B, c Contestant) {
				processor(b, c, time.Millisecond)
			}},
		},
	})
}

// processor submits without a pause, and with one after each task, in which the loop parks.
func processor(b *testing.B, c Contestant, pause time.Duration) {
	r := start(b, c)
	task := r.countdown(b.N)
	b.ResetTimer()
	before := processorTime(b)
	for range b.N {
		r.submit(task)
		if pause > 0 {
			time.Sleep(pause)
		}
	}
	r.wait()
	took := processorTime(b) - before
	b.StopTimer()
	b.ReportMetric(float64(took)/float64(b.N), "cpu-ns/op")
}
