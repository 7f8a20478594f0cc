package eventloop_test

// What it costs to measure.

import (
	"slices"
	"testing"
	"time"

	"github.com/turnloop/turnloop/eventloop"
)

// BenchmarkRecording is what a callback costs besides itself and the one reading of the clock that it takes. All are timed in
// turns, so that drift hits them alike, and of each the lower quartile of the rounds counts.
func BenchmarkRecording(b *testing.B) {
	for name, opts := range map[string][]eventloop.Option{
		"exact":    {eventloop.WithMetrics(true)},
		"sampled":  {eventloop.WithMetrics(true), eventloop.WithMetricsSampling(64)},
		"watched":  {eventloop.WithStallThreshold(time.Hour, func(eventloop.Stall) {})},
		"recorded": {eventloop.WithFlightRecorder(4096)},
	} {
		b.Run("recording="+name, func(b *testing.B) {
			l, err := eventloop.New(opts...)
			if err != nil {
				b.Fatal(err)
			}
			defer l.Close()
			fn := func() {}
			var plain, observed, clock []time.Duration
			const each = 1000
			for b.Loop() {
				began := time.Now()
				for range each {
					l.Call(fn)
				}
				called := time.Now()
				for range each {
					l.CallObserved(fn)
				}
				ended := time.Now()
				for range each {
					l.Now()
				}
				plain, observed, clock = append(plain, called.Sub(began)), append(observed, ended.Sub(called)), append(clock, time.Since(ended))
			}
			per := func(all []time.Duration) float64 { // of the round at the lower quartile: others have been interrupted
				slices.Sort(all)
				return float64(all[len(all)/4]) / each
			}
			b.ReportMetric(per(observed)-per(plain), "ns-a-callback")
			if name == "exact" || name == "recorded" {
				b.ReportMetric(per(observed)-per(plain)-per(clock), "ns-besides-clock")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

func BenchmarkMetrics(b *testing.B) {
	for name, opts := range map[string][]eventloop.Option{
		"off":     nil,
		"exact":   {eventloop.WithMetrics(true)},
		"sampled": {eventloop.WithMetrics(true), eventloop.WithMetricsSampling(64)},
	} {
		b.Run("metrics="+name+"/submit", func(b *testing.B) {
			l := observed(b, opts...)
			fn, done := func() {}, make(chan struct{})
			b.ReportAllocs()
			for b.Loop() {
				_ = l.Submit(fn)
			}
			_ = l.Submit(func() { close(done) })
			<-done
		})
		b.Run("metrics="+name+"/microtasks", func(b *testing.B) {
			l := observed(b, opts...)
			done, n := make(chan struct{}), b.N
			var fn func()
			fn = func() {
				if n--; n > 0 {
					_ = l.ScheduleMicrotask(fn)
				} else {
					close(done)
				}
			}
			b.ReportAllocs()
			_ = l.Submit(fn)
			<-done
		})
		b.Run("metrics="+name+"/chain", func(b *testing.B) {
			l := observed(b, opts...)
			done, n := make(chan struct{}), b.N
			var fn func()
			fn = func() {
				if n--; n > 0 {
					_ = l.Submit(fn)
				} else {
					close(done)
				}
			}
			b.ReportAllocs()
			_ = l.Submit(fn)
			<-done
		})
	}
}
