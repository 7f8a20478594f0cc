package gojaloop_test

// The same scripts on this host and on goja_nodejs, with the same goja. Delays of zero stay zero on the host, as in
// goja_nodejs.

import (
	"context"
	"fmt"
	"testing"

	"github.com/dop251/goja"
	other "github.com/dop251/goja_nodejs/eventloop"
	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/gojaloop"
)

// benchScripts run the operation in their name N times.
var benchScripts = []struct{ name, script string }{
	{"storm", `let n = 0; for (let i = 0; i < N; i++) setTimeout(() => { n++ }, 0)`},
	{"chain", `let n = 0; function f() { if (++n < N) setTimeout(f, 0) } f()`},
	{"clear", `for (let i = 0; i < N; i++) clearTimeout(setTimeout(() => {}, 1000))`},
	{"immediates", `let n = 0; for (let i = 0; i < N; i++) setImmediate(() => { n++ })`},
	{"immediateChain", `let n = 0; function f() { if (++n < N) setImmediate(f) } f()`},
	{"await", `(async () => { for (let i = 0; i < N; i++) await null })()`},
	{"awaitTimer", `(async () => { for (let i = 0; i < N; i++) await new Promise(r => setTimeout(r, 0)) })()`},
}

func BenchmarkHost(b *testing.B) {
	for _, s := range benchScripts {
		b.Run(s.name, func(b *testing.B) {
			b.ReportAllocs()
			h := benchHost(b)
			if _, err := h.Run(context.Background(), s.name, fmt.Sprintf("const N = %d;", b.N)+s.script); err != nil {
				b.Fatal(err)
			}
		})
	}
	for _, s := range submissions {
		b.Run(s.name, func(b *testing.B) {
			b.ReportAllocs()
			h := benchHost(b)
			go h.Loop().Run(context.Background())
			var f goja.Callable
			err := h.Do(context.Background(), func(vm *goja.Runtime) error { f = s.make(vm); return nil })
			if err != nil {
				b.Fatal(err)
			}
			done := make(chan struct{})
			for range b.N {
				if err := h.Submit(func(*goja.Runtime) { f(nil) }); err != nil {
					b.Fatal(err)
				}
			}
			h.Submit(func(*goja.Runtime) { close(done) })
			<-done
			h.Loop().Shutdown(context.Background())
		})
	}
}

// submissions are calls from Go, of a Go function and of a script's.
var submissions = []struct {
	name string
	make func(*goja.Runtime) goja.Callable
}{
	{"RunOnLoop", func(vm *goja.Runtime) goja.Callable {
		v, _ := vm.RunString("() => {}")
		f, _ := goja.AssertFunction(v)
		return f
	}},
	{"RunOnLoopGo", func(vm *goja.Runtime) goja.Callable {
		return func(goja.Value, ...goja.Value) (goja.Value, error) { return nil, nil }
	}},
}

func BenchmarkOther(b *testing.B) {
	for _, s := range benchScripts {
		b.Run(s.name, func(b *testing.B) {
			b.ReportAllocs()
			other.NewEventLoop().Run(func(vm *goja.Runtime) {
				if _, err := vm.RunScript(s.name, fmt.Sprintf("const N = %d;", b.N)+s.script); err != nil {
					b.Fatal(err)
				}
			})
		})
	}
	for _, s := range submissions {
		b.Run(s.name, func(b *testing.B) {
			b.ReportAllocs()
			l := other.NewEventLoop()
			l.Start()
			var f goja.Callable
			made := make(chan struct{})
			l.RunOnLoop(func(vm *goja.Runtime) { f = s.make(vm); close(made) })
			<-made
			done := make(chan struct{})
			for range b.N {
				l.RunOnLoop(func(*goja.Runtime) { f(nil) })
			}
			l.RunOnLoop(func(*goja.Runtime) { close(done) })
			<-done
			l.Stop()
		})
	}
}

func benchHost(b *testing.B) *gojaloop.Host {
	l, err := eventloop.New()
	if err != nil {
		b.Fatal(err)
	}
	h, err := gojaloop.New(l, gojaloop.WithZeroDelays())
	if err != nil {
		b.Fatal(err)
	}
	return h
}
