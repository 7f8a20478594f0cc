package monitor

// Prometheus' text format, version 0.0.4: all samples of a metric stand together, each with the loop it is of.

import (
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/turnloop/turnloop/eventloop"
)

// metrics are the counters and gauges of a loop, each with its samples.
var metrics = []struct {
	name, kind, help string
	samples          func(f *Figures) []sample
}{
	{"callbacks_total", "counter", "Tasks, timers, microtasks and descriptor callbacks that have run.", one(func(f *Figures) uint64 { return f.Metrics.Run })},
	{"ticks_total", "counter", "Turns of the loop.", one(func(f *Figures) uint64 { return f.Metrics.Ticks })},
	{"wakes_total", "counter", "Sleeps that a wake-up has ended.", one(func(f *Figures) uint64 { return f.Metrics.Wakes })},
	{"sleeps_total", "counter", "Sleeps.", one(func(f *Figures) uint64 { return f.Metrics.Sleeps })},
	{"pauses_total", "counter", "Times that the loop let others run instead of sleeping.", one(func(f *Figures) uint64 { return f.Metrics.Pauses })},
	{"stalls_total", "counter", fmt.Sprintf("Callbacks that ran for more than %v.", threshold), one(func(f *Figures) uint64 { return f.Stalled })},
	{"utilization", "gauge", "Share of the last ten seconds that the loop was not parked.", one(func(f *Figures) float64 { return f.Metrics.Utilization })},
	{"queue_depth", "gauge", "Functions that wait.", queues(func(d eventloop.Depth) int { return d.Current })},
	{"queue_depth_max", "gauge", "The most that have waited.", queues(func(d eventloop.Depth) int { return d.Max })},
	{"timers", "gauge", "Pending timers.", one(func(f *Figures) int { return f.Metrics.Timers })},
	{"descriptors", "gauge", "Registered descriptors.", one(func(f *Figures) int { return f.Metrics.Descriptors })},
	{"workers", "gauge", "Functions of Promisify that have not ended, with those that wait for a worker.", one(func(f *Figures) int { return f.Metrics.Workers })},
	{"workers_waiting", "gauge", "Those of them that have not begun.", one(func(f *Figures) int { return f.Metrics.Waiting })},
	{"holds", "gauge", "Holds that are not released.", one(func(f *Figures) int { return f.Metrics.Holds })},
	{"promises", "gauge", "Pending promises that have handlers.", one(func(f *Figures) int { return f.Metrics.Promises })},
	{"callback_seconds", "histogram", "How long callbacks take.", histogram(func(f *Figures) eventloop.Latency { return f.Metrics.Callback })},
	{"queue_delay_seconds", "histogram", "How long tasks wait.", histogram(func(f *Figures) eventloop.Latency { return f.Metrics.QueueDelay })},
}

// sample is a value, with what its name and its labels have besides those of all.
type sample struct {
	suffix, labels string
	value          any
}

func one[T any](of func(f *Figures) T) func(f *Figures) []sample {
	return func(f *Figures) []sample { return []sample{{value: of(f)}} }
}

func queues(of func(d eventloop.Depth) int) func(f *Figures) []sample {
	return func(f *Figures) []sample {
		s := &f.Metrics
		return []sample{
			{labels: `,queue="external"`, value: of(s.External)},
			{labels: `,queue="internal"`, value: of(s.Internal)},
			{labels: `,queue="microtasks"`, value: of(s.Microtasks)},
		}
	}
}

// bounds are the upper bounds of the buckets. Any may be chosen: the loop's own buckets are finer.
var bounds = []time.Duration{
	time.Microsecond, 10 * time.Microsecond, 100 * time.Microsecond, time.Millisecond, 5 * time.Millisecond,
	10 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond, 500 * time.Millisecond, time.Second, 10 * time.Second,
}

func histogram(of func(f *Figures) eventloop.Latency) func(f *Figures) []sample {
	return func(f *Figures) (all []sample) {
		t := of(f)
		for _, d := range bounds {
			all = append(all, sample{"_bucket", fmt.Sprintf(",le=\"%g\"", d.Seconds()), t.AtMost(d)})
		}
		return append(all, sample{"_bucket", `,le="+Inf"`, t.Count}, sample{suffix: "_sum", value: t.Sum().Seconds()},
			sample{suffix: "_count", value: t.Count})
	}
}

// Prometheus returns a handler that answers with the loops' counters, gauges and histograms for Prometheus. Each sample has its loop's ID
// as a label: sum over it for a group.
func (m *Monitor) Prometheus() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		write(w, m.Figures())
	})
}

func write(w io.Writer, loops []Figures) {
	for _, metric := range metrics {
		fmt.Fprintf(w, "# HELP turnloop_%s %s\n# TYPE turnloop_%s %s\n", metric.name, metric.help, metric.name, metric.kind)
		for i := range loops {
			for _, s := range metric.samples(&loops[i]) {
				fmt.Fprintf(w, "turnloop_%s%s{loop=\"%d\"%s} %v\n", metric.name, s.suffix, loops[i].Loop, s.labels, s.value)
			}
		}
	}
}
