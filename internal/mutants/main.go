// Command mutants seeds faults into the real code, one at a time, and runs the package's tests against each: the ordinary
// ones and, of the event loop, those under the scheduler of tests. A fault that no test notices is a hole in the tests.
// The table says which faults; "make mutants" runs all.
//
// The working tree is left alone: the compiler is given the changed file as an overlay. A fault is killed when a test
// fails, or when the tests hang, which is said. One that does not compile, and one whose old text is not exactly once
// in its file, are mistakes of the table.
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
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

func main() { os.Exit(run()) }

// run returns the exit status: 0 when all were killed, 1 when some survived, 2 when there is no verdict.
func run() int {
	pattern := flag.String("run", "", "only mutants whose name matches this regular expression")
	list := flag.Bool("list", false, "list the mutants and what each would do to a user")
	parallel := flag.Int("parallel", runtime.GOMAXPROCS(0), "mutants at a time")
	sample := flag.Int("sample", 0, "only so many mutants, chosen at random; 0 is all")
	seed := flag.Uint64("seed", uint64(time.Now().UnixNano()), "of the choice")
	flag.Parse()
	if flag.NArg() > 0 || *parallel < 1 || *sample < 0 {
		flag.Usage()
		return 2
	}
	selected, err := choose(*pattern, *sample, *seed)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		return 2
	}
	if *list {
		for _, m := range selected {
			fmt.Printf("%-38s %s\n%-38s %s\n", m.name, m.file, "", m.harm)
		}
		return 0
	}
	if *sample > 0 {
		fmt.Printf("-sample %d -seed %d\n", *sample, *seed)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	survived, err := tryAll(ctx, selected, *parallel)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "mutants:", err)
		return 2
	case survived > 0:
		return 1
	}
	return 0
}

func choose(pattern string, sample int, seed uint64) ([]mutant, error) {
	match, err := regexp.Compile(pattern)
	if err != nil {
		return nil, err
	}
	all := slices.DeleteFunc(allMutants(), func(m mutant) bool {
		return !match.MatchString(m.name) || !m.applies()
	})
	if len(all) == 0 {
		return nil, fmt.Errorf("no mutant matches %q", pattern)
	}
	if sample > 0 {
		r := rand.New(rand.NewPCG(seed, 0))
		r.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
		all = all[:min(sample, len(all))]
	}
	return all, nil
}

// tryAll tries the mutants and prints what became of each. An error is one that leaves some without a verdict.
func tryAll(ctx context.Context, mutants []mutant, parallel int) (survived int, err error) {
	lab, err := newLab()
	if err != nil {
		return 0, err
	}
	defer lab.close()
	began := time.Now()
	var (
		mu   sync.Mutex // guards what is printed, survived and errs
		errs []error
		next atomic.Int64
		all  sync.WaitGroup
	)
	for range parallel {
		all.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(mutants) || ctx.Err() != nil {
					return
				}
				m := mutants[i]
				began := time.Now()
				killer, err := lab.try(ctx, m)
				took := time.Since(began).Seconds()
				mu.Lock()
				switch {
				case ctx.Err() != nil: // a test that was ended killed nothing
				case err != nil:
					errs = append(errs, fmt.Errorf("%s: %w", m.name, err))
					fmt.Printf("ERROR    %-38s %v\n", m.name, err)
				case killer == "":
					survived++
					fmt.Printf("SURVIVED %-38s in %.1f s: %s\n", m.name, took, m.harm)
				default:
					fmt.Printf("killed   %-38s %s in %.1f s\n", m.name, killer, took)
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if ctx.Err() != nil {
		return survived, errors.New("interrupted")
	}
	fmt.Printf("%d mutants: %d killed, %d survived, %d without a verdict, in %.0f s\n",
		len(mutants), len(mutants)-survived-len(errs), survived, len(errs), time.Since(began).Seconds())
	return survived, errors.Join(errs...)
}
