//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

// Command soak runs, for a given time, checks that are too long for every run of the tests, and writes its results into
// results/soak.md: see "make soak". It consists of stations. Each station counts something towards a target, and
// has a share of the time; a test that runs when the time is up is finished. The first station is a canary: tests that fail and
// that hang must be noticed, or else the whole run is worth nothing.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// fakeTest is the variable that makes this program a test: one that fails if it is "c", and that hangs if it is "hang".
const fakeTest = "TURNLOOP_SOAK_FAKE"

func main() {
	if name := os.Getenv(fakeTest); name != "" {
		switch name {
		case "c":
			os.Exit(1)
		case "hang":
			time.Sleep(mostTimeOfLong)
		}
		return
	}
	budget := flag.Duration("budget", 30*time.Minute, "time for all stations together")
	seed := flag.Uint64("seed", 0, "seed of every station; 0 draws one for each")
	only := flag.String("only", "", "run the stations whose names match this expression; the whole budget is theirs")
	path := flag.String("write", "", "the document to write the result of a run of all stations into")
	first := flag.Bool("first", false, "end a station at its first failure, and print all that a test has said")
	page := flag.String("page", "", "write the page of what is proven how, and run nothing")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "soak: %q is no flag\n", flag.Arg(0))
		os.Exit(2)
	}
	if *page != "" {
		if err := os.WriteFile(*page, []byte(reliability()), 0o644); err != nil {
			fmt.Fprintln(os.Stderr, "soak:", err)
			os.Exit(1)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	stopAtFirst = *first
	err := soak(ctx, *budget, *seed, *only, *path)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

func soak(ctx context.Context, budget time.Duration, seed uint64, only, path string) error {
	if budget <= 0 {
		return errors.New("-budget is not positive")
	}
	if only != "" && path != "" {
		return errors.New("-write is for a run of all stations")
	}
	// Checked now: a failure after hours would lose the run, and another file must not be overwritten.
	if err := writable(path); err != nil {
		return fmt.Errorf("-write: %w", err)
	}
	pattern, err := regexp.Compile(only)
	if err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	var chosen []station
	shares := 0
	for _, s := range stations() {
		if pattern.MatchString(s.name) {
			chosen = append(chosen, s)
			shares += s.share
		}
	}
	if len(chosen) == 0 {
		return fmt.Errorf("-only %s: no such station", only)
	}
	rec := &record{environ: environ(), budget: budget}
	fmt.Printf("soak: %s\n", rec.environ)
	began := time.Now()
	for _, s := range chosen {
		if ctx.Err() != nil {
			break
		}
		// What earlier stations did not use is shared by the later ones.
		limit := max(budget-time.Since(began), 0) * time.Duration(s.share) / time.Duration(max(shares, 1))
		shares -= s.share
		draw := seed
		if draw == 0 {
			draw = rand.Uint64()
		}
		rec.results = append(rec.results, s.start(ctx, draw, limit))
	}
	rec.took = time.Since(began)
	if environ() != rec.environ { // each station compiles when its turn comes: they may have tested different code
		rec.environ = strings.Replace(rec.environ, clean, "tree changed meanwhile", 1)
	}
	rec.print(os.Stdout)
	return rec.conclude(path, ctx.Err() != nil)
}

// conclude writes the document, and tells why the run is no success. A run is written only if each station had its turn and did
// something, or if something failed.
func (rec *record) conclude(path string, interrupted bool) error {
	failed, idle := 0, 0
	for _, r := range rec.results {
		if r.failed() {
			failed++
		}
		if r.idle() {
			idle++
		}
	}
	written := path != "" && !interrupted && (idle == 0 || failed > 0)
	if written {
		if err := os.WriteFile(path, []byte(document(rec.section())), 0o644); err != nil {
			return err
		}
	}
	var wrong []string
	if interrupted {
		wrong = append(wrong, "interrupted")
	}
	if failed > 0 {
		wrong = append(wrong, fmt.Sprintf("%d of %d stations failed", failed, len(rec.results)))
	}
	if idle > 0 {
		wrong = append(wrong, fmt.Sprintf("%d of %d stations reached nothing in the time", idle, len(rec.results)))
	}
	if wrong == nil {
		return nil
	}
	if path != "" && !written {
		wrong = append(wrong, "nothing is written")
	}
	return errors.New(strings.Join(wrong, "; "))
}

// clean says that nothing is changed since the commit.
const clean = "tree clean"

// environ tells where the run took place: the last commit of the code, and the machine. Documents and results are no code.
func environ() string {
	code := []string{"--", ":/", ":(top,exclude)*.md", ":(top,exclude)results"}
	output := func(name string, args ...string) string {
		out, err := exec.Command(name, args...).Output()
		if err != nil {
			return "unknown"
		}
		return strings.TrimSpace(string(out))
	}
	tree := clean
	switch changes := output("git", append([]string{"status", "--porcelain"}, code...)...); changes {
	case "":
	case "unknown":
		tree = "tree unknown"
	default:
		tree = "tree changed"
	}
	return fmt.Sprintf("commit %s, %s, %s, %s, %d CPUs, GOMAXPROCS %d",
		output("git", append([]string{"log", "-1", "--format=%H"}, code...)...), tree,
		runtime.Version(), output("uname", "-srm"), runtime.NumCPU(), runtime.GOMAXPROCS(0))
}

// record is all that a run has found.
type record struct {
	environ      string
	budget, took time.Duration
	results      []*run
}

// print shows the results one by one.
func (rec *record) print(w io.Writer) {
	fmt.Fprintf(w, "\nsoak: %v of %v\n", rec.took.Round(time.Second), rec.budget)
	for _, r := range rec.results {
		fmt.Fprintf(w, "  %-34s %s\n", r.name, r.outcome())
		for _, line := range r.failures {
			fmt.Fprintf(w, "      %s\n", strings.ReplaceAll(line, "\n", "\n      "))
		}
	}
}

// section is the part of the document about the run.
func (rec *record) section() string {
	var b strings.Builder
	fmt.Fprintf(&b, "\nBy `make soak BUDGET=%v`, which took %v. On %s.\n\n", rec.budget, rec.took.Round(time.Second), rec.environ)
	table(&b, "station", "what it proves", "target", "reached", "seed", "verdict")
	for _, r := range rec.results {
		row(&b, r.name, r.proves, count(r.target)+" "+r.unit, count(r.reached.Load()), fmt.Sprint(r.seed), r.verdict())
	}
	b.WriteString("\n")
	for _, r := range rec.results {
		for _, line := range r.failures {
			first, _, _ := strings.Cut(line, "\n")
			fmt.Fprintf(&b, "- %s: %s\n", r.name, first)
		}
	}
	return b.String() + "\n"
}

// count writes a number in groups of three.
func count(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + " " + s[i:]
	}
	return s
}
