//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

// Command siege floods the event loop without end, from outside, through its public API: every entry point, by few
// goroutines and by many, beside neighbours that compute, while the loop lives, while it shuts down, and when it is
// closed; by themselves, or with -with two at a time. Probes of each kind of work are at work meanwhile; their worst
// gaps stand beside those of plain channels and time.AfterFunc under the same siege in the same process. It fails if a
// bound is exceeded, or if anything that was accepted is lost, doubled, or late for the end. What a machine that is
// shared may have done is tried again: a time counts if it is exceeded in two of three tries.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
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
	var o options
	flag.DurationVar(&o.limit, "time", time.Minute,
		"how long: first each flood once in each life and some pairs, with numbers drawn by the seed, then what else there is")
	flag.IntVar(&o.most, "cells", math.MaxInt, "how many cells at most")
	flag.Uint64Var(&o.seed, "seed", 0, "seed of the order; 0 draws one")
	flag.BoolVar(&o.quick, "quick", false,
		"what a minute is enough for, on a machine that others use too; each flood is tried once, however long that takes")
	flag.DurationVar(&o.window, "window", 0, "how long a flood goes on; 0 is what the time allows")
	pattern := flag.String("flood", "", "floods whose names match this expression")
	with := flag.String("with", "", "with each flood another at the same time, drawn by the seed, whose name matches this expression")
	goroutines := flag.String("goroutines", "1,8,64", "how many flood; of floods that feed themselves, chains (1 and 64)")
	procs := flag.String("procs", "1,2,4", "GOMAXPROCS")
	neighbours := flag.String("neighbours", "0,4", "goroutines that compute, for each processor")
	life := flag.String("life", "living,shutdown,close", "times of the loop's life; whole is living, and then shutdown")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := func() (err error) {
		if flag.NArg() > 0 {
			return fmt.Errorf("%q is no flag", flag.Arg(0))
		}
		if o.choice, err = choose(*pattern, *with, *goroutines, *procs, *neighbours, *life); err != nil {
			return err
		}
		if o.seed == 0 {
			o.seed = rand.Uint64()
		}
		return besiege(ctx, o)
	}()
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "siege:", err)
		os.Exit(1)
	}
}

// options are what the flags say.
type options struct {
	choice choice
	limit  time.Duration
	window time.Duration
	most   int
	seed   uint64
	quick  bool
}

func choose(pattern, with, goroutines, procs, neighbours, life string) (ch choice, err error) {
	ch.sample = pattern == "" && with == ""
	if ch.floods, err = regexp.Compile(pattern); err != nil {
		return ch, fmt.Errorf("-flood: %w", err)
	}
	if with != "" {
		if ch.with, err = regexp.Compile(with); err != nil {
			return ch, fmt.Errorf("-with: %w", err)
		}
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

// The window of a flood.
const leastWindow, mostWindow, quickWindow = 200 * time.Millisecond, time.Second, 150 * time.Millisecond

// hung is longer than any cell may take.
const hung = 3 * time.Minute

func besiege(ctx context.Context, opt options) error {
	rng := rand.New(rand.NewPCG(opt.seed, 0))
	plan, window := opt.choice.plan, quickWindow
	if opt.quick {
		plan = opt.choice.quick
	}
	cells, first := plan(rng)
	if len(cells) == 0 {
		return errors.New("the flags leave nothing to do")
	}
	if !opt.quick {
		// A cell takes about as long for its yardstick as for itself.
		window = min(max(opt.limit/time.Duration(3*min(len(cells), opt.most)), leastWindow), mostWindow)
	}
	window = cmp.Or(opt.window, window)
	fmt.Printf("siege: %d cells, the first %d of them each flood once in each life, and some pairs; windows of %v, %v, seed %d\n",
		len(cells), first, window, opt.limit, opt.seed)
	fmt.Println("gaps and ends are the loop's/the yardstick's; * is of the flood's own kind, ~ may wait")
	fmt.Println(header())
	began := time.Now()
	on := ordinary(window, &yards{measure: measure, onDemand: opt.quick, seen: map[yardKey][]yard{}})
	if opt.quick {
		on.allow = shared
	}
	var outcomes []*outcome
	for i, c := range cells {
		isUp := time.Since(began) > opt.limit && i > 0 && !opt.quick
		if ctx.Err() != nil || isUp || i >= opt.most {
			break
		}
		again := fmt.Sprintf("go run ./internal/siege %s -window %v -seed %d", c.flags(), window, opt.seed)
		watchdog := time.AfterFunc(hung, func() {
			fmt.Printf("siege: %v hangs; its goroutines:\n", c)
			_ = pprof.Lookup("goroutine").WriteTo(os.Stdout, 2)
			fmt.Printf("siege: again: %s\n", again)
			os.Exit(1)
		})
		o, err := confirm(func(anew bool) (*outcome, error) { return c.attempt(ctx, on, anew) })
		watchdog.Stop()
		if err != nil {
			return fmt.Errorf("%w\nsiege: again: %s", err, again)
		}
		if ctx.Err() != nil {
			break
		}
		o.again = again
		outcomes = append(outcomes, o)
		fmt.Println(o.row())
		if o.wrong() {
			for _, p := range o.problems {
				fmt.Printf("    %s\n", p.text)
			}
		}
	}
	return conclude(outcomes, len(cells), opt.seed, time.Since(began), ctx.Err() != nil)
}
