package report

// That the report turns on roles, and knows no contestant's name.

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/turnloop/turnloop/internal/tournament/record"
	"github.com/turnloop/turnloop/internal/tournament/stats"
)

// reported writes the report on the recorded run after a change, and returns it.
func reported(t *testing.T, change func(run *record.Run, text string) string) string {
	t.Helper()
	dir := smallRun(t, t.TempDir())
	for _, name := range []string{record.RunFile, record.RawFile} {
		run, err := record.Load(dir)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(change(run, read(t, path))), 0o644); err != nil {
			t.Fatal(err)
		}
		if name == record.RunFile {
			changed, err := record.Load(dir)
			if err != nil {
				t.Fatal(err)
			}
			changed.Roles = run.Roles
			if err := record.Save(dir, changed); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := Write(dir, "", stats.Policy{}); err != nil {
		t.Fatal(err)
	}
	return read(t, filepath.Join(dir, ResultsFile))
}

// Whoever has the roles, the report speaks of them: it knows no name of its own.
func TestTheReportKnowsNoName(t *testing.T) {
	names := regexp.MustCompile(`\b(main|baseline|channel)\b`)
	others := map[string]string{"main": "entrant", "baseline": "yardstick", "channel": "zero"}
	renamed := func(text string) string {
		return names.ReplaceAllStringFunc(text, func(name string) string { return others[name] })
	}
	want := renamed(reported(t, func(_ *record.Run, text string) string { return text }))
	got := reported(t, func(run *record.Run, text string) string {
		run.Roles = record.Roles{Subject: "entrant", Reference: "yardstick", Control: "zero"}
		return renamed(text)
	})
	if got != want {
		line := func(s string, i int) string { return strings.Split(s, "\n")[i] }
		for i := range strings.Split(want, "\n") {
			if line(got, i) != line(want, i) {
				t.Fatalf("line %d:\n%s\nwant:\n%s", i+1, line(got, i), line(want, i))
			}
		}
	}
}

// The subject may be anybody who takes part, and there need not be a reference.
func TestTheReportTurnsOnTheRoles(t *testing.T) {
	rival := reported(t, func(run *record.Run, text string) string {
		run.Roles = record.Roles{Subject: "alternatetwo", Reference: "baseline", Control: "channel"}
		return text
	})
	if !strings.Contains(rival, "Against the best other ranked loop `alternatetwo` is") {
		t.Errorf("with another subject:\n%.1500s", rival)
	}
	without := reported(t, func(run *record.Run, text string) string {
		run.Roles = record.Roles{Subject: "main"}
		return text
	})
	for _, l := range strings.Split(without, "\n") {
		if strings.Contains(l, "``") && !strings.HasPrefix(l, "```") {
			t.Errorf("without a reference: %s", l)
		}
	}
	if !strings.Contains(without, "`main` wins") && !strings.Contains(without, "`main` is the only ranked loop") {
		t.Errorf("without a reference:\n%.1500s", without)
	}
}
