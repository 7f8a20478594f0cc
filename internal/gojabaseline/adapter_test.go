package gojabaseline_test

// What the adapter costs.

import (
	"context"
	"testing"

	"github.com/dop251/goja"
	"github.com/dop251/goja_nodejs/eventloop"
	"github.com/turnloop/turnloop/internal/gojabaseline"
)

// BenchmarkAdapter is Submit with and without the adapter: how much of the baseline's figures is the interface's.
func BenchmarkAdapter(b *testing.B) {
	b.Run("via=Submit", func(b *testing.B) {
		b.ReportAllocs()
		loop := gojabaseline.New()
		go loop.Run(context.Background())
		defer loop.Shutdown(context.Background())
		over, n := make(chan struct{}), b.N
		task := func() {
			if n--; n == 0 {
				close(over)
			}
		}
		b.ResetTimer()
		for range b.N {
			if err := loop.Submit(task); err != nil {
				b.Fatal(err)
			}
		}
		<-over
	})
	b.Run("via=RunOnLoop", func(b *testing.B) {
		b.ReportAllocs()
		loop := eventloop.NewEventLoop(eventloop.EnableConsole(false))
		loop.Start()
		defer loop.Stop()
		over, n := make(chan struct{}), b.N
		task := func(*goja.Runtime) {
			if n--; n == 0 {
				close(over)
			}
		}
		b.ResetTimer()
		for range b.N {
			if !loop.RunOnLoop(task) {
				b.Fatal("refused")
			}
		}
		<-over
	})
}
