package gojaloop

// The Go functions that the JavaScript modules of the globals call.

import (
	"crypto/rand"
	"fmt"
	"io"
	"maps"
	"math"
	"math/big"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"time"
	"weak"

	"github.com/dop251/goja"
)

var nativeFunctions map[string]func(*Host, goja.FunctionCall) goja.Value

func init() { // an initializer would be a cycle: some functions make modules, which use nativeFunctions
	nativeFunctions = map[string]func(*Host, goja.FunctionCall) goja.Value{
		"now": func(h *Host, _ goja.FunctionCall) goja.Value { return h.vm.ToValue(h.elapsed()) },
		"timeOrigin": func(h *Host, _ goja.FunctionCall) goja.Value {
			return h.vm.ToValue(float64(h.timers.anchor.UnixMicro()) / 1000)
		},
		"hrtime": func(h *Host, _ goja.FunctionCall) goja.Value {
			ns := h.timers.now()
			return h.vm.NewArray(ns/1e9, ns%1e9)
		},
		"newTarget":  (*Host).newTarget,
		"spoken":     (*Host).spoken,
		"pattern":    (*Host).pattern,
		"report":     (*Host).report,
		"mainFailed": (*Host).mainFailed,
		"task":       (*Host).task,
		"hold":       (*Host).holdFor,
		"after":      (*Host).after,
		"toLongLong": (*Host).toLongLong,
		"nextTick":   (*Host).nextTick,
		"exit":       (*Host).exit,
		"reallyExit": (*Host).reallyExit,
		"invalid":    (*Host).invalidCallback,
		"invalidInteger": func(h *Host, call goja.FunctionCall) goja.Value {
			v, name := call.Argument(0), call.Argument(1).String()
			switch v.ExportType() {
			case reflect.TypeFor[int64](), reflect.TypeFor[float64]():
				return h.newError("RangeError", "ERR_OUT_OF_RANGE", `The value of "`+name+`" is out of range. It must be an integer. Received `+v.String())
			}
			return h.newError("TypeError", "ERR_INVALID_ARG_TYPE", `The "`+name+`" argument must be of type number. Received `+received(v))
		},
		"classOf":  func(h *Host, call goja.FunctionCall) goja.Value { return h.vm.ToValue(classOf(call.Argument(0))) },
		"platform": func(h *Host, call goja.FunctionCall) goja.Value { return h.vm.ToValue(foreign(call.Argument(0))) },
		"targetOf": func(_ *Host, call goja.FunctionCall) goja.Value {
			if p, ok := call.Argument(0).Export().(goja.Proxy); ok && p.Target() != nil {
				return p.Target()
			}
			return goja.Null()
		},
		"detached": func(h *Host, call goja.FunctionCall) goja.Value {
			return h.vm.ToValue(arrayBuffer(call.Argument(0)).Detached())
		},
		"detach": func(h *Host, call goja.FunctionCall) goja.Value {
			return h.vm.ToValue(arrayBuffer(call.Argument(0)).Detach())
		},
		"stateOf": func(h *Host, call goja.FunctionCall) goja.Value {
			p, ok := call.Argument(0).Export().(*goja.Promise)
			if !ok {
				return h.vm.NewArray("pending", goja.Undefined())
			}
			state := map[goja.PromiseState]string{goja.PromiseStatePending: "pending", goja.PromiseStateFulfilled: "fulfilled", goja.PromiseStateRejected: "rejected"}[p.State()]
			return h.vm.NewArray(state, p.Result())
		},
		"stackOf": func(h *Host, call goja.FunctionCall) goja.Value { return h.vm.ToValue(h.stackOf(call.Argument(0))) },
		"trace": func(h *Host, _ goja.FunctionCall) goja.Value {
			return h.vm.ToValue(frames(h.vm.CaptureCallStack(0, nil)))
		},
		"print": func(h *Host, call goja.FunctionCall) goja.Value {
			w := h.stdout
			if call.Argument(0).ToBoolean() {
				w = h.stderr
			}
			_, _ = io.WriteString(w, call.Argument(1).String())
			return nil
		},
		"random": func(h *Host, call goja.FunctionCall) goja.Value {
			b := make([]byte, call.Argument(0).ToInteger())
			_, _ = rand.Read(b)
			return h.buffer(b)
		},
		"uuid": func(h *Host, _ goja.FunctionCall) goja.Value {
			var b [16]byte
			_, _ = rand.Read(b[:])
			b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
			return h.vm.ToValue(fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:]))
		},
		"processors": func(h *Host, _ goja.FunctionCall) goja.Value { return h.vm.ToValue(runtime.GOMAXPROCS(0)) },
		"system":     func(h *Host, _ goja.FunctionCall) goja.Value { return h.vm.ToValue(runtime.GOOS) },
		"encode":     func(h *Host, call goja.FunctionCall) goja.Value { return h.buffer([]byte(call.Argument(0).String())) },
		"decode":     (*Host).decodeUTF8,
		"encodingOf": func(h *Host, call goja.FunctionCall) goja.Value {
			return h.vm.ToValue(encodingOf(call.Argument(0).String()))
		},
		"decoder":     (*Host).newDecoder,
		"unescape":    func(h *Host, call goja.FunctionCall) goja.Value { return h.buffer(unescape(call.Argument(0).String())) },
		"unbase64":    (*Host).unbase64,
		"parseURL":    (*Host).parseURL,
		"changeURL":   (*Host).changeURL,
		"parseForm":   (*Host).parseForm,
		"writeForm":   (*Host).writeForm,
		"wellFormed":  func(h *Host, call goja.FunctionCall) goja.Value { return h.vm.ToValue(call.Argument(0).String()) },
		"nodeBuffer":  (*Host).nodeBuffer,
		"errorCode":   (*Host).errorCode,
		"request":     (*Host).request,
		"weak":        (*Host).weak,
		"multipart":   (*Host).multipart,
		"listening":   (*Host).listening,
		"about":       (*Host).about,
		"cwd":         (*Host).cwd,
		"memoryUsage": (*Host).memoryUsage,
	}
}

