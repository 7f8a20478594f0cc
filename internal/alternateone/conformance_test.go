package alternateone_test

// The conformance kit, run on this loop.

import (
	"log/slog"
	"os"
	"testing"

	"github.com/turnloop/turnloop/eventloop/looptest"
	"github.com/turnloop/turnloop/internal/alternateone"
)

// TestMain silences the default logger: the tests provoke what a loop logs.
func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	os.Exit(m.Run())
}

func TestConformance(t *testing.T) { looptest.Hold(t, alternateone.Entry()) }

func TestLiveness(t *testing.T) { looptest.HoldLiveness(t, alternateone.Entry()) }
