package eventloop_test

import (
	"log/slog"
	"testing"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/looptest"
)

func newLoop(cfg looptest.Config) (looptest.EventLoop, error) { return newLoopWith(cfg) }

func newLoopWith(cfg looptest.Config, opts ...eventloop.Option) (looptest.EventLoop, error) {
	opts = append(opts,
		eventloop.WithAutoExit(cfg.AutoExit),
		eventloop.WithQueueLimit(cfg.QueueLimit),
		eventloop.WithLogger(slog.New(slog.DiscardHandler)), // the kit provokes what a loop logs
	)
	if cfg.TickBudget != 0 {
		opts = append(opts, eventloop.WithTickBudget(cfg.TickBudget))
	}
	if cfg.MicrotaskBudget != 0 {
		opts = append(opts, eventloop.WithMicrotaskBudget(cfg.MicrotaskBudget))
	}
	if cfg.OnOverload != nil {
		opts = append(opts, eventloop.WithOnOverload(cfg.OnOverload))
	}
	if cfg.OnPanic != nil {
		opts = append(opts, eventloop.WithPanicHandler(cfg.OnPanic))
	}
	return eventloop.New(opts...)
}

func TestConformance(t *testing.T) {
	looptest.Run(t, newLoop, looptest.Name("main"), looptest.VirtualTime(), modes)
}

// A loop that blocks in the system's poller keeps the same promises.
func TestConformanceDisabled(t *testing.T) {
	looptest.Run(t, func(cfg looptest.Config) (looptest.EventLoop, error) {
		return newLoopWith(cfg, eventloop.WithFastPathMode(eventloop.FastPathDisabled), eventloop.WithStrictMicrotaskOrdering(true))
	}, looptest.Name("disabled"), looptest.MayDiverge("Siege_Neighbours",
		"a thread that comes back from the system's poller waits for a processor like any goroutine"))
}
