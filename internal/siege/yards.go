//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

// Measurements of the yardstick, which need not be repeated for every cell.

import "time"

// yards are the measurements of the run so far, a few for each key.
type yards struct {
	measure  func(like []manner, goroutines, neighbours int, window time.Duration) (yard, error)
	onDemand bool // measure only when a time exceeds its bound
	seen     map[yardKey][]yard
}

type yardKey struct {
	like, second                  manner
	goroutines, procs, neighbours int
}

// remembered is how many measurements count: the worst of ever more would excuse everything.
const remembered = 3

// of returns the yardstick for a cell: the worst of the last measurements, after one more if anew is set.
func (ys *yards) of(c cell, window time.Duration, anew bool) (worst yard, err error) {
	key := yardKey{c.flood.like, quiet, c.goroutines, c.procs, c.neighbours}
	if c.second != nil {
		key.second = c.second.like
	}
	seen := ys.seen[key]
	if len(seen) == 0 || anew {
		y, err := ys.measure([]manner{key.like, key.second}, c.goroutines, c.neighbours*c.procs, window)
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
