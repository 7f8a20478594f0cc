package looptest

// The trial of one check: it records failures, waits, and cleans up.

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnloop/turnloop/internal/beat"
	"github.com/turnloop/turnloop/internal/race"
)

// trial is one run of one check. Errorf may be called from any goroutine. Fatalf and the methods that wait end the
// calling goroutine: call them on the check's goroutine only, never in a callback of the loop.
type trial struct {
	suite   *suite
	virtual bool // runs in a bubble
	strict  bool // what the programs of the check look for is not to be excused
	beats   int  // what a wait for something that must happen is worth

	ctx    context.Context // ends when the watchdog gives up all waits; in a bubble each wait has a limit of its own
	giveUp context.CancelFunc
	steps  atomic.Int64 // waits that have ended, and other steps forward: with each, the watchdog begins to count anew
	vain   atomic.Bool  // some wait was

	mu       sync.Mutex // guards the fields up to cleanups
	decided  bool       // the verdict is made: failures of abandoned goroutines are ignored
	failures []string
	omitted  int    // the number of failures beyond maxFailures
	na       string // why the check does not apply; empty if it does
	cleanups []func()

	fds belongings
}

// maxFailures bounds the failures that one check reports.
const maxFailures = 8

// try runs c and returns its verdict, and whether the check waited in vain for something.
func (s *suite) try(t *testing.T, c *check, beats int) (v verdict, vain bool) {
	tr := &trial{suite: s, virtual: s.virtual && c.timed, beats: beats}
	tr.ctx, tr.giveUp = context.WithCancel(context.Background())
	defer tr.giveUp()
	done := make(chan struct{})
	go func() {
		defer close(done)
		// synctest.Test panics here if goroutines of the bubble stay blocked for ever.
		defer func() {
			if v := recover(); v != nil {
				tr.Errorf("goroutines of the loop or its users stay blocked: %v", v)
			}
		}()
		if tr.virtual {
			synctest.Test(t, func(*testing.T) { tr.run(c) })
		} else {
			tr.run(c)
		}
	}()
	tr.watch(done)
	return tr.verdict(), tr.vain.Load()
}

// watch is the watchdog. When no step has been made for all beats, it ends the waits, each of which says what was waited for. If
// that does not end the check, it is abandoned. A bubble has its own clock, on which waits end by themselves unless something
// spins there.
func (t *trial) watch(done <-chan struct{}) {
	const looks = 10
	for silent, steps := 0, t.steps.Load(); ; {
		over, stop := beat.After(max(t.beats/looks, 1))
		select {
		case <-done:
			stop()
			return
		case <-over:
		}
		if silent++; t.steps.Load() != steps && t.ctx.Err() == nil {
			silent, steps = 0, t.steps.Load()
		}
		switch {
		case silent == 2*looks || silent == looks && t.virtual:
			t.vain.Store(true)
			t.Errorf("the check does not end: something hangs or spins\n%s", beat.Stacks())
			return
		case silent == looks:
			t.giveUp()
		}
	}
}

// run runs the check on a goroutine of its own, which Fatalf may end, and cleans up.
func (t *trial) run(c *check) {
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		defer t.cleanup()
		defer t.recovered()
		c.run(t)
	}()
	<-finished
}

func (t *trial) recovered() {
	if v := recover(); v != nil {
		t.Errorf("panic: %v\n%s", v, debug.Stack())
	}
}

func (t *trial) verdict() verdict {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.decided = true
	switch {
	case len(t.failures) > 0:
		reason := strings.Join(t.failures, "\n")
		if t.omitted > 0 {
			reason += fmt.Sprintf("\n(and %d more)", t.omitted)
		}
		return verdict{outcomeFail, reason}
	case t.na != "":
		return verdict{outcomeNA, t.na}
	}
	return verdict{outcome: outcomePass}
}

// Errorf records a failure; the check goes on.
func (t *trial) Errorf(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.decided:
	case len(t.failures) == maxFailures:
		t.omitted++
	default:
		t.failures = append(t.failures, fmt.Sprintf(format, args...))
	}
}

// Fatalf records a failure and ends the check.
func (t *trial) Fatalf(format string, args ...any) {
	t.Errorf(format, args...)
	runtime.Goexit()
}

func (t *trial) failed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.failures) > 0
}

// notApplicable ends the check with the outcome n/a.
func (t *trial) notApplicable(reason string) {
	t.mu.Lock()
	t.na = reason
	t.mu.Unlock()
	runtime.Goexit()
}

// onlyVirtual ends a check as not applicable that real time cannot decide.
func (t *trial) onlyVirtual() {
	if !t.virtual {
		t.notApplicable("needs virtual time")
	}
}

// onCleanup registers fn to be called when the check is over. The last registered function is called first.
func (t *trial) onCleanup(fn func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cleanups = append(t.cleanups, fn)
}

func (t *trial) cleanup() {
	for {
		t.mu.Lock()
		n := len(t.cleanups)
		if n == 0 {
			t.mu.Unlock()
			t.fds.closeAll() // all loops of the check have ended
			return
		}
		fn := t.cleanups[n-1]
		t.cleanups = t.cleanups[:n-1]
		t.mu.Unlock()
		fn()
	}
}

