package gojaloop_test

// Many functions from Go: what they keep waiting, and what becomes of them at the end.

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dop251/goja"
	"github.com/turnloop/turnloop/gojaloop"
)

// However many functions wait, timers and immediates have their turns between them.
func TestManyFunctionsLetOthersRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := running(t)
		const n = 200
		ran, timers, immediates := 0, 0, 0
		err := h.Do(ctx, func(vm *goja.Runtime) error {
			_ = vm.Set("timer", func() { timers++ })
			_ = vm.Set("immediate", func() { immediates++ })
			for range n {
				if err := h.Submit(func(*goja.Runtime) { ran++; time.Sleep(time.Millisecond) }); err != nil {
					return err
				}
			}
			_, err := vm.RunString("setInterval(timer, 1); (function f() { immediate(); setImmediate(f) })()")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		err = h.Do(ctx, func(*goja.Runtime) error {
			if ran != n || timers < 8 || immediates < 8 {
				t.Errorf("%d functions, %d timers, %d immediates", ran, timers, immediates)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		h.Close()
	})
}

// On a single processor a producer that is far ahead lets the loop run.
func TestProducersGiveWay(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	h := running(t)
	var ran atomic.Int64
	for range 20_000 { // in less than a time slice
		if err := h.Submit(func(*goja.Runtime) { ran.Add(1) }); err != nil {
			t.Fatal(err)
		}
	}
	if ran.Load() == 0 {
		t.Error("none has run")
	}
}

// A host that ends drops the functions that wait, and tells the callers that wait, each once.
func TestEndTellsWaitingCallers(t *testing.T) {
	h := running(t)
	began, gate := make(chan struct{}), make(chan struct{})
	var callers sync.WaitGroup
	call := func(fn func()) {
		callers.Go(func() {
			err := h.Do(ctx, func(*goja.Runtime) error { fn(); return nil })
			if err != nil && !errors.Is(err, gojaloop.ErrClosed) {
				t.Error(err)
			}
		})
	}
	call(func() {})
	call(func() { close(began); <-gate })
	<-began
	for range 150 {
		if err := h.Submit(func(*goja.Runtime) { t.Error("it runs") }); err != nil {
			t.Fatal(err)
		}
		call(func() { t.Error("it runs") })
	}
	time.Sleep(time.Millisecond) // so that most calls wait
	h.Close()
	close(gate)
	callers.Wait()
}
