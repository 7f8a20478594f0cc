package gojaloop_test

// No exception and no rejection is ever silent: a waiting caller gets it, or the loop reports it.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"testing"
	"testing/synctest"
	"time"

	"github.com/dop251/goja"
	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/gojaloop"
	"github.com/turnloop/turnloop/internal/beat"
)

// faults are ways in which a script can fail, and moments at which it can do so.
var (
	faults  = []string{"throw new Error('lost')", "Promise.reject(new Error('lost'))", "(async () => { throw new Error('lost') })()", "lost()", "throw null", throwingAwait, "interrupt(); for (;;);"}
	moments = []string{
		"%s",
		"process.nextTick(() => { %s })",
		"queueMicrotask(() => { %s })",
		"Promise.resolve().then(() => { %s })",
		"setTimeout(() => { %s })",
		"setImmediate(() => { %s })",
		"setInterval(() => { %s })",
		"Promise.reject(1).catch(() => { %s })",
		"Promise.resolve().finally(() => { %s })",
		"work().then(() => { %s })",
		"new EventTarget().constructor; { const t = new EventTarget(); t.addEventListener('x', () => { %s }); t.dispatchEvent(new Event('x')) }",
		"AbortSignal.timeout(1).onabort = () => { %s }; setTimeout(() => {}, 20)",
		"{ const { port1, port2 } = new MessageChannel(); port1.onmessage = () => { port1.close(); %s }; port2.postMessage(1) }",
		"process.on('beforeExit', () => { %s })",
		"process.on('exit', () => { %s })",
		"process.on('uncaughtException', () => { %s }); throw 1",
		"process.on('unhandledRejection', () => { %s }); Promise.reject(1)",
		"process.on('rejectionHandled', () => { %s }); process.on('unhandledRejection', () => {}); { const p = Promise.reject(1); setTimeout(() => p.catch(() => {})) }",
		"new (class { constructor() { Promise.resolve({ get then() { %s } }) } })",
		"try { process.nextTick(() => { %s }) } finally {}",
		"setTimeout(() => { process.exitCode = 0; %s })",
	}
)

// throwingAwait makes await itself throw, which goja cannot survive.
const throwingAwait = "(async () => { await { get constructor() { throw new Error('lost') } } })()"

// Behind the first await, where goja keeps the exception to itself, the async function never goes on.
func TestThrowingAwaitBehindAnotherNeverGoesOn(t *testing.T) {
	h := newHost(t)
	went := 0
	h.Set("went", func() { went++ })
	_, err := h.Run(ctx, "a.js", "(async () => { await 1; went(); await { get constructor() { throw 1 } }; went() })().finally(went); setTimeout(went, 1)")
	if err != nil || went != 2 {
		t.Errorf("%d calls, %v; docs/goja.md says otherwise", went, err)
	}
}

func noWork(context.Context, []goja.Value) (func(*goja.Runtime) (goja.Value, error), error) {
	return nil, nil
}

// silently tells which pairs need no report. Promise jobs that a listener of 'exit' leaves never run, in Node either;
// a handler that rejects again and again never ends; and a listener that does nothing has heard.
func silently(moment, fault string) bool {
	rejects := strings.Contains(fault, "Promise") || strings.Contains(fault, "async")
	for _, listener := range []string{"'exit', () => { %s", "'unhandledRejection', () => { %s", "'uncaughtException', () => { %s", "'unhandledRejection', () => {})"} {
		if rejects && strings.Contains(moment, listener) {
			return true
		}
	}
	return false
}

func TestNeverSilent(t *testing.T) {
	for _, moment := range moments {
		for _, fault := range faults {
			if !silently(moment, fault) {
				synctest.Test(t, func(t *testing.T) { neverSilent(t, fmt.Sprintf(moment, fault), strings.Contains(moment, "xit'")) })
			}
		}
	}
}

