package looptest

// Panics and runtime.Goexit in callbacks (D06): the loop goes on, and reports each once.

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"

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
