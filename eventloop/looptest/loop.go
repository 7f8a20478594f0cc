package looptest

// A contestant under trial, and the ways in which checks run functions on it.

import (
	"context"
	"errors"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing/synctest"
	"time"

	"github.com/turnloop/turnloop/internal/goroutine"
	"github.com/turnloop/turnloop/internal/loopapi"
)

// need is a set of capabilities.
type need uint

const (
	needMicrotasks need = 1 << iota
	needTimers
	needRefs
	needState
	needDone
	needOwner
	needClock
	needHold
	needFDs
	needTiers
)

func (n need) String() string {
	var names []string
	for i, name := range []string{"MicrotaskScheduler", "TimerScheduler", "TimerReferencer", "StateReporter", "Completer",
		"OwnerReporter", "Clock", "Holder", "FDRegistrar", "TierScheduler"} {
		if n&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// loop is a contestant under trial. A capability field is nil when the contestant lacks the capability. A check uses
// only the capabilities of its row in the table, or tests the field for nil first.
type loop struct {
	EventLoop
	micro  loopapi.MicrotaskScheduler
	timers loopapi.TimerScheduler
	tiers  loopapi.TierScheduler
	refs   loopapi.TimerReferencer
	states loopapi.StateReporter
	comp   loopapi.Completer
	owner  loopapi.OwnerReporter
	clock  loopapi.Clock
	holder loopapi.Holder
	fds    loopapi.FDRegistrar

	trial     *trial
	launched  atomic.Bool
	goroutine atomic.Uintptr // the identity of the goroutine that called Run; 0 before that
	ended     chan struct{}  // closed when that goroutine has ended
	returned  bool           // Run returned; false if Goexit ended the goroutine. Valid after ended
	err       error          // the result of Run. Valid after ended
	hooks     *hooks         // nil unless made by makeHandled
	letGo     func()         // ends the callback that holds the loop; set by situations of the matrix, else nil
}

func capabilities(el EventLoop) need {
	l := wrap(el)
	var has need
	for n, ok := range map[need]bool{
		needMicrotasks: l.micro != nil, needTimers: l.timers != nil, needRefs: l.refs != nil, needState: l.states != nil,
		needDone: l.comp != nil, needOwner: l.owner != nil, needClock: l.clock != nil, needHold: l.holder != nil,
		needFDs: l.fds != nil, needTiers: l.tiers != nil,
	} {
		if ok {
			has |= n
		}
	}
	return has
}

func wrap(el EventLoop) *loop {
	l := &loop{EventLoop: el, ended: make(chan struct{})}
	l.micro, _ = el.(loopapi.MicrotaskScheduler)
	l.timers, _ = el.(loopapi.TimerScheduler)
	l.tiers, _ = el.(loopapi.TierScheduler)
	l.refs, _ = el.(loopapi.TimerReferencer)
	l.states, _ = el.(loopapi.StateReporter)
	l.comp, _ = el.(loopapi.Completer)
	l.owner, _ = el.(loopapi.OwnerReporter)
	l.clock, _ = el.(loopapi.Clock)
	l.holder, _ = el.(loopapi.Holder)
	l.fds, _ = el.(loopapi.FDRegistrar)
	return l
}

// tryMake makes a loop without running it, or returns the factory's error. The loop is ended when the check is over.
func (t *trial) tryMake(cfg Config) (*loop, error) {
	el, err := t.suite.factory(cfg)
	if err != nil {
		return nil, err
	}
	l := wrap(el)
	l.trial = t
	t.onCleanup(l.dispose)
	return l, nil
}

func (t *trial) make(cfg Config) *loop {
	l, err := t.tryMake(cfg)
	if errors.Is(err, errors.ErrUnsupported) {
		t.notApplicable(oneLine(err.Error()))
	}
	if err != nil {
		t.Fatalf("the factory refused %+v: %v", cfg, err)
	}
	return l
}

// start makes a loop, runs it, and waits until it has run a task.
func (t *trial) start(cfg Config) *loop {
	l := t.make(cfg)
	l.launch(context.Background())
	l.sync()
	return l
}

// makeHandled makes a loop with all handlers set that the contestant supports; l.hooks says which these are.
func (t *trial) makeHandled() *loop {
	h := &hooks{}
	onPanic := func(e *loopapi.PanicError) {
		h.panics.add(e)
		h.inPanic.fire()
	}
	onOverload := func(error) { h.inOverload.fire() }
	l, err := t.tryMake(Config{OnPanic: onPanic, OnOverload: onOverload, TickBudget: handledBudget})
	h.hasPanic, h.hasOverload = err == nil, err == nil
	if err != nil {
		l, err = t.tryMake(Config{OnPanic: onPanic})
		h.hasPanic = err == nil
	}
	if err != nil {
		l = t.make(Config{})
	}
	l.hooks = h
	return l
}

func (t *trial) startHandled() *loop {
	l := t.makeHandled()
	l.launch(context.Background())
	l.sync()
	return l
}

// hooks are the handlers of a loop made by makeHandled.
type hooks struct {
	hasPanic, hasOverload bool
	panics                journal[*loopapi.PanicError]
	inPanic, inOverload   oneShot
}

// oneShot holds a function that only the next call of fire runs.
type oneShot struct{ fn atomic.Pointer[func()] }

func (o *oneShot) arm(fn func()) { o.fn.Store(&fn) }

func (o *oneShot) fire() {
	if fn := o.fn.Swap(nil); fn != nil {
		(*fn)()
	}
}

// handledBudget is the tick budget of loops made by makeHandled: small, so that a few tasks cause an overload.
const handledBudget = 4

// launch calls Run on a goroutine of its own.
func (l *loop) launch(ctx context.Context) {
	l.launched.Store(true)
	go func() {
		defer close(l.ended)
		defer func() {
			if v := recover(); v != nil {
				l.trial.Errorf("a panic escaped from Run: %v\n%s", v, debug.Stack())
			}
		}()
		l.goroutine.Store(goroutine.ID())
		l.err = l.Run(ctx)
		l.returned = true
		l.trial.fds.giveAllBack(l)
	}()
}

// result waits for Run to return.
func (l *loop) result() error {
	l.trial.wait(l.ended, "Run to return")
	if !l.returned {
		l.trial.Fatalf("the goroutine that called Run ended, but Run did not return")
	}
	return l.err
}

// runAgain calls Run, which must return at once, and returns its result.
func (l *loop) runAgain() (err error) {
	l.trial.wait(l.trial.async(func() { err = l.Run(context.Background()) }), "a Run that must return at once")
	return err
}

// shutdown calls Shutdown with the trial's patience as the timeout.
func (l *loop) shutdown() error {
	ctx, cancel := context.WithTimeout(context.Background(), l.trial.patience)
	defer cancel()
	return l.Shutdown(ctx)
}

// finish shuts the loop down and expects nil from Shutdown and from Run.
func (l *loop) finish() {
	l.trial.want("Shutdown", l.shutdown(), nil)
	l.trial.want("Run after Shutdown", l.result(), nil)
}

// dispose closes the loop in whatever state it is, and expects Close and Run to return.
func (l *loop) dispose() {
	t := l.trial
	limit := t.patience
	if t.failed() {
		limit = min(limit, time.Second/4)
	}
	if !within(t.async(func() { _ = l.Close() }), limit) {
		t.Errorf("Close did not return within %v", limit)
		return
	}
	if l.launched.Load() && !within(l.ended, limit) {
		t.Errorf("Run did not return within %v after Close", limit)
	}
}

// do runs fn as a task and waits for its end, be that a return, a panic or Goexit.
func (l *loop) do(fn func()) { l.doIn(lanes[0], fn) }

func (l *loop) doIn(k kind, fn func()) {
	done := make(chan struct{})
	l.trial.must(k.name, k.run(l, func() { defer close(done); fn() }))
	l.trial.wait(done, "a callback of the kind %s to run", k.name)
}

// sync waits until the external tasks submitted so far have run.
func (l *loop) sync() { l.do(func() {}) }

func (t *trial) must(what string, err error) {
	if err != nil {
		t.Fatalf("%s was refused: %v", what, err)
	}
}

// hold keeps the loop inside an internal task until the gate is opened, so that work piles up behind it.
func (l *loop) hold() *gate {
	g, inside := l.trial.gate(), make(chan struct{})
	l.trial.must("SubmitInternal", l.SubmitInternal(func() { close(inside); g.wait() }))
	l.trial.wait(inside, "an internal callback to run")
	return g
}

// rest waits until the loop is parked.
func (l *loop) rest() {
	switch {
	case l.trial.virtual:
		synctest.Wait()
	case l.states != nil:
		// A loop that has just been woken may still report that it sleeps, so one look is not enough.
		asleep := 0
		l.trial.pollUntil(func() bool {
			if l.states.State() == loopapi.StateSleeping {
				asleep++
			} else {
				asleep = 0
			}
			return asleep == 4
		}, "the idle loop to sleep")
	default:
		time.Sleep(2 * time.Millisecond)
	}
}

// refuses waits until Submit is refused.
func (l *loop) refuses() {
	l.trial.eventually(func() bool { return l.Submit(func() {}) != nil }, "Submit to be refused on a loop that is to end")
}

// kind is a way to run a function on the loop.
type kind struct {
	name  string
	queue bool // functions run in order of submission
	has   func(l *loop) bool
	run   func(l *loop, fn func()) error
}

// lanes are the kinds through which users bring functions to a loop. Every contestant has tasks and internal tasks.
var lanes = []kind{
	{"task", true, func(*loop) bool { return true }, func(l *loop, fn func()) error { return l.Submit(fn) }},
	{"internal task", true, func(*loop) bool { return true },
		func(l *loop, fn func()) error { return l.SubmitInternal(fn) }},
	{"microtask", true, func(l *loop) bool { return l.micro != nil },
		func(l *loop, fn func()) error { return l.micro.ScheduleMicrotask(fn) }},
	{"timer", false, func(l *loop) bool { return l.timers != nil }, func(l *loop, fn func()) error {
		_, err := l.timers.ScheduleTimer(0, fn)
		return err
	}},
	ioLane,
}

// ioLane runs functions as callbacks of ready descriptors. It works in real time only: a loop that waits in a system
// call stops a bubble's clock.
var ioLane = kind{"I/O callback", false,
	func(l *loop) bool { return l.fds != nil && canOpen && !l.trial.virtual }, ioCallback}

// handlers are the kinds that run a function inside a handler of the loop, on loops made by startHandled.
var handlers = []kind{
	{"overload handler", false, func(l *loop) bool { return l.hooks.hasOverload }, func(l *loop, fn func()) error {
		l.rest() // an overload episode is reported once: the previous one must be over
		l.hooks.inOverload.arm(fn)
		return l.SubmitInternal(func() {
			for range handledBudget + 1 {
				if err := l.Submit(func() {}); err != nil {
					l.trial.Errorf("Submit from a callback: %v", err)
				}
			}
		})
	}},
	{"panic handler", false, func(l *loop) bool { return l.hooks.hasPanic }, func(l *loop, fn func()) error {
		l.hooks.inPanic.arm(fn)
		return l.Submit(func() { panic("to call the panic handler") })
	}},
}

// eachKind runs fn for every kind that the contestant has, each on a fresh loop made by startHandled.
func (t *trial) eachKind(fn func(l *loop, k kind)) {
	for _, k := range slices.Concat(lanes, handlers) {
		if l := t.startHandled(); k.has(l) {
			fn(l, k)
		}
		if t.failed() {
			return
		}
	}
}

// available returns the lanes that the contestant has.
func (l *loop) available() []kind {
	return slices.DeleteFunc(slices.Clone(lanes), func(k kind) bool { return !k.has(l) })
}

// queues returns the contestant's lanes without timers and descriptors.
func (l *loop) queues() []kind {
	return slices.DeleteFunc(l.available(), func(k kind) bool { return !k.queue })
}

// journal is an ordered list of entries. Its methods may be called from any goroutine.
type journal[T any] struct {
	mu      sync.Mutex
	entries []T
}

func (j *journal[T]) add(e T) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.entries = append(j.entries, e)
}

// note returns a function that adds e.
func (j *journal[T]) note(e T) func() { return func() { j.add(e) } }

func (j *journal[T]) all() []T {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.entries)
}

func (j *journal[T]) len() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.entries)
}

// latch closes its channel at the n-th call of done.
type latch struct {
	left atomic.Int64
	ch   chan struct{}
}

func newLatch(n int) *latch {
	l := &latch{ch: make(chan struct{})}
	l.left.Store(int64(n))
	return l
}

func (l *latch) done() {
	if l.left.Add(-1) == 0 {
		close(l.ch)
	}
}

// wantOrder compares the entries of a journal with the expected ones and reports the first difference.
func wantOrder[T comparable](t *trial, what string, got, want []T) {
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			t.Errorf("%s: %d entries instead of %d, %v is missing", what, len(got), len(want), want[i])
		case i >= len(want):
			t.Errorf("%s: %d entries instead of %d, %v is too much", what, len(got), len(want), got[i])
		case got[i] != want[i]:
			lo, hi := max(0, i-3), i+4
			t.Errorf("%s: entry %d is %v, want %v (around it: got %v, want %v)", what, i, got[i], want[i],
				got[lo:min(hi, len(got))], want[lo:min(hi, len(want))])
		default:
			continue
		}
		return
	}
}
