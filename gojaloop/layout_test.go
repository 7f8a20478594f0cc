package gojaloop

// The fields of goja that the host reads and writes without goja's knowing. A goja that has others is not taken before what uses
// them was looked at.

import (
	"reflect"
	"testing"

	"github.com/dop251/goja"

	"github.com/turnloop/turnloop/eventloop"
)

func TestLayoutOfGoja(t *testing.T) {
	frame := func(of reflect.Type) bool {
		f, ok := of.Elem().FieldByName("pc")
		return ok && f.Type == reflect.TypeFor[int]()
	}
	runtime := reflect.TypeFor[goja.Runtime]()
	for _, c := range []struct {
		path []string
		is   func(reflect.Type) bool
		want string
		uses string
	}{
		{[]string{"jobQueue"}, func(f reflect.Type) bool { return f == reflect.TypeFor[[]func()]() }, "a []func()",
			"context.go runs and drops promise jobs through it, entry.go asks whether some wait"},
		{[]string{"vm"}, func(f reflect.Type) bool { return f.Kind() == reflect.Pointer && f.Elem().Kind() == reflect.Struct }, "a pointer to a struct",
			"host.go finds the call stack and the try statements through it"},
		{[]string{"vm", "callStack"}, func(f reflect.Type) bool {
			return f.Kind() == reflect.Slice && f.Elem().Kind() == reflect.Struct && frame(f)
		}, "a slice of structs with an int pc", "lazy.go tells constructions from calls by it, context.go and interrupt.go whether goja can go on"},
		{[]string{"vm", "tryStack"}, func(f reflect.Type) bool { return f.Kind() == reflect.Slice }, "a slice",
			"context.go takes from it what an interrupt has left, and interrupt.go asks whether goja can go on"},
	} {
		at := runtime
		for _, name := range c.path {
			for at.Kind() == reflect.Pointer {
				at = at.Elem()
			}
			f, ok := at.FieldByName(name)
			if !ok {
				t.Fatalf("goja's Runtime has no field %v, which was %s: %s", c.path, c.want, c.uses)
			}
			at = f.Type
		}
		if !c.is(at) {
			t.Errorf("goja's field %v is a %v, and was %s: %s", c.path, at, c.want, c.uses)
		}
	}

	loop, err := eventloop.New()
	if err != nil {
		t.Fatal(err)
	}
	h, err := New(loop)
	if err != nil {
		t.Fatal(err)
	}
	if !h.jobs.IsValid() || !h.calls.IsValid() || !h.tries.IsValid() {
		t.Error("the host has not found goja's fields, which are there: look at host.go")
	}
	// What the fields mean is what they meant: jobs wait in the queue, and the frames of scripts and of try statements are counted.
	var jobs, calls, tries []int
	_ = h.Set("look", func() {
		jobs, calls, tries = append(jobs, h.jobs.Len()), append(calls, h.calls.Len()), append(tries, h.tries.Len())
	})
	_, err = h.vm.RunString(`look(); Promise.resolve().then(() => {}); (function () { try { look() } finally {} })()`)
	if err != nil || len(jobs) != 2 || jobs[0] != 0 || jobs[1] != 1 || calls[1] != calls[0]+1 || tries[1] != tries[0]+1 {
		t.Errorf("goja counts jobs %v, calls %v and try statements %v otherwise than before, %v", jobs, calls, tries, err)
	}
}
