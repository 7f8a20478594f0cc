package gojaloop

// What goja_nodejs brings: URL, Buffer and require; and what of Node is the host's own.

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

// urlPrelude adds to goja_nodejs's URL and URLSearchParams what they lack of the standard.
var urlPrelude = goja.MustCompile(internalFile, `(function (URL, URLSearchParams) {
	'use strict'
	const define = (o, name, d) => { if (!(name in o)) Object.defineProperty(o, name, { enumerable: true, configurable: true, ...d }) }
	define(URL, 'canParse', { value: function canParse(url, base) { return URL.parse(url, base) !== null }, writable: true })
	define(URL, 'parse', { value: function parse(url, base) {
		try {
			return base === undefined ? new URL(url) : new URL(url, base)
		} catch (_) {
			return null
		}
	}, writable: true })
	define(URLSearchParams.prototype, 'size', { get() { return [...this].length } })
	for (const C of [URL, URLSearchParams]) {
		if (!(Symbol.toStringTag in C.prototype)) Object.defineProperty(C.prototype, Symbol.toStringTag, { value: C.name, configurable: true })
	}
})`, true)

func (h *Host) makeURL() *goja.Object {
	exports := h.load(url.Require)
	made, err := h.vm.RunProgram(urlPrelude)
	if err != nil {
		panic(err)
	}
	h.apply(made, goja.Undefined(), []goja.Value{exports.Get("URL"), exports.Get("URLSearchParams")})
	return exports
}

// makeRequire enables goja_nodejs's require, with goja_nodejs's own modules.
func (h *Host) makeRequire() goja.Value {
	registry := h.registry
	if registry == nil {
		registry = new(require.Registry)
	}
	registry.Enable(h.vm)
	return h.vm.GlobalObject().Get("require")
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
