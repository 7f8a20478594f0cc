package gojaloop_test

// Ends of the host, of its loop, of both; nothing is left behind.

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dop251/goja"
	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/gojaloop"
	"github.com/turnloop/turnloop/internal/beat"
)

// Functions that are accepted while the loop shuts down still run.
func TestAcceptedRunsAtShutdown(t *testing.T) {
	for range 50 {
		h := running(t)
		ran, accepted := 0, 0
		done := make(chan struct{})
		go func() {
			defer close(done)
			for h.Submit(func(*goja.Runtime) { ran++ }) == nil {
				accepted++
			}
		}()
		runtime.Gosched()
		h.Loop().Shutdown(ctx)
		<-done
		<-h.Loop().Done()
		if ran != accepted {
			t.Fatalf("%d of %d", ran, accepted)
		}
	}
}

// What waits for a script that goes on hears whether the loop has ended or the host.
func TestEndWithScriptsPending(t *testing.T) {
	for want, end := range map[error]func(*gojaloop.Host){
		eventloop.ErrLoopTerminated: func(h *gojaloop.Host) { h.Loop().Shutdown(ctx) },
		gojaloop.ErrClosed:          (*gojaloop.Host).Close,
	} {
		h := running(t)
		done := make(chan error)
		go func() {
			_, err := h.Run(ctx, "a.js", "setInterval(() => {}, 1); setTimeout(() => {}, 1e6); new Promise(() => {}); (function f() { setImmediate(f) })()")
			done <- err
		}()
		time.Sleep(5 * time.Millisecond) // so that it is probably running
		end(h)
		if ran, did := <-done, h.Do(ctx, func(*goja.Runtime) error { return nil }); ran != want || did != want {
			t.Error(ran, did)
		}
	}
}

func TestAutoExit(t *testing.T) {
	l, _ := eventloop.New(eventloop.WithAutoExit(true))
	h, _ := gojaloop.New(l)
	n := 0
	h.Set("count", func() { n++ })
	h.Submit(func(vm *goja.Runtime) {
		vm.RunString(`
			setTimeout(() => { count(); setImmediate(() => { count(); setTimeout(count, 2) }) }, 2)
			setInterval(() => {}, 1e6).unref()`)
	})
	if err := l.Run(ctx); err != nil || n != 3 {
		t.Errorf("%v, %d", err, n)
	}
}

// Hosts to which nothing refers are garbage, whether their loops live or not.
func TestHostsLeaveNothing(t *testing.T) {
	before := runtime.NumGoroutine()
	l, _ := eventloop.New()
	go l.Run(ctx)
	begun := make(chan struct{})
	l.Submit(func() { close(begun) })
	<-begun
	var collected atomic.Int64
	for range 20 {
		h, err := gojaloop.New(l)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.Run(ctx, "a.js", "setTimeout(() => {}, 1); new Promise(() => {}); process.on('exit', () => {})"); err != nil {
			t.Fatal(err)
		}
		runtime.AddCleanup(h, func(int) { collected.Add(1) }, 0)
	}
	beat.Eventually(t, func() bool {
		runtime.GC()
		return collected.Load() >= 15
	}, "hosts to be collected")
	l.Shutdown(ctx)
	awaitGoroutines(t, before)
}

// The cost of an idle host beyond its loop and its runtime, whose class Promise is made already. Globals are made
// when scripts first ask for them.
func TestIdleHostsAreSmall(t *testing.T) {
	const n = 1000
	collected := func() (stats runtime.MemStats) {
		for range 3 { // what other tests have left in pools and to cleanups goes with the second and third
			runtime.GC()
		}
		runtime.ReadMemStats(&stats)
		return stats
	}
	size := func(make func() any) int {
		kept := []any{make()} // one-time allocations do not count
		before := collected()
		for range n {
			kept = append(kept, make())
		}
		after := collected()
		runtime.KeepAlive(kept)
		return (int(after.HeapAlloc) - int(before.HeapAlloc)) / n
	}
	type both struct {
		loop *eventloop.Loop
		vm   *goja.Runtime
	}
	makeBare := func() any {
		l, _ := eventloop.New()
		vm := goja.New()
		vm.RunString("Promise.resolve(); (() => {})()") // goja makes these on their first use
		return both{l, vm}
	}
	bare := size(makeBare)
	host := size(func() any {
		return newHostOnly(t)
	})
	for range 2 { // what other tests have left may be freed meanwhile, so the smallest difference counts
		bare = max(bare, size(makeBare))
	}
	if extra := host - bare; extra > 8<<10 {
		t.Errorf("a host costs %d bytes, a runtime and a loop %d: %d more", host, bare, extra)
	} else {
		t.Logf("a host costs %d bytes, a runtime and a loop %d", host, bare)
	}
}

func newHostOnly(t testing.TB) *gojaloop.Host {
	l, _ := eventloop.New()
	h, err := gojaloop.New(l)
	if err != nil {
		t.Fatal(err)
	}
	return h
}
