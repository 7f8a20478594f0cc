//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/turnloop/turnloop/eventloop"
)

// fixed is a yardstick that always takes the same.
func fixed(y yard) *yards {
	return &yards{seen: map[yardKey][]yard{}, measure: func([]manner, int, int, int, time.Duration) (yard, error) { return y, nil }}
}

// patient is a yardstick that excuses whatever a busy machine may do.
func patient() (y yard) {
	for p := range y.gaps {
		y.gaps[p] = time.Minute
	}
	y.end = time.Minute
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

// hasFlaw is a loop of which some calls do something else.
type hasFlaw struct {
	loop
	submit, internal, tick func(fn func()) error
	end                    func() error // in place of Close
	shutdown               func(ctx context.Context) error
	n                      atomic.Int64
}

func (h *hasFlaw) Submit(fn func()) error {
	if h.submit != nil {
		return h.submit(fn)
	}
	return h.loop.Submit(fn)
}

func (h *hasFlaw) SubmitInternal(fn func()) error {
	if h.internal != nil {
		return h.internal(fn)
	}
	return h.loop.SubmitInternal(fn)
}

func (h *hasFlaw) NextTick(fn func()) error {
	h.n.Add(1)
	if h.tick != nil {
		return h.tick(fn)
	}
	return h.loop.NextTick(fn)
}

func (h *hasFlaw) Close() error {
	if h.end != nil {
		return h.end()
	}
	return h.loop.Close()
}

func (h *hasFlaw) Shutdown(ctx context.Context) error {
	if h.shutdown != nil {
		return h.shutdown(ctx)
	}
	return h.loop.Shutdown(ctx)
}

// called waits until so many more calls have been made.
func (h *hasFlaw) called(n int64) {
	for until := h.n.Load() + n; h.n.Load() < until; {
		time.Sleep(time.Millisecond)
	}
}

// calm waits until no call has been made for a while.
func (h *hasFlaw) calm() {
	for before := int64(-1); before != h.n.Load(); time.Sleep(100 * time.Millisecond) {
		before = h.n.Load()
	}
}

// some is one call in so many.
func some(in int64, usual func(fn func()) error, other func(fn func()) error) func(fn func()) error {
	var n atomic.Int64
	return func(fn func()) error {
		if n.Add(1)%in == 0 {
			return other(fn)
		}
		return usual(fn)
	}
}

// brief is what a flaw of time is long.
const brief = 300 * time.Millisecond

// mistakes are what a loop under siege may do wrong, and what is said of it.
var mistakes = []struct {
	name, flood string
	life        life
	patience    time.Duration // less than usual
	giveUp      time.Duration
	flaw        func(h *hasFlaw, l loop)
	want        string
}{
	{"stalls", "nothing", living, 0, 0, stalling, "internal "},
	{"stalls while it is flooded", "NextTick", whole, 0, 0, stalling, "timer "},
	{"loses one in a thousand", "NextTick", living, brief, 0, func(h *hasFlaw, l loop) {
		h.tick = some(1000, l.NextTick, func(func()) error { return nil })
	}, "what was accepted has not run"},
	{"loses what is accepted while it ends", "NextTick", shutdown, 0, 0, func(h *hasFlaw, l loop) {
		var ending atomic.Bool
		h.shutdown = func(ctx context.Context) error {
			ending.Store(true)
			h.called(100)
			return l.Shutdown(ctx)
		}
		h.tick = func(fn func()) error {
			if ending.Load() {
				return nil
			}
			return l.NextTick(fn)
		}
	}, "were accepted, "},
	{"runs one in a thousand twice", "NextTick", living, 0, 0, func(h *hasFlaw, l loop) {
		h.tick = some(1000, l.NextTick, func(fn func()) error { return l.NextTick(func() { fn(); fn() }) })
	}, "have run twice, or out of turn"},
	{"swaps two in a thousand", "NextTick", living, 0, 0, func(h *hasFlaw, l loop) {
		var mu sync.Mutex
		var kept func()
		h.tick = func(fn func()) error {
			mu.Lock()
			defer mu.Unlock()
			switch {
			case kept != nil:
				fn, kept = func(a, b func()) func() { return func() { a(); b() } }(fn, kept), nil
			case h.n.Load()%1000 == 0:
				kept = fn
				return nil
			}
			return l.NextTick(fn)
		}
	}, "have run twice, or out of turn"},
	{"runs what comes after the end", "NextTick", shutdown, 0, 0, func(h *hasFlaw, l loop) {
		h.tick = func(fn func()) error {
			if l.State() == eventloop.StateTerminated {
				fn()
				return nil
			}
			return l.NextTick(fn)
		}
	}, "callbacks started after Done"},
	{"goes on after Close", "NextTick", closing, 0, 0, func(h *hasFlaw, l loop) {
		h.end = func() error {
			go func() {
				h.called(10_000)
				_ = l.Close()
			}()
			return nil
		}
	}, "callbacks started after Close"},
	{"does not close while it is flooded", "NextTick", closing, 0, brief, func(h *hasFlaw, l loop) {
		h.end = func() error {
			go func() {
				h.calm()
				_ = l.Close()
			}()
			return nil
		}
	}, "Close took"},
	{"does not shut down while it is flooded", "NextTick", whole, 0, brief, func(h *hasFlaw, l loop) {
		h.shutdown = func(ctx context.Context) error {
			h.calm()
			return l.Shutdown(ctx)
		}
	}, "Shutdown took"},
	{"does not end when the flood is over", "NextTick", shutdown, brief, brief, func(h *hasFlaw, l loop) {
		h.shutdown = func(context.Context) error { return nil }
	}, "the loop has not ended"},
	{"refuses everything", "NextTick", living, brief, 0, func(h *hasFlaw, l loop) {
		h.tick = func(func()) error { return eventloop.ErrLoopOverloaded }
	}, "no flood: of "},
	{"accepts what it must refuse", "Submit of nil", living, brief, 0, func(h *hasFlaw, l loop) {
		h.submit = func(fn func()) error {
			if fn == nil {
				return nil
			}
			return l.Submit(fn)
		}
	}, "were accepted that are to be refused"},
	{"never runs a probe", "NextTick", living, brief, 0, func(h *hasFlaw, l loop) {
		h.internal = func(func()) error { return nil }
	}, "not all probes are answered"},
	{"runs no probe beside a flood", "NextTick", living, 0, 0, func(h *hasFlaw, l loop) {
		h.internal = func(fn func()) error {
			if h.n.Load() > 0 {
				return nil
			}
			return l.SubmitInternal(fn)
		}
	}, "internal "},
	{"refuses probes", "NextTick", living, brief, 0, func(h *hasFlaw, l loop) {
		h.internal = func(func()) error { return eventloop.ErrLoopTerminated }
	}, "the probe internal has not run"},
}

// stalling has every other external task take a while.
func stalling(h *hasFlaw, l loop) {
	h.submit = some(2, l.Submit, func(fn func()) error { return l.Submit(func() { time.Sleep(brief); fn() }) })
}

// slowMistakes take a second each.
var slowMistakes = []string{"stalls while it is flooded", "does not shut down while it is flooded", "runs no probe beside a flood"}

func TestFlawsAreNoticed(t *testing.T) {
	for _, m := range mistakes {
		t.Run(strings.ReplaceAll(m.name, " ", "_"), func(t *testing.T) {
			if testing.Short() && slices.Contains(slowMistakes, m.name) {
				t.Skip("it takes a second")
			}
			on := ordinary(30*time.Millisecond, fixed(yard{}))
			on.longest = brief
			on.patience, on.giveUp = cmp.Or(m.patience, on.patience), cmp.Or(m.giveUp, on.giveUp)
			on.newLoop = func(opts ...eventloop.Option) (loop, error) {
				l, err := sound(opts...)
				h := &hasFlaw{loop: l}
				m.flaw(h, l)
				return h, err
			}
			c := cell{floodOf(t, m.flood), nil, 2, 2, 0, m.life}
			var o *outcome
			for range 5 { // what a flaw does in so short a time is up to chance
				var err error
				if o, err = confirm(func(anew bool) (*outcome, error) { return c.attempt(t.Context(), on, anew) }); err != nil {
					t.Fatal(err)
				}
				if o.failed != 0 {
					break
				}
			}
			if o.failed == 0 || !strings.Contains(problems(o), m.want) {
				t.Errorf("%s: %q, want %q", o.verdict(), problems(o), m.want)
			}
		})
	}
}

// A loop that is sound does nothing wrong under any flood, however long the machine takes for it.
func TestSoundLoop(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	on := ordinary(5*time.Millisecond, fixed(patient()))
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
		if err != nil || o.verdict() != c.want || o.badly() != c.badly || made != c.made || (o.failed > 0) != o.wrong() {
			t.Errorf("%s: %q, %v times, after %d tries: %v", c.tries, o.verdict(), o.badly(), made, err)
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
		{burst, 100 * ms, 0, far, false, -1, 0, false},
		{burst, 101 * ms, 0, far, false, timing, 0, false},
		{beside, 120 * ms, 0, far, false, -1, 0, false},
		{beside, 121 * ms, 0, far, false, timing, 0, false},
		{beside, 20 * ms, 0, yard{}, false, -1, 0, false},
		{beside, 21 * ms, 0, yard{}, false, timing, 0, false},
		{living, 400 * ms, 0, yard{turn: 100 * ms}, false, slow, 4, false},
		{living, 401 * ms, 0, yard{turn: 100 * ms}, false, timing, 4, false},
		{whole, 0, 5000 * ms, yard{}, false, -1, 4, false},
		{whole, 0, 5001 * ms, yard{}, false, timing, 4, false},
		{closing, 0, 101 * ms, yard{}, false, timing, 4, false},
		{closing, 0, 400 * ms, yard{turn: 100 * ms}, false, -1, 4, false},
		{closing, 0, 401 * ms, yard{turn: 100 * ms}, false, timing, 4, false},
		{living, 101 * ms, 0, yard{}, false, slow, 0, true},
		{living, 251 * ms, 0, yard{}, false, timing, 0, true},
		{living, 0, 0, yard{}, false, -1, 0, true},
		{closing, 0, 251 * ms, yard{}, false, timing, 0, true},
		{shutdown, 0, 2001 * ms, yard{}, false, timing, 0, true},
		{shutdown, 0, 2001 * ms, far, false, slow, 0, true},
		{shutdown, 0, 2101 * ms, far, false, timing, 0, true},
		{burst, 180 * ms, 0, far, false, slow, 0, true},
		{burst, 181 * ms, 0, far, false, timing, 0, true},
		{beside, 240 * ms, 0, far, false, slow, 4, true},
		{beside, 241 * ms, 0, far, false, timing, 4, true},
	} {
		o := &outcome{cell: cell{flood: submit, life: c.life, neighbours: c.neighbours}, plain: c.plain, end: c.end, grew: c.grew}
		o.gaps[timerProbe] = c.timer
		allow := strict
		if c.onShared {
			allow = shared
		}
		o.judge(allow)
		got := kind(-1)
		if len(o.problems) > 0 {
			got = o.problems[0].kind
		}
		if got != c.want || len(o.problems) > 1 {
			t.Errorf("%+v: kind %d: %s", c, got, problems(o))
		}
	}
	for name, want := range map[string]kind{"Submit": backlog, "Submit at the limit": -1, "NextTick": timing} {
		o := &outcome{cell: cell{flood: floodOf(t, name), life: living}, grew: true}
		o.gaps[taskProbe] = time.Second
		o.judge(strict)
		if got := append(o.problems, problem{kind: -1})[0].kind; got != want {
			t.Errorf("a task that is late in a flood of %s: kind %d, want %d", name, got, want)
		}
	}
}

// Each cell can be tried again by its flags, and a quick run has each flood in it.
func TestPlans(t *testing.T) {
	all, err := choose("", "", "1,8,64", "1,2,4", "0,4", "living,shutdown,close,whole,burst,beside")
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
	if others := first - 2*(len(floods)+1); others != quickBursts+quickPairs+quickBesides || len(quick) != first {
		t.Errorf("%d cells besides the floods, %d in all", others, len(quick))
	}
	for _, wrong := range [][6]string{{"("}, {"", "("}, {"", "", "0"}, {"", "", "1", "x"}, {"", "", "1", "1", "-1"},
		{"", "", "1", "1", "0", "dead"}} {
		if _, err := choose(wrong[0], wrong[1], wrong[2], wrong[3], wrong[4], wrong[5]); err == nil {
			t.Errorf("%q is a choice", wrong)
		}
	}
}

// A run writes what it has found, and fails if anything is wrong.
func TestRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "siege.json")
	ch, err := choose("^State$", "", "1", "1", "0", "living,shutdown,close")
	if err != nil {
		t.Fatal(err)
	}
	opt := options{choice: ch, window: time.Millisecond, limit: time.Hour, most: 2, seed: 1, json: path}
	if err := besiege(t.Context(), opt); err != nil {
		t.Log(err) // the machine may have been busy
	}
	var all []finding
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil || len(all) != 2 || all[0].Flood != "State" || all[0].Life == all[1].Life {
		t.Errorf("%v: %s", err, text)
	}
	wrong := &outcome{cell: cell{flood: floodOf(t, "Submit"), life: living}, failed: 1}
	wrong.problem(lasting, "it is wrong")
	err = conclude([]*outcome{wrong, {cell: wrong.cell}}, 2, 1, 0, false)
	if err == nil || !strings.Contains(err.Error(), "1 of 2 cells") {
		t.Errorf("a cell that is wrong: %v", err)
	}
	if f := wrong.finding(); !f.Violated || f.Verdict != "WRONG" || f.Problems != "it is wrong" {
		t.Errorf("%+v", f)
	}
	if err := conclude([]*outcome{{cell: wrong.cell}}, 1, 1, 0, true); err == nil {
		t.Error("a run that was interrupted has passed")
	}
}
