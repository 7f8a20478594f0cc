package runner

// A whole run, and its report, with entrants that do all that they can to spoil it.

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/turnloop/turnloop/internal/tournament/bench"
	"github.com/turnloop/turnloop/internal/tournament/record"
	"github.com/turnloop/turnloop/internal/tournament/report"
	"github.com/turnloop/turnloop/internal/tournament/stats"
)

// TestStrangers: loops that do not stand the suite, whatever they declare, and programs whose values cannot be, or that end when they are
// asked, lose their own places; the run ends, its first screen says so, and all others are ranked.
func TestStrangers(t *testing.T) {
	const gate = "` is not ranked: it fails D02_Order, which belongs to the gate."
	loops := map[string]struct {
		fails []string
		says  string
	}{
		"odd":      {[]string{"Suite"}, "` is not ranked: it fails Suite, which it claims to meet."}, // with all of its checks passed
		"crashes":  {[]string{"D01_States", "D02_Order"}, gate},                                      // before the first check
		"breaks":   {[]string{"D02_Order"}, gate},
		"killed":   {[]string{"D02_Order"}, gate},
		"leaves":   {[]string{"D02_Order"}, gate},
		"hangs":    {[]string{"D02_Order"}, gate},
		"reorders": {[]string{"D02_Order"}, gate}, // which it has declared
	}
	manners := map[string]string{
		"negative": "` failed in 1 figure: -5 ns/op is no measurement", "no number": "` failed in 1 figure: NaN ns/op is no measurement",
		"huge": "` failed in 1 figure: 1e+300 ns/op is more than there was", "missing": "` failed in 1 figure: it has no value in ns/op.",
		"forges": "` failed in 1 figure: it says that ", "dies": "` is not ranked: asked for what it has: ",
		"odd list": "` is not ranked: asked for what it has: \"Submit\" is neither a benchmark nor the end",
	}
	t.Setenv("GORACE", "atexit_sleep_ms=0")
	cfg, _ := config(t, "")
	cfg.Mode, cfg.Asked, cfg.Filter, cfg.Timeout = record.Full, record.FewestRounds, "", 400*time.Millisecond
	cfg.Roles = record.Roles{Subject: "alpha", Reference: "beta"}
	cfg.Figures = slices.DeleteFunc(cfg.Figures, func(f record.Figure) bool { return f.Name != "Quick" })
	for name := range loops {
		cfg.Impls = append(cfg.Impls, record.Impl{Name: name, Ranked: true})
		cfg.Cells = append(cfg.Cells, bench.Cell{Name: bench.CellName("Quick", name), Bench: "Quick", Impl: name})
	}
	cfg.Speaks = map[string]Program{"well": program(t, "well")}
	for name := range manners {
		cfg.Speaks[strings.ReplaceAll(name, " ", "-")] = program(t, name)
	}
	for name := range cfg.Speaks {
		cfg.Impls = append(cfg.Impls, record.Impl{Name: name})
	}
	run := patiently(t, &cfg, "hangs")
	for name, c := range loops {
		got, held := run.Conformity(name)
		if !held || !slices.Equal(got.Failed(), c.fails) {
			t.Errorf("%s fails %v of %+v, want %v", name, got.Failed(), got.Checks, c.fails)
		}
	}
	if _, err := report.Write(cfg.Out, ""); err != nil {
		t.Fatal(err)
	}
	a, err := stats.Load(cfg.Out)
	if err != nil {
		t.Fatal(err)
	}
	var ranked []string
	for _, l := range a.Loops {
		if l.Rank > 0 {
			ranked = append(ranked, l.Name)
		}
	}
	if slices.Sort(ranked); !run.Complete || !slices.Equal(ranked, []string{"alpha", "beta"}) {
		t.Errorf("complete: %v; ranked are %v", run.Complete, ranked)
	}
	all := measured(t, cfg.Out)
	for file, end := range map[string]string{report.ResultsFile: "![", report.PageFile: "<table"} {
		text, err := os.ReadFile(filepath.Join(cfg.Out, file))
		if err != nil {
			t.Fatal(err)
		}
		screen, _, _ := strings.Cut(strings.NewReplacer("<b>", "`", "</b>", "`", "&#34;", `"`).Replace(string(text)), end)
		for name, c := range loops {
			if says := "`" + name + c.says; !strings.Contains(screen, says) {
				t.Errorf("the first screen of %s does not say %s: %s", file, says, screen)
			}
			if n := len(all["Quick/impl="+name]); n != run.Rounds {
				t.Errorf("%s was measured %d times in %d rounds", name, n, run.Rounds)
			}
		}
		for name, says := range manners {
			name = strings.ReplaceAll(name, " ", "-")
			if says = "`" + name + says; !strings.Contains(screen, says) {
				t.Errorf("the first screen of %s does not say %s: %s", file, says, screen)
			}
			if n := len(all["Quick/impl="+name]); n != 0 {
				t.Errorf("%s has %d values", name, n)
			}
		}
	}
	if raw, err := os.ReadFile(filepath.Join(cfg.Out, record.RawFile)); err != nil || !strings.Contains(string(raw), " 2.5 x/op") {
		t.Errorf("further units of a program are lost: %v", err)
	}
}

// patiently runs with a time-out that is long enough for all but some contestants, or cells: a busy machine starts a process slowly, and
// prints its stacks slowly.
func patiently(t *testing.T, cfg *Config, hang ...string) *record.Run {
	t.Helper()
	for ; ; cfg.Timeout, cfg.Out = cfg.Timeout*4, t.TempDir() {
		run, err := Run(t.Context(), *cfg)
		if errors.Is(err, errHung) && cfg.Timeout <= 2*time.Minute {
			t.Logf("%v is too short: %.100s", cfg.Timeout, err)
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		late := ""
		for _, c := range run.Cells {
			hung := func(f record.Failure) bool { return strings.Contains(f.Reason, errHung.Error()) }
			if slices.ContainsFunc(c.Failures, hung) && !slices.Contains(hang, c.Name) {
				late = c.Name
			}
		}
		for _, i := range run.Impls {
			if strings.Contains(i.Lost, errHung.Error()) {
				late = i.Name
			}
		}
		for _, c := range run.Checks {
			if strings.Contains(c.Note, errHung.Error()) && !slices.Contains(hang, c.Impl) {
				late = c.Impl
			}
		}
		log, err := os.ReadFile(filepath.Join(cfg.Out, "failures.txt"))
		if late == "" && err == nil && strings.Contains(string(log), "goroutine ") || cfg.Timeout > 2*time.Minute {
			return run
		}
		t.Logf("%v is too short for %s", cfg.Timeout, late)
	}
}
