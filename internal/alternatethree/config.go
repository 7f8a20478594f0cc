package alternatethree

// The options of a loop.

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"

	"github.com/turnloop/turnloop/internal/loopapi"
)

// The defaults, and the fixed numbers.
const (
	defaultTickBudget      = 1024
	defaultMicrotaskBudget = 1024
	ioBatch                = 64 // callbacks of descriptors between two microtask checkpoints
)

// Option sets an option for which loopapi.Config has no field.
type Option func(*Loop)

// WithLogger sets the logger for errors that no method returns and no handler takes. The default, also for nil, is
// slog.Default at the time of logging.
func WithLogger(logger *slog.Logger) Option { return func(l *Loop) { l.logger = logger } }

func (l *Loop) configure(cfg loopapi.Config, opts []Option) error {
	if cfg.AutoExit {
		return fmt.Errorf("eventloop: Config.AutoExit: %w", errors.ErrUnsupported)
	}
	for name, value := range map[string]int{
		"QueueLimit": cfg.QueueLimit, "TickBudget": cfg.TickBudget, "MicrotaskBudget": cfg.MicrotaskBudget,
	} {
		if value < 0 {
			return fmt.Errorf("eventloop: Config.%s is negative: %d", name, value)
		}
	}
	cfg.TickBudget = cmp.Or(cfg.TickBudget, defaultTickBudget)
	cfg.MicrotaskBudget = cmp.Or(cfg.MicrotaskBudget, defaultMicrotaskBudget)
	l.cfg = cfg
	for _, opt := range opts {
		opt(l)
	}
	return nil
}

// log returns the logger of the options, or the current default.
func (l *Loop) log() *slog.Logger { return cmp.Or(l.logger, slog.Default()) }
