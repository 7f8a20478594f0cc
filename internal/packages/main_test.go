//go:build unix

package main

// Tests of the comparison, with the shell as both runtimes.

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A program that prints something else is found, and times and temporary names are no difference.
func TestCompare(t *testing.T) {
	dir, uses := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		filepath.Join(dir, "other"):   "#!/bin/sh\nOTHER=yes exec sh \"$@\"\n",
		filepath.Join(uses, "a.js"):   "echo same, in ${OTHER:+1}2ms\n",
		filepath.Join(uses, "b.js"):   "echo first; echo $OTHER\n",
		filepath.Join(uses, "c.mjs"):  "exit ${OTHER:+1}\n",
		filepath.Join(uses, "no.txt"): "exit ${OTHER:+1}\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	c := census{runtimes: [2]string{"sh", filepath.Join(dir, "other")}, limit: time.Hour, causes: map[string][]string{}}
	if err := c.compare(filepath.Join(dir, "node_modules"), uses, 0, 1); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"prints something else: yes": "b.js", "prints something else: exit status 1": "c.mjs"}
	for cause, name := range want {
		if got := c.causes[cause]; len(got) != 1 || got[0] != name {
			t.Errorf("%s: %v, want %s", cause, got, name)
		}
	}
	if len(c.causes) != len(want) {
		t.Errorf("causes are %v", c.causes)
	}
}
