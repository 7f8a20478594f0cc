// The reference: a loop with every capability that is as simple as it can be. One lock guards all of its state, and one
// function picks what runs next. The seeded bugs of looptest_test.go switch lines of it.
package looptest_test

import (
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/turnloop/turnloop/eventloop/looptest"
	"github.com/turnloop/turnloop/internal/loopapi"
)

type reference struct {
	cfg looptest.Config
	bug string // the seeded bug; empty in the reference itself

	mu        sync.Mutex
	state     loopapi.State
	owner     string // the goroutine that is in one of the loop's callbacks, or empty
	closed    bool   // ended by Close
	result    error  // what Run returns
	now       time.Time
	tickStart uint64 // timers of this ID and later wait for the next tick

	reports  []func() // calls of handlers: they come before everything else
	micro    []func()
	internal []func()
	external []func()
	timers   [3]pending // by tier
	lastID   loopapi.TimerID
	holds    int

	drained      int          // microtasks run since the last other callback
	microPaused  bool         // the budget is spent: the rest waits for the next tick
	ranInternal  int          // internal tasks in this tick
	ranExternal  int          // external tasks in this tick, and in those before that had no time for more
	sinceFirst   time.Time    // when the first external task of this tick was taken
	carries      bool         // the next tick has no more external tasks than what is left of the budget
	inOverload   bool         // the episode has been reported
	timersPassed bool         // timers have had their turn in this tick
	ranTimers    [3]int       // timers in this tick, by tier
	began        [3]time.Time // when the first of them was taken
	late         int          // functions that it accepts from elsewhere while it ends
	credit       int          // and from its own callbacks
	panicked     bool         // a callback has

	wake chan struct{} // holds a token when a sleeping loop is to look again
	done chan struct{}

	descriptors

	// What only seeded bugs use.
	popped []func()
	others int // microtasks of other goroutines, at the end of micro
	born   time.Time
	ended  bool
	inIO   bool
	fresh  bool // no callback has run in this tick
	sink   any
}

const maxInternal = 100_000

func newReference(cfg looptest.Config, bug string) *reference {
	if cfg.TickBudget == 0 {
		cfg.TickBudget = 1024
	}
	if cfg.MicrotaskBudget == 0 {
		cfg.MicrotaskBudget = 1024
	}
	l := &reference{cfg: cfg, bug: bug, now: time.Now(), wake: make(chan struct{}, 1), done: make(chan struct{})}
	l.born = l.now
	if l.is("a registry keeps the loop") {
		registry = append(registry, l)
	}
	return l
}

var registry []*reference

// serve runs callbacks until the end. After a Goexit it is called again on a new goroutine.
func (l *reference) serve() {
	me := goroutineID()
	for {
		l.mu.Lock()
		fn := l.next()
		if fn == nil {
			finished := l.idle()
			l.mu.Unlock()
			if finished {
				return
			}
			continue
		}
		l.owner = me
		if l.is("lets others run before each callback") {
			l.mu.Unlock()
			for range 8 {
				runtime.Gosched()
			}
			l.mu.Lock()
		}
		if l.is("holds its lock around callbacks") {
			fn()
		}
		l.mu.Unlock()
		if !l.is("holds its lock around callbacks") {
			l.call(fn)
		}
		l.mu.Lock()
		l.owner = ""
		l.mu.Unlock()
	}
}

