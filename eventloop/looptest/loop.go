package looptest

// A contestant under trial, and the ways in which checks run functions on it.

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
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
	has    need // those that are not nil

	trial     *trial
	launched  atomic.Bool
	goroutine atomic.Uintptr // the identity of the goroutine that called Run; 0 before that
	ended     chan struct{}  // closed when that goroutine has ended
	returned  bool           // Run returned; false if Goexit ended the goroutine. Valid after ended
	err       error          // the result of Run. Valid after ended
	hooks     *hooks         // nil unless made by makeHandled
	letGo     func()         // ends the callback that holds the loop; set by situations of the matrix, else nil
}

func wrap(el EventLoop) *loop {
	l := &loop{EventLoop: el, ended: make(chan struct{})}
	l.has = find(el, &l.micro, needMicrotasks) | find(el, &l.timers, needTimers) | find(el, &l.refs, needRefs) |
		find(el, &l.states, needState) | find(el, &l.comp, needDone) | find(el, &l.owner, needOwner) | find(el, &l.clock, needClock) |
		find(el, &l.holder, needHold) | find(el, &l.fds, needFDs) | find(el, &l.tiers, needTiers)
	return l
}

// find sets a capability, and returns n, if the contestant has it.
func find[T any](el EventLoop, capability *T, n need) need {
	if c, ok := el.(T); ok {
		*capability = c
		return n
	}
	return 0
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
func (t *trial) start(cfg Config) *loop { return t.make(cfg).begun() }
func (t *trial) startHandled() *loop    { return t.makeHandled().begun() }

func (l *loop) begun() *loop {
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
		defer l.trial.recovered() // a panic that escapes from Run
		l.goroutine.Store(goroutine.ID())
		l.err = l.Run(ctx)
		l.returned = true
		l.trial.fds.giveAllBack(l)
	}()
}

// launchUntil calls Run with a context that cancel, or the end of the check, ends.
func (l *loop) launchUntil() (cancel func()) {
	ctx, cancel := context.WithCancel(context.Background())
	l.trial.onCleanup(cancel)
	l.launch(ctx)
	return cancel
}

// result waits for Run to return.
func (l *loop) result() error {
	l.trial.wait(l.ended, "Run to return")
	if !l.returned {
		l.trial.Fatalf("the goroutine that called Run ended, but Run did not return")
	}
	return l.err
}

// returns expects Run to return one of the results.
func (l *loop) returns(what string, want ...error) { l.trial.want("Run"+what, l.result(), want...) }

// over waits for Done, if the loop has it.
func (l *loop) over(what string) {
	if l.comp != nil {
		l.trial.wait(l.comp.Done(), "Done %s", what)
	}
}

// runAgain calls Run, which must return at once, and returns its result.
func (l *loop) runAgain() (err error) {
	l.trial.wait(l.trial.async(func() { err = l.Run(context.Background()) }), "a Run that must return at once")
	return err
}

// shutdown calls Shutdown with a context that ends when the call is in vain.
func (l *loop) shutdown() error {
	ctx, cancel := l.trial.limit(0)
	defer cancel()
	ctx, end := context.WithCancel(ctx)
	defer end()
	err := l.Shutdown(ctx)
	l.trial.steps.Add(1)
	return err
}

// finish shuts the loop down and expects nil from Shutdown and from Run.
func (l *loop) finish() {
	l.trial.want("Shutdown", l.shutdown(), nil)
	l.returns(" after Shutdown", nil)
}

// stopping calls Shutdown on another goroutine, while a callback holds the loop, and returns when the loop refuses tasks. The
// function that it returns expects Shutdown to return nil, unless it is to return something else.
func (l *loop) stopping(want ...error) (stopped func()) {
	if want == nil {
		want = []error{nil}
	}
	ending := l.trial.async(func() { l.trial.want("Shutdown", l.shutdown(), want...) })
	l.refuses()
	return func() { l.trial.wait(ending, "Shutdown to return") }
}

// close closes the loop and expects Run to end by it.
func (l *loop) close() {
	l.trial.want("Close", l.Close(), nil)
	l.returns(" after Close", loopapi.ErrLoopTerminated)
}

// dispose closes the loop in whatever state it is, and expects Close and Run to return. After a failure it does not wait for long,
// and blames nobody.
func (l *loop) dispose() {
	t := l.trial
	closed := t.async(func() { _ = l.Close() })
	ends := map[string]<-chan struct{}{"Close": closed}
	if l.launched.Load() {
		ends["Run, after Close,"] = l.ended
	}
	for what, end := range ends {
		switch {
		case t.failed():
			stays(end, time.Second/4)
		case !t.came(end):
			t.Errorf("%s did not return", what)
		}
	}
}

// do runs fn as a task and waits for its end, be that a return, a panic or Goexit.
func (l *loop) do(fn func()) { l.doIn(lanes[0], fn) }

// doIn does what do does, in any kind of callback. Where says in what company, if in any.
func (l *loop) doIn(k kind, fn func(), where ...string) {
	done := make(chan struct{})
	l.trial.must(k.name, k.run(l, func() { defer close(done); fn() }))
	l.trial.wait(done, "a callback of the kind %s to run%s", k.name, strings.Join(where, ""))
}

// sync waits until the external tasks submitted so far have run.
func (l *loop) sync() { l.do(func() {}) }

// serve waits for a callback of each lane but those that are left out.
func (l *loop) serve(where string, leftOut ...string) {
	for _, k := range l.available() {
		if !slices.Contains(leftOut, k.name) {
			l.doIn(k, noop, where)
		}
	}
}

// endless keeps n callbacks of a kind going, each of which submits itself again and runs body, until stop is called.
func (l *loop) endless(k kind, n int, body func()) (stop func()) {
	t := l.trial
	var over atomic.Bool
	t.onCleanup(func() { over.Store(true) })
	from := k.name + " from a callback"
	var again func()
	again = func() {
		runtime.Gosched() // otherwise the check waits for the end of the loop's time slice
		if !over.Load() {
			t.want(from, k.run(l, again), nil)
			body()
		}
	}
	for range n {
		t.must(k.name, k.run(l, again))
	}
	return func() {
		over.Store(true)
		l.sync() // waits for the callbacks that have seen over unset
	}
}

// hold keeps the loop inside an internal task until the barrier is opened, so that work piles up behind it.
func (l *loop) hold() *barrier {
	g, inside := l.trial.gate(), make(chan struct{})
	l.trial.must("SubmitInternal", l.SubmitInternal(func() { close(inside); g.wait() }))
	l.trial.wait(inside, "an internal callback to run")
	return g
}

// burst has n functions of a kind wait together, and waits until all have run.
func (l *loop) burst(k kind, n int, fn func(i int)) {
	all, g := newLatch(n), l.hold()
	for i := range n {
		l.trial.must(k.name, k.run(l, func() { fn(i); all.done() }))
	}
	g.open()
	l.trial.wait(all.ch, "%d callbacks of the kind %s", n, k.name)
}

// rest waits until the loop is parked. Of a loop that does not tell its state that is not known: what relies on it needs needState.
func (l *loop) rest() {
	switch {
	case l.trial.virtual:
		synctest.Wait()
		l.trial.steps.Add(1)
	case l.states != nil:
		// A loop that has just been woken may still report that it sleeps, so one look is not enough.
		asleep := 0
		l.trial.eventually(func() bool {
			time.Sleep(50 * time.Microsecond)
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
