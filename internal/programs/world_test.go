package programs

// A program at work: its loops, whoever acts in it, and how it ends.

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/flow"
	"github.com/turnloop/turnloop/eventloop/js"
	"github.com/turnloop/turnloop/eventloop/threadlet"
	"github.com/turnloop/turnloop/internal/beat"
)

// way is how a program comes to its end.
type way int

const (
	anytime way = iota // somebody asks for it in the middle of everything
	settled            // everything has run before: nothing is lost that only the end would bring to light
	exits              // the loop ends by itself
	ways
)

// world is a program at work.
type world struct {
	t       *testing.T
	title   string
	seed    uint64
	way     way
	group   *eventloop.Group // nil if there is one loop
	sites   []*site
	ctx     context.Context // of Run; nil if nobody calls that
	stop    context.CancelFunc
	grace   time.Duration // of RunUntil, if that runs the program; negative otherwise
	budgets bool          // there are so few microtasks in a turn that some wait

	left       atomic.Int64 // steps that may still be taken
	sources    atomic.Int64 // numbers for who hands functions over
	acting     atomic.Int64 // goroutines of the program's own
	performing atomic.Int64 // actors that take steps
	dropped    atomic.Bool  // somebody may have closed a loop: what was accepted may not run
	asked      atomic.Bool  // somebody has asked for the end
	exited     atomic.Bool  // a callback has called Goexit, which may have ended Run's goroutine
	over       atomic.Bool  // the loops have ended

	mu     sync.Mutex // guards what follows
	all    []*handed
	timers []*timer
	leases []func() // end what would go on for ever, if nobody else does; calling one again does nothing
	keep   []any    // promises, which are garbage when nobody has them
}

// site is one of the loops, and what its callbacks share. Only the loop touches what is not atomic, as the race detector checks.
type site struct {
	w        *world
	i        int
	l        *eventloop.Loop
	js       *js.JS
	busy     atomic.Bool
	numbers  map[string]int // of functions that its callbacks have handed over, by lane
	last     map[string]int // of functions that have run, by source and lane
	mu       threadlet.Mutex
	cond     *threadlet.Cond
	locked   bool // somebody holds mu
	closed   bool // a callback of the loop has closed it
	ch       *threadlet.Chan[int]
	sent     int // the last number that somebody has tried to send
	received map[int]bool
	waiting  map[string]int // functions that its callbacks have handed over and that have not begun, by lane
	live     atomic.Int64   // threadlets that have begun and not ended
	threads  []*threadlet.Threadlet
}

func (w *world) errorf(format string, args ...any) {
	w.t.Errorf("%s: %s", w.title, fmt.Sprintf(format, args...))
}

