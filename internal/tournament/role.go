// The roles of a process. The runner starts its own program again for every cell, so any program that contains the benchmarks
// can run them.

package tournament

import (
	"log/slog"
	"os"
	"regexp"
	"testing"
	"time"

	"github.com/turnloop/turnloop/eventloop/looptest"
	"github.com/turnloop/turnloop/internal/echo"
	cells "github.com/turnloop/turnloop/internal/tournament/bench"
)

// Role takes the role that the environment asks for, a test binary's or that of the client of servers, and does not return then. A
// program's main function calls it first.
func (f Field) Role() {
	echo.Role()
	if os.Getenv(cells.RoleVariable) == cells.Role {
		f.Test()
		os.Exit(0)
	}
}

// Test behaves like a test binary of the field: TestConformance for every ranked contestant, and all benchmarks. It takes the flags of
// such a binary from the command line, and ends the process.
func (f Field) Test() {
	// Several benchmarks overload the loop, and a loop's report of that must not get between the results.
	slog.SetDefault(slog.New(slog.DiscardHandler))
	wakeMonitor()
	testing.Main(regexp.MatchString, []testing.InternalTest{{Name: "TestConformance", F: f.Conform}}, f.benchmarks(), nil)
}

// wakeMonitor has the runtime's monitor look after the process every second. Go 1.26 may stop the world without noticing that a
// goroutine is on its way into a system call, and the monitor, which finds that out, sleeps meanwhile until the next timer. A
// loop that waits in the system's poller then stands still for so long, and with it the benchmark.
func wakeMonitor() { time.AfterFunc(time.Second, wakeMonitor) }

// Conform holds every ranked contestant to the conformance suite: impl=NAME/CHECK.
func (f Field) Conform(t *testing.T) {
	for _, c := range f.Contestants {
		if c.Ranked {
			looptest.Hold(t, c.Entry)
		}
	}
}
