package gojaloop

// Globals that are made when a script first asks for them: an idle host pays for none.

import (
	"embed"
	"fmt"
	"sync"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
)

// makers make the globals, each at most once for a host. A name that stands for several things made together has its module make all.
var makers map[string]func(*Host) goja.Value

func init() { // refers to what refers to makers
	makers = map[string]func(*Host) goja.Value{
		"setTimeout":     func(h *Host) goja.Value { return h.function("setTimeout", 1, h.setTimeout) },
		"setInterval":    func(h *Host) goja.Value { return h.function("setInterval", 1, h.setInterval) },
		"setImmediate":   func(h *Host) goja.Value { return h.function("setImmediate", 1, h.setImmediate) },
		"clearTimeout":   func(h *Host) goja.Value { return h.function("clearTimeout", 1, h.clearTimer) },
		"clearInterval":  func(h *Host) goja.Value { return h.function("clearInterval", 1, h.clearTimer) },
		"clearImmediate": func(h *Host) goja.Value { return h.function("clearImmediate", 1, h.clearImmediate) },
		"queueMicrotask": (*Host).makeQueueMicrotask,
		"process":        func(h *Host) goja.Value { return h.makeProcess() },
		"global":         func(h *Host) goja.Value { return h.vm.GlobalObject() },
		"self":           func(h *Host) goja.Value { return h.vm.GlobalObject() },
		"atob":           func(h *Host) goja.Value { return h.function("atob", 1, h.atob) },
		"btoa":           func(h *Host) goja.Value { return h.function("btoa", 1, h.btoa) },
		"Buffer":         (*Host).makeBuffer,
		"require":        (*Host).makeRequire,
	}
	for module, names := range map[string][]string{
		"events": {"DOMException", "Event", "CustomEvent", "ErrorEvent", "PromiseRejectionEvent", "MessageEvent", "EventTarget",
			"AbortSignal", "AbortController", "MessagePort", "MessageChannel", "reportError"},
		"performance": {"performance", "Performance", "PerformanceEntry", "PerformanceMark", "PerformanceMeasure"},
		"clone":       {"structuredClone"},
		"console":     {"console"},
		"encoding":    {"TextEncoder", "TextDecoder"},
		"crypto":      {"crypto", "Crypto", "navigator", "Navigator"},
		"streams":     {"ReadableStream", "ReadableStreamDefaultReader", "Blob", "File"},
		"fetch":       {"fetch", "Headers", "FormData", "Request", "Response"},
		"url":         {"URL", "URLSearchParams"},
	} {
		for _, name := range names {
			makers[name] = func(h *Host) goja.Value { return h.module(module).Get(name) }
		}
	}
}

// enumerable are the globals that Node's for...in finds.
var enumerable = []string{"global", "clearImmediate", "setImmediate", "clearInterval", "clearTimeout", "setInterval", "setTimeout",
	"queueMicrotask", "structuredClone", "atob", "btoa", "performance", "fetch", "navigator", "crypto"}

// outward are the globals that reach beyond the program, which a sandbox has not.
var outward = []string{"fetch", "require"}

// globals is what the global object inherits from: it makes a global, and puts it on the global object. The
// goja.DynamicObject of the prototype.
type globals struct {
	host *Host
	gone map[string]bool // made, or not wanted
}

func (g *globals) Get(key string) goja.Value {
	if !g.Has(key) {
		return nil
	}
	return g.make(key)
}

func (g *globals) make(key string) goja.Value {
	v := makers[key](g.host)
	if g.gone == nil {
		g.gone = map[string]bool{}
	}
	g.gone[key] = true
	flag := goja.FLAG_FALSE
	for _, name := range enumerable {
		if name == key {
			flag = goja.FLAG_TRUE
		}
	}
	_ = g.host.vm.GlobalObject().DefineDataProperty(key, v, goja.FLAG_TRUE, goja.FLAG_TRUE, flag)
	return v
}

func (g *globals) Has(key string) bool {
	_, ok := makers[key]
	return ok && !g.gone[key]
}

func (g *globals) Keys() (keys []string) {
	for _, name := range enumerable {
		if g.Has(name) {
			keys = append(keys, name)
		}
	}
	return keys
}

func (g *globals) Set(string, goja.Value) bool { return false }
func (g *globals) Delete(string) bool          { return false }

// without takes globals away for good.
func (g *globals) without(names []string) error {
	for _, name := range names {
		if _, ok := makers[name]; !ok {
			return fmt.Errorf("gojaloop: WithoutGlobals: there is no global %q", name)
		}
		if g.gone == nil {
			g.gone = map[string]bool{}
		}
		g.gone[name] = true
	}
	return nil
}

// declare makes the globals that a script declares with var. The declaration would hide what is only inherited, and is to find what is there:
// "var process = process || {}".
func (g *globals) declare(program *ast.Program) {
	for _, d := range program.DeclarationList {
		for _, b := range d.List {
			if id, ok := b.Target.(*ast.Identifier); ok && g.Has(id.Name.String()) {
				g.make(id.Name.String())
			}
		}
	}
}

// sources are the modules in JavaScript: each a function of natives and a function that gets another module, which returns what it exports.
//
//go:embed web/*.js
var sources embed.FS

// programs are the modules that were compiled, which all runtimes share.
var programs sync.Map // of name to func() *goja.Program

func program(name string) *goja.Program {
	compile, _ := programs.LoadOrStore(name, sync.OnceValue(func() *goja.Program {
		source, err := sources.ReadFile("web/" + name + ".js")
		if err != nil {
			panic(err)
		}
		return goja.MustCompile(internalFile+"/"+name+".js", string(source), true)
	}))
	return compile.(func() *goja.Program)()
}

// module returns what a module exports. It panics with an exception or an interrupt, as a function that a script calls may.
func (h *Host) module(name string) *goja.Object {
	if m := h.modules[name]; m != nil {
		return m
	}
	if h.modules == nil {
		h.modules = map[string]*goja.Object{}
		h.natives = h.vm.NewDynamicObject(&natives{host: h})
		h.use = h.vm.ToValue(func(call goja.FunctionCall) goja.Value { return h.module(call.Argument(0).String()) })
	}
	made, err := h.vm.RunProgram(program(name))
	if err != nil {
		panic(err)
	}
	m := h.apply(made, goja.Undefined(), []goja.Value{h.natives, h.use}).ToObject(h.vm)
	h.modules[name] = m
	return m
}

// natives are the Go functions that the modules call, each made when it is first called. The goja.DynamicObject of "host".
type natives struct {
	host *Host
	made map[string]goja.Value
}

func (n *natives) Get(key string) goja.Value {
	if v := n.made[key]; v != nil {
		return v
	}
	f := nativeFunctions[key]
	if f == nil {
		return nil
	}
	if n.made == nil {
		n.made = map[string]goja.Value{}
	}
	n.made[key] = n.host.function(key, 1, func(call goja.FunctionCall) goja.Value {
		if v := f(n.host, call); v != nil {
			return v
		}
		return goja.Undefined()
	})
	return n.made[key]
}

func (n *natives) Set(string, goja.Value) bool { return false }
func (n *natives) Has(key string) bool         { return nativeFunctions[key] != nil }
func (n *natives) Delete(string) bool          { return false }
func (n *natives) Keys() []string              { return nil }
