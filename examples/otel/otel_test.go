package otel_test

// Tests of the metrics that OpenTelemetry collects.

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/examples/otel"
)

// A reader collects what the loop has done, on a clock that only its callbacks move; also while a callback blocks it.
func TestCollect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := eventloop.New(eventloop.WithMetrics(true))
		if err != nil {
			t.Fatal(err)
		}
		go func() { _ = l.Run(context.Background()) }()
		defer l.Close()
		reader := metric.NewManualReader()
		meter := metric.NewMeterProvider(metric.WithReader(reader)).Meter("test")
		registration, err := otel.Register(meter, l)
		if err != nil {
			t.Fatal(err)
		}
		for range 10 {
			_ = l.Submit(func() { time.Sleep(time.Second) })
		}
		_ = l.Submit(func() {
			for range 2 {
				p, _, _ := l.NewPromise()
				p.Then(func(v any) (any, error) { return v, nil }, nil)
			}
		})
		time.Sleep(time.Minute)
		release := make(chan struct{})
		defer close(release)
		_ = l.Submit(func() { <-release })
		synctest.Wait()
		_ = l.Submit(func() {})
		l.Hold()
		_, _ = l.ScheduleTimer(time.Hour, func() {})
		l.Promisify(t.Context(), func(context.Context) (any, error) { <-release; return nil, nil })

		got := collect(t, reader)
		for name, want := range map[string]float64{
			"turnloop.callbacks":                      11,
			"turnloop.callback.duration/quantile=0.5": 1,
			"turnloop.callback.duration/quantile=1":   1,
			"turnloop.queue.delay/quantile=1":         10,
			"turnloop.queue.depth/queue=external":     1,
			"turnloop.queue.depth/queue=internal":     0,
			"turnloop.pending/kind=hold":              1,
			"turnloop.pending/kind=timer":             1,
			"turnloop.pending/kind=worker":            1,
			"turnloop.pending/kind=descriptor":        0,
			"turnloop.pending/kind=promise":           2,
			"turnloop.utilization":                    0,
			"turnloop.ticks":                          float64(l.Metrics().Ticks),
			"turnloop.sleeps":                         float64(l.Metrics().Sleeps),
			"turnloop.wakes":                          float64(l.Metrics().Wakes),
			"turnloop.pauses":                         float64(l.Metrics().Pauses),
		} {
			if v, there := got[name]; !there || v < want*0.98 || v > want*1.02 {
				t.Errorf("%s is %v (%v), want %v", name, v, there, want)
			}
		}
		if err := registration.Unregister(); err != nil {
			t.Fatal(err)
		}
		if got := collect(t, reader); len(got) != 0 {
			t.Errorf("after the end of the registration there is %v", got)
		}
	})
}

// collect returns the values, by name and by the attribute beside "loop".
func collect(t *testing.T, reader metric.Reader) map[string]float64 {
	var all metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &all); err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	note := func(name string, attributes attribute.Set, v float64) {
		for _, a := range attributes.ToSlice() {
			if a.Key != "loop" {
				name += "/" + string(a.Key) + "=" + a.Value.String()
			}
		}
		got[name] = v
	}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			switch data := m.Data.(type) {
			case metricdata.Sum[int64]:
				for _, p := range data.DataPoints {
					note(m.Name, p.Attributes, float64(p.Value))
				}
			case metricdata.Gauge[int64]:
				for _, p := range data.DataPoints {
					note(m.Name, p.Attributes, float64(p.Value))
				}
			case metricdata.Gauge[float64]:
				for _, p := range data.DataPoints {
					note(m.Name, p.Attributes, p.Value)
				}
			}
		}
	}
	return got
}
