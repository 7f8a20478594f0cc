package gojaloop_test

// Endings of scripts that do not end by themselves.

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/dop251/goja"
	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/gojaloop"
)

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
		"sort":          "[3, 1, 2].sort(() => { for (;;); })",
		"toString":      "'' + { toString() { for (;;); } }",
		"proxy":         "new Proxy({}, { get() { for (;;); } }).x",
		"toJSON":        "JSON.stringify({ toJSON() { for (;;); } })",
		"reviver":       "JSON.parse('[1]', () => { for (;;); })",
		"replacer":      "'abc'.replace(/./g, () => { for (;;); })",
		"iterator":      "[...{ [Symbol.iterator]: () => ({ next: () => ({ value: 1, done: false }) }) }]",
		"constructor":   "new (class { constructor() { for (;;); } })",
		"listener":      "{ const e = new EventTarget(); e.addEventListener('x', () => { for (;;); }); e.dispatchEvent(new Event('x')) }",
		"settled":       "Promise.reject(1).finally(() => { for (;;); })",
		"finally":       "try { throw 1 } finally { for (;;); }",
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
			short, cancel = context.WithCancel(ctx)
			defer cancel()
			begun := func() { time.AfterFunc(20*time.Millisecond, cancel) }
			if err := h.Do(ctx, func(vm *goja.Runtime) error { return vm.Set("begun", begun) }); err != nil {
				t.Error(err)
			}
			if _, err := h.Run(short, "a.js", "begun();"+source); !errors.Is(err, context.Canceled) {
				t.Errorf("Run: %v", err)
			}
			if !errors.Is(h.Err(), context.Canceled) {
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

// An interrupt that comes too late hits no other call.
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
		"class A { constructor() { new A() } }; new A()",
		"const p = new Proxy({}, { get(t, k, r) { return r[k] } }); p.x",
		"const o = { toString() { return '' + o } }; '' + o",
		"const o = { toJSON() { return JSON.stringify(o) } }; JSON.stringify(o)",
		"[2, 1].sort(function f() { return [2, 1].sort(f).length })",
		"'a'.replace(/a/, function f() { return 'a'.replace(/a/, f) })",
		"process.nextTick(function f() { try { f() } catch (e) { f() } finally { f() } })",
		"setImmediate(function f() { f() })",
		"structuredClone((() => { let a = []; for (let i = 0; i < 1e4; i++) a = [a]; return a })())",
		"new EventTarget().addEventListener('x', { get handleEvent() { return this.handleEvent } }); (function f() { f() })()",
	} {
		h := newHost(t, gojaloop.WithMaxCallStack(500))
		var e *gojaloop.Error
		if _, err := h.Run(ctx, "a.js", source); !errors.As(err, &e) || !strings.HasPrefix(e.Message, "RangeError: Maximum call stack") {
			t.Errorf("%s: %v", source, err)
		}
	}
}

// A callback that takes longer than its limit is ended wherever it is, and nothing of it goes on; the others run.
func TestCallbackLimit(t *testing.T) {
	if strings.Contains(os.Getenv("GODEBUG"), "asyncpreemptoff=1") {
		t.Skip("endless scripts keep all processors")
	}
	for name, c := range map[string]struct {
		script string
		broken bool // goja cannot go on
	}{
		"timer":           {"setTimeout(() => { for (;;); })", false},
		"tick":            {"setTimeout(() => process.nextTick(() => { for (;;); }))", false},
		"job":             {"setTimeout(() => Promise.resolve().then(() => { for (;;); }))", false},
		"jobs":            {"setTimeout(() => (function f() { Promise.resolve().then(f) })())", false},
		"immediate":       {"setImmediate(() => { for (;;) try { for (;;); } catch (e) {} finally {} })", false},
		"async function":  {"setTimeout(async () => { for (;;); })", true},
		"main":            {"for (;;);", false},
		"behind an await": {"(async () => { await null; for (;;); })()", true},
		"behind two":      {"(async () => { await new Promise(f => setTimeout(f)); await 1; for (;;); })()", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var told []error
			h := running(t, gojaloop.WithCallbackLimit(200*time.Millisecond), gojaloop.WithUncaughtException(func(e *gojaloop.Error) { told = append(told, e) }))
			_, err := h.Run(ctx, "a.js", "setTimeout(() => { globalThis.others = 1 }, 40);"+c.script)
			if c.broken {
				if !errors.Is(err, gojaloop.ErrBroken) || !errors.Is(err, gojaloop.ErrCallbackLimit) {
					t.Errorf("Run: %v", err)
				}
				return
			}
			if err != nil || h.Err() != nil || eval(t, h, "others") != int64(1) {
				t.Errorf("Run: %v; the host: %v", err, h.Err())
			}
			if len(told) != 1 || !errors.Is(told[0], gojaloop.ErrCallbackLimit) {
				t.Errorf("told: %v", told)
			}
			if err := h.Do(ctx, func(vm *goja.Runtime) error { _, err := vm.RunString("for (;;);"); return err }); !errors.Is(err, gojaloop.ErrCallbackLimit) || len(told) != 1 {
				t.Errorf("Do: %v, told %v", err, told)
			}
			if got := eval(t, h, "1 + 1"); got != int64(2) {
				t.Errorf("afterwards: %v", got)
			}
		})
	}
	h := newHost(t, gojaloop.WithCallbackLimit(time.Millisecond))
	var e *gojaloop.Error
	if _, err := h.Run(ctx, "a.js", "setTimeout(() => { for (;;); })"); !errors.As(err, &e) || !errors.Is(err, gojaloop.ErrCallbackLimit) || e.Code != 1 {
		t.Errorf("without a function for exceptions: %v", err)
	}
}
