package programs

// Who acts in a program, and how it chooses what to do.

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"time"
)

// place is where an actor acts.
type place int

const (
	callback  place = 1 << iota
	thread          // a threadlet
	hooked          // a handler of the loop's, a logger or a report
	worker          // a function of Promisify and the like
	goroutine       // of the program's own
	before          // Run: nothing waits

	onLoop   = callback | thread
	offLoop  = worker | goroutine
	anywhere = onLoop | hooked | offLoop | before
)

// actor takes steps, one after the other.
type actor struct {
	w       *world
	at      *site // on whose loop it acts, nil elsewhere
	in      place
	rng     *rand.Rand
	depth   int
	heard   int            // the last number that it has received
	source  int64          // who hands functions over: a loop's callbacks are one
	numbers map[string]int // of functions that the source has handed over, by lane
}

// elsewhere returns an actor that is on no loop.
func (w *world) elsewhere(seed uint64) *actor {
	return &actor{w, nil, goroutine, rand.New(rand.NewPCG(seed, 2)), 0, 0, w.sources.Add(1), map[string]int{}}
}

// actor returns one that acts in the loop's callbacks.
func (s *site) actor(seed uint64, depth int) *actor {
	return &actor{s.w, s, callback, rand.New(rand.NewPCG(seed, 3)), depth, 0, -int64(s.i), s.numbers}
}

// any returns one of the loops, the actor's own more often than not.
func (a *actor) any() *site {
	if a.at != nil && a.rng.IntN(3) != 0 {
		return a.at
	}
	return a.w.sites[a.rng.IntN(len(a.w.sites))]
}

// deepest bounds how functions hand over functions that hand over functions.
const deepest = 7

// perform takes some steps.
func (a *actor) perform(most int) {
	a.w.performing.Add(1)
	defer a.w.performing.Add(-1)
	if a.depth > deepest || most <= 0 {
		return
	}
	for range a.rng.IntN(most + 1) {
		if a.w.left.Add(-1) < 0 {
			return
		}
		if a.at != nil {
			a.at.alone()
		}
		a.choose()(a)
	}
}

// choose returns a step that may be taken where the actor is.
func (a *actor) choose() func(a *actor) {
	for {
		s := steps[a.rng.IntN(len(steps))]
		if s.in&a.in != 0 && a.rng.IntN(100) < s.often && (a.w.way == anytime || !s.ends) {
			return s.do
		}
	}
}

// give hands a function over, which takes some steps after first. lane names what keeps the order of the functions that one source hands
// over, "" if nothing does. at is nil if any loop may run it.
func (a *actor) give(at *site, what, lane string, first func(), submit func(fn func()) error) (h *handed, accepted bool) {
	h = a.w.hand("%s of %d", what, a.source)
	seed, depth, n, order, counted := a.rng.Uint64(), a.depth+1, 0, "", false
	if lane != "" {
		key := fmt.Sprint(lane, " of loop ", at.i)
		a.numbers[key]++
		n, order = a.numbers[key], fmt.Sprint(key, " by ", a.source)
	}
	err := submit(func() {
		s := at
		if s == nil {
			if s = a.w.here(); s == nil {
				a.w.errorf("%s runs on no loop", h.what)
				return
			}
		}
		if counted {
			s.waiting[lane]--
		}
		s.begin(h, order, n)
		if what == lane {
			s.turn(lane)
		}
		if first != nil {
			first()
		}
		s.actor(seed, depth).perform(4)
	})
	if accepted = h.decide(a.w, err); accepted && a.at != nil && a.at == at { // from elsewhere it may have run
		counted = true
		at.waiting[lane]++
	}
	return h, accepted
}

// later has something done at some time, once at least: now, by the loop, by a worker, or when nobody else acts any more.
func (a *actor) later(s *site, do func()) {
	a.w.lease(do)
	ok := true
	switch a.rng.IntN(5) {
	case 0:
		do()
	case 1:
		_, ok = a.give(s, "internal", "internal", do, s.l.SubmitInternal)
	case 2:
		_, ok = a.timer(s, 0, do)
	case 3:
		a.work(s, do)
	}
	if !ok {
		do()
	}
}

// once is do when it is called first, and then nothing; unlike [sync.OnceFunc] also if do panics or ends its goroutine.
func once(do func()) func() {
	var done atomic.Bool
	return func() {
		if !done.Swap(true) {
			do()
		}
	}
}

// context returns one that has ended, will end, or goes on.
func (a *actor) context() context.Context {
	ctx := context.Background()
	switch a.rng.IntN(5) {
	case 0:
		done, cancel := context.WithCancel(ctx)
		cancel()
		return done
	case 1, 2:
		ends, cancel := context.WithCancelCause(ctx)
		a.w.lease(func() { cancel(errCause) })
		if a.rng.IntN(2) == 0 {
			a.later(a.any(), func() { cancel(errCause) })
		}
		return ends
	case 3:
		ends, cancel := context.WithTimeout(ctx, time.Duration(a.rng.IntN(2000))*time.Microsecond)
		a.w.lease(cancel)
		return ends
	}
	return ctx
}

// fail ends a callback, handler, threadlet or worker in a bad way.
func (a *actor) fail() {
	if a.rng.IntN(2) == 0 {
		panic("part of the program")
	}
	if a.at != nil {
		a.w.exited.Store(true)
	}
	runtime.Goexit()
}