// elapsed is performance.now: milliseconds since the host was made.
func (h *Host) elapsed() float64 { return float64(h.timers.now()) / float64(time.Millisecond) }

func (h *Host) buffer(b []byte) goja.Value { return h.vm.ToValue(h.vm.NewArrayBuffer(b)) }

// arrayBuffer returns the ArrayBuffer that a value is; if it is none, an empty one.
func arrayBuffer(v goja.Value) goja.ArrayBuffer {
	b, _ := v.Export().(goja.ArrayBuffer)
	return b
}

// bytesOf returns the bytes of an ArrayBuffer or of a view of one, not copied; false for any other value.
func bytesOf(v goja.Value) ([]byte, bool) {
	o, ok := v.(*goja.Object)
	if !ok {
		return nil, false
	}
	if o.ExportType() == reflect.TypeFor[goja.ArrayBuffer]() {
		return arrayBuffer(o).Bytes(), true
	}
	b, ok := o.Export().([]byte)
	return b, ok
}

// classes names the classes that goja tells only by their exported types.
var classes = map[reflect.Type]string{
	reflect.TypeFor[goja.ArrayBuffer](): "ArrayBuffer", reflect.TypeFor[goja.Proxy](): "Proxy", reflect.TypeFor[[][2]any](): "Map",
	reflect.TypeFor[[]any](): "Set", reflect.TypeFor[*goja.Promise](): "Promise", reflect.TypeFor[*big.Int](): "BigInt", reflect.TypeFor[string](): "Symbol",
}

// classOf returns the class by which goja implements an object, "" for a primitive.
func classOf(v goja.Value) string {
	o, ok := v.(*goja.Object)
	if !ok {
		return ""
	}
	class := o.ClassName()
	if t := o.ExportType(); class == "Object" || t == reflect.TypeFor[goja.Proxy]() {
		if c := classes[t]; c != "" {
			return c
		}
	}
	return class
}

// foreign tells whether an object wraps a Go value.
func foreign(v goja.Value) bool {
	o, ok := v.(*goja.Object)
	return ok && o.ExportType() != reflect.TypeFor[map[string]any]()
}

// weak returns a function that returns its argument as long as something else refers to it.
func (h *Host) weak(call goja.FunctionCall) goja.Value {
	o, _ := call.Argument(0).(*goja.Object)
	p := weak.Make(o)
	return h.vm.ToValue(func(goja.FunctionCall) goja.Value {
		if o := p.Value(); o != nil {
			return o
		}
		return goja.Undefined()
	})
}

// report makes its argument an uncaught exception. A nextTick function throws it, so that no caller can catch it.
func (h *Host) report(call goja.FunctionCall) goja.Value {
	v := call.Argument(0)
	throw := h.vm.ToValue(func(goja.FunctionCall) goja.Value { panic(v) }).(*goja.Object)
	if h.endErr == nil {
		h.ticks.push(tick{fn: throw})
	}
	return nil
}

