package main

// The test of a script that awaits Go.

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestAwait(t *testing.T) {
	file, none := filepath.Join(t.TempDir(), "abc"), filepath.Join(t.TempDir(), "none")
	if err := os.WriteFile(file, []byte("abc"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	total, err := run(t.Context(), &out, []string{file, none, file})
	if err != nil || total != int64(6) {
		t.Errorf("%v, %v", total, err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n") // in the order in which they were read
	slices.Sort(lines)
	want := file + ": 3 bytes, ba7816bf"
	if len(lines) != 3 || !slices.Contains(lines, want) || !strings.Contains(out.String(), none+": open "+none) {
		t.Errorf("it prints\n%s", &out)
	}
}
