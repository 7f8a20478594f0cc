package main

// The trees, their test programs, and the rounds.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// leastRounds is below what no comparison is made.
const leastRounds = 10

// The three runs of each benchmark in a round. The first two are of the same program.
const (
	old = iota
	control
	fresh
	sides
)

var sideNames = [sides]string{"old", "control", "new"}

// subject is one package, of both trees.
type subject struct {
	folder     string
	programs   [2]program // of the old tree, of the new one
	benchmarks []string   // that both have, by their names in results
}

// program is a test program and the folder it is to run in.
type program struct{ path, dir string }

// checkOut writes the tree of a revision below out, and returns its folder.
func checkOut(ctx context.Context, revision, out string) (dir string, err error) {
	hash, err := output(ctx, "", "git", "rev-parse", "--verify", revision+"^{commit}")
	if err != nil {
		return "", err
	}
	hash = strings.TrimSpace(hash)
	dir = filepath.Join(out, "tree-"+hash[:12])
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	if err := os.MkdirAll(out, 0o777); err != nil {
		return "", err
	}
	made, err := os.MkdirTemp(out, "tree-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(made)
	archive := made + ".tar"
	defer os.Remove(archive)
	if _, err := output(ctx, "", "git", "archive", "--format=tar", "-o", archive, hash); err != nil {
		return "", err
	}
	if _, err := output(ctx, made, "tar", "-xf", archive); err != nil {
		return "", err
	}
	return dir, os.Rename(made, dir)
}

// build compiles the tests of the package in a folder of a tree.
func build(ctx context.Context, top, folder, path string) (program, error) {
	p := program{path, filepath.Join(top, folder)}
	_, err := output(ctx, top, "go", "test", "-c", "-trimpath", "-vet=off", "-o", path, "./"+filepath.Clean(folder))
	return p, err
}

// list runs each benchmark once, in both trees, and notes those that both have.
func (s *subject) list(ctx context.Context, pattern string) error {
	var names [2][]string
	for i, p := range s.programs {
		results, _, err := p.run(ctx, pattern, "1x")
		if err != nil {
			return err
		}
		for _, r := range results {
			if name := r.Name.String(); !slices.Contains(names[i], name) {
				names[i] = append(names[i], name)
			}
		}
	}
	for _, name := range names[0] {
		if slices.Contains(names[1], name) {
			s.benchmarks = append(s.benchmarks, name)
		}
	}
	if len(s.benchmarks) == 0 {
		return fmt.Errorf("%s: no benchmark matches %q in both trees (%d in the old one, %d in the new one)", s.folder, pattern, len(names[0]), len(names[1]))
	}
	return nil
}

// run runs the benchmarks that match, and returns their results, also as text.
func (p program) run(ctx context.Context, pattern, time string) (results []*benchfmt.Result, text string, err error) {
	text, err = output(ctx, p.dir, p.path, "-test.run=^$", "-test.bench="+pattern, "-test.benchtime="+time, "-test.benchmem")
	if err != nil {
		return nil, "", err
	}
	for r := benchfmt.NewReader(strings.NewReader(text), p.path); r.Scan(); {
		if result, ok := r.Result().(*benchfmt.Result); ok {
			results = append(results, result.Clone())
		}
	}
	return results, text, nil
}

var processors = regexp.MustCompile(`-\d+$`)

// only is the pattern that matches one benchmark, by its name in results.
func only(name string) string {
	parts := strings.Split(processors.ReplaceAllString(name, ""), "/")
	for i, part := range parts {
		parts[i] = "^" + regexp.QuoteMeta(part) + "$"
	}
	parts[0] = "^(Benchmark)?" + parts[0][1:]
	return strings.Join(parts, "/")
}

// measure runs the rounds. Each benchmark has its three runs one after the other, in random order, so that they share what the
// machine does meanwhile.
func measure(ctx context.Context, s settings, out string, subjects []subject) ([]*figure, error) {
	var raw [sides]*os.File
	for side, name := range sideNames {
		f, err := os.Create(filepath.Join(out, name+".txt"))
		if err != nil {
			return nil, err
		}
		defer f.Close()
		raw[side] = f
	}
	type cell struct {
		subject *subject
		name    string
	}
	var cells []cell
	for i := range subjects {
		for _, name := range subjects[i].benchmarks {
			cells = append(cells, cell{&subjects[i], name})
		}
	}
	found := figures{}
	for round := range s.rounds {
		fmt.Fprintf(os.Stderr, "round %d of %d, %d benchmarks\n", round+1, s.rounds, len(cells))
		rand.Shuffle(len(cells), func(i, j int) { cells[i], cells[j] = cells[j], cells[i] })
		for _, c := range cells {
			for _, side := range rand.Perm(sides) {
				results, text, err := c.subject.programs[side/fresh].run(ctx, only(c.name), s.time)
				if err != nil {
					return nil, err
				}
				if _, err := raw[side].WriteString(text); err != nil {
					return nil, err
				}
				for _, r := range results {
					found.add(c.subject.folder, r, round, side)
				}
			}
		}
	}
	return found.complete(s.rounds), nil
}

// output runs a command and returns what it prints. Its error has the last lines of the rest.
func output(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return "", errors.New("interrupted")
	case err != nil:
		text := strings.TrimSpace(stderr.String() + stdout.String())
		return "", fmt.Errorf("%s %s: %w\n%s", filepath.Base(name), strings.Join(args, " "), err, text[max(0, len(text)-2000):])
	}
	return stdout.String(), nil
}
