package gojaloop_test

// Calls of scripts' functions from Go, and their ends.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dop251/goja"
	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/gojaloop"
)

func TestCall(t *testing.T) {
	h := running(t, gojaloop.WithUnhandledRejection(func(_ *goja.Promise, err *gojaloop.Error) { t.Errorf("unhandled: %v", err) }))
	fault := errors.New("fault")
	if err := h.Do(ctx, func(vm *goja.Runtime) error {
		_ = h.Set("fail", h.Promisify(func(context.Context, []goja.Value) (func(*goja.Runtime) (goja.Value, error), error) {
			return nil, fault
		}))
		_, err := vm.RunString(`function add(a, b) { return a + b }
			const later = async n => { await null; return { n: [n] } }
			var shop = { rate: 2, deep: { price(n) { return this.rate * n }, rate: 3 } }
			async function throws() { throw new RangeError('no') }
			const thenable = () => ({ then(f) { f('then') } }), nothing = () => {}`)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		args []any
		want string
	}{
		{"add", []any{1, 2}, "3"}, {"later", []any{7}, "map[n:[7]]"}, {"shop.deep.price", []any{4}, "12"}, {"thenable", nil, "then"},
		{"nothing", nil, "<nil>"}, {"throws", nil, "RangeError: no"}, {"fail", nil, "fault"}, {"none", nil, "TypeError: none is not a function"},
		{"shop.none", nil, "TypeError: shop.none is not a function"}, {"a b", nil, "TypeError: a b is not a function"},
	} {
		v, err := h.Call(ctx, c.name, c.args...)
		got := fmt.Sprint(v)
		if err != nil {
			got, _, _ = strings.Cut(err.Error(), "\n")
		}
		if got != c.want || (err != nil) != (errors.As(err, new(*gojaloop.Error))) || errors.Is(err, fault) != (c.name == "fail") {
			t.Errorf("%s: %q, %v", c.name, got, err)
		}
	}
	if err := h.Do(ctx, func(*goja.Runtime) error { _, err := h.Call(ctx, "add"); return err }); !errors.Is(err, eventloop.ErrAwaitOnLoop) {
		t.Errorf("on the loop: %v", err)
	}
	begun, goOn := make(chan struct{}), make(chan struct{})
	_ = h.Submit(func(*goja.Runtime) { close(begun); <-goOn })
	<-begun
	short, cancel := context.WithTimeout(ctx, time.Millisecond)
	defer cancel()
	if _, err := h.Call(short, "add", 1, 2); !errors.Is(err, gojaloop.ErrNotBegun) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("in the queue: %v", err)
	}
	close(goOn)
	time.AfterFunc(time.Millisecond, h.Close)
	if _, err := h.Call(ctx, "eval", "new Promise(() => {})"); !errors.Is(err, gojaloop.ErrClosed) {
		t.Errorf("when the host ends: %v", err)
	}
}

// A call that is ended has ended wherever it was, nothing of it goes on, and the other call in flight comes to its result.
func TestCallsEndAlone(t *testing.T) {
	if strings.Contains(os.Getenv("GODEBUG"), "asyncpreemptoff=1") {
		t.Skip("endless scripts keep all processors")
	}
	for name, body := range map[string]string{
		"loop":          "for (;;);",
		"await":         "await null; for (;;);",
		"three awaits":  "await null; await new Promise(f => setTimeout(f)); await new Promise(setImmediate); for (;;);",
		"Go":            "await work(); await null; for (;;);",
		"caught":        "await null; try { await null; for (;;) try { for (;;); } catch (e) {} } catch (e) { mark() } finally { mark() }",
		"job":           "await Promise.resolve().then(() => { for (;;); })",
		"tick":          "await new Promise(() => process.nextTick(() => { for (;;); }))",
		"timer":         "await new Promise(() => setTimeout(x => { for (;;); }, 1, 1))",
		"immediate":     "await new Promise(() => setImmediate(() => { for (;;); }))",
		"generator":     "await null; for (const x of (function* () { for (;;) yield 1 })());",
		"in a callback": "await null; [3, 1].sort(() => { for (;;); })",
		"awaits":        "for (;;) await null",
		"ticks":         "await new Promise(() => (function f() { process.nextTick(f) })())",
		"microtasks":    "await new Promise(() => (function f() { queueMicrotask(f) })())",
		"rejects":       "Promise.reject(1); for (;;);",
		"wakes others":  "await null; open(); Promise.reject(2); for (;;);",
		"waits: gate":   "await gate; mark()",
		"waits: Go":     "await blocks(); mark()",
		"waits: timer":  "await new Promise(f => setTimeout(f, 1e8)); mark()",
		"waits: repeat": "const i = setInterval(() => { i.n = 1 }, 1); await new Promise(() => {})",
	} {
		for _, limit := range []bool{false, true} {
			if limit && strings.HasPrefix(name, "waits") {
				continue
			}
			t.Run(fmt.Sprint(name, ", limit ", limit), func(t *testing.T) {
				t.Parallel()
				for patience := 100 * time.Millisecond; !endsAlone(t, name, body, limit, patience); patience *= 4 {
					if patience > time.Minute {
						t.Fatal("calls are ended that do not loop")
					}
				}
			})
		}
	}
}

