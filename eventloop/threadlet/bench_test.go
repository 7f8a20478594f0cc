package threadlet_test

// Benchmarks of threadlets: to switch, and to start one.

import (
	"context"
	"testing"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/threadlet"
)

// within runs fn in a threadlet of a loop of its own, and waits for the end of both.
func within(tb testing.TB, fn func(l *eventloop.Loop), opts ...eventloop.Option) {
	tb.Helper()
	l, err := eventloop.New(opts...)
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := threadlet.Go(l, func() {
		defer func() { _ = l.Shutdown(context.Background()) }()
		fn(l)
	}); err != nil {
		tb.Fatal(err)
	}
	if err := l.Run(context.Background()); err != nil {
		tb.Error(err)
	}
}

// spent begins to measure processor time; the function that it returns ends that, and reports it.
func spent(b *testing.B) (end func()) {
	began := processorTime(b)
	return func() { b.ReportMetric(float64(processorTime(b)-began)/float64(b.N), "cpu-ns/op") }
}

// A switch to another threadlet and back, beside that of two goroutines over unbuffered channels.
func BenchmarkYield(b *testing.B) {
	b.Run("threadlets", func(b *testing.B) {
		b.ReportAllocs()
		within(b, func(l *eventloop.Loop) {
			over := false
			other, _ := threadlet.Go(l, func() {
				for !over {
					_ = threadlet.Yield()
				}
			})
			end := spent(b)
			for b.Loop() {
				_ = threadlet.Yield()
			}
			end()
			over = true
			_ = other.Join(context.Background())
		})
	})
	b.Run("alone", func(b *testing.B) {
		within(b, func(*eventloop.Loop) {
			end := spent(b)
			for b.Loop() {
				_ = threadlet.Yield()
			}
			end()
		})
	})
	b.Run("channels", func(b *testing.B) {
		there, back := make(chan struct{}), make(chan struct{})
		go func() {
			for range there {
				back <- struct{}{}
			}
		}()
		end := spent(b)
		for b.Loop() {
			there <- struct{}{}
			<-back
		}
		end()
		close(there)
	})
}

// A threadlet that begins and ends, beside a goroutine that reports its end over a channel.
func BenchmarkSpawn(b *testing.B) {
	b.Run("threadlets", func(b *testing.B) {
		b.ReportAllocs()
		within(b, func(l *eventloop.Loop) {
			ended := 0
			fn := func() { ended++ }
			begun, end := 0, spent(b)
			for b.Loop() {
				if _, err := threadlet.Go(l, fn); err != nil {
					b.Fatal(err)
				}
				if begun++; begun-ended == 64 {
					_ = threadlet.Yield()
				}
			}
			end()
		})
	})
	b.Run("joined", func(b *testing.B) {
		b.ReportAllocs()
		within(b, func(l *eventloop.Loop) {
			fn := func() {}
			end := spent(b)
			for b.Loop() {
				t, err := threadlet.Go(l, fn)
				if err != nil {
					b.Fatal(err)
				}
				_ = t.Join(context.Background())
			}
			end()
		})
	})
	b.Run("goroutines", func(b *testing.B) {
		b.ReportAllocs()
		ch := make(chan struct{})
		fn := func() { ch <- struct{}{} }
		end := spent(b)
		for b.Loop() {
			go fn()
			<-ch
		}
		end()
	})
}
