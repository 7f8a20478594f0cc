package eventloop_test

// Tests of the options: what is refused, and by which name.

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math"
	"testing"
	"time"

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

		"WithUnhandledRejection":       eventloop.WithUnhandledRejection(nil),
		"WithWorkerLimit":              eventloop.WithWorkerLimit(-1),
		"WithMetricsSampling(0)":       eventloop.WithMetricsSampling(0),
		"WithMetricsSampling(1048577)": eventloop.WithMetricsSampling(1<<20 + 1),
		"WithFlightRecorder(-1)":       eventloop.WithFlightRecorder(-1),
		"WithFlightRecorder(1048577)":  eventloop.WithFlightRecorder(1<<20 + 1),
		"WithStallThreshold(0s)":       eventloop.WithStallThreshold(0, func(eventloop.Stall) {}),
		"WithStallThreshold":           eventloop.WithStallThreshold(time.Second, nil),
		"WithFastPathMode":             eventloop.WithFastPathMode(3),
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

	for _, value := range []error{errors.New("expected in this test's output, from a logger that panics"), mute{}} {
		loop, err = eventloop.New(eventloop.WithAutoExit(true), eventloop.WithLogger(slog.New(panickingLog{with: value})))
		require.NoError(t, err)
		ran = false
		require.NoError(t, loop.Submit(func() { panic(value) }))
		require.NoError(t, loop.Submit(func() { ran = true }))
		require.NoError(t, loop.Run(context.Background()))
		require.True(t, ran)
	}
}

// mute is an error that panics with itself when its text is asked for.
type mute struct{}

func (m mute) Error() string { panic(m) }

type panickingLog struct {
	slog.Handler
	with error
}

func (p panickingLog) Enabled(context.Context, slog.Level) bool { panic(p.with) }
func (p panickingLog) WithAttrs([]slog.Attr) slog.Handler       { return p }
