package eventloop_test

// The conformance kit, run on the loop in each of its modes.

import (
	"log/slog"
	"testing"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/looptest"
	"github.com/turnloop/turnloop/internal/production"
)

// newLoopWith makes the contestant's loop, which logs nothing: the kit provokes what a loop logs.
func newLoopWith(cfg looptest.Config, opts ...eventloop.Option) (looptest.EventLoop, error) {
	return production.New(cfg, append(opts, eventloop.WithLogger(slog.New(slog.DiscardHandler)))...)
}

func newLoop(cfg looptest.Config) (looptest.EventLoop, error) { return newLoopWith(cfg) }

func TestConformance(t *testing.T) {
	entry := production.Entry()
	entry.New = newLoop
	looptest.Hold(t, entry, modes)
}

func TestLiveness(t *testing.T) { looptest.HoldLiveness(t, production.Entry()) }

// A loop that blocks in the system's poller keeps the same promises.
func TestConformanceDisabled(t *testing.T) {
	looptest.Run(t, func(cfg looptest.Config) (looptest.EventLoop, error) {
		return newLoopWith(cfg, eventloop.WithFastPathMode(eventloop.FastPathDisabled), eventloop.WithStrictMicrotaskOrdering(true))
	}, looptest.Name("disabled"))
}
