package gojaloop_test

// Where exceptions, panics and rejections go, and what Go sees of them.

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/dop251/goja"
	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/gojaloop"
)

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
	if !errors.As(err, &e) || e.Message != "TypeError: no" || e.Code != 1 || e.Stack != "\tat f (a.js:2:8)\n\tat a.js:4:18" {
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

// unreadable is an error whose methods panic.
type unreadable struct{}

func (unreadable) Error() string { panic("Error") }
func (unreadable) As(any) bool   { panic("As") }
func (unreadable) Is(error) bool { panic("Is") }
func (unreadable) Unwrap() error { panic("Unwrap") }

// An error that cannot be looked at ends the host like any other, once: with Node's code for a handler that throws, or 1.
func TestErrorsThatPanic(t *testing.T) {
	for _, fault := range []any{unreadable{}, (*eventloop.PanicError)(nil), (*gojaloop.Error)(nil)} {
		calls := 0
		handled := newHost(t, gojaloop.WithUncaughtException(func(*gojaloop.Error) {
			if calls++; calls < 10 {
				panic(fault)
			}
		}))
		for h, code := range map[*gojaloop.Host]int{newHost(t): 1, handled: 7} {
			h.Set("f", func() { panic(fault) })
			var e *gojaloop.Error
			if _, err := h.Run(ctx, "a.js", "setTimeout(f)"); !errors.As(err, &e) || e.Code != code {
				t.Errorf("%T: %T, %v", fault, err, e)
			}
		}
		if calls != 1 {
			t.Errorf("%T: the handler is called %d times", fault, calls)
		}
	}
}

// The loop reports an exception for which no Run waits.
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

// An error is where its class was called, and not in the constructors of its classes.
func TestConstructorsAreLeftOut(t *testing.T) {
	h := newHost(t)
	_, err := h.Run(ctx, "a.js", `class A extends Error { constructor(m) { super(m) } }
class B extends A {}
class C extends B {
	constructor(m) { super(m); this.extra = 1 }
}
const f = () => { throw new C('no') };
(() => f())()`)
	var e *gojaloop.Error
	if !errors.As(err, &e) || e.Stack != "\tat f (a.js:6:25)\n\tat a.js:7:8\n\tat a.js:7:12" {
		t.Errorf("%q", e.Stack)
	}
}

func TestDOMException(t *testing.T) {
	h := newHost(t)
	got, err := h.Run(ctx, "a.js", `
		const P = DOMException.prototype, e = new DOMException('m', 'AbortError'), wrong = f => { try { return f() } catch (e) { return e.name } };
		[wrong(() => P.name), wrong(() => P.message), wrong(() => P.code), wrong(() => Object.create(P).code), Object.keys(DOMException).length, Object.keys(P).length,
			DOMException.INUSE_ATTRIBUTE_ERR, P.VALIDATION_ERR, DOMException.URL_MISMATCH_ERR, e.code, e.name, e.message, String(e), new DOMException('', '').code,
			Object.getOwnPropertyNames(e), wrong(() => eval('}{'))].join()`)
	if want := "TypeError,TypeError,TypeError,TypeError,25,28,10,16,21,20,AbortError,m,AbortError: m,0,stack,SyntaxError"; err != nil || got.String() != want {
		t.Errorf("%v, %v, want %s", got, err, want)
	}
}
