package gojaloop_test

// The ways in and out: Run, Do, Submit, promises, and the ends.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dop251/goja"
	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/gojaloop"
)

var ctx = context.Background()

// running returns a host whose loop runs until the test ends.
func running(t testing.TB, opts ...gojaloop.Option) *gojaloop.Host {
	t.Helper()
	h := newHost(t, opts...)
	ran := make(chan struct{})
	go func() {
		defer close(ran)
		h.Loop().Run(ctx)
	}()
	begun := make(chan struct{})
	h.Loop().Submit(func() { close(begun) })
	<-begun
	t.Cleanup(func() {
		h.Loop().Close()
		<-ran
	})
	return h
}

// eval runs a script with Do and returns its value exported.
func eval(t testing.TB, h *gojaloop.Host, source string) (value any) {
	t.Helper()
	err := h.Do(ctx, func(vm *goja.Runtime) error {
		v, err := vm.RunString(source)
		if err == nil {
			value = v.Export()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func TestOptions(t *testing.T) {
	l, _ := eventloop.New()
	for name, bad := range map[string][]gojaloop.Option{
		"nil option":             {nil},
		"WithRuntime":            {gojaloop.WithRuntime(nil)},
		"WithMaxCallStack":       {gojaloop.WithMaxCallStack(0)},
		"WithUncaughtException":  {gojaloop.WithUncaughtException(nil)},
		"WithUnhandledRejection": {gojaloop.WithUnhandledRejection(nil)},
		"WithZeroDelays":         {gojaloop.WithZeroDelays(), gojaloop.WithHTMLTimers()},
	} {
		if _, err := gojaloop.New(l, bad...); err == nil {
			t.Errorf("%s: no error", name)
		} else if name != "nil option" && !strings.Contains(err.Error(), name) {
			t.Errorf("%s: the error does not name it: %v", name, err)
		}
	}
	if _, err := gojaloop.New(nil); err == nil {
		t.Error("nil loop: no error")
	}
	vm := goja.New()
	h, err := gojaloop.New(l, gojaloop.WithRuntime(vm))
	if err != nil || h.Runtime() != vm || h.Loop() != l {
		t.Errorf("%v, runtime %p, loop %p", err, h.Runtime(), h.Loop())
	}
}

func TestRunReturnsTheValueWhenNothingIsLeft(t *testing.T) {
	for _, elsewhere := range []bool{false, true} {
		h := newHost(t)
		if elsewhere {
			h = running(t)
		}
		for i := range 3 {
			v, err := h.Run(ctx, "a.js", `globalThis.n = globalThis.n || 0; setTimeout(() => n++, 2); n`)
			if i > 0 && !elsewhere {
				if err != eventloop.ErrLoopTerminated {
					t.Errorf("Run on a loop that has ended returns %v", err)
				}
				break
			}
			if err != nil || v.ToInteger() != int64(i) {
				t.Errorf("run %d: %v, %v", i, v, err)
			}
		}
	}
}

func TestRunErrors(t *testing.T) {
	h := running(t)
	var syntax *goja.CompilerSyntaxError
	if _, err := h.Run(ctx, "a.js", "let let"); !errors.As(err, &syntax) {
		t.Errorf("a syntax error: %v", err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := h.Run(ended, "a.js", "1"); err != context.Canceled {
		t.Errorf("a context that has ended: %v", err)
	}
	if h.Err() != nil {
		t.Errorf("these ended the host: %v", h.Err())
	}
	_, err := h.Run(ctx, "a.js", "function f() {\n\tthrow new TypeError('no')\n}\nsetTimeout(() => f(), 1)")
	var e *gojaloop.Error
	if !errors.As(err, &e) || e.Message != "TypeError: no" || e.Code != 1 || e.Stack != "\tat f (a.js:2:8)\n\tat a.js:4:19" {
		t.Errorf("%#v", e)
	}
	if _, err := h.Run(ctx, "a.js", "1"); !errors.Is(err, gojaloop.ErrClosed) || !errors.Is(err, e) {
		t.Errorf("after the end: %v", err)
	}
	if err := h.Do(ctx, func(*goja.Runtime) error { return nil }); !errors.Is(err, e) {
		t.Errorf("Do after the end: %v", err)
	}
	if err := h.Submit(func(*goja.Runtime) {}); !errors.Is(err, e) {
		t.Errorf("Submit after the end: %v", err)
	}
}

func TestThrownValues(t *testing.T) {
	cause := errors.New("the Go error")
	for _, c := range []struct{ source, message string }{
		{"throw 1", "1"},
		{"throw 'text'", "text"},
		{"throw undefined", "undefined"},
		{"throw null", "null"},
		{"throw Symbol('s')", "s"},
		{"throw {toString() { return 'own' }}", "own"},
		{"throw {toString() { throw 1 }}", "an exception that throws when it is looked at"},
		{"throw new RangeError('r')", "RangeError: r"},
		{"fail()", "the Go error"},
		{"nothing.here", "ReferenceError: nothing is not defined"},
	} {
		for _, how := range []string{"%s", "setTimeout(() => { %s })", "queueMicrotask(() => { %s })", "process.nextTick(() => { %s })"} {
			h := newHost(t)
			if err := h.Set("fail", func() error { return cause }); err != nil {
				t.Fatal(err)
			}
			_, err := h.Run(ctx, "a.js", fmt.Sprintf(how, c.source))
			var e *gojaloop.Error
			if !errors.As(err, &e) || e.Message != c.message {
				t.Errorf("%s, in %s: %v", c.source, how, err)
			}
			if c.source == "fail()" && !errors.Is(err, cause) {
				t.Errorf("in %s the Go error is lost: %v", how, err)
			}
		}
	}
}

func TestDoOnLoopAndElsewhere(t *testing.T) {
	h := running(t)
	var order []string
	note := func(s string) { order = append(order, s) }
	err := h.Do(ctx, func(vm *goja.Runtime) error {
		h.Set("note", note)
		h.Set("nested", func() error {
			return h.Do(ctx, func(vm *goja.Runtime) error {
				_, err := vm.RunString("note('nested'); process.nextTick(() => note('tick'))")
				return err
			})
		})
		_, err := vm.RunString("Promise.resolve().then(() => note('promise')); nested(); note('after')")
		return err
	})
	if got := strings.Join(order, " "); err != nil || got != "nested after tick promise" {
		t.Errorf("%v, %s", err, got)
	}
	failed := errors.New("failed")
	if err := h.Do(ctx, func(*goja.Runtime) error { return failed }); err != failed {
		t.Errorf("its own error: %v", err)
	}
	var p *eventloop.PanicError
	if err := h.Do(ctx, func(*goja.Runtime) error { panic("oh") }); !errors.As(err, &p) || p.Value != "oh" {
		t.Errorf("a panic: %v", err)
	}
	var e *gojaloop.Error
	err = h.Do(ctx, func(vm *goja.Runtime) error { panic(vm.NewTypeError("thrown")) })
	if !errors.As(err, &e) || e.Message != "TypeError: thrown" {
		t.Errorf("an exception: %v", err)
	}
	on := make(chan error)
	h.Loop().Submit(func() { go func(err error) { on <- err }(h.Do(ctx, func(*goja.Runtime) error { return nil })) })
	if err := <-on; !errors.Is(err, eventloop.ErrAwaitOnLoop) {
		t.Errorf("on the loop, outside of scripts: %v", err)
	}
	if h.Err() != nil {
		t.Error(h.Err())
	}
}

func TestSubmitKeepsOrderAndCheckpoints(t *testing.T) {
	h := running(t)
	var order []int
	h.Do(ctx, func(vm *goja.Runtime) error { return h.Set("note", func(i int) { order = append(order, i) }) })
	const n = 3000
	for i := range n {
		h.Submit(func(vm *goja.Runtime) {
			vm.Set("i", i)
			vm.RunString("{ const j = 3 * i; Promise.resolve().then(() => note(j + 2)); process.nextTick(() => note(j + 1)); note(j) }")
		})
		if i%100 == 0 {
			h.Do(ctx, func(vm *goja.Runtime) error {
				if want := 3 * (i + 1); len(order) != want {
					t.Errorf("Do overtook Submit: %d of %d", len(order), want)
				}
				return nil
			})
		}
	}
	h.Do(ctx, func(*goja.Runtime) error { return nil })
	for i, v := range order {
		if i != v {
			t.Fatalf("%d in the place of %d", v, i)
		}
	}
	if len(order) != 3*n {
		t.Errorf("%d", len(order))
	}
}

func TestSubmitFromManyRunsEachOnce(t *testing.T) {
	h := running(t)
	const producers, each = 8, 2000
	ran := make([][]int, producers)
	var wg sync.WaitGroup
	for p := range producers {
		wg.Go(func() {
			for i := range each {
				if err := h.Submit(func(*goja.Runtime) { ran[p] = append(ran[p], i) }); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	h.Do(ctx, func(*goja.Runtime) error { return nil })
	for p, list := range ran {
		if len(list) != each {
			t.Errorf("producer %d: %d", p, len(list))
		}
		for i, v := range list {
			if i != v {
				t.Fatalf("producer %d: %d in the place of %d", p, v, i)
			}
		}
	}
}

// What is accepted while the loop shuts down runs.
func TestAcceptedRunsAtShutdown(t *testing.T) {
	for range 50 {
		h := running(t)
		ran, accepted := 0, 0
		done := make(chan struct{})
		go func() {
			defer close(done)
			for h.Submit(func(*goja.Runtime) { ran++ }) == nil {
				accepted++
			}
		}()
		runtime.Gosched()
		h.Loop().Shutdown(ctx)
		<-done
		<-h.Loop().Done()
		if ran != accepted {
			t.Fatalf("%d of %d", ran, accepted)
		}
	}
}

func TestInterrupts(t *testing.T) {
	if strings.Contains(os.Getenv("GODEBUG"), "asyncpreemptoff=1") {
		t.Skip("goja's machine has no points of its own at which Go could preempt it: endless scripts keep all processors")
	}
	endless := map[string]string{
		"loop":          "for (;;);",
		"promise jobs":  "(function f() { Promise.resolve().then(f) })()",
		"ticks":         "(function f() { process.nextTick(f) })()",
		"microtasks":    "(function f() { queueMicrotask(f) })()",
		"async":         "(async () => { for (;;) await null })()",
		"caught":        "for (;;) try { for (;;); } catch (e) {} finally { }",
		"in a callback": "[1].forEach(() => { for (;;); })",
		"in a job":      "Promise.resolve().then(() => { for (;;); })",
		"generator":     "for (const x of (function* () { for (;;) yield 1 })());",
		"getter":        "({ get then() { for (;;); } }).then",
		"thenable":      "Promise.resolve({ then() { for (;;); } })",
	}
	for name, source := range endless {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := running(t)
			short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
			defer cancel()
			err := h.Do(short, func(vm *goja.Runtime) error { _, err := vm.RunString(source); return err })
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Do: %v", err)
			}
			if errors.Is(err, gojaloop.ErrBroken) {
				if name != "async" && name != "generator" {
					t.Errorf("%v", err)
				}
				h = running(t)
			}
			if got := eval(t, h, "1 + 1"); got != int64(2) || h.Err() != nil {
				t.Errorf("afterwards: %v, %v", got, h.Err())
			}
			if _, err := h.Run(ctx, "a.js", "Promise.resolve().then(() => setTimeout(() => { globalThis.fine = true }))"); err != nil {
				t.Error(err)
			}
			if eval(t, h, "fine") != true {
				t.Error("promise jobs and timers do not run any more")
			}
			short, cancel = context.WithTimeout(ctx, 20*time.Millisecond)
			defer cancel()
			if _, err := h.Run(short, "a.js", source); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Run: %v", err)
			}
			if !errors.Is(h.Err(), context.DeadlineExceeded) {
				t.Errorf("Run's context has not ended the host: %v", h.Err())
			}

			for how, end := range map[string]func(*gojaloop.Host){
				"Close":             (*gojaloop.Host).Close,
				"Close of the loop": func(h *gojaloop.Host) { h.Loop().Close() },
			} {
				h := running(t)
				time.AfterFunc(10*time.Millisecond, func() { end(h) })
				if _, err := h.Run(ctx, "a.js", source); !errors.Is(err, gojaloop.ErrClosed) && !errors.Is(err, eventloop.ErrLoopTerminated) {
					t.Errorf("%s: %v", how, err)
				}
			}
		})
	}
}

// An interrupt that comes too late hits nobody else.
func TestLateInterruptHitsNobody(t *testing.T) {
	h := running(t)
	for i := range 2000 {
		c, cancel := context.WithCancel(ctx)
		go cancel()
		if err := h.Do(c, func(vm *goja.Runtime) error { return nil }); err != nil && err != context.Canceled {
			t.Fatal(err)
		}
		if err := h.Do(ctx, func(vm *goja.Runtime) error { _, err := vm.RunString("for (let i = 0; i < 20; i++);"); return err }); err != nil {
			t.Fatalf("round %d: %v", i, err)
		}
	}
}

func TestDeepRecursion(t *testing.T) {
	for _, source := range []string{
		"(function f() { f() })()",
		"(function f() { [1].forEach(f) })()",
		"Promise.resolve().then(function f() { f() })",
		"setTimeout(function f() { f() })",
		"const o = { get x() { return this.x } }; o.x",
		"(async () => { await null; (function f() { f() })() })()",
	} {
		h := newHost(t, gojaloop.WithMaxCallStack(500))
		var e *gojaloop.Error
		if _, err := h.Run(ctx, "a.js", source); !errors.As(err, &e) || !strings.HasPrefix(e.Message, "RangeError: Maximum call stack") {
			t.Errorf("%s: %v", source, err)
		}
	}
}

func TestGoPanics(t *testing.T) {
	h := newHost(t)
	h.Set("oops", func() { panic("oops") })
	h.Set("variadic", func(a int, b ...string) string { return fmt.Sprint(a, len(b)) })
	h.Set("thrown", func(goja.FunctionCall) goja.Value { panic(h.Runtime().NewTypeError("thrown")) })
	v, err := h.Run(ctx, "a.js", `
		const seen = [variadic(1, 'x', 'y')]
		try { oops() } catch (e) { seen.push(e instanceof Error) } finally { seen.push('finally') }
		try { thrown() } catch (e) { seen.push(e.name) }
		seen.join()`)
	if err != nil || v.String() != "1 2,true,finally,TypeError" {
		t.Errorf("%v, %v", v, err)
	}
	for _, source := range []string{"raw()", "setTimeout(() => raw())", "Promise.resolve().then(() => raw())", "process.nextTick(raw)", "(async () => { await null; raw() })()"} {
		h := newHost(t)
		h.Runtime().Set("raw", func() { panic("raw") })
		_, err := h.Run(ctx, "a.js", source)
		var p *eventloop.PanicError
		if !errors.As(err, &p) || p.Value != "raw" {
			t.Errorf("%s, unguarded: %v", source, err)
		}
		h = newHost(t)
		h.Set("guarded", func() { panic("guarded") })
		_, err = h.Run(ctx, "a.js", strings.ReplaceAll(source, "raw", "guarded"))
		if !errors.As(err, &p) || p.Value != "guarded" {
			t.Errorf("%s, guarded: %v", source, err)
		}
	}
}

func TestGoexitEndsTheHost(t *testing.T) {
	h := running(t)
	h.Do(ctx, func(*goja.Runtime) error { return h.Set("exit", runtime.Goexit) })
	if _, err := h.Run(ctx, "a.js", "exit()"); !errors.Is(err, eventloop.ErrGoexit) {
		t.Error(err)
	}
	if err := h.Loop().Shutdown(ctx); err != nil {
		t.Error(err)
	}
}

func TestHandlersInGo(t *testing.T) {
	var seen []string
	h := newHost(t,
		gojaloop.WithUncaughtException(func(e *gojaloop.Error) { seen = append(seen, "exception "+e.Message) }),
		gojaloop.WithUnhandledRejection(func(p *goja.Promise, e *gojaloop.Error) { seen = append(seen, "rejection "+e.Message) }))
	_, err := h.Run(ctx, "a.js", `
		Promise.reject(1)
		setTimeout(() => { throw new Error('timer') }, 1)
		setTimeout(() => Promise.reject(2), 20)
		throw new Error('main')`)
	if got := strings.Join(seen, ", "); err != nil || got != "exception Error: main, rejection 1, exception Error: timer, rejection 2" {
		t.Errorf("%v, %s", err, got)
	}
	h = newHost(t, gojaloop.WithUncaughtException(func(*gojaloop.Error) { panic("handler") }))
	var p *eventloop.PanicError
	if _, err := h.Run(ctx, "a.js", "throw 1"); !errors.As(err, &p) {
		t.Errorf("a handler that panics: %v", err)
	}
}

// What nobody waits for is reported by the loop.
func TestNothingIsSilent(t *testing.T) {
	for _, source := range []string{"throw new Error('lost')", "Promise.reject(new Error('lost'))", "setTimeout(() => { throw new Error('lost') })"} {
		reported := make(chan error, 1)
		l, _ := eventloop.New(eventloop.WithPanicHandler(func(p *eventloop.PanicError) { reported <- p }))
		h, _ := gojaloop.New(l)
		go l.Run(ctx)
		h.Submit(func(vm *goja.Runtime) {
			if _, err := vm.RunString(source); err != nil {
				panic(err)
			}
		})
		var e *gojaloop.Error
		if err := <-reported; !errors.As(err, &e) || e.Message != "Error: lost" {
			t.Errorf("%s: %v", source, err)
		}
		l.Close()
	}
}

func TestShutdownWithScriptsPending(t *testing.T) {
	h := running(t)
	done := make(chan error)
	go func() {
		_, err := h.Run(ctx, "a.js", "setInterval(() => {}, 1); setTimeout(() => {}, 1e6); new Promise(() => {}); (function f() { setImmediate(f) })()")
		done <- err
	}()
	time.Sleep(5 * time.Millisecond) // so that it is likely to be running
	if err := h.Loop().Shutdown(ctx); err != nil {
		t.Error(err)
	}
	if err := <-done; err != eventloop.ErrLoopTerminated {
		t.Error(err)
	}
}

func TestCloseWithTimersPending(t *testing.T) {
	h := running(t)
	done := make(chan error)
	go func() {
		_, err := h.Run(ctx, "a.js", "setInterval(() => {}, 1); setTimeout(() => {}, 1e6)")
		done <- err
	}()
	time.AfterFunc(5*time.Millisecond, h.Close)
	if err := <-done; err != gojaloop.ErrClosed {
		t.Error(err)
	}
	if err := h.Do(ctx, func(*goja.Runtime) error { return nil }); err != gojaloop.ErrClosed {
		t.Error(err)
	}
}

func TestAutoExit(t *testing.T) {
	l, _ := eventloop.New(eventloop.WithAutoExit(true))
	h, _ := gojaloop.New(l)
	n := 0
	h.Set("count", func() { n++ })
	h.Submit(func(vm *goja.Runtime) {
		vm.RunString(`
			setTimeout(() => { count(); setImmediate(() => { count(); setTimeout(count, 2) }) }, 2)
			setInterval(() => {}, 1e6).unref()`)
	})
	if err := l.Run(ctx); err != nil || n != 3 {
		t.Errorf("%v, %d", err, n)
	}
}

// Hosts that nobody has any more are garbage, with their loops alive or not.
func TestHostsLeaveNothing(t *testing.T) {
	before := runtime.NumGoroutine()
	l, _ := eventloop.New()
	go l.Run(ctx)
	begun := make(chan struct{})
	l.Submit(func() { close(begun) })
	<-begun
	collected := make(chan struct{}, 100)
	for range 20 {
		h, err := gojaloop.New(l)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.Run(ctx, "a.js", "setTimeout(() => {}, 1); new Promise(() => {}); process.on('exit', () => {})"); err != nil {
			t.Fatal(err)
		}
		runtime.AddCleanup(h, func(int) { collected <- struct{}{} }, 0)
	}
	for n := 0; n < 15; {
		runtime.GC()
		select {
		case <-collected:
			n++
		case <-time.After(10 * time.Millisecond):
		}
	}
	l.Shutdown(ctx)
	for runtime.NumGoroutine() > before {
		time.Sleep(time.Millisecond)
	}
}

// What an idle host costs beyond its runtime, whose class Promise is made, and its loop. What scripts see is made when they
// first ask for it.
func TestIdleHostsAreSmall(t *testing.T) {
	const n = 300
	size := func(make func() any) int {
		kept := []any{make()} // what is made once
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		for range n {
			kept = append(kept, make())
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		runtime.KeepAlive(kept)
		return (int(after.HeapAlloc) - int(before.HeapAlloc)) / n
	}
	type both struct {
		loop *eventloop.Loop
		vm   *goja.Runtime
	}
	bare := size(func() any {
		l, _ := eventloop.New()
		vm := goja.New()
		vm.RunString("Promise.resolve(); (() => {})()") // what goja makes when a script first wants it
		return both{l, vm}
	})
	host := size(func() any {
		return newHostOnly(t)
	})
	if extra := host - bare; extra > 8<<10 {
		t.Errorf("a host costs %d bytes, a runtime and a loop %d: %d more", host, bare, extra)
	} else {
		t.Logf("a host costs %d bytes, a runtime and a loop %d", host, bare)
	}
}

func newHostOnly(t testing.TB) *gojaloop.Host {
	l, _ := eventloop.New()
	h, err := gojaloop.New(l)
	if err != nil {
		t.Fatal(err)
	}
	return h
}
