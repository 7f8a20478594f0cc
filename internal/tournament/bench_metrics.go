// Metrics: what a task costs on a loop that is observed.

package tournament

import (
	"testing"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/looptest"
	"github.com/turnloop/turnloop/internal/tournament/record"
)

func init() {
	var variants []Variant
	for _, v := range []struct {
		name string
		opts []eventloop.Option
	}{
		{"off", nil},
		{"exact", []eventloop.Option{eventloop.WithMetrics(true)}},
		{"sampled", []eventloop.Option{eventloop.WithMetrics(true), eventloop.WithMetricsSampling(64)}},
	} {
		variants = append(variants, Variant{
			Name: "metrics=" + v.name, Long: "what observation costs is no matter of a glance",
			Run: func(b *testing.B, c Contestant) { submitObserved(b, c, v.opts) },
		})
	}
	register(Benchmark{
		Benchmark: record.Benchmark{
			Name: "Metrics", Category: Throughput, Units: []string{"ns/op", "B/op", "allocs/op"},
			Op:       "one task submitted and run",
			Measures: "Submit without metrics, with exact ones, and with one task in 64 sampled",
			Why:      "who watches a loop in production pays for it with each task",
			Unscored: "of the ranked loops only `main` has metrics, and to be the first of one is no merit",
		},
		Variants: variants,
	})
}

func submitObserved(b *testing.B, c Contestant, opts []eventloop.Option) {
	loop, err := c.New(looptest.Config{})
	if err != nil {
		b.Fatal(err)
	}
	if err := loop.Close(); err != nil {
		b.Logf("Close of a loop that has not run: %v", err)
	}
	if _, ok := loop.(*eventloop.Loop); !ok {
		b.Skip("n/a: no metrics")
	}
	c.New = func(looptest.Config) (looptest.EventLoop, error) { return eventloop.New(opts...) }
	submit(b, c)
}
