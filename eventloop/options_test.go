package eventloop_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
)

func TestOptionsOutOfRange(t *testing.T) {
	for name, opt := range map[string]eventloop.Option{
		"option 0":            nil,
		"WithLogger":          eventloop.WithLogger(nil),
		"WithQueueLimit":      eventloop.WithQueueLimit(-1),
		"WithTickBudget":      eventloop.WithTickBudget(0),
		"WithMicrotaskBudget": eventloop.WithMicrotaskBudget(math.MinInt),
		"WithOnOverload":      eventloop.WithOnOverload(nil),
		"WithPanicHandler":    eventloop.WithPanicHandler(nil),
	} {
		loop, err := eventloop.New(opt)
		require.Nil(t, loop, name)
		require.ErrorContains(t, err, name)
	}
}

// Without a handler faults go to the logger, with the loop's id; a logger that panics is no way to end the loop either.
func TestFaultsReachTheLogger(t *testing.T) {
	var buf bytes.Buffer
	loop, err := eventloop.New(eventloop.WithAutoExit(true), eventloop.WithLogger(slog.New(slog.NewTextHandler(&buf, nil))))
	require.NoError(t, err)
	ran := false
	require.NoError(t, loop.Submit(func() { panic("lost temper") }))
	require.NoError(t, loop.Submit(func() { ran = true }))
	require.NoError(t, loop.Run(context.Background()))
	require.True(t, ran)
	require.Contains(t, buf.String(), "lost temper")
	require.Contains(t, buf.String(), "loop=")
	require.Contains(t, buf.String(), "TestFaultsReachTheLogger", "the stack names the culprit")

	loop, err = eventloop.New(eventloop.WithAutoExit(true), eventloop.WithLogger(slog.New(panickingLog{})))
	require.NoError(t, err)
	ran = false
	require.NoError(t, loop.Submit(func() { panic("expected in this test's output, from a logger that panics") }))
	require.NoError(t, loop.Submit(func() { ran = true }))
	require.NoError(t, loop.Run(context.Background()))
	require.True(t, ran)
}

type panickingLog struct{ slog.Handler }

func (panickingLog) Enabled(context.Context, slog.Level) bool { panic(errors.New("logger broken")) }
func (p panickingLog) WithAttrs([]slog.Attr) slog.Handler     { return p }

// An idle loop is small: at most 16 KiB beyond its goroutine's stack, also after it has been busy.
func TestIdleLoopIsSmall(t *testing.T) {
	const n = 64
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	loops := make([]*eventloop.Loop, n)
	for i := range loops {
		loop, err := eventloop.New()
		require.NoError(t, err)
		loops[i] = loop
		go loop.Run(context.Background())
		ran := make(chan struct{})
		for range 5_000 {
			require.NoError(t, loop.Submit(func() {}))
		}
		require.NoError(t, loop.Submit(func() {
			for range 5_000 {
				loop.ScheduleMicrotask(func() {})
			}
			loop.ScheduleMicrotask(func() { close(ran) })
		}))
		<-ran
	}
	perLoop := int64(heap()-before) / n
	for _, loop := range loops {
		require.NoError(t, loop.Shutdown(context.Background()))
	}
	require.Less(t, perLoop, int64(16<<10))
}
