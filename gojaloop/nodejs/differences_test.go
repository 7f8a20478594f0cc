package nodejs_test

// Where this package and goja_nodejs/eventloop differ: each row of the table in docs/goja.md has a test.

import (
	"bytes"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dop251/goja"
	other "github.com/dop251/goja_nodejs/eventloop"

	"github.com/turnloop/turnloop/gojaloop/nodejs"
	"github.com/turnloop/turnloop/internal/beat"
)

// seen runs a script on a loop, and returns what the script has noted, and whether it has panicked.
func seen(t *testing.T, l loop, source string) (seen string) {
	t.Helper()
	var notes []string
	defer func() {
		if recover() != nil {
			notes = append(notes, "panic")
		}
		seen = strings.Join(notes, " ")
	}()
	l.Run(func(vm *goja.Runtime) {
		vm.Set("note", func(s goja.Value) { notes = append(notes, s.String()) })
		run(t, vm, source)
	})
	return ""
}

// The rows of docs/goja.md that scripts can show, each on both.
func TestDifferences(t *testing.T) {
	for _, c := range []struct{ what, source, there, here string }{
		{"there are process.nextTick and queueMicrotask, in Node's order",
			"if (typeof process === 'object') { queueMicrotask(() => note('m')); process.nextTick(() => note('t')) } Promise.resolve().then(() => note('p')); note(typeof queueMicrotask)",
			"undefined p", "function t m p"},
		{"what is no function is a TypeError", "try { note(setTimeout(5)) } catch (e) { note(e.code) }", "undefined", "ERR_INVALID_ARG_TYPE"},
		{"a clear takes what is of another kind",
			"const i = setInterval(() => {}, 1); try { clearTimeout(i); note('taken') } catch (e) { clearInterval(i); note(e.name) }", "panic", "taken"},
		{"a clear of anything else does nothing", "try { clearTimeout('x'); clearImmediate({}); note('ok') } catch (e) { note(e.name) }", "TypeError", "ok"},
		{"timers are Node's objects", "const t = setTimeout(() => {}, 1); note(typeof t.hasRef); note(typeof +t); note(+t > 0)", "undefined number false", "function number true"},
		{"a timer without a ref keeps nothing running", "const t = setTimeout(() => note('ran'), 5); try { t.unref(); note('unref') } catch (e) { note(e.name) }", "TypeError ran", "unref"},
		{"a callback's this is its timer", "const t = setTimeout(function () { note(this === t) }, 1)", "false", "true"},
		{"an immediate that immediates set comes behind timers that are due",
			"setImmediate(() => { setTimeout(() => note('timer'), 0); setImmediate(() => note('immediate')) })", "immediate timer", "timer immediate"},
		{"the web's globals are there, but for those that reach beyond the program",
			"note(typeof URL); note(typeof AbortController); note(typeof TextEncoder); note(typeof fetch)", "undefined undefined undefined undefined", "function function function undefined"},
		{"the environment is empty", "note(typeof process === 'object' ? Object.keys(process.env).length : 'missing')", "missing", "0"},
		{"an exception in a timer ends nothing", "setTimeout(() => { throw new Error('lost') }, 1); setTimeout(() => note('on'), 3)", "on", "on"},
	} {
		// There, timers come from goroutines of their own, so that what it does is sometimes up to the scheduler.
		got := ""
		for try := 0; try < 20 && got != c.there; try++ {
			got = seen(t, other.NewEventLoop(), c.source)
		}
		if got != c.there {
			t.Errorf("%s: goja_nodejs notes %q, want %q", c.what, got, c.there)
		}
		synctest.Test(t, func(t *testing.T) {
			if got := seen(t, nodejs.NewEventLoop(), c.source); got != c.here {
				t.Errorf("%s: it notes %q, want %q", c.what, got, c.here)
			}
		})
	}
}

// Timers of equal delay run in the order in which they were set. In goja_nodejs each has a goroutine of its own.
func TestEqualDelaysKeepTheirOrder(t *testing.T) {
	const source, want = "for (let i = 0; i < 20; i++) setTimeout(() => note(i), 2)", "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19"
	if got := seen(t, nodejs.NewEventLoop(), source); got != want {
		t.Error(got)
	}
	for range 1000 {
		if seen(t, other.NewEventLoop(), source) != want {
			return
		}
	}
	t.Log("by chance goja_nodejs has kept the order a thousand times")
}