// newWorld makes the loops of a program, with everything that may be asked of them left to chance.
func newWorld(t *testing.T, seed uint64, rng *rand.Rand) *world {
	w := &world{t: t, seed: seed, way: way(rng.IntN(int(ways))), grace: -1}
	w.left.Store(int64(20 << rng.IntN(5)))
	loops := 1 + rng.IntN(4)*rng.IntN(2)
	if w.way == exits {
		loops = 1
	}
	one := func(n int) bool { return rng.IntN(n) == 0 }
	opts := []eventloop.Option{eventloop.WithLogger(slog.New(logger{w})), eventloop.WithAutoExit(w.way == exits),
		eventloop.WithOnOverload(func(error) { w.hook() }), eventloop.WithUnhandledRejection(func(*eventloop.Promise, error) { w.hook() }),
		eventloop.WithMetrics(one(2)), eventloop.WithDebug(one(4)), eventloop.WithStrictMicrotaskOrdering(one(2)),
		eventloop.WithWorkerLimit(rng.IntN(2) * rng.IntN(3))}
	if one(2) {
		opts = append(opts, eventloop.WithPanicHandler(func(*eventloop.PanicError) { w.hook() }))
	}
	if one(3) {
		w.budgets = true
		opts = append(opts, eventloop.WithMicrotaskBudget(1+rng.IntN(4)), eventloop.WithTickBudget(1+rng.IntN(4)))
	}
	if one(4) {
		opts = append(opts, eventloop.WithQueueLimit(1+rng.IntN(10)))
	}
	if one(4) {
		opts = append(opts, eventloop.WithFlightRecorder(64), eventloop.WithStallThreshold(time.Microsecond, func(eventloop.Stall) { w.hook() }))
	}
	if mode := eventloop.FastPathMode(rng.IntN(6)); mode <= eventloop.FastPathDisabled {
		opts = append(opts, eventloop.WithFastPathMode(mode))
	}
	var all []*eventloop.Loop
	var err error
	if loops == 1 {
		var l *eventloop.Loop
		l, err = eventloop.New(opts...)
		all = append(all, l)
	} else if w.group, err = eventloop.NewGroup(loops, opts[:len(opts):len(opts)]...); err == nil {
		for i := range loops {
			all = append(all, w.group.Loop(i))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range all {
		adapter, err := js.New(l)
		if err != nil {
			t.Fatal(err)
		}
		s := &site{w: w, i: i, l: l, js: adapter, numbers: map[string]int{}, last: map[string]int{}, waiting: map[string]int{}, received: map[int]bool{}, ch: threadlet.NewChan[int](l, i%3)}
		s.cond = threadlet.NewCond(&s.mu)
		w.sites = append(w.sites, s)
	}
	w.title = fmt.Sprintf("TURNLOOP_SEED=%d (way %d, %d loops, %d processors)", seed, w.way, loops, runtime.GOMAXPROCS(0))
	return w
}

// play plays one program.
func play(t *testing.T, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS([]int{1, 2, 4, 8, 16}[rng.IntN(5)]))
	goroutines, descriptors := beat.Goroutines(), openDescriptors()
	w := newWorld(t, seed, rng)
	if rng.IntN(2) == 0 {
		a := w.elsewhere(rng.Uint64())
		a.in = before
		a.perform(5)
	}
	result := w.run(rng)
	for range 1 + rng.IntN(4) {
		a := w.elsewhere(rng.Uint64())
		w.act(func() { a.perform(int(w.left.Load())) })
	}
	switch w.way {
	case anytime:
		for range rng.IntN(1 << rng.IntN(10)) {
			runtime.Gosched()
		}
		w.end(w.elsewhere(rng.Uint64()))
	case settled:
		w.until("something is lost", func() bool { w.release(); return w.acting.Load() == 0 && w.wanted() == nil })
		w.left.Store(0) // and then also what was handed over meanwhile
		w.until("something is lost", func() bool { w.release(); return w.performing.Load() == 0 && w.wanted() == nil })
		w.end(w.elsewhere(rng.Uint64()))
	}
	ends := make([]<-chan struct{}, 0, 5)
	if w.group != nil {
		ends = append(ends, w.group.Done()) // with which all end
	}
	for _, s := range w.sites {
		ends = append(ends, s.l.Done())
	}
	for _, ended := range ends {
		w.until("the loop does not end", func() bool {
			if w.release(); w.way == anytime && !w.asked.Load() {
				w.end(w.elsewhere(rng.Uint64()))
			}
			select {
			case <-ended:
				return true
			default:
				return false
			}
		})
	}
	w.over.Store(true)
	w.left.Store(0)
	w.until("somebody still waits, or works", func() bool { w.release(); return w.acting.Load()+w.performing.Load() == 0 })
	ctx, cancel := beat.Context(context.Background())
	for _, s := range w.sites {
		if err := s.l.AwaitWorkers(ctx); err != nil {
			w.errorf("AwaitWorkers: %v", err)
		}
		w.until("a threadlet has not ended", func() bool { return s.live.Load() == 0 })
		if left := s.l.Active(); len(left) > 0 {
			w.errorf("active after the end: %v", left)
		}
	}
	cancel()
	w.until("something has not run although only the end was to come before it", func() bool {
		return !w.some(func(h *handed) bool { return h.survives && h.due.Load() == must && h.runs.Load() == 0 })
	})
	w.checkResult(result)
	w.check()
	w.until("goroutines are left", func() bool { return beat.Goroutines() <= goroutines })
	if n := openDescriptors(); n > descriptors {
		w.errorf("%d descriptors became %d", descriptors, n)
	}
}

// until waits until something is so, or fails the program.
func (w *world) until(otherwise string, is func() bool) {
	w.t.Helper()
	if !beat.Until(is) {
		w.t.Fatalf("%s: %s; %s; all goroutines:\n%s", w.title, otherwise, w.wanted(), beat.Stacks())
	}
}

// run runs the program, or not. The channel has what Run returns, unless nobody calls it.
func (w *world) run(rng *rand.Rand) <-chan error {
	if w.way == anytime && rng.IntN(16) == 0 {
		return nil
	}
	w.ctx, w.stop = context.WithCancel(context.Background())
	result := make(chan error, 1)
	var r flow.Runner = w.sites[0].l
	if w.group != nil {
		r = w.group
	}
	if w.way != exits && rng.IntN(4) == 0 {
		w.grace = grace(rng)
	}
	go func() {
		if w.grace >= 0 {
			result <- flow.RunUntil(w.ctx, r, w.grace)
		} else {
			result <- r.Run(w.ctx)
		}
	}()
	return result
}

func grace(rng *rand.Rand) time.Duration {
	return []time.Duration{0, time.Millisecond, time.Hour}[rng.IntN(3)]
}

// checkResult checks what Run has returned, unless its goroutine may have ended before.
func (w *world) checkResult(result <-chan error) {
	if result == nil || w.exited.Load() {
		return
	}
	switch err := <-result; {
	case err == nil, errors.Is(err, eventloop.ErrLoopTerminated) && w.way == anytime:
	case errors.Is(err, context.Canceled) && w.ctx.Err() != nil:
	case w.dropped.Load() && (errors.Is(err, eventloop.ErrLoopTerminated) || errors.Is(err, context.DeadlineExceeded)):
	default:
		w.errorf("Run: %v", err)
	}
}

// act has a goroutine of the program's own do something. It ends before the program does.
func (w *world) act(do func()) {
	w.acting.Add(1)
	go func() {
		defer w.acting.Add(-1)
		do()
	}()
}

// lease remembers how to end what would go on for ever.
func (w *world) lease(end func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.leases = append(w.leases, end)
}

// release ends what would go on for ever.
func (w *world) release() {
	w.mu.Lock()
	leases := w.leases
	w.mu.Unlock()
	for _, end := range leases {
		end()
	}
}

// here is the site on whose loop the caller runs, nil elsewhere.
func (w *world) here() *site {
	for _, s := range w.sites {
		if s.l.OnLoop() {
			return s
		}
	}
	return nil
}

// end asks for the end in some way.
func (w *world) end(a *actor) {
	s, rng := a.any(), a.rng
	ctx := context.Background()
	if a.in == worker || a.at != nil && a.at != s { // who is waited for must not wait
		done, cancel := context.WithCancel(ctx)
		cancel()
		ctx = done
	}
	var stopper flow.Stopper = s.l
	if w.group != nil && rng.IntN(2) == 0 {
		if stopper = w.group; a.at != nil {
			ctx = context.Background()
		}
	}
	g, how := grace(rng), rng.IntN(6)
	drops := how == 0 || how == 1 || how == 2 && (g < time.Hour || ctx.Err() != nil) || how == 3 && w.grace >= 0 && w.grace < time.Hour
	if drops {
		w.dropped.Store(true)
	}
	w.asked.Store(true)
	switch {
	case how == 0:
		if _ = stopper.Close(); a.at != nil && (a.at == s || stopper == w.group) {
			a.at.closed = true
		}
	case how == 1:
		done, cancel := context.WithCancel(ctx)
		cancel()
		_, _ = stopper.Shutdown(done), stopper.Close()
	case how == 2:
		_ = flow.StopGracefully(ctx, stopper, g)
	case how == 3 && w.ctx != nil:
		w.stop()
	default:
		_ = stopper.Shutdown(ctx)
	}
}

// hook is what a handler, a logger or a report of the loop does: it calls back into it.
func (w *world) hook() {
	if w.left.Load() <= 0 {
		return
	}
	seed := w.seed ^ uint64(w.sources.Add(1))<<32
	a := w.elsewhere(seed)
	if s := w.here(); s != nil {
		a = s.actor(seed, 3)
	}
	a.in = hooked
	a.perform(3)
}

// logger is a logger that calls back.
type logger struct{ w *world }

func (logger) Enabled(context.Context, slog.Level) bool        { return true }
func (l logger) WithAttrs([]slog.Attr) slog.Handler            { return l }
func (l logger) WithGroup(string) slog.Handler                 { return l }
func (l logger) Handle(_ context.Context, _ slog.Record) error { l.w.hook(); return nil }
