// Scripts: programs in JavaScript on the host of package gojaloop, beside the same programs on goja_nodejs' loop, with the same goja.

package tournament

import (
	"context"
	"fmt"
	"testing"

	"github.com/dop251/goja"
	"github.com/dop251/goja_nodejs/eventloop"

	turnloop "github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/looptest"
	"github.com/turnloop/turnloop/gojaloop"
	"github.com/turnloop/turnloop/internal/tournament/record"
)

// scripts do N operations each, and count them in n. What is pending at once does not depend on N.
var scripts = []struct{ name, source, long string }{
	{"storm", `var n = 0; function storm() { let left = Math.min(N - n, 1000);
		for (let i = left; i > 0; i--) setTimeout(() => { n++; if (--left === 0 && n < N) storm() }, 0) } storm()`, ""},
	{"chain", `var n = 0; function f() { if (++n < N) setTimeout(f, 0) } setTimeout(f, 0)`, elsewhere},
	{"clear", `var n = 0; for (; n < N; n++) clearTimeout(setTimeout(() => {}, 1000))`, elsewhere},
	{"immediate", `var n = 0; function wave() { let left = Math.min(N - n, 1000);
		for (let i = left; i > 0; i--) setImmediate(() => { n++; if (--left === 0 && n < N) wave() }) } wave()`, elsewhere},
	{"await", `var n = 0; (async () => { for (; n < N; n++) await null })()`, elsewhere},
}

const elsewhere = "storms are enough for a glance"

func init() {
	variants := []Variant{}
	for _, s := range scripts {
		variants = append(variants, Variant{
			Name: "op=" + s.name, Long: s.long,
			Run:      func(b *testing.B, c Contestant) { runScript(b, c, s.source) },
			Controls: map[string]func(*testing.B){GojaControl: func(b *testing.B) { runScriptElsewhere(b, s.source) }},
		})
	}
	variants = append(variants, Variant{
		Name: "op=submit", Long: elsewhere, Run: submitToScript, Controls: map[string]func(*testing.B){GojaControl: submitToScriptElsewhere},
	})
	register(Benchmark{
		Benchmark: record.Benchmark{
			Name: "Script", Category: JavaScript, Units: []string{"ns/op", "B/op", "allocs/op"},
			Op: "one timeout, immediate, await, or call of a script's function from Go",
			Measures: "the same script on the host of package gojaloop and on goja_nodejs' loop, with the same goja: storms of 1000 timeouts of " +
				"zero, chains of them, timeouts that are set and cleared, waves of 1000 immediates, await of nothing, and functions of a " +
				"script that Go submits",
			Why:      "whoever embeds JavaScript gets the order of Node, and should not pay for it",
			Unscored: "of the ranked loops only `main` has a host for scripts, and to be the first of one is no merit",
			Needs:    []record.Need{{Window: aWhile}},
		},
		Variants: variants,
	})
}

// host makes a host on c's loop, or skips the cell. A delay of zero stays zero, as in goja_nodejs.
func host(b *testing.B, c Contestant) *gojaloop.Host {
	b.Helper()
	made, err := c.New(looptest.Config{})
	if err != nil {
		b.Fatal(err)
	}
	loop, ok := made.(*turnloop.Loop)
	if !ok {
		if err := made.Close(); err != nil {
			b.Logf("Close of a loop that has not run: %v", err)
		}
		b.Skip("n/a: no host for scripts")
	}
	h, err := gojaloop.New(loop, gojaloop.WithZeroDelays())
	if err != nil {
		b.Fatal(err)
	}
	return h
}

func counting(b *testing.B, source string) string {
	return fmt.Sprintf("const N = %d; %s", b.N, source)
}

// counted fails the cell unless the script has done its operations.
func counted(b *testing.B, vm *goja.Runtime) {
	b.Helper()
	if n := vm.Get("n").ToInteger(); n != int64(b.N) {
		b.Errorf("the script has done %d of %d operations", n, b.N)
	}
}

func runScript(b *testing.B, c Contestant, source string) {
	b.ReportAllocs()
	h := host(b, c)
	ctx, cancel := context.WithTimeout(context.Background(), patience(b))
	defer cancel()
	b.ResetTimer()
	_, err := h.Run(ctx, "script.js", counting(b, source))
	b.StopTimer()
	if err != nil {
		b.Fatal(err)
	}
	counted(b, h.Runtime())
}

func runScriptElsewhere(b *testing.B, source string) {
	b.ReportAllocs()
	loop := eventloop.NewEventLoop(eventloop.EnableConsole(false))
	var machine *goja.Runtime
	b.ResetTimer()
	loop.Run(func(vm *goja.Runtime) {
		machine = vm
		if _, err := vm.RunScript("script.js", counting(b, source)); err != nil {
			b.Error(err)
		}
	})
	b.StopTimer()
	counted(b, machine)
}

// called is a script's function that Go calls.
const called = `var n = 0; (() => { n++ })`

func submitToScript(b *testing.B, c Contestant) {
	b.ReportAllocs()
	h := host(b, c)
	ctx, cancel := context.WithTimeout(context.Background(), patience(b))
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- h.Loop().Run(ctx) }()
	var call goja.Callable
	if err := h.Do(ctx, func(vm *goja.Runtime) (err error) { call, err = function(vm); return err }); err != nil {
		b.Fatal(err)
	}
	task := func(*goja.Runtime) {
		if _, err := call(nil); err != nil {
			b.Error(err)
		}
	}
	b.ResetTimer()
	for range b.N {
		if err := h.Submit(task); err != nil {
			b.Fatal(err)
		}
	}
	err := h.Do(ctx, func(vm *goja.Runtime) error { counted(b, vm); return nil })
	b.StopTimer()
	if err != nil {
		b.Fatal(err)
	}
	if err := h.Loop().Shutdown(ctx); err != nil {
		b.Error(err)
	}
	if err := <-ended; err != nil {
		b.Error(err)
	}
}

func submitToScriptElsewhere(b *testing.B) {
	b.ReportAllocs()
	loop := eventloop.NewEventLoop(eventloop.EnableConsole(false))
	loop.Start()
	var call goja.Callable
	await := func(fn func(*goja.Runtime) error) {
		result := make(chan error, 1)
		loop.RunOnLoop(func(vm *goja.Runtime) { result <- fn(vm) })
		if err := <-result; err != nil {
			b.Fatal(err)
		}
	}
	await(func(vm *goja.Runtime) (err error) { call, err = function(vm); return err })
	task := func(*goja.Runtime) {
		if _, err := call(nil); err != nil {
			b.Error(err)
		}
	}
	b.ResetTimer()
	for range b.N {
		if !loop.RunOnLoop(task) {
			b.Fatal("goja_nodejs' loop refuses a function")
		}
	}
	await(func(vm *goja.Runtime) error { counted(b, vm); return nil })
	b.StopTimer()
	loop.Stop()
}

func function(vm *goja.Runtime) (goja.Callable, error) {
	value, err := vm.RunString(called)
	if err != nil {
		return nil, err
	}
	call, ok := goja.AssertFunction(value)
	if !ok {
		return nil, fmt.Errorf("%v is no function", value)
	}
	return call, nil
}
