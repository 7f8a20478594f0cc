//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

// Tests of the siege: its yardsticks, bounds and plans.

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// fixed is a yardstick that always takes the same.
func fixed(y yard) *yards {
	return &yards{seen: map[yardKey][]yard{}, measure: func([]manner, int, int, time.Duration) (yard, error) { return y, nil }}
}

// patient is a yardstick that excuses whatever a busy machine may do.
func patient() (y yard) {
	for p := range y.gaps {
		y.gaps[p] = time.Hour
	}
	y.end = time.Hour
	return y
}

func floodOf(t *testing.T, name string) *flood {
	t.Helper()
	if name == none.name {
		return &none
	}
	i := slices.IndexFunc(floods, func(f flood) bool { return f.name == name })
	if i < 0 {
		t.Fatalf("no flood is called %q", name)
	}
	return &floods[i]
}

// A loop that is sound does nothing wrong under any flood, however long the machine takes for it.
func TestSoundLoop(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	on := ordinary(5*time.Millisecond, fixed(patient()))
	on.patience, on.giveUp = time.Hour, time.Hour
	ch, err := choose("", "", "1,8", "1,2", "0", "whole,close")
	if err != nil {
		t.Fatal(err)
	}
	cells, _ := ch.plan(rand.New(rand.NewPCG(seed, 0)))
	some := 30
	if testing.Short() {
		some = 8
	}
	for _, c := range cells[:some] {
		o, err := confirm(func(anew bool) (*outcome, error) { return c.attempt(t.Context(), on, anew) })
		if err != nil {
			t.Fatalf("%v: %v", c, err)
		}
		if o.failed > 0 {
			t.Errorf("%v: %s: %s", c, o.verdict(), problems(o))
		}
	}
}

// A time counts if it is exceeded in two of three tries, and then the lesser; what cannot be the machine counts at once.
func TestConfirmation(t *testing.T) {
	for _, c := range []struct {
		tries string // what each of them finds: times what is allowed, or x for what is wrong for good
		made  int
		want  string
		badly float64
	}{
		{"0", 1, "ok", 0},
		{"2 0 0", 3, "ok, once not", 0},
		{"2 0 3", 3, "VIOLATED 2/3", 2},
		{"4 3", 2, "VIOLATED 2/2", 3},
		{"x", 1, "WRONG", 1e9},
		{"2 x", 2, "WRONG", 1e9},
		{"2 0 x", 3, "WRONG", 1e9},
	} {
		tries, made := strings.Fields(c.tries), 0
		o, err := confirm(func(anew bool) (*outcome, error) {
			if anew != (made > 0) {
				t.Errorf("%s: try %d: the yardstick is taken anew: %v", c.tries, made+1, anew)
			}
			o := &outcome{}
			switch tries[made] {
			case "0":
			case "x":
				o.problem(lasting, "it is wrong")
			default:
				n, _ := strconv.Atoi(tries[made])
				o.late(timing, "it", time.Duration(n), 0, strict, func(bounds) time.Duration { return 1 })
			}
			made++
			return o, nil
		})
		if err != nil || o.verdict() != c.want || o.excess() != c.badly || made != c.made || (o.failed > 0) != o.wrong() {
			t.Errorf("%s: %q, %v times, after %d tries: %v", c.tries, o.verdict(), o.excess(), made, err)
		}
	}
	failed := errors.New("no descriptors")
	if _, err := confirm(func(bool) (*outcome, error) { return nil, failed }); err != failed {
		t.Errorf("%v, want %v", err, failed)
	}
}

