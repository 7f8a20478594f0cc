package tournament

// The roles of test processes.

import (
	"flag"
	"log/slog"
	"os"
	"testing"
)

// TestMain takes the roles of the processes that benchmarks start, and keeps what overloaded loops report out of their results.
func TestMain(m *testing.M) {
	Own().Role()
	flag.Parse()
	if flag.Lookup("test.bench").Value.String() != "" {
		slog.SetDefault(slog.New(slog.DiscardHandler))
		wakeMonitor()
	}
	os.Exit(m.Run())
}
