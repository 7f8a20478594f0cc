package gojaloop_test

// Ends at any moment: nothing hangs, every caller hears of the end, and nothing is left.

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/dop251/goja"
	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/promise"
	"github.com/turnloop/turnloop/gojaloop"
	"github.com/turnloop/turnloop/internal/beat"
)

// busy are scripts that run until they are ended, or for a while.
var busy = []string{
	"for (;;);",
	"(function f() { process.nextTick(f) })()",
	"(function f() { Promise.resolve().then(f) })()",
	"(function f() { setImmediate(f) })()",
	"(function f() { setTimeout(f) })()",
	"(function f() { work().then(f) })()",
	"(async () => { for (;;) await work() })()",
	"setInterval(() => {}, 1); setTimeout(() => {}, 1e6)",
	"new Promise(() => {}); follow()",
	"(function f() { setTimeout(f); work(); Promise.reject(1).catch(f) })()",
	"setTimeout(() => { throw new Error('own end') }, 1)",
	"setTimeout(() => process.exit(3), 1)",
	"process.on('exit', () => { for (let i = 0; i < 1000; i++); }); setImmediate(() => {})",
	"1 + 1",
}

// ends are the ways in which a host comes to its end.
var ends = []struct {
	name string
	do   func(h *gojaloop.Host, cancel func())
}{
	{"Close", func(h *gojaloop.Host, _ func()) { h.Close() }},
	{"Close of the loop", func(h *gojaloop.Host, _ func()) { h.Loop().Close() }},
	{"Shutdown", func(h *gojaloop.Host, _ func()) {
		soon, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
		defer cancel()
		_ = h.Loop().Shutdown(soon) // a script may keep the loop from ending, so Close follows
		h.Loop().Close()
	}},
	{"context of Run", func(_ *gojaloop.Host, cancel func()) { cancel() }},
	{"Close in a callback", func(h *gojaloop.Host, _ func()) {
		_ = h.Submit(func(*goja.Runtime) { h.Close() })
		time.Sleep(time.Millisecond)
		h.Close()
	}},
	{"Close twice, with Shutdown", func(h *gojaloop.Host, _ func()) {
		go h.Close()
		h.Close()
		_ = h.Loop().Shutdown(ctx)
	}},
}

func TestEndsAtAnyMoment(t *testing.T) {
	if strings.Contains(os.Getenv("GODEBUG"), "asyncpreemptoff=1") {
		t.Skip("endless scripts keep all processors, as in TestInterrupts")
	}
	rounds := 120
	if os.Getenv("TURNLOOP_SOAK") != "" {
		rounds = 5000
	}
	before := runtime.NumGoroutine()
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	for round := range rounds {
		source, end := busy[random.IntN(len(busy))], ends[random.IntN(len(ends))]
		what := fmt.Sprintf("seed %d, round %d: %s by %s", seed, round, source, end.name)
		l, _ := eventloop.New()
		h, err := gojaloop.New(l)
		if err != nil {
			t.Fatal(err)
		}
		var awaited *promise.Promise
		h.Set("work", h.Promisify(func(c context.Context, _ []goja.Value) (func(*goja.Runtime) (goja.Value, error), error) {
			select {
			case <-c.Done():
			case <-time.After(100 * time.Microsecond):
			}
			return nil, nil
		}))
		h.Set("follow", func() goja.Value {
			p, _, _ := l.NewPromise()
			return h.Promise(p)
		})
		pending, _ := h.Runtime().RunString("new Promise(() => {})")
		awaited = h.Await(pending)
		ran := make(chan struct{})
		go func() { defer close(ran); l.Run(ctx) }()
		c, cancel := context.WithCancel(ctx)
		finished := make(chan string, 4)
		go func() { _, err := h.Run(c, "a.js", source); finished <- fmt.Sprint("Run: ", err) }()
		go func() {
			finished <- fmt.Sprint("Do: ", h.Do(c, func(vm *goja.Runtime) error { _, err := vm.RunString("1"); return err }))
		}()
		go func() {
			for h.Err() == nil && h.Submit(func(vm *goja.Runtime) { vm.RunString("Promise.resolve(1)") }) == nil {
				time.Sleep(50 * time.Microsecond)
			}
			finished <- "Submit"
		}()
		time.Sleep(time.Duration(random.IntN(3_000_000)))
		end.do(h, cancel)
		if end.name == "context of Run" {
			time.AfterFunc(time.Millisecond, h.Close) // work that no Run waits for would go on
		}
		for range 3 {
			beat.Receive(t, finished, what)
		}
		if _, err := awaited.Await(ctx); !errors.Is(err, gojaloop.ErrClosed) && !errors.Is(err, eventloop.ErrLoopTerminated) {
			t.Errorf("%s: what Go awaits: %v", what, err)
		}
		if err := h.Do(ctx, func(*goja.Runtime) error { return nil }); err == nil {
			t.Errorf("%s: Do afterwards returns no error", what)
		}
		cancel()
		l.Close()
		<-ran
	}
	awaitGoroutines(t, before)
}

