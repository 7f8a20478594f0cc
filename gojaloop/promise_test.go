package gojaloop_test

// Promises between Go and scripts.

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/dop251/goja"
	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/gojaloop"
)

func TestPromise(t *testing.T) {
	h := newHost(t)
	l := h.Loop()
	failed := errors.New("failed")
	h.Set("work", func(s string) goja.Value {
		return h.Promise(l.Promisify(ctx, func(context.Context) (any, error) {
			if s == "" {
				return nil, failed
			}
			return s + "!", nil
		}))
	})
	v, err := h.Run(ctx, "a.js", `
		globalThis.seen = [];
		(async () => {
			seen.push(await work('a'), await work('b'))
			try { await work('') } catch (e) { seen.push(e instanceof Error, e.message) }
			throw await work('').catch(e => e)
		})()
		seen`)
	if !errors.Is(err, failed) {
		t.Errorf("the Go error does not come back: %v", err)
	}
	if got := fmt.Sprint(h.Runtime().Get("seen").Export()); v != nil || got != "[a! b! true failed]" {
		t.Errorf("%v", got)
	}
}

func TestPromisify(t *testing.T) {
	h := newHost(t)
	h.Set("add", h.Promisify(func(_ context.Context, args []goja.Value) (func(*goja.Runtime) (goja.Value, error), error) {
		sum := int64(0)
		for _, a := range args {
			sum += a.ToInteger()
		}
		switch sum {
		case 0:
			return nil, nil
		case 1:
			panic("one")
		case 2:
			return nil, errors.New("two")
		case 3:
			return func(vm *goja.Runtime) (goja.Value, error) { return nil, errors.New("three") }, nil
		case 4:
			return func(vm *goja.Runtime) (goja.Value, error) { panic(vm.NewTypeError("four")) }, nil
		}
		return func(vm *goja.Runtime) (goja.Value, error) { return vm.ToValue(sum), nil }, nil
	}))
	_, err := h.Run(ctx, "a.js", `
		globalThis.seen = []
		Promise.allSettled([0, 1, 2, 3, 4, 5].map(n => add(n))).then(all => {
			for (const r of all) seen.push(r.status === 'fulfilled' ? r.value : r.reason.message.split('\n')[0])
		})`)
	got := fmt.Sprint(h.Runtime().Get("seen").Export())
	if want := "[<nil> eventloop: callback panicked: one two three four 5]"; err != nil || !strings.Contains(got, "one") || !strings.HasSuffix(got, "two three four 5]") {
		t.Errorf("%v, %v, want something like %s", err, got, want)
	}
}

func TestPromisifyContextEndsWithTheHost(t *testing.T) {
	for name, end := range map[string]func(*gojaloop.Host){
		"Close":             (*gojaloop.Host).Close,
		"Close of the loop": func(h *gojaloop.Host) { h.Loop().Close() },
	} {
		h := running(t)
		begun, ended := make(chan struct{}), make(chan struct{})
		h.Do(ctx, func(vm *goja.Runtime) error {
			return h.Set("wait", h.Promisify(func(c context.Context, _ []goja.Value) (func(*goja.Runtime) (goja.Value, error), error) {
				close(begun)
				<-c.Done()
				close(ended)
				return nil, c.Err()
			}))
		})
		done := make(chan error)
		go func() { _, err := h.Run(ctx, "a.js", "wait()"); done <- err }()
		<-begun
		end(h)
		<-ended
		if err := <-done; !errors.Is(err, gojaloop.ErrClosed) && !errors.Is(err, eventloop.ErrLoopTerminated) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAwait(t *testing.T) {
	h := running(t)
	cause := errors.New("Go")
	for _, c := range []struct {
		source string
		value  any
		err    string
	}{
		{"new Promise(r => setTimeout(() => r(7), 1))", int64(7), ""},
		{"8", int64(8), ""},
		{"({ then(r) { r('thenable') } })", "thenable", ""},
		{"Promise.reject(new TypeError('no'))", nil, "TypeError: no"},
		{"Promise.reject(9)", nil, "9"},
		{"(async () => { fail() })()", nil, "Go"},
	} {
		var p interface {
			Await(context.Context) (any, error)
		}
		err := h.Do(ctx, func(vm *goja.Runtime) error {
			h.Set("fail", func() error { return cause })
			v, err := vm.RunString(c.source)
			p = h.Await(v)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		v, err := p.Await(ctx)
		if c.err == "" && (err != nil || v != c.value) || c.err != "" && (err == nil || !strings.HasPrefix(err.Error(), c.err)) {
			t.Errorf("%s: %v, %v", c.source, v, err)
		}
		if c.err == "Go" && err != cause {
			t.Errorf("the Go error is lost: %v", err)
		}
	}
	var p interface {
		Await(context.Context) (any, error)
	}
	h.Do(ctx, func(vm *goja.Runtime) error {
		v, err := vm.RunString("new Promise(() => {})")
		p = h.Await(v)
		return err
	})
	h.Close()
	if _, err := p.Await(ctx); !errors.Is(err, gojaloop.ErrClosed) {
		t.Errorf("what is pending when the host ends: %v", err)
	}
}

// Settling from Go after the end is an error, not a deadlock.
func TestSettleAfterTheEnd(t *testing.T) {
	h := running(t)
	var resolve func(any) error
	h.Do(ctx, func(vm *goja.Runtime) error { _, resolve, _ = vm.NewPromise(); return nil })
	h.Loop().Shutdown(ctx)
	if err := h.Submit(func(*goja.Runtime) { resolve(1) }); err != eventloop.ErrLoopTerminated {
		t.Error(err)
	}
	if err := h.Do(ctx, func(*goja.Runtime) error { return resolve(1) }); err != eventloop.ErrLoopTerminated {
		t.Error(err)
	}
}

// Go completes a promise of a script's twice and from many goroutines at once, and once more after the end: the first
// completion counts, and no other does harm.
func TestCompletedByMany(t *testing.T) {
	h := running(t)
	var seen []string // on the loop
	for i := range 300 {
		var resolveJS, rejectJS func(any) error
		p, resolve, reject := h.Loop().NewPromise()
		err := h.Do(ctx, func(vm *goja.Runtime) error {
			var js *goja.Promise
			js, resolveJS, rejectJS = vm.NewPromise()
			vm.Set("a", h.Promise(p))
			vm.Set("b", js)
			vm.Set("note", func(s string) { seen = append(seen, s) })
			_, err := vm.RunString("for (const p of [a, b]) p.then(() => note('settled'), () => note('settled'))")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		failed := errors.New("too late, or not")
		var all sync.WaitGroup
		for k := range 4 {
			all.Go(func() {
				resolve(k)
				reject(failed)
			})
			all.Go(func() {
				if err := h.Do(ctx, func(*goja.Runtime) error { return errors.Join(resolveJS(k), rejectJS(k), resolveJS(k)) }); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if _, err := h.Run(ctx, "a.js", "Promise.allSettled([a, b])"); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(seen); got != "[settled settled]" {
			t.Fatalf("round %d: %s", i, got)
		}
		seen = nil
		if i == 299 {
			h.Close()
			resolve(1)
			reject(failed)
			if err := h.Do(ctx, func(*goja.Runtime) error { return resolveJS(1) }); err != gojaloop.ErrClosed {
				t.Error(err)
			}
		}
	}
}
