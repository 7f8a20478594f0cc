package looptest

// The trial of one check: it records failures, bounds the waits, and cleans up.

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnloop/turnloop/internal/race"
)

// trial is one run of one check. Errorf may be called from any goroutine. Fatalf and the methods that wait end the
// calling goroutine: call them on the check's goroutine only, never in a callback of the loop.
type trial struct {
	suite    *suite
	virtual  bool          // runs in a bubble
	patience time.Duration // the longest wait for something that must happen

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

// try runs c and returns its verdict. It abandons c after the suite's limit. An expected failure gets less patience.
func (s *suite) try(t *testing.T, c *check, expectFailure bool) verdict {
	tr := &trial{suite: s, virtual: s.virtual && c.timed, patience: s.patience}
	if expectFailure {
		tr.patience = min(tr.patience, time.Second/2)
	}
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
	watchdog := time.NewTimer(s.limit)
	defer watchdog.Stop()
	select {
	case <-done:
	case <-watchdog.C:
		tr.Errorf("the check did not end within %v: something hangs or spins\n%s", s.limit, stacks())
	}
	return tr.verdict()
}

// run runs the check on a goroutine of its own, which Fatalf may end, and cleans up.
func (t *trial) run(c *check) {
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		defer t.cleanup()
		defer func() {
			if v := recover(); v != nil {
				t.Errorf("panic: %v\n%s", v, debug.Stack())
			}
		}()
		c.run(t)
	}()
	<-finished
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

// wait waits for ch to be closed or to deliver, and fails and ends the check when that takes longer than patience.
func (t *trial) wait(ch <-chan struct{}, format string, args ...any) {
	t.waitFor(ch, t.patience, format, args...)
}

func (t *trial) waitFor(ch <-chan struct{}, limit time.Duration, format string, args ...any) {
	if !within(ch, limit) {
		t.Fatalf("waited %v in vain for %s", limit, fmt.Sprintf(format, args...))
	}
}

func within(ch <-chan struct{}, limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-ch:
		return true
	case <-timer.C:
		return false
	}
}

// eventually waits until cond holds, and ends the check when that takes longer than patience. At first it looks without
// a pause, as most conditions become true in less time than the shortest sleep.
func (t *trial) eventually(cond func() bool, format string, args ...any) {
	for range 100 {
		if cond() {
			return
		}
		runtime.Gosched()
	}
	t.pollUntil(cond, format, args...)
}

// pollUntil is eventually with a sleep between one look and the next from the start.
func (t *trial) pollUntil(cond func() bool, format string, args ...any) {
	for deadline := time.Now().Add(t.patience); !cond(); {
		if time.Now().After(deadline) {
			t.Fatalf("waited %v in vain for %s", t.patience, fmt.Sprintf(format, args...))
		}
		time.Sleep(50 * time.Microsecond)
	}
}

// span returns d on virtual time. In real time it returns a multiple of d, which stalls of the machine hardly reach.
func (t *trial) span(d time.Duration) time.Duration {
	switch {
	case t.virtual:
		return d
	case testing.Short():
		return 3 * d
	}
	return 10 * d
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

// busy wraps a callback that a loop calls again and again without an end. The wrapper yields the processor first;
// otherwise the check would wait for the end of the loop's time slice, or for another thread to be woken.
func busy(fn func()) func() { return func() { runtime.Gosched(); fn() } }

// gate blocks callbacks until it is opened, at the latest when the check is over.
type gate struct {
	once sync.Once
	ch   chan struct{}
}

func (t *trial) gate() *gate {
	g := &gate{ch: make(chan struct{})}
	t.onCleanup(g.open)
	return g
}

func (g *gate) open() { g.once.Do(func() { close(g.ch) }) }
func (g *gate) wait() { <-g.ch }

// async runs fn on a goroutine of its own and returns a channel that closes when it is over.
func (t *trial) async(fn func()) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if v := recover(); v != nil {
				t.Errorf("panic: %v\n%s", v, debug.Stack())
			}
		}()
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

func stacks() string {
	buf := make([]byte, 16<<10)
	return string(buf[:runtime.Stack(buf, true)])
}
