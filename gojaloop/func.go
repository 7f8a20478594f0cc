package gojaloop

// Go functions for scripts, whose panics are exceptions.

import (
	"fmt"
	"reflect"
	"runtime/debug"

	"github.com/dop251/goja"
	"github.com/turnloop/turnloop/eventloop"
)

// Set defines a global, as [goja.Runtime.Set] does; a function is made one of [Host.Func] first. It is for the loop.
func (h *Host) Set(name string, value any) error {
	if reflect.ValueOf(value).Kind() == reflect.Func {
		value = h.Func(value)
	}
	return h.vm.Set(name, value)
}

// Func makes a function for scripts of a Go function, of any type that [goja.Runtime.ToValue] takes. When it panics the script
// gets an Error object, whose property value is an *eventloop.PanicError. What goja itself throws so, and values and
// *goja.Exception, are thrown as they are. It is for the loop, and panics if fn is no function.
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

// rethrow makes an exception of a panic.
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
