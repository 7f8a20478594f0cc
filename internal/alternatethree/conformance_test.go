package alternatethree_test

// The loop, held to the conformance kit.

import (
	"log/slog"
	"testing"

	"github.com/turnloop/turnloop/eventloop/looptest"
	"github.com/turnloop/turnloop/internal/alternatethree"
)

func newLoop(cfg looptest.Config) (looptest.EventLoop, error) {
	return alternatethree.New(cfg, alternatethree.WithLogger(slog.New(slog.DiscardHandler)))
}

func TestConformance(t *testing.T) {
	options := []looptest.Option{looptest.Name("alternatethree")}
	for check, reason := range alternatethree.Divergences() {
		options = append(options, looptest.Diverges(check, reason))
	}
	for check, reason := range alternatethree.MayDiverge() {
		options = append(options, looptest.MayDiverge(check, reason))
	}
	looptest.Run(t, newLoop, options...)
}
