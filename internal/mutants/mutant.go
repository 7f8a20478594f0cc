package main

// A mutant, and how it is applied.

import (
	"fmt"
	"path"
	"runtime"
	"slices"
	"strings"
)

// mutant is one seeded fault. Its text is replaced at the one place where it is, so that a change of the code that
// makes the table stale does not go unnoticed.
type mutant struct {
	name  string // area/fault
	file  string
	old   string
	new   string
	harm  string // what would go wrong for a user
	first string // pattern of tests to begin with, to save time; all others follow if these notice nothing
}

func allMutants() []mutant {
	return slices.Concat(loopMutants, boundsMutants, fdMutants, groupMutants, seenMutants, helperMutants, wheelMutants,
		partMutants, adapterMutants, gojaMutants)
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
