package gojaloop

// The scripts' side of timers: the functions, and the Timeout objects.

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/dop251/goja"
)

func (h *Host) setTimeout(call goja.FunctionCall) goja.Value  { return h.setTimer(call, false) }
func (h *Host) setInterval(call goja.FunctionCall) goja.Value { return h.setTimer(call, true) }

func (h *Host) setTimer(call goja.FunctionCall, repeat bool) goja.Value {
	fn, ok := h.callable(call.Argument(0))
	if !ok {
		panic(h.invalid(call.Argument(0), "callback"))
	}
	ts := &h.timers
	t := &timer{timers: ts, fn: fn, rare: rare{none}, repeat: repeat}
	if len(call.Arguments) > 2 {
		t.own().args = rest(call.Arguments, 2)
	}
	if h.scope != nil {
		t.own().scope = h.scope
	}
	if ts.html {
		t.own().level = min(ts.level, freeLevels) + 1
	}
	if len(call.Arguments) > 1 {
		t.delay = ts.coerce(call.Arguments[1], repeat)
	} else {
		t.delay = ts.coerce(nil, repeat)
	}
	ts.give(t)
	if ts.html {
		return h.vm.ToValue(ts.idOf(t))
	}
	return t.object
}

// give makes the object of a timer. It makes the timer pending too, unless it would be in vain.
func (ts *timers) give(t *timer) {
	h := ts.host
	t.object = h.vm.NewDynamicObject(t)
	_ = t.object.SetPrototype(ts.prototype())
	if !h.over() {
		ts.insert(t, ts.start(t.delay))
	} else {
		t.cleared = true
	}
}

// start returns the time from which a timer counts. A timer without a delay counts from the beginning of the phase if
// no timer with a delay is pending: then its order does not depend on the clock.
func (ts *timers) start(delay time.Duration) int64 {
	if delay == 0 && len(ts.order) <= 1 && (len(ts.order) == 0 || ts.order[0].delay == 0) {
		return ts.phaseBegan
	}
	return ts.now()
}

// idOf returns a timer's number, and gives it one on the first call.
func (ts *timers) idOf(t *timer) uint64 {
	if t.id == 0 {
		ts.lastID++
		t.own().id = ts.lastID
		if !t.cleared {
			ts.ids.Put(t.id, t)
		}
	}
	return t.id
}

// clearTimer is clearTimeout and clearInterval. It takes an object, a number, or the number as text; anything else does nothing.
func (h *Host) clearTimer(call goja.FunctionCall) goja.Value {
	v := call.Argument(0)
	if o, ok := v.(*goja.Object); ok {
		if t, ok := o.Export().(*timer); ok {
			t.timers.clear(t)
		} else if im, ok := o.Export().(*immediate); ok && h.timers.html {
			im.immediates.clear(im)
		}
		return goja.Undefined()
	}
	if len(h.timers.ids.Of) == 0 {
		return goja.Undefined()
	}
	var id uint64
	switch x := v.Export().(type) {
	case int64:
		id = uint64(x)
	case float64:
		id = uint64(x)
	case string:
		id, _ = strconv.ParseUint(x, 10, 64)
	}
	if t := h.timers.ids.Of[id]; t != nil {
		h.timers.clear(t)
	}
	return goja.Undefined()
}

