package gojaloop_test

// Benchmarks of what a service calls: a host, a script's function, and Go work for it.

import (
	"context"
	"testing"

	"github.com/dop251/goja"

	"github.com/turnloop/turnloop/eventloop/promise"
)

func BenchmarkService(b *testing.B) {
	ctx := context.Background()
	b.Run("New", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			h := benchHost(b)
			_ = h.Set("answer", h.Runtime().ToValue(42))
			_ = h.Loop().Close()
		}
	})
	h := benchHost(b)
	_ = h.Set("work", h.Promisify(func(context.Context, []goja.Value) (func(*goja.Runtime) (goja.Value, error), error) {
		return func(vm *goja.Runtime) (goja.Value, error) { return vm.ToValue(42), nil }, nil
	}))
	if _, err := h.Runtime().RunString(`const none = () => 42, later = async () => 42, worked = () => work()`); err != nil {
		b.Fatal(err)
	}
	go h.Loop().Run(ctx)
	defer h.Loop().Close()
	call := func(b *testing.B, name string) goja.Callable {
		var f goja.Callable
		if err := h.Do(ctx, func(vm *goja.Runtime) error {
			v, err := vm.RunString(name)
			f, _ = goja.AssertFunction(v)
			return err
		}); err != nil {
			b.Fatal(err)
		}
		return f
	}
	b.Run("Do", func(b *testing.B) {
		f := call(b, "none")
		b.ReportAllocs()
		for b.Loop() {
			if err := h.Do(ctx, func(*goja.Runtime) error { _, err := f(nil); return err }); err != nil {
				b.Fatal(err)
			}
		}
	})
	for name, function := range map[string]string{"Await": "later", "Promisify": "worked"} {
		b.Run(name, func(b *testing.B) {
			f := call(b, function)
			b.ReportAllocs()
			for b.Loop() {
				var p *promise.Promise
				err := h.Do(ctx, func(*goja.Runtime) error {
					v, err := f(nil)
					if err == nil {
						p = h.Await(v)
					}
					return err
				})
				if err == nil {
					_, err = p.Await(ctx)
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
