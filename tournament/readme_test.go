package tournament_test

// The README's words, followed as they stand.

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/turnloop/turnloop/internal/outside"
	"github.com/turnloop/turnloop/internal/tournament/record"
)

// words are what the README tells to do: its commands in their order, its files, and what is said in passing.
type words struct {
	commands []string
	files    map[string]string
	passing  []string
}

var fence = regexp.MustCompile("(?ms)^```(\\w+) ?(\\S*)\n(.*?)^```$")

func readme(t *testing.T) words {
	t.Helper()
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	w := words{files: map[string]string{}}
	for _, m := range fence.FindAllStringSubmatch(string(text), -1) {
		switch language, name, body := m[1], m[2], m[3]; {
		case language == "sh":
			w.commands = append(w.commands, body)
		case name != "":
			w.files[name] = body
		default:
			w.passing = append(w.passing, body)
		}
	}
	return w
}

// follow does what the README says, with the modules of this tree in place of released ones. It returns the folder of the new module, and
// the environment for commands there.
func follow(t *testing.T, w words) (dir string, env []string) {
	t.Helper()
	env, err := outside.Serve("..", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	above := t.TempDir()
	shell(t, above, env, w.commands[0])
	dir = filepath.Join(above, "mine")
	for name, text := range w.files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir, env
}

func shell(t *testing.T, dir string, env []string, commands string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-ec", commands)
	cmd.Dir, cmd.Env = dir, env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", commands, err, out)
	}
	return string(out)
}

// figures counts a contestant's figures of a run, by benchmark.
func figures(t *testing.T, dir, impl string) map[string]int {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, record.RawFile))
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for _, m := range regexp.MustCompile(`(?m)^Benchmark(\w+)/impl=`+impl+`(?:-\d+)?(?:\s|/)`).FindAllStringSubmatch(string(raw), -1) {
		counts[m[1]]++
	}
	return counts
}

// TestReadme: whoever does what the README says, and nothing else, has their loop in a report under its own name, beside the others;
// and so does who enters a program.
func TestReadme(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a program and measures")
	}
	w := readme(t)
	dir, env := follow(t, w)
	results := filepath.Join(dir, "results")
	shell(t, dir, env, w.commands[1])
	for _, impl := range []string{"mine", "main", "baseline", "channel"} {
		if got := figures(t, results, impl); got["Submit"] != 10 || len(got) != 1 {
			t.Errorf("figures of %s: %v, want Submit in 10 rounds", impl, got)
		}
	}
	run, err := record.Load(results)
	if err != nil {
		t.Fatal(err)
	}
	if !run.Complete || !run.Impl("mine").Ranked || run.Impl("mine").About == "" {
		t.Errorf("the run of %+v", run.Impl("mine"))
	}
	report, err := os.ReadFile(filepath.Join(results, "RESULTS.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(report), "`mine`") {
		t.Error("the report does not name the entry")
	}

	t.Run("conformance", func(t *testing.T) {
		out := shell(t, dir, env, "go build -o entrant . && TOURNAMENT_ROLE=test ./entrant -test.v -test.short "+
			"-test.run '^TestConformance$/^impl=mine$/^D10_FIFO$'")
		if !strings.Contains(out, "--- PASS: TestConformance/impl=mine/D10_FIFO") {
			t.Errorf("the suite says %s", out)
		}
		// A check that it does not pass ends neither the suite nor the program.
		out = shell(t, dir, env, "TOURNAMENT_ROLE=test ./entrant -test.v -test.short "+
			"-test.run '^TestConformance$/^impl=mine$/^(D06_PanicIsolation|D06_AbortWhileEnding|D10_FIFO)$' || true")
		for _, line := range []string{"FAIL: TestConformance/impl=mine/D06_PanicIsolation", "PASS: TestConformance/impl=mine/D10_FIFO"} {
			if !strings.Contains(out, "--- "+line) {
				t.Errorf("%q is missing in what the suite says: %s", line, out)
			}
		}
	})
	t.Run("misuse", func(t *testing.T) {
		main := strings.Replace(w.files["main.go"], `"mine"`, `"main"`, 1)
		if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(main), 0o644); err != nil {
			t.Fatal(err)
		}
		if out := shell(t, dir, env, "go run . help 2>&1 || true"); !strings.Contains(out, `two contestants are called "main"`) {
			t.Errorf("with a name that is taken it says %s", out)
		}
	})
	t.Run("program", func(t *testing.T) {
		if _, err := exec.LookPath("python3"); err != nil {
			t.Skip("there is no python3")
		}
		main := "package main\n\nimport \"github.com/turnloop/turnloop/tournament\"\n\nfunc main() {\n" + w.passing[0] + "}\n"
		if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(main), 0o644); err != nil {
			t.Fatal(err)
		}
		shell(t, dir, env, "rm loop.go && go run . run -mode quick -filter 'Submit/impl=(mine|main)$' -out other")
		if got := figures(t, filepath.Join(dir, "other"), "mine"); got["Submit"] != 10 {
			t.Errorf("figures of the program: %v, want Submit in 10 rounds", got)
		}
	})
}