// next picks the callback that runs next, or returns nil when the tick is over.
func (l *reference) next() func() {
	if l.closed && !l.is("runs the queue after Close") {
		return nil
	}
	if len(l.reports) > 0 {
		return l.pop(&l.reports)
	}
	late := l.is("microtasks at the end of the tick") && l.otherWork() ||
		l.is("microtasks wait for the whole batch") && l.hasReady() ||
		l.is("a tick begins with another callback") && l.fresh && (l.otherWork() || l.hasReady())
	l.fresh = false
	if len(l.micro) > 0 && !l.microPaused && !late {
		if l.drained < l.cfg.MicrotaskBudget || l.is("no microtask budget") {
			l.drained++
			return l.pop(&l.micro)
		}
		l.microPaused = true
		l.report(loopapi.ErrMicrotaskBudget)
		return l.next()
	}
	l.drained = 0
	starved := l.is("descriptors wait for tasks") && len(l.external) > 0 ||
		l.is("descriptors wait for timers") && l.pending() > 0 ||
		l.is("descriptors wait for microtasks") && len(l.micro) > 0
	if fn := l.nextReady(starved); fn != nil {
		return fn
	}
	if l.is("external before internal") && len(l.external) > 0 && l.ranExternal < l.cfg.TickBudget {
		l.ranExternal++
		return l.pop(&l.external)
	}
	if !l.timersPassed {
		if fn := l.expired(); fn != nil {
			return fn
		}
		l.timersPassed = true
	}
	if l.is("drops internal work on shutdown") && l.state == loopapi.StateTerminating {
		l.internal = l.internal[:0]
	}
	if len(l.internal) > 0 {
		switch l.ranInternal++; {
		case l.ranInternal <= maxInternal || l.is("runaway unnoticed"):
			return l.pop(&l.internal)
		case l.ranInternal == maxInternal+1:
			l.report(loopapi.ErrLoopOverloaded)
			return l.next()
		}
		return nil // to timers and descriptors
	}
	if len(l.external) > 0 && (l.ranExternal < l.cfg.TickBudget && !l.slow() || l.is("no tick budget")) {
		l.ranExternal++
		return l.pop(&l.external)
	}
	return nil
}

// slow tells whether external tasks have had their share of the tick.
func (l *reference) slow() bool {
	if l.sinceFirst.IsZero() {
		l.sinceFirst = time.Now()
	}
	return time.Since(l.sinceFirst) >= longestStint && !l.is("slow tasks have no bound")
}

func (l *reference) otherWork() bool {
	return len(l.internal)+len(l.external) > 0 || l.pending() > 0 && !l.earliest().After(l.now)
}

// idle is called at the end of a tick: it begins the next one, sleeps, or finishes, and then returns true.
func (l *reference) idle() (finished bool) {
	l.carries = len(l.external) > 0 && len(l.internal) == 0 && l.ranExternal < l.cfg.TickBudget && !l.is("a new budget whatever was left")
	overloaded := len(l.external) > 0 && l.ranExternal >= l.cfg.TickBudget
	if overloaded && (!l.inOverload || l.is("overload at every tick")) || l.is("overload although nothing remains") && l.ranExternal >= l.cfg.TickBudget {
		l.report(loopapi.ErrLoopOverloaded)
	}
	l.inOverload = overloaded || len(l.external) > 0 && l.inOverload
	if l.closed || l.state == loopapi.StateTerminating && l.empty() {
		l.finish()
		return true
	}
	wait := time.Duration(-1)
	if l.pending() > 0 {
		wait = max(0, time.Until(l.earliest()))
		if l.is("fires late") {
			wait += 20 * time.Millisecond
		}
	}
	if l.is("looks for work now and then") {
		wait = 50 * time.Millisecond
	}
	if l.is("forgets a batch only at its end") {
		l.popped = nil
	}
	if l.empty() && wait != 0 && l.state == loopapi.StateRunning {
		if (l.cfg.AutoExit && !l.is("never exits by itself") || l.is("exits when idle")) && l.holds == 0 &&
			(!l.watching() || l.is("exits with descriptors registered")) &&
			(!l.kept() || l.is("exits with timers pending")) {
			if l.is("exits on old news") {
				l.mu.Unlock()
				runtime.Gosched()
				l.mu.Lock()
			}
			l.state = loopapi.StateTerminating
			l.finish()
			return true
		}
		if l.is("no second look before sleep") {
			l.mu.Unlock()
			runtime.Gosched()
			l.mu.Lock()
		}
		l.state = loopapi.StateSleeping
		if l.watching() {
			l.collect(wait)
		} else {
			l.mu.Unlock()
			l.sleep(wait)
			l.mu.Lock()
		}
		if l.state == loopapi.StateSleeping || l.is("waking overwrites terminating") {
			l.state = loopapi.StateRunning
		}
	} else if l.watching() {
		l.collect(0)
	}
	l.newTick()
	return false
}

func (l *reference) sleep(wait time.Duration) {
	if wait < 0 {
		<-l.wake
		return
	}
	alarm := time.NewTimer(wait)
	defer alarm.Stop()
	select {
	case <-l.wake:
	case <-alarm.C:
	}
}