// endsAlone has a host end the call of body after patience, by the limit of callbacks or by the call's context, and looks at the others.
// It returns false if they were ended too, or not begun, as on a busy machine.
func endsAlone(t *testing.T, name, body string, limit bool, patience time.Duration) bool {
	silent := func(err *gojaloop.Error) { t.Errorf("reported: %v", err) }
	busy := make(chan error, 9)
	fine := func(err error) bool { // of a call that does not loop
		if limit && errors.Is(err, gojaloop.ErrCallbackLimit) || !limit && errors.Is(err, gojaloop.ErrNotBegun) {
			busy <- err
			return true
		}
		return err == nil || len(busy) != 0
	}
	opts := []gojaloop.Option{gojaloop.WithUncaughtException(func(err *gojaloop.Error) {
		if !fine(err) {
			silent(err)
		}
	}), gojaloop.WithUnhandledRejection(func(_ *goja.Promise, err *gojaloop.Error) { silent(err) })}
	short, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	want := context.DeadlineExceeded
	if limit {
		opts, short, want = append(opts, gojaloop.WithCallbackLimit(patience)), ctx, gojaloop.ErrCallbackLimit
	}
	h := running(t, opts...)
	gone := make(chan struct{})
	marks := 0
	if err := h.Do(ctx, func(vm *goja.Runtime) error {
		_ = h.Set("mark", func() { marks++ })
		_ = h.Set("work", h.Promisify(func(context.Context, []goja.Value) (func(*goja.Runtime) (goja.Value, error), error) { return nil, nil }))
		_ = h.Set("blocks", h.Promisify(func(ctx context.Context, _ []goja.Value) (func(*goja.Runtime) (goja.Value, error), error) {
			<-ctx.Done()
			close(gone)
			return nil, nil
		}))
		_, err := vm.RunString(`let open; const gate = new Promise(f => { open = f })
			async function other() {
				await gate
				await null
				await new Promise(f => process.nextTick(f))
				await new Promise(f => setTimeout(f))
				await work()
				return 'whole'
			}
			async function ended() { ` + body + ` }`)
		return err
	}); err != nil {
		if fine(err) {
			return false
		}
		t.Fatal(err)
	}
	other := func(which string) {
		if v, err := h.Call(ctx, "other"); !fine(err) || err == nil && v != "whole" {
			t.Errorf("%s: %v, %v", which, v, err)
		}
	}
	var wg sync.WaitGroup
	wg.Go(func() { other("the other call") })
	if _, err := h.Call(short, "ended"); errors.Is(err, gojaloop.ErrNotBegun) {
		busy <- err
	} else if !errors.Is(err, want) {
		t.Errorf("%v", err)
	} else if name == "waits: Go" {
		<-gone
	}
	if _, err := h.Call(ctx, "open"); !fine(err) {
		t.Error(err)
	}
	if len(busy) != 0 {
		h.Close() // the other call may wait for what was ended
	}
	wg.Wait()
	if len(busy) != 0 {
		return false
	}
	other("the next call")
	if err := h.Do(ctx, func(*goja.Runtime) error {
		if n := h.Pending(); n != 0 || marks != 0 {
			t.Errorf("%d timers are left, %d steps were made", n, marks)
		}
		return nil
	}); !fine(err) || err == nil && h.Err() != nil {
		t.Errorf("the host: %v, %v", err, h.Err())
	}
	return len(busy) == 0
}
