package gojaloop_test

// Scripts that keep more and more memory, and JSON that would exhaust the stack.

import (
	"errors"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dop251/goja"

	"github.com/turnloop/turnloop/gojaloop"
	"github.com/turnloop/turnloop/internal/beat"
)

// growing are scripts that keep what they allocate, in everything that can hold values.
var growing = map[string]string{
	"array":      "const a = []; for (;;) a.push({ n: a.length })",
	"caught":     "const a = []; for (;;) try { for (;;) { a.push([1]); if (a.length % 1000 === 0) throw 1 } } catch (e) {} finally {}",
	"jobs":       "(function f() { Promise.resolve().then(f); Promise.resolve().then(f) })()",
	"async":      "const a = []; (async () => { for (;;) a.push([await null]) })()",
	"ticks":      "(function f() { process.nextTick(f); process.nextTick(f) })()",
	"immediates": "(function f() { setImmediate(f); setImmediate(f) })()",
	"timers":     "(function f() { setTimeout(f); setTimeout(f); for (let i = 0; i < 100; i++) setTimeout(f, 1e6) })()",
	"interval":   "const a = []; setInterval(() => a.push(new Uint8Array(2e6)), 2)",
	"rejections": "const a = []; process.on('unhandledRejection', () => {}); setInterval(() => { for (let i = 0; i < 1e4; i++) a.push(Promise.reject([i])) })",
	"listeners":  "const t = new EventTarget(); for (;;) { const b = new Uint8Array(1e5); t.addEventListener('x', () => b) }",
}

func TestMemoryLimit(t *testing.T) {
	if strings.Contains(os.Getenv("GODEBUG"), "asyncpreemptoff=1") {
		t.Skip("endless scripts keep all processors, as in TestInterrupts")
	}
	for name, source := range growing {
		t.Run(name, func(t *testing.T) {
			runtime.GC() // so that garbage of other tests does not raise the minimum
			h := running(t, gojaloop.WithMemoryLimit(8<<20))
			_, err := h.Run(ctx, "a.js", source)
			if !errors.Is(err, gojaloop.ErrMemory) || !errors.Is(h.Err(), gojaloop.ErrMemory) {
				t.Errorf("Run returns %v, Err %v", err, h.Err())
			}
			if err := h.Do(ctx, func(*goja.Runtime) error { return nil }); !errors.Is(err, gojaloop.ErrMemory) || !errors.Is(err, gojaloop.ErrClosed) {
				t.Errorf("Do afterwards: %v", err)
			}
			ran := make(chan struct{})
			if h.Loop().Submit(func() { close(ran) }) != nil {
				t.Error("the loop does not go on")
			}
			<-ran
		})
	}
	h := running(t, gojaloop.WithMemoryLimit(8<<20))
	done := make(chan error, 1)
	go func() {
		done <- h.Do(ctx, func(vm *goja.Runtime) error { _, err := vm.RunString(growing["array"]); return err })
	}()
	if err := <-done; !errors.Is(err, gojaloop.ErrMemory) {
		t.Errorf("Do: %v", err)
	}
}

// Garbage does not count, nor does memory that other code gives back.
func TestMemoryLimitIsOfWhatIsReachable(t *testing.T) {
	ballast := make([]byte, 64<<20)
	h := newHost(t, gojaloop.WithMemoryLimit(32<<20))
	ballast[0] = 1
	ballast = nil
	_, err := h.Run(ctx, "a.js", `
		let kept
		for (let i = 0; i < 3000; i++) kept = new Uint8Array(1e5)
		let n = 0
		const i = setInterval(() => { kept = new Uint8Array(8e6); if (++n === 20) clearInterval(i) }, 1)`)
	if err != nil {
		t.Error(err)
	}
	for _, limit := range []int64{0, 1 << 40} {
		h := newHost(t, gojaloop.WithMemoryLimit(limit))
		if v, err := h.Run(ctx, "a.js", "const a = []; for (let i = 0; i < 300; i++) a.push(new Uint8Array(1e5)); a.length"); err != nil || v.ToInteger() != 300 {
			t.Errorf("a limit of %d: %v, %v", limit, v, err)
		}
	}
}

