package flow_test

// What each public call costs on its usual path.

import (
	"context"
	"testing"
	"time"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/flow"
	"github.com/turnloop/turnloop/internal/costs"
)

func TestCosts(t *testing.T) { costs.Check(t, costRows, nil) }

func BenchmarkCosts(b *testing.B) { costs.Benchmark(b, costRows) }

var background = context.Background()

func answer() (int, error) { return 42, nil }

var costRows = []costs.Row{
	costs.Off("Call", 3, 192, 1, func(e *costs.Env) func() {
		return func() { _, err := flow.Call(background, e.Loop, answer); e.Must(err) }
	}),
	costs.On("Call, on the loop", 0, 0, 0, func(e *costs.Env) func() {
		return func() { _, err := flow.Call(background, e.Loop, answer); e.Must(err) }
	}),
	costs.Off("Exec", 4, 192, 1, func(e *costs.Env) func() {
		return func() { e.Must(flow.Exec(background, e.Loop, func() error { return nil })) }
	}),
	costs.On("Sleep", 4, 144, 1, func(e *costs.Env) func() { return func() { flow.Sleep(background, e.Loop, 0) } }),
	costs.On("Sleep, in a context that ends", 12, 464, 1, func(e *costs.Env) func() {
		ctx, cancel := context.WithCancel(background)
		e.Cleanup(cancel)
		return func() { flow.Sleep(ctx, e.Loop, 0) }
	}),
	costs.Off("Retry", 12, 640, 1, func(e *costs.Env) func() {
		return func() {
			_, err := flow.Retry(background, e.Loop, flow.Backoff{}, func(context.Context, int) (int, error) { return 42, nil }).Await(background)
			e.Must(err)
		}
	}),
	costs.Off("Retry, twice", 27, 1200, 4, func(e *costs.Env) func() {
		return func() {
			_, err := flow.Retry(background, e.Loop, flow.Backoff{First: -1}, func(_ context.Context, attempt int) (int, error) {
				if attempt == 1 {
					return 0, errBusy
				}
				return 42, nil
			}).Await(background)
			e.Must(err)
		}
	}),
	costs.Off("Permanent", 1, 16, 0, func(*costs.Env) func() { return func() { kept = flow.Permanent(errBusy) } }),
	costs.Off("Every", 3, 160, 0, func(e *costs.Env) func() {
		return func() { ticker, err := flow.Every(e.Loop, time.Hour, nop); e.Must(err); ticker.Stop() }
	}),
	costs.Off("Repeat", 2, 112, 0, func(e *costs.Env) func() {
		next := func(now time.Time) time.Time { return now.Add(time.Hour) }
		return func() { ticker, err := flow.Repeat(e.Loop, next, nop); e.Must(err); ticker.Stop() }
	}),
	costs.Off("Repeat, with a run", 5, 160, 1, func(e *costs.Env) func() {
		ran := make(chan struct{})
		return func() {
			asked := 0
			_, err := flow.Repeat(e.Loop, func(now time.Time) time.Time {
				if asked++; asked > 1 {
					return time.Time{}
				}
				return now
			}, func() { ran <- struct{}{} })
			e.Must(err)
			<-ran
		}
	}),
	costs.Off("Ticker.Stop", 0, 0, 0, ticks((*flow.Ticker).Stop)),
	costs.Off("Ticker.Ref", 0, 0, 0, ticks((*flow.Ticker).Ref)),
	costs.Off("Ticker.Unref", 0, 0, 0, ticks((*flow.Ticker).Unref)),
	costs.Off("StopGracefully", 13, 4208, 0, func(e *costs.Env) func() {
		return func() { e.Must(flow.StopGracefully(background, must(eventloop.New()), time.Hour)) }
	}),
	costs.Off("RunUntil", 23, 5488, 0, func(e *costs.Env) func() {
		return func() {
			l := must(eventloop.New())
			e.Must(l.Submit(func() { _ = l.Shutdown(background) }))
			e.Must(flow.RunUntil(background, l, time.Hour))
		}
	}),
}

// kept is what a call returns, lest the compiler leaves the call out.
var kept any

func nop() {}

// ticks is a call of a ticker.
func ticks(call func(*flow.Ticker)) func(e *costs.Env) func() {
	return func(e *costs.Env) func() {
		ticker := must(flow.Every(e.Loop, time.Hour, nop))
		return func() { call(ticker) }
	}
}
