package gojaloop_test

// The ways in: Run, Do and Submit; and helpers of all tests.

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

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
		"WithCallbackLimit":      {gojaloop.WithCallbackLimit(0)},
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
				if !errors.Is(err, eventloop.ErrLoopTerminated) {
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

// A Run that came before "go loop.Run" has run the loop: what comes behind it hears so, and so does loop.Run. Behind a loop.Run that
// has begun the host goes on.
func TestRunBesideTheLoopsRun(t *testing.T) {
	nothing := func(*goja.Runtime) error { return nil }
	h := newHost(t)
	if v, err := h.Run(ctx, "a.js", "1"); err != nil || v.ToInteger() != 1 {
		t.Fatal(v, err)
	}
	_, again := h.Run(ctx, "a.js", "1")
	for _, err := range []error{h.Do(ctx, nothing), h.Submit(func(*goja.Runtime) {}), again} {
		if !errors.Is(err, eventloop.ErrLoopTerminated) || !strings.Contains(err.Error(), "the host's Run has run the loop") {
			t.Errorf("behind Run: %v", err)
		}
	}
	if err := h.Loop().Run(ctx); err != eventloop.ErrLoopTerminated {
		t.Errorf("the loop's Run returns %v", err)
	}

	h = newHost(t)
	ran := make(chan error)
	go func() { ran <- h.Loop().Run(ctx) }()
	for i, err := range []error{h.Do(ctx, nothing), func() error { _, err := h.Run(ctx, "a.js", "1"); return err }(), h.Do(ctx, nothing)} {
		if err != nil {
			t.Errorf("%d: %v", i, err)
		}
	}
	h.Loop().Close()
	if err := h.Do(ctx, nothing); !errors.Is(err, eventloop.ErrLoopTerminated) || strings.Contains(err.Error(), "has run the loop") {
		t.Errorf("behind Close: %v", err)
	}
	<-ran
}
