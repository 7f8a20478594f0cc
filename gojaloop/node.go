package gojaloop

// Buffer and require, which goja_nodejs brings; and signals.

import (
	"os"
	"os/signal"

	"github.com/dop251/goja"
	"github.com/dop251/goja_nodejs/buffer"
	"github.com/dop251/goja_nodejs/require"
	"github.com/dop251/goja_nodejs/url"
)

// load runs a module loader of goja_nodejs, and returns the module's exports.
func (h *Host) load(loader require.ModuleLoader) *goja.Object {
	module, exports := h.vm.NewObject(), h.vm.NewObject()
	_ = module.Set("exports", exports)
	loader(h.vm, module)
	return exports
}

// nodeBuffer returns goja_nodejs's Buffer, which buffer.js completes.
func (h *Host) nodeBuffer(goja.FunctionCall) goja.Value { return h.load(buffer.Require).Get("Buffer") }

// makeRequire enables goja_nodejs's require and its modules. If the registry is the host's own, the modules url and
// buffer export the global classes.
func (h *Host) makeRequire() goja.Value {
	registry := h.registry
	if registry == nil {
		registry = new(require.Registry)
		for _, name := range []string{url.ModuleName, "node:" + url.ModuleName} {
			registry.RegisterNativeModule(name, h.requireURL)
		}
		for _, name := range []string{buffer.ModuleName, "node:" + buffer.ModuleName} {
			registry.RegisterNativeModule(name, h.requireBuffer)
		}
	}
	registry.Enable(h.vm)
	return h.vm.GlobalObject().Get("require")
}

// requireURL loads goja_nodejs's module url, with the global classes.
func (h *Host) requireURL(vm *goja.Runtime, module *goja.Object) {
	url.Require(vm, module)
	exports := module.Get("exports").ToObject(vm)
	for _, name := range []string{"URL", "URLSearchParams"} {
		_ = exports.Set(name, h.module("url").Get(name))
	}
}

// requireBuffer loads the module buffer, whose class Buffer is the global one.
func (h *Host) requireBuffer(_ *goja.Runtime, module *goja.Object) {
	_ = module.Get("exports").ToObject(h.vm).Set("Buffer", h.vm.GlobalObject().Get("Buffer"))
}

// listening is called when the first listener of an event of the process comes, and when the last one goes. While a signal has
// listeners, a goroutine receives it. The goroutine ends with the last listener, with the host or with the loop.
func (h *Host) listening(call goja.FunctionCall) goja.Value {
	name, listens := call.Argument(0).String(), call.Argument(1).ToBoolean()
	sig, ok := signalOf(name)
	if !ok || h.sandbox || h.endErr != nil {
		return nil
	}
	h.heard.Store(name, listens)
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
	came, stopped := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(came, sig)
	h.signals[name] = func() {
		signal.Stop(came)
		close(stopped)
	}
	loop := h.loop
	go func() {
		defer signal.Stop(came)
		for {
			select {
			case <-stopped:
				return
			case <-loop.Done():
				return
			case <-came:
				_ = h.Submit(func(vm *goja.Runtime) {
					if err := h.emit(name, vm.ToValue(name), vm.ToValue(int(sig))); err != nil {
						panic(err)
					}
				})
			}
		}
	}()
	return nil
}
