package alternateone_test

import (
	"io"
	"log/slog"
	"testing"

	"github.com/turnloop/turnloop/eventloop/looptest"
	"github.com/turnloop/turnloop/internal/alternateone"
)

func TestConformance(t *testing.T) {
	opts := []looptest.Option{looptest.Name("alternateone")}
	for check, reason := range alternateone.Divergences() {
		opts = append(opts, looptest.Diverges(check, reason))
	}
	for check, reason := range alternateone.MayDiverge() {
		opts = append(opts, looptest.MayDiverge(check, reason))
	}
	quiet := alternateone.WithLogger(slog.New(slog.NewTextHandler(io.Discard, nil))) // the kit provokes what a loop logs
	looptest.Run(t, func(cfg looptest.Config) (looptest.EventLoop, error) { return alternateone.New(cfg, quiet) }, opts...)
}
