package alternateone

// The options of New, with their zero values and ranges.

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"

	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/poller"
	"github.com/turnloop/turnloop/internal/rival"
)

// config is the configuration of a loop. New sets it; it does not change.
type config struct {
	loopapi.Config // without OnPanic, which onPanic calls
	id             uint64
	onPanic        func(*PanicError)
	slogger        *slog.Logger
}

var loopIDs atomic.Uint64

// Option sets an option for which loopapi.Config has no field.
type Option func(*config) error

// WithLogger sets the logger for faults that no handler takes and, at debug level, for the phases of a shutdown. The
// default is slog.Default at the time of logging. logger must not be nil.
func WithLogger(logger *slog.Logger) Option {
	return func(c *config) error {
		if logger == nil {
			return errors.New("WithLogger: nil logger")
		}
		c.slogger = logger
		return nil
	}
}

// WithPanicHandler sets a function that the loop calls, as a callback of its own, for each callback that panicked or
// called runtime.Goexit. It replaces Config.OnPanic and gets more details. f must not be nil.
func WithPanicHandler(f func(*PanicError)) Option {
	return func(c *config) error {
		if f == nil {
			return fmt.Errorf("WithPanicHandler: %w", loopapi.ErrNilCallback)
		}
		c.onPanic = f
		return nil
	}
}

// New creates a loop, which holds descriptors of the system's poller until it has ended: a loop that is never run must
// be closed or shut down.
//
// It supports QueueLimit, TickBudget (1024 by default), MicrotaskBudget (1024), OnOverload and OnPanic. For AutoExit it
// returns an error that wraps errors.ErrUnsupported; for a value out of range, an error that names the field or option.
func New(cfg loopapi.Config, opts ...Option) (*Loop, error) {
	c, err := newConfig(cfg, opts)
	var p *poller.Poller
	if err == nil {
		p, err = poller.New()
	}
	if err != nil {
		return nil, &LoopError{Op: "New", Phase: "configuring", Cause: err}
	}
	l := &Loop{table: table{watch: map[int]*watch{}}, microLeft: c.MicrotaskBudget, poller: p, config: c}
	l.Init()
	l.gone.L = &l.mu
	return l, nil
}

func newConfig(cfg loopapi.Config, opts []Option) (config, error) {
	cfg, err := rival.Checked(cfg)
	c := config{Config: cfg, id: loopIDs.Add(1)}
	if err != nil {
		return c, err
	}
	for i, opt := range opts {
		if opt == nil {
			return c, fmt.Errorf("option %d is nil", i)
		}
		if err := opt(&c); err != nil {
			return c, err
		}
	}
	switch {
	case cfg.OnPanic == nil:
	case c.onPanic == nil:
		c.onPanic = func(e *PanicError) { cfg.OnPanic(e.PanicError) }
	default:
		return c, errors.New("OnPanic and WithPanicHandler: only one of them can be told")
	}
	return c, nil
}

func (c *config) logger() *slog.Logger { return cmp.Or(c.slogger, slog.Default()) }
