//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

// The report of the cells.

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

func header() string {
	text := fmt.Sprintf("%-30s %2s %s %s %-8s", "flood", "g", "p", "n", "life")
	for _, name := range probeNames {
		text += fmt.Sprintf(" %15s", name)
	}
	return text + fmt.Sprintf(" %15s  verdict", "end")
}

func (o *outcome) row() string {
	c := o.cell
	text := fmt.Sprintf("%-30s %2d %d %d %-8s", c.name(), c.goroutines, c.procs, c.neighbours, c.life)
	for p := range probes {
		cellText := "-"
		if c.life.lives() {
			mark := ""
			if o.own().has(p) {
				mark = "*"
			}
			if o.free().has(p) {
				mark = "~"
			}
			cellText = mark + short(o.gaps[p]) + o.besidePlain(o.plain.gaps[p])
		}
		text += fmt.Sprintf(" %15s", cellText)
	}
	end := "-"
	if c.life.ends() {
		end = short(o.end)
		if !o.ended {
			end = ">" + end
		}
		end += o.besidePlain(o.plain.ending())
	}
	text += fmt.Sprintf(" %15s  %s", end, o.verdict())
	if o.heap > remarked {
		text += fmt.Sprintf("  %d MiB", o.heap>>20)
	}
	return text
}

// besidePlain returns the yardstick's time as text, if it was measured.
func (o *outcome) besidePlain(plain time.Duration) string {
	if o.plain == (yard{}) {
		return ""
	}
	return "/" + short(plain)
}

// conclude reports the violations, the worst first.
func conclude(outcomes []*outcome, all int, seed uint64, took time.Duration, interrupted bool) error {
	var bad, full []*outcome
	for _, o := range outcomes {
		switch {
		case o.failed > 0:
			bad = append(bad, o)
		case o.count(backlog)+o.count(slow) > 0:
			full = append(full, o)
		}
	}
	slices.SortFunc(bad, func(a, b *outcome) int { return cmp.Compare(b.excess(), a.excess()) })
	fmt.Printf("\nsiege: %d of %d cells in %v, seed %d: %d violated, %d with a backlog or slow\n",
		len(outcomes), all, took.Round(time.Second), seed, len(bad), len(full))
	for _, o := range full {
		fmt.Printf("%s: %v: %s\n", o.verdict(), o.cell, problems(o))
	}
	for _, o := range bad {
		fmt.Printf("%s: %v: %s\n    again: %s\n", o.verdict(), o.cell, problems(o), o.again)
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