func neverSilent(t *testing.T, source string, onlyAtTheEnd bool) {
	var reported []string
	host := func() (*eventloop.Loop, *gojaloop.Host) {
		reported = nil
		l, _ := eventloop.New(eventloop.WithPanicHandler(func(p *eventloop.PanicError) { reported = append(reported, p.Error()) }))
		h, err := gojaloop.New(l)
		if err != nil {
			t.Fatal(err)
		}
		h.Set("lost", func() { panic("lost") })
		h.Set("interrupt", func() { h.Runtime().Interrupt("lost") })
		h.Set("work", h.Promisify(noWork))
		return l, h
	}
	// A Run waits.
	_, h := host()
	if _, err := h.Run(ctx, "a.js", source); err == nil {
		t.Errorf("%s: Run returns no error", source)
	}

	// No Run waits: the loop reports it.
	l, h := host()
	ran := make(chan struct{})
	go func() { defer close(ran); l.Run(ctx) }()
	h.Submit(func(vm *goja.Runtime) {
		if _, err := vm.RunString(source); err != nil {
			panic(err)
		}
	})
	time.Sleep(time.Second)
	synctest.Wait()
	l.Shutdown(ctx)
	<-ran
	if len(reported) == 0 && !onlyAtTheEnd {
		t.Errorf("%s, when nobody waits: the loop reports nothing, Err is %v", source, h.Err())
	}
}

// Exceptions while the loop shuts down are reported too.
func TestNeverSilentAtShutdown(t *testing.T) {
	for _, source := range []string{"throw new Error('lost')", "Promise.reject(new Error('lost'))", "process.nextTick(() => { throw new Error('lost') })", "queueMicrotask(() => { throw new Error('lost') })"} {
		reported := make(chan error, 10)
		l, _ := eventloop.New(eventloop.WithPanicHandler(func(p *eventloop.PanicError) { reported <- p }))
		h, _ := gojaloop.New(l)
		go l.Run(ctx)
		begun := make(chan struct{})
		go func() { <-begun; l.Shutdown(ctx) }()
		h.Submit(func(vm *goja.Runtime) {
			close(begun)
			for l.State() != eventloop.StateTerminating {
				time.Sleep(10 * time.Microsecond)
			}
			if _, err := vm.RunString(source); err != nil {
				panic(err)
			}
		})
		<-l.Done()
		select {
		case err := <-reported:
			var e *gojaloop.Error
			if !errors.As(err, &e) || e.Message != "Error: lost" {
				t.Errorf("%s: %v", source, err)
			}
		default:
			t.Errorf("%s: nothing is reported", source)
		}
	}
}

// What a script throws after it has closed the loop is reported as a panic of the callback that runs.
func TestNeverSilentAtClose(t *testing.T) {
	for _, source := range []string{"throw new Error('lost')", "Promise.reject(new Error('lost'))", "lost()"} {
		for _, moment := range []string{"close(); %s", "setTimeout(() => { close(); %s })"} {
			source, reports := fmt.Sprintf(moment, source), 0
			for tries := 0; tries < 100 && reports == 0; tries++ { // Close also interrupts the script, and may do so before it fails
				l, _ := eventloop.New(eventloop.WithPanicHandler(func(p *eventloop.PanicError) {
					if reports++; !strings.Contains(p.Error(), "lost") {
						t.Error(p)
					}
				}))
				h, _ := gojaloop.New(l)
				h.Set("close", func() { l.Close() })
				h.Set("lost", func() { panic("lost") })
				h.Submit(func(vm *goja.Runtime) {
					if _, err := vm.RunString(source); err != nil {
						panic(err)
					}
				})
				if err := l.Run(ctx); err != eventloop.ErrLoopTerminated {
					t.Errorf("%s: %v", source, err)
				}
			}
			if reports != 1 {
				t.Errorf("%s: %d reports", source, reports)
			}
		}
	}
}

