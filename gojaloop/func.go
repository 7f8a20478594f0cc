package gojaloop

// Go functions for scripts: their panics become exceptions.

import (
	"fmt"
	"reflect"
	"runtime/debug"

	"github.com/dop251/goja"
	"github.com/turnloop/turnloop/eventloop"
)

// Set defines a global, as [goja.Runtime.Set] does. A function is passed through [Host.Func] first. It is for the loop.
func (h *Host) Set(name string, value any) error {
	if reflect.ValueOf(value).Kind() == reflect.Func {
		value = h.Func(value)
	}
	return h.vm.Set(name, value)
}

// Func makes a script's function of a Go function of any type that [goja.Runtime.ToValue] takes. A panic of it throws
// an Error object whose property value is an *eventloop.PanicError; a panic with a goja.Value, a *goja.Exception or
// another of goja's own types is thrown as it is. It is for the loop, and panics if fn is not a function.
func (h *Host) Func(fn any) goja.Value {
	switch f := fn.(type) {
	case func(goja.FunctionCall) goja.Value:
		return h.vm.ToValue(func(call goja.FunctionCall) goja.Value {
			defer h.rethrow()
			if v := f(call); v != nil {
				return v
			}
			return goja.Undefined() // a handler of a promise must not return nil
		})
	case func(goja.ConstructorCall) *goja.Object:
		return h.vm.ToValue(func(call goja.ConstructorCall) *goja.Object {
			defer h.rethrow()
			return f(call)
		})
	}
	v := reflect.ValueOf(fn)
	if v.Kind() != reflect.Func {
		panic(fmt.Errorf("gojaloop: Func: %T is no function", fn))
	}
	return h.vm.ToValue(reflect.MakeFunc(v.Type(), func(args []reflect.Value) []reflect.Value {
		defer h.rethrow()
		if v.Type().IsVariadic() {
			return v.CallSlice(args)
		}
		return v.Call(args)
	}).Interface())
}

// rethrow turns a panic into an exception. Functions for scripts defer it.
func (h *Host) rethrow() {
	x := recover()
	if x == nil { // there was none, or it is runtime.Goexit
		return
	}
	t := reflect.TypeOf(x)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if _, value := x.(goja.Value); value || t.PkgPath() == reflect.TypeFor[goja.Runtime]().PkgPath() {
		panic(x)
	}
	panic(h.vm.NewGoError(&eventloop.PanicError{Value: x, Stack: debug.Stack()}))
}
