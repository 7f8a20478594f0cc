package promise_test

// Benchmarks of promises.

import (
	"testing"

	"github.com/turnloop/turnloop/eventloop/promise"
)

func increment(v any) (any, error) { return v, nil }

// One operation is one link: Then, and later its reaction.
func BenchmarkChain(b *testing.B) {
	const links = 100
	b.Run("untyped", func(b *testing.B) {
		f, r := newOwner(promise.Config{})
		b.ReportAllocs()
		for b.Loop() {
			p, resolve, _ := r.New()
			for range links {
				p = p.Then(increment, nil)
			}
			resolve(1)
			f.tick(r)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*links), "ns/link")
	})
	b.Run("settled", func(b *testing.B) {
		f, r := newOwner(promise.Config{})
		b.ReportAllocs()
		for b.Loop() {
			p := r.Resolved(1)
			for range links {
				p = p.Then(increment, nil)
			}
			f.tick(r)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*links), "ns/link")
	})
	b.Run("nested", func(b *testing.B) {
		f, r := newOwner(promise.Config{})
		b.ReportAllocs()
		p := r.Resolved(1)
		for b.Loop() {
			p = p.Then(increment, nil)
			f.tick(r)
		}
	})
	b.Run("typed", func(b *testing.B) {
		f, r := newOwner(promise.Config{})
		b.ReportAllocs()
		for b.Loop() {
			p, resolve, _ := promise.New[int](&r.Realm)
			for range links {
				p = promise.Then(p, func(v int) (int, error) { return v, nil })
			}
			resolve(1)
			f.tick(r)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*links), "ns/link")
	})
	b.Run("adopt", func(b *testing.B) {
		f, r := newOwner(promise.Config{})
		b.ReportAllocs()
		for b.Loop() {
			r.Resolved(1).Then(func(v any) (any, error) { return r.Resolved(v), nil }, nil)
			f.tick(r)
		}
	})
}

func BenchmarkFanOut100(b *testing.B) {
	f, r := newOwner(promise.Config{})
	b.ReportAllocs()
	for b.Loop() {
		p, resolve, _ := r.New()
		for range 100 {
			p.Then(increment, nil)
		}
		resolve(1)
		f.tick(r)
	}
}

func benchmarkCombinator(b *testing.B, combine func(r *promise.Owner, ps []*promise.Promise)) {
	f, r := newOwner(promise.Config{})
	ps := make([]*promise.Promise, 100)
	resolves := make([]func(any), 100)
	b.ReportAllocs()
	for b.Loop() {
		for i := range ps {
			ps[i], resolves[i], _ = r.New()
		}
		combine(r, ps)
		for _, resolve := range resolves {
			resolve(1)
		}
		f.tick(r)
	}
}

func BenchmarkAll100(b *testing.B) {
	benchmarkCombinator(b, func(r *promise.Owner, ps []*promise.Promise) { r.All(ps...) })
}

func BenchmarkRace100(b *testing.B) {
	benchmarkCombinator(b, func(r *promise.Owner, ps []*promise.Promise) { r.Race(ps...) })
}