// What a loop may take is what the bound says, or twice what the yardstick takes.
func TestBounds(t *testing.T) {
	const ms = time.Millisecond
	submit, far := floodOf(t, "Submit"), yard{gaps: [probes]time.Duration{80 * ms}, end: 700 * ms}
	for _, c := range []struct {
		life       life
		timer, end time.Duration
		plain      yard
		grew       bool
		want       kind // -1: nothing
		neighbours int
		onShared   bool
	}{
		{living, 100 * ms, 0, yard{}, false, -1, 0, false},
		{living, 101 * ms, 0, yard{}, false, timing, 0, false},
		{living, 160 * ms, 0, far, false, -1, 0, false},
		{living, 161 * ms, 0, far, true, timing, 0, false}, // of another kind than what has grown
		{living, 200 * ms, 0, yard{turn: 100 * ms}, false, slow, 0, false},
		{living, 201 * ms, 0, yard{turn: 100 * ms}, false, timing, 0, false},
		{whole, 101 * ms, 0, yard{}, false, timing, 0, false},
		{whole, 0, 1000 * ms, yard{}, false, -1, 0, false},
		{whole, 0, 1001 * ms, yard{}, false, timing, 0, false},
		{shutdown, time.Hour, 1000 * ms, yard{}, false, -1, 0, false},
		{shutdown, 0, 1400 * ms, far, false, -1, 0, false},
		{shutdown, 0, 1401 * ms, far, false, timing, 0, false},
		{closing, time.Hour, 100 * ms, yard{}, false, -1, 0, false},
		{closing, 0, 101 * ms, yard{}, false, timing, 0, false},
		{closing, 0, 160 * ms, yard{turn: 80 * ms}, false, -1, 0, false},
		{closing, 0, 161 * ms, yard{turn: 80 * ms}, false, timing, 0, false},
		{living, 400 * ms, 0, yard{turn: 100 * ms}, false, slow, 4, false},
		{living, 401 * ms, 0, yard{turn: 100 * ms}, false, timing, 4, false},
		{whole, 0, 5000 * ms, yard{}, false, -1, 4, false},
		{whole, 0, 5001 * ms, yard{}, false, timing, 4, false},
		{closing, 0, 101 * ms, yard{}, false, timing, 4, false},
		{closing, 0, 400 * ms, yard{turn: 100 * ms}, false, -1, 4, false},
		{closing, 0, 401 * ms, yard{turn: 100 * ms}, false, timing, 4, false},
		{living, 101 * ms, 0, yard{}, false, slow, 0, true},
		{living, 251 * ms, 0, yard{}, false, timing, 0, true},
		{living, 300 * ms, 0, yard{gaps: [probes]time.Duration{taskProbe: 100 * ms}}, false, slow, 0, true},
		{living, 301 * ms, 0, yard{gaps: [probes]time.Duration{taskProbe: 100 * ms}}, false, timing, 0, true},
		{living, 101 * ms, 0, yard{gaps: [probes]time.Duration{taskProbe: 100 * ms}}, false, timing, 0, false},
		{living, 0, 0, yard{}, false, -1, 0, true},
		{closing, 0, 251 * ms, yard{}, false, timing, 0, true},
		{shutdown, 0, 2001 * ms, yard{}, false, timing, 0, true},
		{shutdown, 0, 2001 * ms, far, false, slow, 0, true},
		{shutdown, 0, 2101 * ms, far, false, timing, 0, true},
	} {
		o := &outcome{cell: cell{flood: submit, life: c.life, neighbours: c.neighbours}, plain: c.plain, end: c.end, grew: c.grew}
		o.gaps[timerProbe] = c.timer
		allow := strict
		if c.onShared {
			allow = shared
		}
		o.check(allow)
		got := kind(-1)
		if len(o.problems) > 0 {
			got = o.problems[0].kind
		}
		if got != c.want || len(o.problems) > 1 {
			t.Errorf("%+v: kind %d: %s", c, got, problems(o))
		}
	}
	// What goes before the end, and before a probe of the flood's own kind, takes the yardstick its time too.
	for _, c := range []struct {
		p         probe
		gap, end  time.Duration
		excessive bool
	}{
		{taskProbe, 400 * ms, 0, false}, {taskProbe, 401 * ms, 0, true}, {internalProbe, 101 * ms, 0, true},
		{taskProbe, 0, 1200 * ms, false}, {taskProbe, 0, 1201 * ms, true},
	} {
		o := &outcome{cell: cell{flood: submit, life: whole}, plain: yard{each: ms}, waited: 200, left: 600, end: c.end}
		o.gaps[c.p] = c.gap
		if o.check(strict); o.wrong() != c.excessive {
			t.Errorf("%+v: %s", c, problems(o))
		}
	}
	for name, want := range map[string]kind{"Submit": backlog, "Submit at the limit": -1, "NextTick": timing} {
		o := &outcome{cell: cell{flood: floodOf(t, name), life: living}, grew: true}
		o.gaps[taskProbe] = time.Second
		o.check(strict)
		if got := append(o.problems, problem{kind: -1})[0].kind; got != want {
			t.Errorf("a task that is late in a flood of %s: kind %d, want %d", name, got, want)
		}
	}
}

