package gojaloop_test

// No runtime is used off its loop. A canary in the runtime checks the goroutine of each use, and the race detector
// checks all memory in tests that run with it.

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dop251/goja"
	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/gojaloop"
)

// canary is an object of scripts that reports uses off the loop. Its field is unprotected on purpose.
type canary struct {
	loop    *eventloop.Loop
	touched int // used on the loop alone
	astray  atomic.Int64
}

func (c *canary) touch() {
	if !c.loop.OnLoop() {
		c.astray.Add(1)
	}
	c.touched++
}

func (c *canary) Get(string) goja.Value       { c.touch(); return nil }
func (c *canary) Set(string, goja.Value) bool { c.touch(); return true }
func (c *canary) Has(string) bool             { c.touch(); return false }
func (c *canary) Delete(string) bool          { c.touch(); return true }
func (c *canary) Keys() []string              { c.touch(); return nil }

// Write makes the canary a writer for console.
func (c *canary) Write(p []byte) (int, error) { c.touch(); return len(p), nil }

// touching is a script that uses the canary in each kind of callback, and wherever Go reads a value.
const touching = `
(() => {
	const touch = () => { canary.x = canary.y; 'z' in canary; delete canary.w; shared.n++ }
	const thrown = () => ({ toString() { touch(); return 'thrown' }, get value() { touch() }, get stack() { touch() } })
	touch()
	process.nextTick(touch)
	queueMicrotask(touch)
	Promise.resolve().then(touch).finally(touch)
	setTimeout(touch)
	setImmediate(touch)
	const i = setInterval(() => { touch(); clearInterval(i) })
	work().then(touch)
	work(1).catch(touch)
	follow().then(touch)
	take({ then(f) { touch(); f({ get x() { touch() } }) } })
	take(Promise.reject(thrown()))
	AbortSignal.timeout(1).onabort = touch
	new EventTarget().dispatchEvent(new Event({ toString() { touch(); return 'x' } }))
	console.log({ get x() { touch() } }, new Proxy({}, { ownKeys() { touch(); return [] } }))
	structuredClone({ get x() { touch() } })
	Promise.reject(thrown())
	setTimeout(() => { throw thrown() })
	process.nextTick(() => { throw thrown() })
	queueMicrotask(() => { throw thrown() })
	native()
})()`

func TestRuntimesAreTouchedOnTheirLoops(t *testing.T) {
	l, _ := eventloop.New()
	c := &canary{loop: l}
	var h *gojaloop.Host
	h, err := gojaloop.New(l, gojaloop.WithOutput(c, c),
		gojaloop.WithUncaughtException(func(*gojaloop.Error) { c.touch() }),
		gojaloop.WithUnhandledRejection(func(*goja.Promise, *gojaloop.Error) { c.touch() }))
	if err != nil {
		t.Fatal(err)
	}
	vm := h.Runtime()
	shared := struct{ N int }{}
	vm.SetFieldNameMapper(goja.UncapFieldNameMapper())
	vm.Set("canary", vm.NewDynamicObject(c))
	vm.Set("shared", &shared)
	h.Set("native", func() { c.touch(); shared.N++ })
	h.Set("take", func(v goja.Value) { c.touch(); h.Await(v).Catch(func(error) (any, error) { return nil, nil }) })
	h.Set("follow", func() goja.Value {
		return h.Promise(l.Promisify(ctx, func(context.Context) (any, error) { return func() { c.touch() }, nil }))
	})
	h.Set("work", h.Promisify(func(_ context.Context, args []goja.Value) (func(*goja.Runtime) (goja.Value, error), error) {
		if len(args) != 0 {
			return nil, errors.New("work")
		}
		return func(*goja.Runtime) (goja.Value, error) { c.touch(); shared.N++; return vm.NewDynamicObject(c), nil }, nil
	}))
	ran := make(chan struct{})
	go func() { defer close(ran); l.Run(ctx) }()
	for l.State() == eventloop.StateAwake {
		time.Sleep(time.Millisecond)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 15 {
				h.Submit(func(vm *goja.Runtime) { c.touch(); vm.RunString(touching) })
				short, cancel := context.WithTimeout(ctx, time.Millisecond)
				h.Do(short, func(vm *goja.Runtime) error {
					c.touch()
					_, err := vm.RunString("for (;;) { canary.x; shared.n++ }")
					return err
				})
				cancel()
				h.Run(ctx, "a.js", touching)
				_ = h.Err()
			}
		})
	}
	wg.Wait()
	h.Close()
	l.Shutdown(ctx)
	<-ran
	if n := c.astray.Load(); n != 0 || c.touched < 1000 || shared.N < 500 {
		t.Errorf("%d of %d touches were off the loop; scripts and Go code counted %d", n, c.touched, shared.N)
	}
	c.touch() // here
	if c.astray.Load() != 1 {
		t.Error("the canary does not notice")
	}
}
