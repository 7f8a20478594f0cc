package main

// What the page of this example says about the commands.

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// The page lists the commands that there are.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "Commands: ")
	listed, _, _ := strings.Cut(rest, ".")
	want := slices.Sorted(maps.Keys(commands))
	for name := range subcommands {
		want = append(want, strings.ReplaceAll(name, "|", " "))
	}
	for i, name := range want {
		want[i] = strings.ToUpper(name)
	}
	slices.Sort(want)
	if got := strings.Join(strings.Fields(listed), " "); got != strings.Join(want, ", ") {
		t.Errorf("README.md lists other commands than %s", strings.Join(want, ", "))
	}
}
