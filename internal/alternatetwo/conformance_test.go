package alternatetwo_test

import (
	"log/slog"
	"os"
	"testing"

	"github.com/turnloop/turnloop/eventloop/looptest"
	"github.com/turnloop/turnloop/internal/alternatetwo"
)

// TestMain silences the default logger: the tests provoke what a loop logs.
func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	os.Exit(m.Run())
}

func TestConformance(t *testing.T) {
	opts := []looptest.Option{looptest.Name("alternatetwo")}
	for check, reason := range alternatetwo.Divergences() {
		opts = append(opts, looptest.Diverges(check, reason))
	}
	for check, reason := range alternatetwo.MayDiverge() {
		opts = append(opts, looptest.MayDiverge(check, reason))
	}
	looptest.Run(t, func(cfg looptest.Config) (looptest.EventLoop, error) { return alternatetwo.New(cfg) }, opts...)
}
