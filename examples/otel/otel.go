// Package otel is an example: the figures of event loops as OpenTelemetry metrics. It is a module of its own, so that
// the event loop does not depend on OpenTelemetry.
package otel

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/turnloop/turnloop/eventloop"
)

// Register has the meter observe the loops at each collection; between collections it costs nothing. The loops should
// have been made with eventloop.WithMetrics(true). Each figure has the attribute "loop". Unregister of the
// registration ends it.
func Register(meter metric.Meter, loops ...*eventloop.Loop) (metric.Registration, error) {
	var all []metric.Observable
	var failed error
	counter := func(name, description string) metric.Int64ObservableCounter {
		c, err := meter.Int64ObservableCounter("turnloop."+name, metric.WithDescription(description))
		all, failed = append(all, c), firstOf(failed, err)
		return c
	}
	count := func(name, description string) metric.Int64ObservableGauge {
		g, err := meter.Int64ObservableGauge("turnloop."+name, metric.WithDescription(description))
		all, failed = append(all, g), firstOf(failed, err)
		return g
	}
	gauge := func(name, unit, description string) metric.Float64ObservableGauge {
		g, err := meter.Float64ObservableGauge("turnloop."+name, metric.WithUnit(unit), metric.WithDescription(description))
		all, failed = append(all, g), firstOf(failed, err)
		return g
	}
	run := counter("callbacks", "tasks, timers, microtasks and descriptor callbacks that have run")
	ticks := counter("ticks", "turns of the loop")
	sleeps := counter("sleeps", "sleeps of the loop")
	wakes := counter("wakes", "sleeps that a wake-up has ended")
	pauses := counter("pauses", "times that the loop let others run instead of sleeping")
	utilization := gauge("utilization", "1", "share of the last ten seconds that the loop was not parked")
	callback := gauge("callback.duration", "s", "quantiles of how long callbacks take, since the last collection")
	delay := gauge("queue.delay", "s", "quantiles of how long tasks wait, since the last collection")
	depth := count("queue.depth", "functions that wait")
	pending := count("pending", "timers, descriptors, workers, holds, and promises that have handlers")
	if failed != nil {
		return nil, failed
	}
	var mu sync.Mutex
	last := make([]eventloop.Metrics, len(loops)) // of the collection before; guarded by mu
	return meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		mu.Lock()
		defer mu.Unlock()
		for i, l := range loops {
			m := l.Metrics()
			of := func(attributes ...attribute.KeyValue) metric.MeasurementOption {
				return metric.WithAttributes(append(attributes, attribute.Int64("loop", int64(l.ID())))...)
			}
			o.ObserveInt64(run, int64(m.Run), of())
			o.ObserveInt64(ticks, int64(m.Ticks), of())
			o.ObserveInt64(sleeps, int64(m.Sleeps), of())
			o.ObserveInt64(wakes, int64(m.Wakes), of())
			o.ObserveInt64(pauses, int64(m.Pauses), of())
			o.ObserveFloat64(utilization, m.Utilization, of())
			for _, g := range []struct {
				metric.Float64ObservableGauge
				eventloop.Latency
			}{{callback, m.Callback.Since(last[i].Callback)}, {delay, m.QueueDelay.Since(last[i].QueueDelay)}} {
				for _, q := range []struct {
					quantile string
					d        time.Duration
				}{{"0.5", g.P50}, {"0.9", g.P90}, {"0.95", g.P95}, {"0.99", g.P99}, {"1", g.Max}} {
					o.ObserveFloat64(g.Float64ObservableGauge, q.d.Seconds(), of(attribute.String("quantile", q.quantile)))
				}
			}
			last[i] = m
			o.ObserveInt64(depth, int64(m.External.Current), of(attribute.String("queue", "external")))
			o.ObserveInt64(depth, int64(m.Internal.Current), of(attribute.String("queue", "internal")))
			o.ObserveInt64(depth, int64(m.Microtasks.Current), of(attribute.String("queue", "microtasks")))
			o.ObserveInt64(pending, int64(m.Timers), of(attribute.String("kind", "timer")))
			o.ObserveInt64(pending, int64(m.Descriptors), of(attribute.String("kind", "descriptor")))
			o.ObserveInt64(pending, int64(m.Workers), of(attribute.String("kind", "worker")))
			o.ObserveInt64(pending, int64(m.Holds), of(attribute.String("kind", "hold")))
			o.ObserveInt64(pending, int64(m.Promises), of(attribute.String("kind", "promise")))
		}
		return nil
	}, all...)
}

func firstOf(err, other error) error {
	if err != nil {
		return err
	}
	return other
}
