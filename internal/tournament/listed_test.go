package tournament_test

// The test of the table of contestants in docs/architecture.md.

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/turnloop/turnloop/internal/tournament"
)

var update = flag.Bool("update", false, "write the table of contestants into docs/architecture.md")

// TestContestantsAreListed: the table of docs/architecture.md is the list of contestants, by their own words.
func TestContestantsAreListed(t *testing.T) {
	const begin, end = "<!-- contestants -->\n", "<!-- /contestants -->"
	table := "| contestant | where | what it stands for |\n| --- | --- | --- |\n"
	for _, c := range tournament.Own().Contestants {
		if c.Folder != "" {
			table += fmt.Sprintf("| `%s` | [`%s`](../%[2]s) | %s |\n", c.Name, c.Folder, c.Philosophy)
		}
	}
	path := filepath.Join("..", "..", "docs", "architecture.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	got, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("the page has no place between %q and %q", begin, end)
	}
	if got == table {
		return
	}
	if !*update {
		t.Fatalf("the page's table differs from the list of contestants (-update writes it):\n%s\nwant\n%s", got, table)
	}
	if err := os.WriteFile(path, []byte(before+begin+table+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}