// prototype returns the prototype of Timeout, made on the first call.
func (ts *timers) prototype() *goja.Object {
	if ts.proto != nil {
		return ts.proto
	}
	h := ts.host
	this := func(call goja.FunctionCall) *timer { return thisOf[*timer](h, call, "a Timeout") }
	state := func(call goja.FunctionCall) (unref *bool, pending bool) {
		t := this(call)
		return &t.unref, t.list != nil
	}
	ts.apply = h.function("callback", 0, func(call goja.FunctionCall) goja.Value {
		t := this(call)
		return h.apply(t.fn, t.object, t.args)
	})
	ts.proto = h.class("Timeout", map[string]func(goja.FunctionCall) goja.Value{
		"ref":   reference(false, &ts.refs, state),
		"unref": reference(true, &ts.refs, state),
		"hasRef": func(call goja.FunctionCall) goja.Value {
			return h.vm.ToValue(!this(call).unref)
		},
		"refresh": func(call goja.FunctionCall) goja.Value {
			if t := this(call); !t.cleared && !h.over() {
				ts.remove(t)
				ts.insert(t, ts.now())
			}
			return call.This
		},
		"close": func(call goja.FunctionCall) goja.Value {
			ts.clear(this(call))
			return call.This
		},
	})
	number := h.function("[Symbol.toPrimitive]", 0, func(call goja.FunctionCall) goja.Value {
		return h.vm.ToValue(ts.idOf(this(call)))
	})
	_ = ts.proto.DefineDataPropertySymbol(goja.SymToPrimitive, number, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	h.disposable(ts.proto, h.clearTimer)
	return ts.proto
}

// reference makes the method ref or unref of objects whose state is whether they have none, and whether they are pending.
func reference(unref bool, refs *int, state func(goja.FunctionCall) (unref *bool, pending bool)) func(goja.FunctionCall) goja.Value {
	return func(call goja.FunctionCall) goja.Value {
		now, pending := state(call)
		switch changes := *now != unref && pending; {
		case changes && unref:
			*refs--
		case changes:
			*refs++
		}
		*now = unref
		return call.This
	}
}

// thisOf returns what the object is that a method is called for.
func thisOf[T any](h *Host, call goja.FunctionCall, class string) T {
	if o, ok := call.This.(*goja.Object); ok {
		if t, ok := o.Export().(T); ok {
			return t
		}
	}
	panic(h.vm.NewTypeError("not " + class))
}

// disposable makes Symbol.dispose a method that clears the object, if there is that symbol: goja lacks it, and loopjs adds it.
func (h *Host) disposable(proto *goja.Object, clear func(goja.FunctionCall) goja.Value) {
	symbols, ok := h.vm.Get("Symbol").(*goja.Object)
	if !ok {
		return
	}
	if dispose, ok := symbols.Get("dispose").(*goja.Symbol); ok {
		method := h.function("[Symbol.dispose]", 0, func(call goja.FunctionCall) goja.Value {
			return clear(goja.FunctionCall{Arguments: []goja.Value{call.This}})
		})
		_ = proto.DefineDataPropertySymbol(dispose, method, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
}

// class makes the prototype of a class whose objects only the host makes: its constructor throws.
func (h *Host) class(name string, methods map[string]func(goja.FunctionCall) goja.Value) *goja.Object {
	proto := h.vm.NewObject()
	constructor := h.function(name, 0, func(goja.FunctionCall) goja.Value { panic(h.vm.NewTypeError("Illegal constructor")) })
	_ = proto.DefineDataProperty("constructor", constructor, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	for _, method := range slices.Sorted(maps.Keys(methods)) {
		_ = proto.DefineDataProperty(method, h.function(method, 0, methods[method]), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
	return proto
}

// properties are what scripts have set on one of the host's objects.
type properties struct {
	values map[string]goja.Value
	keys   []string
}

func (p *properties) get(key string) goja.Value { return p.values[key] }

func (p *properties) set(key string, v goja.Value) bool {
	if p.values == nil {
		p.values = map[string]goja.Value{}
	}
	if _, ok := p.values[key]; !ok {
		p.keys = append(p.keys, key)
	}
	p.values[key] = v
	return true
}

func (p *properties) remove(key string) bool {
	if _, ok := p.values[key]; ok {
		delete(p.values, key)
		p.keys = slices.DeleteFunc(p.keys, func(k string) bool { return k == key })
	}
	return true
}

// onTimeout is the property of timers and immediates that the frame calls, so that "this" is the object. The keys
// that scripts see do not include it.
const onTimeout = "_onTimeout"

// A timer implements goja.DynamicObject, for its Timeout.

func (t *timer) Get(key string) goja.Value {
	if key == onTimeout {
		if t.args != nil {
			return t.timers.apply
		}
		return t.fn
	}
	return t.props.get(key)
}

func (t *timer) Set(key string, v goja.Value) bool {
	if key == onTimeout {
		t.fn = v
		return true
	}
	return t.own().props.set(key, v)
}

func (t *timer) Has(key string) bool    { return key == onTimeout || t.props.get(key) != nil }
func (t *timer) Delete(key string) bool { return t.own().props.remove(key) }
func (t *timer) Keys() []string         { return t.props.keys }