// A delay beyond 2^31-1 is one millisecond; in goja_nodejs it is as given.
func TestLongDelays(t *testing.T) {
	for name, l := range map[string]loop{"there": other.NewEventLoop(), "here": nodejs.NewEventLoop()} {
		fired := make(chan struct{})
		l.Start()
		l.RunOnLoop(func(vm *goja.Runtime) {
			vm.Set("fired", func() { close(fired) })
			run(t, vm, "setTimeout(fired, 2 ** 31)")
		})
		if name == "here" {
			beat.Receive(t, fired, "the timer")
		} else {
			time.Sleep(20 * time.Millisecond)
			select {
			case <-fired:
				t.Error("it has fired there too")
			default:
			}
		}
		l.Terminate()
	}
}

// In goja_nodejs an interval has a goroutine; here it has none.
func TestIntervalsHaveNoGoroutines(t *testing.T) {
	for name, l := range map[string]loop{"there": other.NewEventLoop(), "here": nodejs.NewEventLoop()} {
		l.Start()
		var before, after int
		done := make(chan struct{})
		l.RunOnLoop(func(vm *goja.Runtime) {
			before = runtime.NumGoroutine()
			run(t, vm, "var all = []; for (let i = 0; i < 50; i++) all.push(setInterval(() => {}, 1e6))")
			after = runtime.NumGoroutine()
			run(t, vm, "all.forEach(clearInterval)")
			close(done)
		})
		<-done
		l.Stop()
		if more := after-before >= 40; more != (name == "there") {
			t.Errorf("%s: %d goroutines, and before %d", name, after, before)
		}
	}
}

// Exceptions that no script has caught are logged; in goja_nodejs they vanish.
func TestExceptionsAreLogged(t *testing.T) {
	var b bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&b, nil)))
	defer slog.SetDefault(before)
	const source = "setTimeout(() => { throw new Error('lost') }, 1); Promise.reject(new Error('rejected')); setTimeout(() => note('on'), 3)"
	if got := seen(t, other.NewEventLoop(), source); got != "on" || b.Len() != 0 {
		t.Errorf("goja_nodejs notes %q and logs %q", got, b.String())
	}
	if got := seen(t, nodejs.NewEventLoop(), source); got != "on" {
		t.Error(got)
	}
	if s := b.String(); !strings.Contains(s, "Error: lost") || !strings.Contains(s, "Error: rejected") {
		t.Error(s)
	}
}

// Go's SetTimeout takes nanoseconds in goja_nodejs, and whole milliseconds, rounded up, here.
func TestDelaysFromGoAreRoundedUp(t *testing.T) {
	l := nodejs.NewEventLoop()
	began := time.Now()
	var took time.Duration
	l.SetTimeout(func(*goja.Runtime) { took = time.Since(began) }, 1100*time.Microsecond)
	if l.Run(func(*goja.Runtime) {}); took < 2*time.Millisecond {
		t.Errorf("after %v", took)
	}
}

func TestStopFromTheLoopDoesNotDeadlock(t *testing.T) {
	l := nodejs.NewEventLoop()
	l.Run(func(vm *goja.Runtime) {
		vm.Set("stop", l.Stop)
		run(t, vm, "setTimeout(() => {}, 1e6); setTimeout(() => stop(), 1)")
	})
	if n := l.Stop(); n != 1 {
		t.Errorf("%d are pending", n)
	}
}

// In goja_nodejs such a Run does not return: it waits for the cancelled timers.
func TestRunAfterTerminateEnds(t *testing.T) {
	l := nodejs.NewEventLoop()
	set := make(chan struct{})
	l.Start()
	l.RunOnLoop(func(vm *goja.Runtime) {
		run(t, vm, "setTimeout(() => {}, 1e6); setInterval(() => {}, 1); setImmediate(() => {})")
		close(set)
	})
	<-set
	l.Terminate()
	l.Run(func(*goja.Runtime) {})
}

// In goja_nodejs Terminate runs what RunOnLoop has accepted, on the goroutine that calls it.
func TestTerminateKeepsWhatWasAccepted(t *testing.T) {
	ran := false
	there := other.NewEventLoop()
	there.RunOnLoop(func(*goja.Runtime) { ran = true })
	if there.Terminate(); !ran {
		t.Error("goja_nodejs keeps it too")
	}
	ran = false
	l := nodejs.NewEventLoop()
	l.RunOnLoop(func(*goja.Runtime) { ran = true })
	l.Terminate()
	if ran {
		t.Error("it runs without a loop")
	}
	if l.Run(func(*goja.Runtime) {}); !ran {
		t.Error("it is lost")
	}
}
