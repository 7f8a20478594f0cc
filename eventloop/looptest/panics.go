package looptest

// Panics and runtime.Goexit in callbacks (D06): the loop goes on, and reports each once.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync/atomic"

	"github.com/turnloop/turnloop/internal/loopapi"
)

var errProbe = errors.New("the probe's own error")

// blowUp panics with v. The reported stack must contain its name.
func blowUp(v any) { panic(v) }

type oddValue struct{ a, b int }

// panicValues are the ways to panic, with a check of the report.
var panicValues = []struct {
	name  string
	blow  func()
	check func(e *loopapi.PanicError) bool
}{
	{"a string", func() { blowUp("boom") }, func(e *loopapi.PanicError) bool { return e.Value == "boom" && e.Unwrap() == nil }},
	{"an error", func() { blowUp(errProbe) }, func(e *loopapi.PanicError) bool { return errors.Is(e, errProbe) }},
	{"a wrapped error", func() { blowUp(fmt.Errorf("wrapped: %w", errProbe)) },
		func(e *loopapi.PanicError) bool { return errors.Is(e, errProbe) }},
	{"a struct", func() { blowUp(oddValue{1, 2}) }, func(e *loopapi.PanicError) bool { return e.Value == oddValue{1, 2} }},
	{"a runtime error", func() { blowUp(outOfRange()) }, isRuntimeError},
	{"nil", func() { blowUp(nil) }, func(e *loopapi.PanicError) bool {
		var nilError *runtime.PanicNilError
		return errors.As(e, &nilError)
	}},
}

// outOfRange causes a runtime error, by an index that the compiler does not know.
func outOfRange() int { return make([]int, 1)[len(os.Args)+1] }

func isRuntimeError(e *loopapi.PanicError) bool {
	var r runtime.Error
	return errors.As(e, &r)
}

// panicReport checks the number of reports, their value and their stack for every way to panic, in every lane.
func panicReport(t *trial) {
	l := t.startHandled()
	if !l.hooks.hasPanic {
		t.notApplicable("no panic handler")
	}
	for _, v := range panicValues {
		l.reported(v.name, v.blow, v.check)
	}
	l.finish()
}

// reported ends a callback of each lane by a panic, and checks its one report.
func (l *loop) reported(name string, blow func(), check func(e *loopapi.PanicError) bool) {
	t := l.trial
	for _, k := range l.available() {
		before := l.hooks.panics.len()
		l.doIn(k, blow)
		l.sync()
		l.sync()
		switch reports := l.hooks.panics.all()[before:]; {
		case !l.hooks.hasPanic:
		case len(reports) != 1:
			t.Errorf("panic with %s in a %s was reported %d times, want once", name, k.name, len(reports))
		case !check(reports[0]):
			t.Errorf("panic with %s in a %s was reported with the value %#v", name, k.name, reports[0].Value)
		case !bytes.Contains(reports[0].Stack, []byte("looptest.blowUp")) && !bytes.Contains(reports[0].Stack, []byte("looptest.outOfRange")):
			t.Errorf("panic with %s in a %s: the reported stack does not show who panicked:\n%s", name, k.name, reports[0].Stack)
		}
	}
}

// panicNilLegacy calls panic(nil) under GODEBUG=panicnil=1, where recover returns nil.
func panicNilLegacy(t *trial) {
	old, had := os.LookupEnv("GODEBUG")
	t.onCleanup(func() {
		if had {
			os.Setenv("GODEBUG", old)
		} else {
			os.Unsetenv("GODEBUG")
		}
	})
	os.Setenv("GODEBUG", strings.TrimPrefix(old+",panicnil=1", ","))
	l := t.startHandled()
	l.reported("nil", func() { blowUp(nil) }, func(e *loopapi.PanicError) bool { return e.Value == nil })
	l.finish()
}

// panicIsolation panics in every kind of callback. The panic is reported, and later callbacks of all lanes run.
func panicIsolation(t *trial) {
	t.eachKind(func(l *loop, k kind) {
		l.doIn(k, func() { blowUp("isolated") })
		for range 3 {
			for _, other := range l.available() {
				l.doIn(other, noop)
			}
		}
		l.sync()
		most := 1
		if k.name == "panic handler" {
			most = 2 // the handler may be called once more, for its own panic
		}
		if n := l.hooks.panics.len(); l.hooks.hasPanic && (n < 1 || n > most) {
			t.Errorf("a panic in a callback of the kind %s was reported %d times, want 1 to %d", k.name, n, most)
		}
		l.finish()
	})
}

