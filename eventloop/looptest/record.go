package looptest

// The trial of one check: it records failures, keeps the watchdogs, and leaves nothing behind.

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

// trial is one run of one check. Errorf may be called from any goroutine; Fatalf and everything that waits end the
// check's goroutine and belong there only, never into a callback of the loop.
type trial struct {
	suite    *suite
	virtual  bool          // runs in a bubble
	patience time.Duration // how long something that must happen may take

	mu       sync.Mutex
	over     bool // later failures come from goroutines that were given up: ignored
	failures []string
	omitted  int
	na       string // why the check does not apply; empty if it does
	cleanups []func()

	fds belongings
}

// maxFailures bounds what one check reports: the first few tell the story.
const maxFailures = 8

// try runs c to its end, or gives it up when the watchdog barks.
func (s *suite) try(t *testing.T, c *check, expectFailure bool) verdict {
	tr := &trial{suite: s, virtual: s.virtual && c.timed, patience: s.patience}
	if expectFailure {
		tr.patience = min(tr.patience, time.Second/2)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		// A bubble in which goroutines stay blocked for ever panics here.
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

// run runs the check on a goroutine of its own, so that Fatalf can end it, and cleans up.
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
	t.over = true
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
	case t.over:
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

// notApplicable ends the check without judgement.
func (t *trial) notApplicable(reason string) {
	t.mu.Lock()
	t.na = reason
	t.mu.Unlock()
	runtime.Goexit()
}

// onCleanup has fn called when the check is over, the last one first.
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
			t.fds.closeAll() // no loop is left that could use them
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

// wait waits for ch and ends the check when that takes longer than patience.
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

// eventually waits until cond holds. It looks without pause at first: what it waits for mostly takes less time than the
// shortest sleep, in which a busy loop would only go round and round.
func (t *trial) eventually(cond func() bool, format string, args ...any) {
	for range 100 {
		if cond() {
			return
		}
		runtime.Gosched()
	}
	t.byAndBy(cond, format, args...)
}

// byAndBy waits until cond holds, and time passes between one look and the next.
func (t *trial) byAndBy(cond func() bool, format string, args ...any) {
	for deadline := time.Now().Add(t.patience); !cond(); {
		if time.Now().After(deadline) {
			t.Fatalf("waited %v in vain for %s", t.patience, fmt.Sprintf(format, args...))
		}
		time.Sleep(50 * time.Microsecond)
	}
}

// span is d on virtual time, and longer where the machine's hiccups count.
func (t *trial) span(d time.Duration) time.Duration {
	switch {
	case t.virtual:
		return d
	case testing.Short():
		return 3 * d
	}
	return 10 * d
}

// scale adapts how often a check does something to go test -short, and to the race detector, which is slow. A short run
// checks all that a long one does, but hardly repeats it: a short suite that is run ten thousand times, as a soak does,
// repeats everything ten thousand times, and the cheaper one run is the more often all of it is tried.
func (t *trial) scale(n int) int {
	if testing.Short() {
		n /= 100
	}
	if race.Enabled {
		n /= 4
	}
	return max(n, 2)
}

// few is n, and a tenth of it in a short run: for sizes, and for what is the same each time.
func few(n int) int {
	if testing.Short() {
		n = max(n/10, 1)
	}
	return n
}

// busy makes a function for a loop to call again and again, without an end. It lets others have its processor, or else the
// check would get one when the loop's time slice is over, or by way of a thread that the system has to wake.
func busy(fn func()) func() { return func() { runtime.Gosched(); fn() } }

// gate holds callbacks back until it is opened, at the latest when the check is over.
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

// parallel runs fn(0) to fn(n-1) at once and waits for all.
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