// Listeners hear each exception and each rejection once, also those that a listener of the other kind has caused.
func TestListenersHearEachOnce(t *testing.T) {
	h := newHost(t)
	var heard []string
	h.Set("heard", func(s string) { heard = append(heard, s) })
	_, err := h.Run(ctx, "a.js", `
		process.on('uncaughtException', (e, origin) => heard('exception ' + e + ' ' + origin))
		process.on('unhandledRejection', e => { heard('rejection ' + e); if (e === 4) throw 'again' })
		for (const f of [process.nextTick, queueMicrotask, setImmediate, setTimeout]) { f(() => { throw f.name }); f(() => { Promise.reject(f.name) }) }
		Promise.reject(4)
		const late = Promise.reject(5); setTimeout(() => late.catch(() => {}), 2)
		process.on('rejectionHandled', p => heard('handled ' + (p === late)))`)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"exception again uncaughtException", "handled true", "rejection 4", "rejection 5"}
	for _, name := range []string{"nextTick", "queueMicrotask", "setImmediate", "setTimeout"} {
		want = append(want, "exception "+name+" uncaughtException", "rejection "+name)
	}
	slices.Sort(heard)
	slices.Sort(want)
	if !slices.Equal(heard, want) {
		t.Errorf("heard\n%s\nwant\n%s", strings.Join(heard, "\n"), strings.Join(want, "\n"))
	}
}

// A Go function that panics as a listener ends the host, whatever it listens to: it is not called again for its own
// panic. vm.Set passes panics on, as goja does.
func TestListenersThatPanic(t *testing.T) {
	for _, source := range []string{
		"process.on('uncaughtException', lost); setTimeout(() => { throw 1 })",
		"process.on('uncaughtException', () => { lost() }); Promise.reject(1)",
		"process.on('uncaughtException', lost); process.on('unhandledRejection', lost); Promise.reject(1)",
		"process.on('unhandledRejection', lost); Promise.reject(1); Promise.reject(2)",
		"process.on('unhandledRejection', () => {}); process.on('rejectionHandled', lost); { const p = Promise.reject(1); setTimeout(() => p.catch(() => {})) }",
		"process.on('beforeExit', lost)",
		"process.on('exit', lost)",
		"process.on('exit', lost); setTimeout(() => process.exit(3))",
		"process.on('exit', lost); process.on('uncaughtException', lost); throw 1",
	} {
		h := newHost(t)
		h.Runtime().Set("lost", func() { panic("lost") })
		limit, cancel := beat.Context(ctx)
		_, err := h.Run(limit, "a.js", source)
		cancel()
		var p *eventloop.PanicError
		if !errors.As(err, &p) || p.Value != "lost" {
			t.Errorf("%s: %v", source, err)
		}
	}
}

// The rejections of one run or call are its own: the next one neither hears of them again nor fails with them.
func TestRejectionsStayWithTheirRun(t *testing.T) {
	var heard []string
	h := running(t, gojaloop.WithUnhandledRejection(func(_ *goja.Promise, e *gojaloop.Error) { heard = append(heard, e.Message) }))
	for i := range 3 {
		heard = nil
		source := fmt.Sprintf("Promise.reject(%d); setTimeout(() => { Promise.reject('late %[1]d') }, 1)", i)
		if _, err := h.Run(ctx, "a.js", source); err != nil || !slices.Equal(heard, []string{fmt.Sprint(i), fmt.Sprint("late ", i)}) {
			t.Errorf("run %d hears %q, %v", i, heard, err)
		}
	}
	// What an interrupted call leaves is nobody's.
	heard = nil
	for _, h := range []*gojaloop.Host{h, running(t)} {
		for range 3 {
			c, cancel := context.WithCancel(ctx)
			err := h.Do(c, func(vm *goja.Runtime) error {
				vm.Set("stop", cancel)
				_, err := vm.RunString("Promise.reject('dropped'); stop(); for (;;);")
				return err
			})
			if err != context.Canceled {
				t.Error(err)
			}
			if _, err := h.Run(ctx, "a.js", "1"); err != nil || len(heard) != 0 {
				t.Errorf("the next run hears %q, %v", heard, err)
			}
		}
	}
}