// panicsInBatch lets every third callback of a long batch panic.
func panicsInBatch(t *trial) {
	l := t.startHandled()
	for _, k := range l.queues() {
		n := max(few(1000), 300) // more than one chunk of a queue
		var order journal[int]
		g := l.hold()
		for i := range n {
			t.must(k.name, k.run(l, func() {
				order.add(i)
				if i%3 == 0 {
					blowUp(i)
				}
			}))
		}
		before := l.hooks.panics.len()
		g.open()
		t.eventually(func() bool { return order.len() >= n }, "%d callbacks of the kind %s, every third of which panics", n, k.name)
		l.sync()
		l.sync()
		wantOrder(t, fmt.Sprintf("callbacks of the kind %s, every third of which panics", k.name), order.all(), upTo(n))
		if got := l.hooks.panics.len() - before; l.hooks.hasPanic && got != (n+2)/3 {
			t.Errorf("%d panics in a batch were reported %d times", (n+2)/3, got)
		}
	}
	l.finish()
}

// aborts are the ways for a callback not to return.
var aborts = []struct {
	name string
	call func()
}{{"panic", func() { blowUp("abort") }}, {"Goexit", runtime.Goexit}}

// microtasksAroundPanic checks that a panic loses neither the microtasks queued before it nor the rest of a drain.
func microtasksAroundPanic(t *trial) {
	l := t.startHandled()
	for _, abort := range aborts {
		var seen journal[string]
		g := l.hold()
		t.must("Submit", l.Submit(func() {
			l.microtask(seen.note("microtask 1"))
			l.microtask(func() { seen.add("microtask 2"); l.microtask(seen.note("microtask 4")); abort.call() })
			l.microtask(seen.note("microtask 3"))
			abort.call()
		}))
		t.must("Submit", l.Submit(seen.note("next task")))
		g.open()
		l.sync()
		wantOrder(t, "a task and a microtask end in "+abort.name, seen.all(),
			[]string{"microtask 1", "microtask 2", "microtask 3", "microtask 4", "next task"})
	}
	t.want("Shutdown", l.shutdown(), nil)
}

// goexit exits in every kind of callback: the loop goes on with another goroutine.
func goexit(t *trial) {
	t.eachKind(func(l *loop, k kind) {
		for range 3 {
			before := l.hooks.panics.len()
			l.doIn(k, runtime.Goexit)
			for _, other := range l.available() {
				l.doIn(other, func() {
					if l.owner != nil && !l.owner.OnLoop() {
						t.Errorf("OnLoop is false in a %s after Goexit in a callback of the kind %s", other.name, k.name)
					}
				})
			}
			l.sync()
			reports := l.hooks.panics.all()[before:]
			switch {
			case !l.hooks.hasPanic || k.name == "panic handler": // the Goexit of the handler itself need not be reported
			case len(reports) != 1:
				t.Errorf("Goexit in a callback of the kind %s was reported %d times, want once", k.name, len(reports))
			case !errors.Is(reports[0], loopapi.ErrGoexit):
				t.Errorf("Goexit in a callback of the kind %s was reported with the value %v, want ErrGoexit", k.name, reports[0].Value)
			}
		}
		l.rest()
		l.sync()
		t.want("Shutdown after Goexit in a callback", l.shutdown(), nil)
		l.over("after Goexit in a callback of the kind " + k.name)
		t.wait(l.ended, "the goroutine of Run, which Goexit ended")
		t.want("Submit after the end", l.Submit(noop), loopapi.ErrLoopTerminated)
	})
}

// abortWhileEnding panics and exits in callbacks that run during Shutdown: of a running loop, and of one that never ran.
func abortWhileEnding(t *trial) {
	for _, running := range []bool{true, false} {
		for _, abort := range aborts {
			l, open := t.makeHandled(), noop
			if running {
				l.launch(context.Background())
				open = l.hold().open
			}
			var ran atomic.Int64
			n := few(30)
			for range n {
				for _, k := range l.queues() {
					t.must(k.name, k.run(l, func() { ran.Add(1); abort.call() }))
				}
			}
			ending := t.async(func() { t.want("Shutdown", l.shutdown(), nil) })
			if running {
				l.refuses()
			}
			open()
			t.wait(ending, "Shutdown, with callbacks that end in %s", abort.name)
			if want := int64(n * len(l.queues())); ran.Load() != want {
				t.Errorf("%d of %d callbacks ran during Shutdown, all of which end in %s", ran.Load(), want, abort.name)
			}
			l.over("with callbacks that end in " + abort.name)
		}
	}
}