// JSON comes from untrusted sources. Some million levels of it would make goja's parser end the process.
func TestDeepJSON(t *testing.T) {
	h := running(t)
	for _, c := range []struct{ source, want string }{
		{"JSON.parse('['.repeat(5e6))", "RangeError"},
		{`JSON.parse('{"a":'.repeat(5e6))`, "RangeError"},
		{"JSON.parse('['.repeat(10001) + ']'.repeat(10001))", "RangeError"},
		{"JSON.parse('['.repeat(10000) + ']'.repeat(10000)).length", "1"},
		{`JSON.parse('"' + '['.repeat(20000) + '"').length`, "20000"},
		{`JSON.parse('"\\"' + '{'.repeat(20000) + '"').length`, "20001"},
		{"JSON.parse('[' + '[],'.repeat(20000) + '[]]').length", "20001"},
		{`JSON.parse('{"a":[1,2]}', (k, v) => Array.isArray(v) ? v.length : v).a`, "2"},
		{"JSON.parse({ toString() { return '[7]' } })[0]", "7"},
		{"JSON.parse('[')", "SyntaxError"},
		{"JSON.parse()", "SyntaxError"},
		{"JSON.parse.name + JSON.parse.length + Object.keys(JSON).length", "parse20"},
	} {
		if got := eval(t, h, "try { String("+c.source+") } catch (e) { e.name }"); got != c.want {
			t.Errorf("%s: %v, want %s", c.source, got, c.want)
		}
	}
	v, err := newHost(t).Run(ctx, "a.js", "let e; new Response('['.repeat(5e6)).json().catch(x => { globalThis.e = x.name })")
	if err != nil {
		t.Error(v, err)
	}
}

// The watch rests when the host does.
func TestMemoryWatchRests(t *testing.T) {
	h := newHost(t, gojaloop.WithMemoryLimit(1<<30))
	if _, err := h.Run(ctx, "a.js", "1"); err != nil {
		t.Fatal(err)
	}
	beat.Eventually(t, func() bool { return !h.Watched() }, "the watch to rest, since nothing runs")
}

// After a burst the host keeps no places for it, although it goes on: neither cleared timers, however late they would have
// been due, nor their delays, nor promises that have settled.
func TestBurstsLeaveNoPlaces(t *testing.T) {
	for name, burst := range map[string]string{
		"delays":     "const all = []; for (let i = 0; i < 1e4; i++) all.push(setTimeout(f, 1e8 + i)); all.forEach(clearTimeout)",
		"numbers":    "const all = []; for (let i = 0; i < 1e4; i++) all.push(+setTimeout(f, 1e8)); all.forEach(clearTimeout)",
		"awaited":    "for (let i = 0; i < 1e4; i++) goAwait(new Promise(r => setImmediate(r)))",
		"rejections": "const all = []; for (let i = 0; i < 1e4; i++) all.push(Promise.reject()); setImmediate(() => all.forEach(p => p.catch(f)))",
	} {
		t.Run(name, func(t *testing.T) {
			h := running(t)
			room := 0
			do := func(source string) {
				if err := h.Do(ctx, func(vm *goja.Runtime) error {
					_ = vm.Set("goAwait", func(v goja.Value) { h.Await(v) })
					_, err := vm.RunString(source)
					room = h.Room()
					return err
				}); err != nil {
					t.Fatal(err)
				}
			}
			do("function f() {} process.on('unhandledRejection', f); setTimeout(f, 1e7); +setTimeout(f, 1e7)")
			do("{ " + burst + " }")
			beat.Eventually(t, func() bool { do(""); return room <= 1000 }, "the host to keep few places")
		})
	}
}

// A signal that lives long keeps no listener that was removed, or that has run once; those that are still there it keeps.
func TestSignalsForgetListeners(t *testing.T) {
	for how, kept := range map[string]bool{
		"t.removeEventListener('x', f)": false, "t.dispatchEvent(new Event('x'))": false, "": true,
		"AbortSignal.any([c.signal]).addEventListener('abort', f)": true,
	} {
		h := running(t)
		var freed atomic.Int64
		if err := h.Do(ctx, func(vm *goja.Runtime) error {
			h.Set("tracked", func() goja.Value {
				o := vm.NewObject()
				runtime.AddCleanup(o, func(int) { freed.Add(1) }, 0)
				return o
			})
			_, err := vm.RunString(`globalThis.c = new AbortController(); for (let i = 0; i < 100; i++) (() => {
				const o = tracked(), f = () => o, t = new EventTarget(); t.addEventListener('x', f, { once: true, signal: c.signal }); ` + how + `
			})()`)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		for tries := 0; freed.Load() < 90 && tries < 20; tries++ {
			runtime.GC()
			time.Sleep(time.Millisecond)
		}
		if n := freed.Load(); kept != (n < 90) {
			t.Errorf("%q: %d of 100 listeners were freed", how, n)
		}
	}
}
