package promise_test

// A benchmark of what a table of costs does not show: many promises at once.

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
}
