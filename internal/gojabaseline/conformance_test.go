package gojabaseline_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/turnloop/turnloop/eventloop/looptest"
	"github.com/turnloop/turnloop/internal/gojabaseline"
)

func TestConformance(t *testing.T) {
	options := []looptest.Option{looptest.Name("baseline"), looptest.VirtualTime()}
	for check, reason := range gojabaseline.Divergences() {
		options = append(options, looptest.Diverges(check, reason))
	}
	for check, reason := range gojabaseline.MayDiverge() {
		options = append(options, looptest.MayDiverge(check, reason))
	}
	looptest.Run(t, func(cfg looptest.Config) (looptest.EventLoop, error) {
		if cfg.AutoExit || cfg.QueueLimit != 0 || cfg.TickBudget != 0 || cfg.MicrotaskBudget != 0 ||
			cfg.OnOverload != nil || cfg.OnPanic != nil {
			return nil, fmt.Errorf("goja_nodejs has no such option: %w", errors.ErrUnsupported)
		}
		return gojabaseline.New(), nil
	}, options...)
}