func (l *reference) newTick() {
	l.ranInternal, l.microPaused, l.timersPassed, l.ranTimers, l.sinceFirst = 0, false, false, [3]int{}, time.Time{}
	if !l.carries {
		l.ranExternal = 0
	}
	l.carries = false
	l.fresh = true
	l.now, l.tickStart = time.Now(), uint64(l.lastID)
	if l.is("the clock goes back") && l.tickStart%2 == 0 {
		l.now = l.now.Add(-time.Duration(l.now.UnixNano()%1000) * time.Microsecond)
	}
}

func (l *reference) empty() bool {
	return len(l.reports)+len(l.micro)+len(l.internal)+len(l.external) == 0 ||
		l.is("ends when the budget is spent") && l.state == loopapi.StateTerminating && l.ranExternal == l.cfg.TickBudget ||
		l.is("sleeps with microtasks pending") && len(l.reports)+len(l.internal)+len(l.external) == 0
}

// pop takes the first function of a queue and forgets it there.
func (l *reference) pop(q *[]func()) func() {
	if l.is("newest microtask first") && q == &l.micro {
		slices.Reverse((*q)[max(0, len(*q)-2):])
	}
	fn := (*q)[0]
	if l.is("retains popped closures") || l.is("forgets a batch only at its end") {
		l.popped = append(l.popped, fn)
	}
	if (*q)[0] = nil; len(*q) == 1 {
		*q = (*q)[:0]
	} else {
		*q = (*q)[1:]
	}
	return fn
}

func (l *reference) report(err error) {
	if l.cfg.OnOverload != nil {
		l.reports = append(l.reports, func() { l.cfg.OnOverload(err) })
	}
}

// finish ends the loop for good.
func (l *reference) finish() {
	l.state = loopapi.StateTerminated
	if !l.is("keeps what Close dropped") {
		l.reports, l.micro, l.internal, l.external, l.timers = nil, nil, nil, nil, [3]pending{}
	}
	l.release()
	if l.is("never closes Done") || l.is("Run forgets an earlier end") && l.ended {
		return
	}
	l.ended = true
	close(l.done)
}

// call runs fn. A callback that exits its goroutine leaves the loop to a new one.
func (l *reference) call(fn func()) {
	if l.is("panics escape") {
		fn()
		return
	}
	exited := true
	defer func() {
		if exited && !l.is("Goexit ends the loop") {
			l.caught(loopapi.ErrGoexit, debug.Stack())
			if l.is("Goexit while terminating is the end") && l.State() == loopapi.StateTerminating {
				l.mu.Lock()
				l.finish()
				l.mu.Unlock()
				return
			}
			go l.serve()
		}
	}()
	l.recovering(fn)
	exited = false
}

func (l *reference) recovering(fn func()) {
	returned := false
	var stack []byte
	defer func() {
		if returned {
			return
		}
		stack = debug.Stack()
		value := recover()
		if value == nil && (l.exiting() || l.is("panic(nil) unnoticed")) {
			return
		}
		l.caught(value, stack)
		if l.is("doubles a task after a panic") {
			l.mu.Lock()
			l.internal = append(l.internal, func() { fn() })
			l.mu.Unlock()
		}
	}()
	fn()
	returned = true
}

// exiting tells whether the goroutine is in runtime.Goexit, as opposed to a panic(nil) that was recovered.
func (l *reference) exiting() bool {
	return strings.Contains(string(debug.Stack()), "runtime.Goexit(")
}

func (l *reference) caught(value any, stack []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.owner = ""
	l.panicked = true
	if l.is("a panic drops the microtasks") {
		l.micro = nil
	}
	if l.is("a panic begins a new tick") {
		l.newTick()
	}
	e := &loopapi.PanicError{Value: value, Stack: stack}
	times := 1
	if l.is("reports panics twice") {
		times = 2
	}
	for range times {
		if l.cfg.OnPanic != nil {
			l.reports = append(l.reports, func() {
				defer func() { _ = recover() }() // its own panics cannot be told to anyone
				l.cfg.OnPanic(e)
			})
		}
	}
}
