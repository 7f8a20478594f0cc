// Tests of where reports are written, and that they depend on nothing but the run.

package report

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/turnloop/turnloop/internal/tournament/policy"
	"github.com/turnloop/turnloop/internal/tournament/stats"
)

// TestWriteAcrossFolders: the folder of a run and the other report need not be told alike, one from the root and one from here.
func TestWriteAcrossFolders(t *testing.T) {
	dir := t.TempDir()
	native := smallRun(t, dir)
	t.Chdir(dir)
	if _, err := Write(native, "RESULTS.md", policy.Bars); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(read(t, "RESULTS.md"), "(results/native/index.html)") {
		t.Error("the page is not linked")
	}
}

func TestWriteIsReproducibleAndReplaces(t *testing.T) {
	native := smallRun(t, t.TempDir())
	stale := filepath.Join(native, "gone.svg")
	if err := os.WriteFile(stale, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	snapshot := func() map[string]string {
		if _, err := Write(native, "", stats.Policy{}); err != nil {
			t.Fatal(err)
		}
		files := map[string]string{}
		entries, err := os.ReadDir(native)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			files[e.Name()] = read(t, filepath.Join(native, e.Name()))
		}
		return files
	}
	first := snapshot()
	if _, ok := first["gone.svg"]; ok {
		t.Error("a chart of an earlier run is still there")
	}
	for name, text := range snapshot() {
		if first[name] != text {
			t.Errorf("%s differs between two reports on the same run", name)
		}
	}
	for _, name := range []string{"RESULTS.md", "index.html", "results.json", "geomean.svg", "throughput.svg"} {
		if first[name] == "" {
			t.Errorf("%s is missing", name)
		}
	}
}