// want records a failure unless got is, or wraps, one of the errors in allowed; nil stands for success.
func (t *trial) want(what string, got error, allowed ...error) {
	for _, a := range allowed {
		if a == nil && got == nil || a != nil && errors.Is(got, a) {
			return
		}
	}
	names := make([]string, len(allowed))
	for i, a := range allowed {
		names[i] = fmt.Sprintf("%v", a)
	}
	t.Errorf("%s returned %v, want %s", what, got, strings.Join(names, " or "))
}

// must ends the check if a call was refused.
func (t *trial) must(what string, err error) {
	if err != nil {
		t.Fatalf("%s was refused: %v", what, err)
	}
	t.steps.Add(1)
}

// limit returns a context that ends when a wait that begins now is in vain; on virtual time it may be more in vain by as much.
func (t *trial) limit(more time.Duration) (context.Context, context.CancelFunc) {
	if !t.virtual {
		return t.ctx, func() {}
	}
	const beat = 10 * time.Millisecond
	return context.WithTimeout(context.Background(), time.Duration(t.beats)*beat+more)
}

// within waits for ch to be closed or to deliver, and reports whether it did before the wait was given up.
func within[T any](t *trial, ch <-chan T, more time.Duration) (v T, ok bool) {
	ctx, cancel := t.limit(more)
	defer cancel()
	select {
	case v = <-ch:
	case <-ctx.Done():
		select {
		case v = <-ch:
		default:
			t.vain.Store(true)
			return v, false
		}
	}
	t.steps.Add(1)
	return v, true
}

// came is within for a channel whose value does not matter.
func (t *trial) came(ch <-chan struct{}) bool {
	_, ok := within(t, ch, 0)
	return ok
}

// wait waits for ch, and ends the check when it waits in vain.
func (t *trial) wait(ch <-chan struct{}, format string, args ...any) {
	t.waitFor(ch, 0, format, args...)
}

// waitFor is wait for what takes as much longer on virtual time.
func (t *trial) waitFor(ch <-chan struct{}, more time.Duration, format string, args ...any) {
	if _, ok := within(t, ch, more); !ok {
		t.inVain(format, args...)
	}
}

// receive waits for a value and returns it. It ends the check when it waits in vain.
func receive[T any](t *trial, ch <-chan T, format string, args ...any) T {
	v, ok := within(t, ch, 0)
	if !ok {
		t.inVain(format, args...)
	}
	return v
}

func (t *trial) inVain(format string, args ...any) {
	t.Fatalf("waited in vain for %s (nothing came for %d beats)", fmt.Sprintf(format, args...), t.beats)
}

// eventually waits until cond holds, and ends the check when it waits in vain.
func (t *trial) eventually(cond func() bool, format string, args ...any) {
	if !t.reaches(cond) {
		t.inVain(format, args...)
	}
}

// reaches waits until cond holds, and reports whether it did before the wait was given up. At first it looks without a pause, as
// most conditions become true in less time than the shortest sleep.
func (t *trial) reaches(cond func() bool) bool {
	ctx, cancel := t.limit(0)
	defer cancel()
	for looks := 0; !cond(); looks++ {
		if ctx.Err() != nil {
			t.vain.Store(true)
			return false
		}
		if looks < 100 {
			runtime.Gosched()
		} else {
			time.Sleep(50 * time.Microsecond)
		}
	}
	t.steps.Add(1)
	return true
}

// stays reports whether ch delivers nothing for a moment. A long moment finds more, and no moment blames a good loop.
func stays[T any](ch <-chan T, moment time.Duration) bool {
	timer := time.NewTimer(moment)
	defer timer.Stop()
	select {
	case <-ch:
		return false
	case <-timer.C:
		return true
	}
}

// rounds calls round n times, and ends the check after one that has failed.
func (t *trial) rounds(n int, round func(i int)) {
	for i := range n {
		if round(i); t.failed() {
			runtime.Goexit()
		}
		t.steps.Add(1)
	}
}

// scale adapts a number of repetitions to go test -short and to the race detector, which is slow. A short run makes the same
// checks as a long one, but repeats them less. Soak runs repeat the whole short suite many times instead.
func (t *trial) scale(n int) int {
	if testing.Short() {
		n /= 100
	}
	if race.Enabled {
		n /= 4
	}
	return max(n, 2)
}

// few returns n, and a tenth of it in a short run. It is for sizes, and for repetitions that are all alike.
func few(n int) int {
	if testing.Short() {
		n = max(n/10, 1)
	}
	return n
}

// barrier blocks callbacks until it is opened, at the latest when the check is over.
type barrier struct {
	once sync.Once
	ch   chan struct{}
}

func (t *trial) gate() *barrier {
	g := &barrier{ch: make(chan struct{})}
	t.onCleanup(g.open)
	return g
}

func (g *barrier) open() { g.once.Do(func() { close(g.ch) }) }
func (g *barrier) wait() { <-g.ch }

// async runs fn on a goroutine of its own and returns a channel that closes when it is over.
func (t *trial) async(fn func()) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer t.recovered()
		fn()
	}()
	return done
}

// parallel runs fn(0) to fn(n-1) on goroutines of their own and waits for all.
func (t *trial) parallel(n int, fn func(i int)) {
	start := make(chan struct{})
	all := make([]<-chan struct{}, n)
	for i := range n {
		all[i] = t.async(func() { <-start; fn(i) })
	}
	close(start)
	for _, done := range all {
		t.wait(done, "one of %d concurrent callers to come back", n)
	}
}
