//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

// The station that runs the command siege, and the table of its findings.

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// cell is what siege reports of one of its cells.
type cell struct {
	Cell, Flood, Second string
	Neighbours          int
	Life                string
	Gaps                map[string][2]time.Duration // of each probe: the loop's, and the yardstick's
	End                 [2]time.Duration
	Violated            bool
	Problems, Again     string
}

// besieged runs siege for the rest of the station's time. A violation there is a failure here.
func besieged(r *run) {
	until, _ := r.ctx.Deadline()
	if r.finished() {
		return
	}
	folder, err := os.MkdirTemp("", "soak")
	if err != nil {
		r.failf("%v", err)
		return
	}
	defer os.RemoveAll(folder)
	binary, found := filepath.Join(folder, "siege"), filepath.Join(folder, "siege.json")
	var build, work tally
	build.once(r.begun, mostTime, "", nil, goCommand, "build", "-o", binary, "./internal/siege")
	if build.failed > 0 {
		r.failf("siege does not compile:\n%s", build.output)
	}
	if build.passed == 0 {
		return
	}
	left := time.Until(until)
	work.once(r.begun, left+mostTime, "", nil, binary, "-time", left.String(), "-cells", fmt.Sprint(r.target), "-seed", fmt.Sprint(r.seed),
		"-json", found)
	var cells []cell
	text, err := os.ReadFile(found)
	if err == nil {
		err = json.Unmarshal(text, &cells)
	}
	if err != nil {
		if r.begun.Err() == nil {
			r.failf("siege has found nothing: %v\n%s", err, work.output)
		}
		return
	}
	r.addFindings(cells, work.failed > 0)
}

// addFindings adds the findings of siege to the run.
func (r *run) addFindings(cells []cell, failed bool) {
	for _, c := range cells {
		if c.Violated {
			r.missf("%s: %s; again: %s", c.Cell, c.Problems, c.Again)
		}
	}
	r.reached.Store(int64(len(cells)))
	if failed && !r.failed() {
		r.failf("siege fails, and does not say why")
	}
	r.table = gapTable(cells)
}

// worst is the longest time of a kind, and the yardstick's in the same cell.
type worst struct {
	took, plain time.Duration
	flood       string
}

func (w *worst) consider(c cell, took [2]time.Duration) {
	if took[0] > w.took {
		*w = worst{took[0], took[1], c.Flood}
		if c.Second != "" {
			w.flood += " + " + c.Second
		}
	}
}

func (w worst) cells() []string {
	if w.flood == "" {
		return []string{"-", "-", "-"}
	}
	ms := func(d time.Duration) string { return fmt.Sprintf("%.1f ms", d.Seconds()*1000) }
	return []string{ms(w.took), ms(w.plain), w.flood}
}

// lines are the rows of the table: what is measured, in which lives, and the probe whose gap it is; no probe is the end.
var lines = []struct{ what, lives, probe string }{
	{"timer of 1 ms", "living whole", "timer"},
	{"descriptor, a byte there and back", "living whole", "descriptor"},
	{"task, there and back", "living whole", "task"},
	{"internal task", "living whole", "internal"},
	{"promise, until its handler has answered", "living whole", "promise"},
	{"microtask", "living whole", "microtask"},
	{"timer of 1 ms, during a burst of a million calls", "burst", "timer"},
	{"Shutdown, while the flood goes on", "shutdown whole", ""},
	{"Close, while the flood goes on", "close", ""},
	{"no flood: median of five fresh loops' worst of 15 timers", "beside", "timer"},
	{"no flood: the same of 15 tasks", "beside", "task"},
}

// gapTable renders the worst gap of each probe, without and with neighbours that compute.
func gapTable(cells []cell) string {
	var b strings.Builder
	table(&b, "", "worst, the flood alone", "the yardstick's", "flood", "worst, beside 4 goroutines a processor that compute",
		"the yardstick's", "flood")
	for _, l := range lines {
		var alone, beside worst
		for _, c := range cells {
			took := c.End
			if l.probe != "" {
				took = c.Gaps[l.probe]
			}
			switch {
			case !slices.Contains(strings.Fields(l.lives), c.Life):
			case c.Neighbours > 0:
				beside.consider(c, took)
			default:
				alone.consider(c, took)
			}
		}
		row(&b, slices.Concat([]string{l.what}, alone.cells(), beside.cells())...)
	}
	return b.String()
}
