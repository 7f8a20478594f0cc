//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

// Which cells there are, and in which order they are tried.

import (
	"math/rand/v2"
	"regexp"
	"slices"
)

// choice is what the flags select.
type choice struct {
	floods     *regexp.Regexp
	with       *regexp.Regexp // the floods that go on at the same time, of which one is drawn for each cell; or nil
	goroutines []int
	procs      []int
	neighbours []int
	lives      []life
	sample     bool // some pairs of floods are tried too, as no flag selects floods
}

// How many pairs there are in a sample, and in that of a quick run. They have few goroutines and no neighbours: two floods
// keep a machine busy.
const somePairs, quickPairs = 24, 4

// pairs are a sample of floods two at a time, in some of the lives.
func (ch choice) pairs(rng *rand.Rand, n int, lives ...life) []cell {
	if !ch.sample || ch.with != nil {
		return nil
	}
	ch.with = regexp.MustCompile("")
	ch.lives = slices.DeleteFunc(lives, func(l life) bool { return !slices.Contains(ch.lives, l) })
	all := slices.DeleteFunc(ch.cells(rng), func(c cell) bool { return c.goroutines > 8 || c.neighbours > 0 })
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:min(n, len(all))]
}

func (ch choice) goroutinesOf(f *flood) []int {
	if f.like == quiet {
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

// cells returns all cells of the choice.
func (ch choice) cells(rng *rand.Rand) (all []cell) {
	add := func(f *flood, l life) {
		for _, procs := range ch.procs {
			for _, n := range ch.neighbours {
				for _, g := range ch.goroutinesOf(f) {
					c := cell{f, nil, g, procs, n, l}
					if ch.with == nil || ch.paired(&c, rng) {
						all = append(all, c)
					}
				}
			}
		}
	}
	for _, l := range ch.lives {
		if ch.floods.MatchString(none.name) {
			add(&none, l)
		}
		for i := range floods {
			if f := &floods[i]; ch.floods.MatchString(f.name) {
				add(f, l)
			}
		}
	}
	return all
}

// paired gives a cell a second flood, if there may be one.
func (ch choice) paired(c *cell, rng *rand.Rand) bool {
	var others []*flood
	for i := range floods {
		if f := &floods[i]; f != c.flood && ch.with.MatchString(f.name) {
			others = append(others, f)
		}
	}
	if len(others) == 0 || c.flood == &none {
		return false
	}
	c.second = others[rng.IntN(len(others))]
	return true
}

// plan orders the cells: first each flood once in each life and a sample of pairs, and then the rest. It returns how many
// the first are.
func (ch choice) plan(rng *rand.Rand) (order []cell, first int) {
	order = ch.cells(rng)
	rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	seen := map[[2]string]bool{}
	var firsts, rest []cell
	for _, c := range order {
		if key := [2]string{c.flood.name, string(c.life)}; seen[key] {
			rest = append(rest, c)
		} else {
			seen[key] = true
			firsts = append(firsts, c)
		}
	}
	firsts = append(firsts, ch.pairs(rng, somePairs, whole, living, shutdown, closing)...)
	rng.Shuffle(len(firsts), func(i, j int) { firsts[i], firsts[j] = firsts[j], firsts[i] })
	return append(firsts, rest...), len(firsts)
}

// quick returns cells for about a minute: each flood once, on a loop that lives and then shuts down, and on one that is
// closed; then a few pairs.
func (ch choice) quick(rng *rand.Rand) (order []cell, first int) {
	lives := ch.lives
	ch.lives = []life{whole}
	drawn := ch.cells(rng)
	rng.Shuffle(len(drawn), func(i, j int) { drawn[i], drawn[j] = drawn[j], drawn[i] })
	seen := map[*flood]bool{}
	for _, c := range drawn {
		if c.neighbours > 0 && (c.goroutines > 8 || rng.IntN(2) > 0) {
			continue // which takes long
		}
		if !seen[c.flood] {
			seen[c.flood] = true
			order = append(order, c)
			c.life = closing // where the yardstick is the same
			order = append(order, c)
		}
	}
	ch.lives = append(slices.Clone(lives), whole)
	order = append(order, ch.pairs(rng, quickPairs, whole)...)
	return order, len(order)
}
