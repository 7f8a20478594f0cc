package gojaloop

// Globals are made when a script first asks for them: an idle host pays for none.

import (
	"embed"
	"fmt"
	"sync"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
)

// makers make the globals by name, each at most once for a host. Globals of one module are made together.
var makers map[string]func(*Host) goja.Value

func init() { // an initializer would be a cycle: some makers use makers
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
		"require":        (*Host).makeRequire,
	}
	for module, names := range map[string][]string{
		"events": {"DOMException", "Event", "CustomEvent", "ErrorEvent", "PromiseRejectionEvent", "MessageEvent", "EventTarget",
			"AbortSignal", "AbortController", "reportError"},
		"messages":    {"MessagePort", "MessageChannel"},
		"performance": {"performance", "Performance", "PerformanceEntry", "PerformanceMark", "PerformanceMeasure"},
		"clone":       {"structuredClone"},
		"console":     {"console"},
		"encoding":    {"TextEncoder", "TextDecoder"},
		"buffer":      {"Buffer"},
		"crypto":      {"crypto", "Crypto", "navigator", "Navigator"},
		"streams":     {"ReadableStream", "ReadableStreamDefaultReader", "Blob", "File"},
		"headers":     {"Headers"},
		"fetch":       {"fetch", "FormData", "Request", "Response"},
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

// outward are the globals that reach beyond the program; a sandbox leaves them out.
var outward = []string{"fetch", "require"}

// globals is the prototype of the global object, by goja.DynamicObject. It makes a global when it is asked for it,
// and puts it on the global object.
type globals struct {
	host *Host
	gone map[string]bool // names of globals that were made already, or are left out
}

func (g *globals) Get(key string) goja.Value {
	if !g.Has(key) {
		return nil
	}
	return g.make(key)
}

// make makes a global, and defines it on the global object. The caller has checked Has.
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

// without leaves out globals for good, or returns an error for an unknown name.
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

// declare makes the globals that a script declares with var. The declaration would hide an inherited global; but "var
// process = process || {}" must find it.
func (g *globals) declare(program *ast.Program) {
	for _, d := range program.DeclarationList {
		for _, b := range d.List {
			if id, ok := b.Target.(*ast.Identifier); ok && g.Has(id.Name.String()) {
				g.make(id.Name.String())
			}
		}
	}
}

// sources are the modules in JavaScript. Each is a function that returns its exports; it is given the natives, and a
// function that returns another module.
//
//go:embed web/*.js
var sources embed.FS

// programs are the modules compiled so far, common to all runtimes.
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

// module returns the exports of a module, made on the first call. It panics with an exception or an interrupt, as a
// function that a script calls may. On the loop.
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

// natives implements the object "host" of the modules, a goja.DynamicObject. It makes each Go function on its first
// use.
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