// mainFailed passes what has ended a main module that is a promise to uncaught.
func (h *Host) mainFailed(call goja.FunctionCall) goja.Value {
	h.uncaught(call.Argument(0), nil, "unhandledRejection")
	return nil
}

// task runs a function in a callback of its own.
func (h *Host) task(call goja.FunctionCall) goja.Value {
	fn := call.Argument(0)
	_ = h.Submit(func(*goja.Runtime) { h.apply(fn, goja.Undefined(), nil) })
	return nil
}

// holdFor keeps Run waiting until the function that it returns is called.
func (h *Host) holdFor(goja.FunctionCall) goja.Value { return h.vm.ToValue(h.Hold()) }

// after calls a script's function after a delay, in milliseconds, of any length. Its timer has no ref.
func (h *Host) after(call goja.FunctionCall) goja.Value {
	const longest = float64(math.MaxInt64/2) / float64(time.Millisecond)
	t := &timer{timers: &h.timers, fn: call.Argument(1), rare: rare{none}, unref: true}
	t.delay = time.Duration(min(call.Argument(0).ToFloat(), longest)) * time.Millisecond
	h.timers.give(t)
	return nil
}

// toLongLong is Web IDL's unsigned long long with [EnforceRange].
func (h *Host) toLongLong(call goja.FunctionCall) goja.Value {
	f := call.Argument(0).ToFloat()
	if math.IsNaN(f) || math.Trunc(f) < 0 || math.Trunc(f) > 1<<53-1 {
		panic(h.vm.NewTypeError("%s is not an integer of at least 0", call.Argument(0).String()))
	}
	return h.vm.ToValue(int64(f))
}

// stackOf returns the frames of an Error object, "" for any other value.
func (h *Host) stackOf(v goja.Value) string {
	o, ok := v.(*goja.Object)
	if !ok {
		return ""
	}
	s, ok := o.Get("stack").(goja.String) // also of what is no Error by birth, but was given a stack
	if !ok {
		return ""
	}
	return h.framesOf(o, s.String())
}

// about returns the property of the object process that the script names. In a sandbox only platform and arch have their
// real values.
func (h *Host) about(call goja.FunctionCall) goja.Value {
	name := call.Argument(0).String()
	switch {
	case name == "platform":
		if runtime.GOOS == "windows" {
			return h.vm.ToValue("win32")
		}
		return h.vm.ToValue(runtime.GOOS)
	case name == "arch":
		arch := map[string]string{"amd64": "x64", "386": "ia32"}[runtime.GOARCH]
		if arch == "" {
			arch = runtime.GOARCH
		}
		return h.vm.ToValue(arch)
	case name == "execArgv":
		return h.vm.NewArray()
	case name == "env":
		env := h.vm.NewObject()
		if !h.sandbox {
			for _, e := range os.Environ() {
				if k, v, ok := strings.Cut(e, "="); ok && k != "" {
					_ = env.Set(k, v)
				}
			}
		}
		return env
	case name == "argv":
		args := []any{}
		if !h.sandbox {
			for _, a := range os.Args {
				args = append(args, a)
			}
		}
		return h.vm.NewArray(args...)
	case h.sandbox && (name == "pid" || name == "ppid"):
		return h.vm.ToValue(0)
	case h.sandbox:
		return h.vm.ToValue("")
	case name == "pid":
		return h.vm.ToValue(os.Getpid())
	case name == "ppid":
		return h.vm.ToValue(os.Getppid())
	case name == "execPath":
		path, _ := os.Executable()
		return h.vm.ToValue(path)
	}
	return h.vm.ToValue(os.Args[0])
}

func (h *Host) cwd(goja.FunctionCall) goja.Value {
	if h.sandbox {
		return h.vm.ToValue("/")
	}
	dir, err := os.Getwd()
	if err != nil {
		panic(h.vm.NewGoError(err))
	}
	return h.vm.ToValue(dir)
}

func (h *Host) memoryUsage(goja.FunctionCall) goja.Value {
	var m runtime.MemStats
	if !h.sandbox {
		runtime.ReadMemStats(&m)
	}
	return h.object(map[string]any{"rss": m.Sys, "heapTotal": m.HeapSys, "heapUsed": m.HeapAlloc, "external": 0, "arrayBuffers": 0})
}

// object makes an object with properties, in the order of their names.
func (h *Host) object(properties map[string]any) *goja.Object {
	o := h.vm.NewObject()
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		_ = o.Set(name, properties[name])
	}
	return o
}
