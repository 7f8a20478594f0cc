package gojaloop

// Globals are made when a script first asks for them: an idle host pays for none.

import (
	"embed"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/turnloop/turnloop/gojaloop/internal/compile"
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
		"weak":        {"WeakRef", "FinalizationRegistry"},
	} {
		for _, name := range names {
			makers[name] = func(h *Host) goja.Value { return h.module(module).Get(name) }
		}
	}
}

// hidden are what mended code uses. Their names cannot be written in a script, and they never become properties of the
// global object.
var hidden map[string]func(*Host) goja.Value

func init() { // for the same reason
	of := func(module, name string) func(*Host) goja.Value {
		return func(h *Host) goja.Value { return h.module(module).Get(name) }
	}
	done := func(name string) func(*Host) goja.Value {
		return func(h *Host) goja.Value { return h.apply(of("regexp", name)(h), goja.Undefined(), nil) }
	}
	hidden = map[string]func(*Host) goja.Value{
		compile.NewTarget: func(h *Host) goja.Value { return h.function("newTarget", 1, h.newTarget) },
		compile.Stack:     func(h *Host) goja.Value { return h.function("stack", 1, h.prepareStack) },
		compile.Message:   func(h *Host) goja.Value { return h.function("message", 1, h.spoken) },
		compile.Literal:   of("regexp", "keep"), compile.Class: done("installed"), compile.Statics: done("statics"),
		compile.Mark: of("generators", "mark"), compile.Made: of("generators", "made"),
	}
}

// newTarget returns its argument, the new.target of its caller, if the caller is constructed. goja calls a constructor by way
// of a frame of its own; a plain call has none, and finds the new.target of a constructor around it.
func (h *Host) newTarget(call goja.FunctionCall) goja.Value {
	if !h.calls.IsValid() || h.calls.Len() < 2 {
		return call.Argument(0)
	}
	if pc := h.calls.Index(h.calls.Len() - 2).FieldByName("pc"); pc.Kind() == reflect.Int && pc.Int() != nativeFrame {
		return goja.Undefined()
	}
	return call.Argument(0)
}

// nativeFrame is the place of goja's frames for calls that do not come from a script.
const nativeFrame = -2

// pattern returns what takes the place of a pattern that a script makes a RegExp of, and the source that the RegExp is to have;
// null if nothing does.
func (h *Host) pattern(call goja.FunctionCall) goja.Value {
	s := call.Argument(0).ToString().(goja.String)
	units := make([]uint16, s.Length())
	for i := range units {
		units[i] = s.CharAt(i)
	}
	mended, changed := compile.Pattern(utf8Pattern(units), call.Argument(1).String())
	if !changed {
		return goja.Null()
	}
	return h.vm.NewArray(mended, goja.StringFromUTF16(escapedSource(units)))
}

// utf8Pattern returns a pattern in which lone surrogates are escaped.
func utf8Pattern(units []uint16) string {
	var b strings.Builder
	escape := false // the unit before is a backslash that begins an escape
	for i := 0; i < len(units); i++ {
		r := rune(units[i])
		if utf16.IsSurrogate(r) && i+1 < len(units) {
			if pair := utf16.DecodeRune(r, rune(units[i+1])); pair != utf8.RuneError {
				r = pair
				i++
			}
		}
		switch {
		case !utf16.IsSurrogate(r):
			b.WriteRune(r)
		case escape:
			fmt.Fprintf(&b, "u%04x", r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		escape = r == '\\' && !escape
	}
	return b.String()
}

// escapedSource returns the property source of a pattern: slashes outside of sets are escaped, and so are line ends.
func escapedSource(units []uint16) (source []uint16) {
	escape, set := false, false
	for _, u := range units {
		text, special := map[uint16]string{'/': `\/`, '\n': `\n`, '\r': `\r`, 0x2028: `\u2028`, 0x2029: `\u2029`}[u]
		switch {
		case special && escape:
			source = append(source, utf16.Encode([]rune(text[1:]))...)
		case special && !(u == '/' && set):
			source = append(source, utf16.Encode([]rune(text))...)
		default:
			source = append(source, u)
		}
		set = !escape && u == '[' || set && (escape || u != ']')
		escape = u == '\\' && !escape
	}
	return source
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
	gone map[string]bool       // names of globals that were made already, or are left out
	kept map[string]goja.Value // those of hidden that were made
}

func (g *globals) Get(key string) goja.Value {
	if f := hidden[key]; f != nil {
		if g.kept[key] == nil {
			v := f(g.host)
			if g.kept == nil {
				g.kept = map[string]goja.Value{}
			}
			g.kept[key] = v
		}
		return g.kept[key]
	}
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
	return ok && !g.gone[key] || hidden[key] != nil
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

// natives implements the object "host" of the modules, a goja.DynamicObject. It makes each Go function on its first use.
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
