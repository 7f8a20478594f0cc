//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

// Command siege floods the event loop without end, from outside, through its public API: every entry point, by few
// goroutines and by many, beside neighbours that compute, while the loop lives, while it shuts down, and when it is
// closed. Probes of each kind of work are at work meanwhile; their worst gaps stand beside those of plain channels and
// time.AfterFunc under the same siege in the same process. It fails if a bound is exceeded, or if anything that was
// accepted is lost, doubled, or late for the end. What a machine that is shared may have done is tried again: a time
// counts if it is exceeded in two of three tries.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"regexp"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	limit := flag.Duration("time", time.Minute, "how long: first each flood once in each life, with numbers drawn by the seed, then what else there is")
	seed := flag.Uint64("seed", 0, "seed of the order; 0 draws one")
	pattern := flag.String("flood", "", "floods whose names match this expression")
	goroutines := flag.String("goroutines", "1,8,64", "how many flood; of floods that feed themselves, chains (1 and 64)")
	procs := flag.String("procs", "1,2,4", "GOMAXPROCS")
	neighbours := flag.String("neighbours", "0,4", "goroutines that compute, for each processor")
	life := flag.String("life", "living,shutdown,close,burst,beside", "times of the loop's life")
	list := flag.Bool("list", false, "list the floods, and do nothing")
	verbose := flag.Bool("v", false, "tell of each cell how many calls there were")
	flag.Parse()
	if *list {
		fmt.Println(none.name)
		for _, f := range floods {
			fmt.Println(f.name)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := func() error {
		if flag.NArg() > 0 {
			return fmt.Errorf("%q is no flag", flag.Arg(0))
		}
		ch, err := choose(*pattern, *goroutines, *procs, *neighbours, *life)
		if err != nil {
			return err
		}
		if *seed == 0 {
			*seed = rand.Uint64()
		}
		return besiege(ctx, ch, *seed, *limit, *verbose)
	}()
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "siege:", err)
		os.Exit(1)
	}
}

func choose(pattern, goroutines, procs, neighbours, life string) (ch choice, err error) {
	if ch.floods, err = regexp.Compile(pattern); err != nil {
		return ch, fmt.Errorf("-flood: %w", err)
	}
	for _, f := range []struct {
		name, text string
		least      int
		into       *[]int
	}{{"-goroutines", goroutines, 1, &ch.goroutines}, {"-procs", procs, 1, &ch.procs}, {"-neighbours", neighbours, 0, &ch.neighbours}} {
		for _, text := range strings.Split(f.text, ",") {
			n, err := strconv.Atoi(text)
			if err != nil || n < f.least {
				return ch, fmt.Errorf("%s: %q is no number from %d on", f.name, text, f.least)
			}
			*f.into = append(*f.into, n)
		}
	}
	for _, text := range strings.Split(life, ",") {
		i := slices.Index(lives, lifeOf(text))
		if i < 0 {
			return ch, fmt.Errorf("-life: %q is none of %v", text, lives)
		}
		ch.lives = append(ch.lives, lives[i])
	}
	return ch, nil
}

func lifeOf(text string) life { return life(text) }

// The window of a cell.
const leastWindow, mostWindow = 200 * time.Millisecond, time.Second

// hung is what no cell may take.
const hung = 3 * time.Minute

func besiege(ctx context.Context, ch choice, seed uint64, limit time.Duration, verbose bool) error {
	cells, first := ch.plan(rand.New(rand.NewPCG(seed, 0)))
	if len(cells) == 0 {
		return errors.New("the flags leave nothing to do")
	}
	// A cell takes about as long for its yardstick as for itself.
	window := min(max(limit/time.Duration(3*len(cells)), leastWindow), mostWindow)
	fmt.Printf("siege: %d cells, the first %d of them each flood once in each life; windows of %v, at most %v, seed %d\n",
		len(cells), first, window, limit, seed)
	fmt.Printf("gaps and ends are the loop's/the yardstick's; * is of the flood's own kind, ~ may wait\n")
	header := fmt.Sprintf("%-30s %2s %s %s %-8s", "flood", "g", "p", "n", "life")
	for _, name := range probeNames {
		header += fmt.Sprintf(" %15s", name)
	}
	fmt.Println(header + fmt.Sprintf(" %15s  verdict", "end"))
	began := time.Now()
	ys := &yards{map[yardKey][]yard{}}
	var outcomes []*outcome
	for _, c := range cells {
		if ctx.Err() != nil || time.Since(began) > limit && len(outcomes) > 0 {
			break
		}
		watchdog := time.AfterFunc(hung, func() {
			fmt.Printf("siege: %v hangs; its goroutines:\n", c)
			_ = pprof.Lookup("goroutine").WriteTo(os.Stdout, 2)
			fmt.Printf("siege: again: go run ./internal/siege %s -seed %d\n", c.flags(), seed)
			os.Exit(1)
		})
		o, err := c.try(ctx, sound, window, ys)
		watchdog.Stop()
		if err != nil {
			return fmt.Errorf("%w\nsiege: again: go run ./internal/siege %s -seed %d", err, c.flags(), seed)
		}
		if ctx.Err() != nil {
			break
		}
		outcomes = append(outcomes, o)
		fmt.Println(c.row(o))
		if verbose {
			fmt.Printf("    %d calls, %d accepted, %d waiting, %d MiB, %d reports, took %v\n", o.calls, o.accepted, o.waited, o.heap>>20, o.reports, o.took)
		}
		if verbose || o.wrong() {
			for _, p := range o.problems {
				fmt.Printf("    %s\n", p.text)
			}
		}
	}
	return conclude(outcomes, len(cells), seed, time.Since(began), ctx.Err() != nil)
}

// conclude tells what was violated, the worst first.
func conclude(outcomes []*outcome, all int, seed uint64, took time.Duration, interrupted bool) error {
	var bad, full []*outcome
	for _, o := range outcomes {
		switch {
		case o.failed > 0:
			bad = append(bad, o)
		case o.count(backlog) > 0:
			full = append(full, o)
		}
	}
	slices.SortFunc(bad, func(a, b *outcome) int {
		switch {
		case a.badly() > b.badly():
			return -1
		case a.badly() < b.badly():
			return 1
		}
		return 0
	})
	fmt.Printf("\nsiege: %d of %d cells in %v, seed %d: %d violated, %d with a backlog\n", len(outcomes), all, took.Round(time.Second), seed, len(bad), len(full))
	for _, o := range full {
		fmt.Printf("backlog: %v: %s\n", o.cell, problems(o))
	}
	for _, o := range bad {
		fmt.Printf("%s: %v: %s\n    again: go run ./internal/siege %s -seed %d\n", o.verdict(), o.cell, problems(o), o.flags(), seed)
	}
	if interrupted {
		return errors.New("interrupted")
	}
	if len(bad) > 0 {
		return fmt.Errorf("%d of %d cells are violated", len(bad), len(outcomes))
	}
	return nil
}

func problems(o *outcome) string {
	var texts []string
	for _, p := range o.problems {
		texts = append(texts, p.text)
	}
	return strings.Join(texts, "; ")
}
