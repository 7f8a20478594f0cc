package eventloop_test

// A function's way to another goroutine and its result's way back, beside a goroutine that answers over a channel.

import (
	"context"
	"testing"

	"github.com/turnloop/turnloop/eventloop"
)

func BenchmarkPromisify(b *testing.B) {
	fn := func(context.Context) (any, error) { return 1, nil }
	b.Run("loop", func(b *testing.B) {
		l, err := eventloop.New()
		if err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		left, done := b.N, make(chan struct{})
		var again func()
		received := func(any) (any, error) {
			if left--; left == 0 {
				close(done)
			} else {
				again()
			}
			return nil, nil
		}
		again = func() { l.Promisify(context.Background(), fn).Then(received, nil) }
		ended := make(chan error, 1)
		go func() { ended <- l.Run(context.Background()) }()
		if err := l.Submit(again); err != nil {
			b.Fatal(err)
		}
		<-done
		b.StopTimer()
		_ = l.Shutdown(context.Background())
		<-ended
	})
	b.Run("goroutines", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			result := make(chan any, 1)
			go func() {
				v, _ := fn(context.Background())
				result <- v
			}()
			<-result
		}
	})
}
