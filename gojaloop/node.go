package gojaloop

// What goja_nodejs brings: Buffer and require; and what of Node is the host's own.

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/dop251/goja"
	"github.com/dop251/goja_nodejs/buffer"
	"github.com/dop251/goja_nodejs/require"
	"github.com/dop251/goja_nodejs/url"
)

// load runs a loader of goja_nodejs, and returns what the module exports.
func (h *Host) load(loader require.ModuleLoader) *goja.Object {
	module, exports := h.vm.NewObject(), h.vm.NewObject()
	_ = module.Set("exports", exports)
	loader(h.vm, module)
	return exports
}

func (h *Host) makeBuffer() goja.Value { return h.load(buffer.Require).Get("Buffer") }

// makeRequire enables goja_nodejs's require, with goja_nodejs's own modules. In the host's own registry the module url has the
// global classes.
func (h *Host) makeRequire() goja.Value {
	registry := h.registry
	if registry == nil {
		registry = new(require.Registry)
		for _, name := range []string{url.ModuleName, "node:" + url.ModuleName} {
			registry.RegisterNativeModule(name, h.requireURL)
		}
	}
	registry.Enable(h.vm)
	return h.vm.GlobalObject().Get("require")
}

// requireURL is goja_nodejs's module url, with the global classes.
func (h *Host) requireURL(vm *goja.Runtime, module *goja.Object) {
	url.Require(vm, module)
	exports := module.Get("exports").ToObject(vm)
	for _, name := range []string{"URL", "URLSearchParams"} {
		_ = exports.Set(name, h.module("url").Get(name))
	}
}

// listening hears that listeners of an event of the process come or go. Signals are asked for while somebody listens.
func (h *Host) listening(call goja.FunctionCall) goja.Value {
	name, listens := call.Argument(0).String(), call.Argument(1).ToBoolean()
	sig, ok := map[string]os.Signal{"SIGINT": os.Interrupt, "SIGTERM": syscall.SIGTERM}[name]
	if !ok || h.sandbox || h.over != nil {
		return nil
	}
	if stop := h.signals[name]; stop != nil {
		if !listens {
			stop()
			delete(h.signals, name)
		}
		return nil
	}
	if !listens {
		return nil
	}
	if h.signals == nil {
		h.signals = map[string]func(){}
	}
	came, over := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(came, sig)
	h.signals[name] = func() {
		signal.Stop(came)
		close(over)
	}
	loop := h.loop
	go func() {
		defer signal.Stop(came)
		for {
			select {
			case <-over:
				return
			case <-loop.Done():
				return
			case <-came:
				_ = h.Submit(func(vm *goja.Runtime) {
					if err := h.emit(name, vm.ToValue(name), vm.ToValue(map[string]int{"SIGINT": 2, "SIGTERM": 15}[name])); err != nil {
						panic(err)
					}
				})
			}
		}
	}()
	return nil
}
