// A benchmark binary to run in tests: this test binary itself, started anew. FAKE tells its benchmarks how to behave. And the
// configuration and the Progress of a run of it.

package runner

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/turnloop/turnloop/internal/tournament/bench"
	"github.com/turnloop/turnloop/internal/tournament/record"
)

// behaves tells whether FAKE asks the cell for a certain behaviour, as in FAKE=hang:BenchmarkSlow/impl=alpha.
func behaves(how, cell string) bool {
	for word := range strings.FieldsSeq(os.Getenv("FAKE")) {
		if word == how+":"+cell {
			return true
		}
	}
	return false
}

// hang does what a cell that waits for a lost task does. An empty select would not: without cgo the runtime sees that nobody
// can end it. The file that HANGS names tells that it has begun.
func hang() {
	_ = os.WriteFile(os.Getenv("HANGS"), nil, 0o644)
	time.Sleep(time.Hour)
}

func fakeCell(b *testing.B, work time.Duration) {
	switch {
	case behaves("hang", b.Name()), behaves("hang-measuring", b.Name()) && b.N > 1:
		hang()
	case behaves("crash", b.Name()):
		os.Stderr.WriteString("fatal error: all is lost\n")
		os.Exit(7)
	case behaves("fail", b.Name()):
		b.Fatal("the loop lost a task")
	case behaves("na", b.Name()):
		b.Skip("n/a: no TimerScheduler")
	}
	if behaves("huge", b.Name()) {
		b.ReportMetric(1e300, "ns/op")
		return
	}
	for range b.N {
		for start := time.Now(); time.Since(start) < work; {
		}
	}
}

func fakeBenchmark(b *testing.B, work time.Duration, variants ...string) {
	if os.Getenv("FAKE") == "" {
		b.Skip("only as a child process")
	}
	for _, impl := range []string{"alpha", "beta", "ctl", "odd", "crashes", "breaks", "killed", "leaves", "hangs", "reorders"} {
		b.Run("impl="+impl, func(b *testing.B) {
			if len(variants) == 0 {
				fakeCell(b, work)
			}
			for _, v := range variants {
				b.Run(v, func(b *testing.B) { fakeCell(b, work) })
			}
		})
	}
}

// fakeCells are those of the fake benchmarks.
func fakeCells() (cells []bench.Cell) {
	for _, impl := range []string{"alpha", "beta", "ctl"} {
		for _, figure := range []string{"Quick", "Slow/op=x/size=1", "Slow/op=x/size=20"} {
			cells = append(cells, bench.Cell{Name: bench.CellName(figure, impl), Bench: figure, Impl: impl})
		}
	}
	return cells
}

func BenchmarkQuick(b *testing.B) { fakeBenchmark(b, time.Microsecond) }

func BenchmarkSlow(b *testing.B) {
	fakeBenchmark(b, 100*time.Microsecond, "op=x/size=1", "op=x/size=20")
}

// TestConformance is a suite of two checks. The contestants are named for how they stand it; to declare a divergence from the second is
// no way to pass it.
func TestConformance(t *testing.T) {
	if os.Getenv("FAKE") == "" {
		t.Skip("only as a child process")
	}
	for _, impl := range []string{"alpha", "beta", "odd", "crashes", "breaks", "killed", "leaves", "hangs", "reorders"} {
		t.Run("impl="+impl, func(t *testing.T) {
			if impl == "crashes" {
				os.Exit(7)
			}
			t.Run("D01_States", func(t *testing.T) {
				t.Attr("outcome", "pass")
				t.Attr("reason", "")
			})
			t.Run("D02_Order", func(t *testing.T) {
				switch impl {
				case "breaks":
					os.Exit(7)
				case "killed":
					self, _ := os.FindProcess(os.Getpid())
					_ = self.Kill()
					hang()
				case "leaves":
					os.Exit(0)
				case "hangs":
					hang()
				case "reorders":
					t.Attr("outcome", "diverges")
					t.Attr("reason", "equal delays run out of order")
					t.Skip("equal delays run out of order")
				}
			})
			if impl == "odd" {
				t.Error("a divergence is declared for a check that does not exist")
			}
		})
	}
}

// journal is a Progress that remembers, and may act.
type journal struct {
	said   []string
	steps  []string
	onStep func(step string)
}

func (j *journal) Phase(what string, _ int) {}
func (j *journal) Step(what string, _ time.Duration) {
	j.steps = append(j.steps, what)
	if j.onStep != nil {
		j.onStep(what)
	}
}
func (j *journal) Say(format string, args ...any) {
	j.said = append(j.said, fmt.Sprintf(format, args...))
}
func (j *journal) Close() {}

// config runs this test binary with the given behaviour.
func config(t *testing.T, fake string) (Config, *journal) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	j := &journal{}
	return Config{
		Options: record.Options{Name: "test", Mode: record.Quick, Asked: 2, Conformance: true},
		Bench:   exe, Cells: fakeCells(), Out: t.TempDir(), Seed: 7, Procs: 1, Timeout: time.Hour,
		Source: record.Source{Commit: "0123abc"},
		Checks: []record.Requirement{{Name: "D01_States"}, {Name: "D02_Order", Gate: true}},
		Impls:  []record.Impl{{Name: "alpha", Ranked: true}, {Name: "beta", Ranked: true}, {Name: "ctl"}},
		Figures: []record.Figure{
			{Name: "Slow/op=x/size=1", Unit: "ns/op", Window: time.Millisecond}, {Name: "Slow/op=x/size=20", Unit: "ns/op", Window: time.Millisecond},
			{Name: "Quick", Unit: "ns/op", Window: time.Millisecond},
		},
		Env:      append(os.Environ(), "FAKE=on "+fake, "GORACE=atexit_sleep_ms=0"),
		Progress: j,
	}, j
}
