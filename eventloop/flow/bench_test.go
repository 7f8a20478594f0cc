package flow_test

// A question to a loop and its answer, beside a request and an answer over channels.

import (
	"context"
	"testing"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/flow"
)

func BenchmarkCall(b *testing.B) {
	b.Run("loop", func(b *testing.B) {
		l, err := eventloop.New()
		if err != nil {
			b.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- l.Run(context.Background()) }()
		n := 0
		question := func() (int, error) { n++; return n, nil }
		b.ReportAllocs()
		b.ResetTimer()
		for i := range b.N {
			if v, err := flow.Call(context.Background(), l, question); err != nil || v != i+1 {
				b.Fatal(v, err)
			}
		}
		b.StopTimer()
		_ = l.Shutdown(context.Background())
		<-ended
	})
	b.Run("channels", func(b *testing.B) {
		type request struct{ answer chan int }
		requests, n := make(chan request), 0
		go func() {
			for r := range requests {
				n++
				r.answer <- n
			}
		}()
		b.ReportAllocs()
		b.ResetTimer()
		for i := range b.N {
			r := request{make(chan int, 1)}
			requests <- r
			if v := <-r.answer; v != i+1 {
				b.Fatal(v)
			}
		}
		close(requests)
	})
}
