//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

// Which cells there are, and in which order they are tried.

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"time"
)

// choice is what the flags leave.
type choice struct {
	floods     *regexp.Regexp
	goroutines []int
	procs      []int
	neighbours []int
	lives      []life
}

func (ch choice) goroutinesOf(f *flood, l life) []int {
	if l == burst || f.like == quiet {
		return []int{1}
	}
	if !f.feeds {
		return ch.goroutines
	}
	if of := slices.DeleteFunc(slices.Clone(ch.goroutines), func(n int) bool { return n != 1 && n != 64 }); len(of) > 0 {
		return of
	}
	return ch.goroutines
}

// cells are all there are.
func (ch choice) cells() (all []cell) {
	add := func(f *flood, l life) {
		for _, procs := range ch.procs {
			neighbours := ch.neighbours
			goroutines := ch.goroutinesOf(f, l)
			switch l {
			case beside:
				neighbours, goroutines = []int{4}, []int{1}
			case burst:
				neighbours = []int{0}
			}
			for _, n := range neighbours {
				for _, g := range goroutines {
					all = append(all, cell{f, g, procs, n, l})
				}
			}
		}
	}
	for _, l := range ch.lives {
		if l == beside {
			if ch.floods.MatchString(none.name) {
				add(&none, l)
			}
			continue
		}
		if l != burst && ch.floods.MatchString(none.name) {
			add(&none, l)
		}
		for i := range floods {
			if f := &floods[i]; ch.floods.MatchString(f.name) && !(l == burst && f.feeds) {
				add(f, l)
			}
		}
	}
	return all
}

// plan puts them in order: first each flood once in each life, and then the rest. It tells how many the first are.
func (ch choice) plan(rng *rand.Rand) (order []cell, first int) {
	order = ch.cells()
	rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	seen := map[[2]string]bool{}
	isFirst := func(c cell) bool {
		key := [2]string{c.flood.name, string(c.life)}
		if c.life == beside || seen[key] {
			return c.life == beside
		}
		seen[key] = true
		return true
	}
	var rest []cell
	var firsts []cell
	for _, c := range order {
		if isFirst(c) {
			firsts = append(firsts, c)
		} else {
			rest = append(rest, c)
		}
	}
	return append(firsts, rest...), len(firsts)
}

// yards are the yardsticks of the run so far, by what they depend on: a few measurements each.
type yards struct {
	seen map[yardKey][]yard
}

type yardKey struct {
	like                          manner
	goroutines, procs, neighbours int
	burst                         bool
}

// remembered is how many measurements count, so that the worst of ever more does not excuse everything.
const remembered = 3

// of is the yardstick for a cell: the worst of what was measured last, of which anew is one more measurement.
func (ys *yards) of(c cell, window time.Duration, anew bool) (worst yard, err error) {
	key := yardKey{c.flood.like, c.goroutines, c.procs, c.neighbours, c.life == burst}
	seen := ys.seen[key]
	if len(seen) == 0 || anew {
		calls := 0
		if key.burst {
			calls = many
		}
		y, err := measure(c.flood.like, c.goroutines, c.neighbours*c.procs, calls, window)
		if err != nil {
			return y, err
		}
		seen = append(seen, y)
		seen = seen[max(0, len(seen)-remembered):]
		ys.seen[key] = seen
	}
	for _, y := range seen {
		worst = worst.or(y)
	}
	return worst, nil
}

// try tries a cell, and twice more if it may have been the machine.
func (c cell) try(ctx context.Context, newLoop maker, window time.Duration, ys *yards) (*outcome, error) {
	o, err := c.attempt(ctx, newLoop, window, ys, false)
	if err != nil || !o.wrong() {
		return o, err
	}
	bad, tries := []*outcome{o}, 1
	var good *outcome
	for ; tries < 3 && len(bad) < 2 && o.count(lasting) == 0 && ctx.Err() == nil; tries++ {
		again, err := c.attempt(ctx, newLoop, window, ys, true)
		if err != nil {
			return again, err
		}
		if again.wrong() {
			bad = append(bad, again)
			o = again
		} else {
			good = again
		}
	}
	if len(bad) < 2 && good != nil {
		good.tries = tries
		return good, nil
	}
	worst := slices.MaxFunc(bad, func(a, b *outcome) int { return int(1000 * (a.badly() - b.badly())) })
	if len(bad) == 2 { // the lesser of the two is what both have shown
		worst = slices.MinFunc(bad, func(a, b *outcome) int {
			switch {
			case a.badly() < b.badly():
				return -1
			case a.badly() > b.badly():
				return 1
			}
			return 0
		})
	}
	worst.tries, worst.failed = tries, len(bad)
	return worst, nil
}

func (c cell) row(o *outcome) string {
	text := fmt.Sprintf("%-30s %2d %d %d %-8s", c.flood.name, c.goroutines, c.procs, c.neighbours, c.life)
	for p := range probes {
		cellText := "-"
		if c.life == living || o.gaps[p] > 0 && (c.life == beside || c.life == burst && p == timerProbe) {
			mark := ""
			if o.flood.own.has(p) {
				mark = "*"
			}
			if o.flood.free.has(p) {
				mark = "~"
			}
			cellText = mark + short(o.gaps[p]) + "/" + short(o.plain.gaps[p])
		}
		text += fmt.Sprintf(" %15s", cellText)
	}
	end := "-"
	if c.life == shutdown || c.life == closing {
		end = short(o.end)
		if !o.ended {
			end = ">" + end
		}
		end += "/" + short(o.plain.end)
	}
	text += fmt.Sprintf(" %15s  %s", end, o.verdict())
	if o.heap > remarked {
		text += fmt.Sprintf("  %d MiB", o.heap>>20)
	}
	return text
}