// awaitGoroutines waits until there are no more goroutines than before.
func awaitGoroutines(t *testing.T, before int) {
	t.Helper()
	beat.Eventually(t, func() bool { return beat.Goroutines() <= before }, "goroutines to end")
}

// Hosts that have used everything leave no goroutine, no descriptor and no memory, whether they are dropped, closed,
// or end with their loop.
func TestManyHostsLeaveNothing(t *testing.T) {
	n := 300
	if os.Getenv("TURNLOOP_SOAK") != "" {
		n = 10_000
	}
	life := func(i int) {
		l, _ := eventloop.New()
		h, err := gojaloop.New(l, gojaloop.WithMemoryLimit(1<<40))
		if err != nil {
			t.Fatal(err)
		}
		h.Set("work", h.Promisify(func(context.Context, []goja.Value) (func(*goja.Runtime) (goja.Value, error), error) { return nil, nil }))
		source := `
			process.on('SIGTERM', () => {})
			process.on('exit', () => {})
			setTimeout(() => {}, 1).unref(); setImmediate(() => {}); queueMicrotask(() => {})
			const s = AbortSignal.any([AbortSignal.timeout(1e6)]); s.onabort = () => {}
			const { port1, port2 } = new MessageChannel(); port1.onmessage = () => port1.close(); port2.postMessage({ a: [1] })
			new Promise(() => {}); Promise.reject(1).catch(() => {})
			work().then(() => structuredClone(new URL('http://x/').href))`
		switch i % 4 {
		case 0: // to its end
			if _, err := h.Run(ctx, "a.js", source); err != nil {
				t.Fatal(err)
			}
		case 1: // closed
			go func() { h.Run(ctx, "a.js", source+"; setInterval(() => {}, 1)") }()
			runtime.Gosched()
			h.Close()
			l.Close()
		case 2: // its loop is closed
			ran := make(chan struct{})
			go func() { defer close(ran); l.Run(ctx) }()
			h.Submit(func(vm *goja.Runtime) { vm.RunString(source) })
			l.Close()
			<-ran
		case 3: // never run
		}
	}
	for i := range 40 {
		life(i)
	}
	measure := func() (goroutines, files int, heap uint64) {
		var m runtime.MemStats
		for range 3 {
			runtime.GC()
			time.Sleep(20 * time.Millisecond) // for finalizers and the last watches
		}
		runtime.ReadMemStats(&m)
		open, _ := os.ReadDir("/proc/self/fd")
		return runtime.NumGoroutine(), len(open), m.HeapAlloc
	}
	goroutines, files, heap := measure()
	for i := range n {
		life(i)
	}
	awaitGoroutines(t, goroutines)
	beat.Eventually(t, func() bool { // the last ones may still be ending
		_, f, b := measure()
		return f <= files && b <= heap+uint64(n)*256
	}, "descriptors to be closed and memory to be free")
}
