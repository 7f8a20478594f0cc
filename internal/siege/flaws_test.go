//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

// Loops with flaws, and that the siege notices each.

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/internal/beat"
)

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
			if !beat.Until(func() bool { // what a flaw does in so short a time is up to chance
				var err error
				if o, err = confirm(func(anew bool) (*outcome, error) { return c.attempt(t.Context(), on, anew) }); err != nil {
					t.Fatal(err)
				}
				return o.failed != 0 && strings.Contains(problems(o), m.want)
			}) {
				t.Errorf("%s: %q, want %q", o.verdict(), problems(o), m.want)
			}
		})
	}
}
