package gojabaseline_test

// Tests of what the baseline has beside the interface.

import (
	"context"
	"errors"
	"testing"

	"github.com/dop251/goja"

	"github.com/turnloop/turnloop/internal/gojabaseline"
	"github.com/turnloop/turnloop/internal/loopapi"
)

// SubmitJS hands over the loop's one runtime, keeps the order of Submit, and refuses what Submit refuses.
func TestSubmitJS(t *testing.T) {
	loop := gojabaseline.New()
	if err := loop.SubmitJS(nil); !errors.Is(err, loopapi.ErrNilCallback) {
		t.Errorf("nil: %v", err)
	}
	var got goja.Value
	ran := false
	for _, fn := range []func(*goja.Runtime){
		func(vm *goja.Runtime) {
			if _, err := vm.RunString("let answer = 0; Promise.resolve(42).then(v => { answer = v })"); err != nil {
				t.Error(err)
			}
		},
		func(vm *goja.Runtime) {
			if !ran {
				t.Error("it overtook Submit")
			}
			var err error
			if got, err = vm.RunString("answer"); err != nil {
				t.Error(err)
			}
		},
	} {
		if err := loop.SubmitJS(fn); err != nil {
			t.Fatal(err)
		}
		if err := loop.Submit(func() { ran = true }); err != nil {
			t.Fatal(err)
		}
	}
	if err := loop.Shutdown(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got == nil || got.ToInteger() != 42 {
		t.Errorf("the promise's value is %v, want 42", got)
	}
	if err := loop.SubmitJS(func(*goja.Runtime) {}); !errors.Is(err, loopapi.ErrLoopTerminated) {
		t.Errorf("after the end: %v", err)
	}
}
