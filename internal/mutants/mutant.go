package main

// A mutant, and how it is applied.

import (
	"fmt"
	"maps"
	"path"
	"runtime"
	"slices"
	"strings"
)

// fault is a row of a table. Its old text is replaced at the one place of its file where it is, so that a change of the code
// that makes the table stale does not go unnoticed.
type fault struct {
	name  string // area-fault
	harm  string // what would go wrong for a user
	first string // pattern of tests to begin with, to save time; all others follow if these notice nothing
	old   string
	new   string
}

// faults are the rows of a table, by file.
type faults map[string][]fault

// mutant is one seeded fault.
type mutant struct {
	fault
	file string
}

func allMutants() (all []mutant) {
	for _, table := range []faults{loopMutants, partMutants, builtMutants, gojaMutants, rivalMutants} {
		for _, file := range slices.Sorted(maps.Keys(table)) {
			for _, f := range table[file] {
				all = append(all, mutant{f, file})
			}
		}
	}
	return all
}

func (m mutant) apply(text string) (string, error) {
	if n := strings.Count(text, m.old); n != 1 {
		return "", fmt.Errorf("%s has the old text %d times, want once: %q", m.file, n, m.old)
	}
	return strings.Replace(text, m.old, m.new, 1), nil
}

// applies tells whether the file is part of the program on this system, by its name.
func (m mutant) applies() bool {
	return !strings.HasSuffix(path.Base(m.file), "_epoll.go") || runtime.GOOS == "linux"
}