// Each cell can be tried again by its flags, and a quick run has each flood in it.
func TestPlans(t *testing.T) {
	all, err := choose("", "", "1,8,64", "1,2,4", "0,4", "living,shutdown,close,whole")
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	cells, early := all.plan(rng)
	all.with = regexp.MustCompile("")
	pairs, _ := all.plan(rng)
	all.with = nil
	value := regexp.MustCompile(`-(\w+) ('[^']*'|\S+)`)
	for _, c := range append(slices.Clone(cells), pairs...) {
		flags := map[string]string{}
		for _, m := range value.FindAllStringSubmatch(c.flags(), -1) {
			flags[m[1]] = strings.Trim(m[2], "'")
		}
		ch, err := choose(flags["flood"], flags["with"], flags["goroutines"], flags["procs"], flags["neighbours"], flags["life"])
		if err != nil {
			t.Fatal(err)
		}
		if again, _ := ch.plan(rng); len(again) != 1 || again[0] != c {
			t.Errorf("%v: by %s there is %v", c, c.flags(), again)
		}
	}
	quick, first := all.quick(rng)
	once := map[string]int{}
	for _, c := range quick[:first] {
		once[fmt.Sprint(c.name(), " ", c.life)]++
	}
	for _, f := range append([]flood{none}, floods...) {
		for _, l := range []life{whole, closing} {
			if n := once[fmt.Sprint(f.name, " ", l)]; n != 1 {
				t.Errorf("%s, %s: %d times in a quick run", f.name, l, n)
			}
		}
	}
	two := func(c cell) bool { return c.second != nil }
	if n := len(quick) - len(slices.DeleteFunc(slices.Clone(quick), two)); n != quickPairs {
		t.Errorf("%d pairs in a quick run", n)
	}
	if n := early - len(slices.DeleteFunc(slices.Clone(cells[:early]), two)); n != somePairs {
		t.Errorf("%d pairs among the first cells of a run", n)
	}
	if others := first - 2*(len(floods)+1); others != quickPairs || len(quick) != first {
		t.Errorf("%d cells besides the floods, %d in all", others, len(quick))
	}
	for _, wrong := range [][6]string{{"("}, {"", "("}, {"", "", "0"}, {"", "", "1", "x"}, {"", "", "1", "1", "-1"},
		{"", "", "1", "1", "0", "dead"}} {
		if _, err := choose(wrong[0], wrong[1], wrong[2], wrong[3], wrong[4], wrong[5]); err == nil {
			t.Errorf("%q is a choice", wrong)
		}
	}
}

// A run tells what it has found, and fails if anything is wrong.
func TestRun(t *testing.T) {
	ch, err := choose("^State$", "", "1", "1", "0", "living,shutdown,close")
	if err != nil {
		t.Fatal(err)
	}
	if err := besiege(t.Context(), options{choice: ch, window: time.Millisecond, limit: time.Hour, most: 2, seed: 1}); err != nil {
		t.Log(err) // the machine may have been busy
	}
	wrong := &outcome{cell: cell{flood: floodOf(t, "Submit"), life: living}, failed: 1}
	wrong.problem(lasting, "it is wrong")
	err = conclude([]*outcome{wrong, {cell: wrong.cell}}, 2, 1, 0, false)
	if err == nil || !strings.Contains(err.Error(), "1 of 2 cells") {
		t.Errorf("a cell that is wrong: %v", err)
	}
	if err := conclude([]*outcome{{cell: wrong.cell}}, 1, 1, 0, true); err == nil {
		t.Error("a run that was interrupted has passed")
	}
}
