//go:build schedules

package eventloop_test

// The real loop under every schedule with a few preemptions, and under many that chance decides. Run by "make schedules".

import (
	"errors"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/turnloop/turnloop/internal/sched"
)

// setting reads a number from the environment.
func setting(t *testing.T, name string, otherwise uint64) uint64 {
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// Every scenario under every schedule with at most TURNLOOP_PREEMPTIONS preemptions, and under its part of
// TURNLOOP_SCHEDULES random ones, from TURNLOOP_SEED. TURNLOOP_TRACE runs the one schedule of a failure again.
func TestSchedules(t *testing.T) {
	preemptions := int(setting(t, "TURNLOOP_PREEMPTIONS", 1))
	random := (int(setting(t, "TURNLOOP_SCHEDULES", 50_000)) + len(scenarios) - 1) / len(scenarios)
	seed := setting(t, "TURNLOOP_SEED", uint64(time.Now().UnixNano()))
	trace, err := sched.ParseTrace(os.Getenv("TURNLOOP_TRACE"))
	if err != nil {
		t.Fatal(err)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // one goroutine runs at a time; the next need not wake a thread
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			if trace != nil {
				log, err := sched.Replay(trace, s.begin)
				t.Logf("%s%v", log, err)
				return
			}
			began := time.Now()
			random, bounded, failure := random, 0, (*sched.Failure)(nil)
			if s.chance {
				random = max(4*random, 10_000)
			} else {
				bounded, failure = sched.Bounded(preemptions, 0, s.begin)
			}
			if failure != nil {
				t.Fatalf("schedule %d of those with at most %d preemptions: %v", bounded, preemptions, failure)
			}
			n, failure := sched.Random(seed, random, s.begin)
			if failure != nil {
				t.Fatalf("random schedule %d from seed %d: %v", n, seed, failure)
			}
			t.Logf("all %d schedules with at most %d preemptions, and %d random ones from seed %d, in %v",
				bounded, preemptions, n, seed, time.Since(began).Round(time.Millisecond))
		})
	}
}

// The explorer finds what takes two preemptions, and not with one; says how; and finds a deadlock.
func TestSchedulesAreExplored(t *testing.T) {
	flicker := func() sched.Case {
		on, seen := false, false
		return sched.Case{Threads: []sched.Thread{{Name: "light", Run: func() {
			sched.Point()
			on = true
			sched.Point()
			on = false
		}}, {Name: "eye", Run: func() {
			sched.Point()
			if on {
				sched.Point()
				seen = !on
			}
		}}}, Check: func() error {
			if seen {
				return errors.New("it has gone out between two looks")
			}
			return nil
		}}
	}
	if n, failure := sched.Bounded(1, 0, flicker); failure != nil {
		t.Errorf("one preemption is enough in schedule %d: %v", n, failure)
	}
	if _, failure := sched.Random(1, 1000, flicker); failure == nil {
		t.Error("chance does not find it")
	}
	n, failure := sched.Bounded(2, 0, flicker)
	if failure == nil {
		t.Fatalf("none of %d schedules shows it", n)
	}
	trace, err := sched.ParseTrace(failure.Trace.String())
	if err != nil {
		t.Fatal(err)
	}
	if log, err := sched.Replay(trace, flicker); err == nil || err.Error() != failure.Err.Error() || log != failure.Log {
		t.Errorf("replayed: %v\n%s\nat first: %v", err, log, failure)
	}

	crossed := func() sched.Case {
		var a, b sched.Mutex
		both := func(first, second *sched.Mutex) func() {
			return func() {
				first.Lock()
				defer first.Unlock()
				second.Lock()
				defer second.Unlock()
			}
		}
		return sched.Case{Threads: []sched.Thread{{Name: "one", Run: both(&a, &b)}, {Name: "two", Run: both(&b, &a)}},
			Check: func() error { return nil }}
	}
	if _, failure := sched.Bounded(0, 0, crossed); failure != nil {
		t.Error("no preemption, and yet:", failure)
	}
	if _, failure := sched.Bounded(1, 0, crossed); failure == nil {
		t.Error("no schedule has the deadlock")
	}
}
