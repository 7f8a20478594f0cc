package gojaloop

// Immediates: the check phase.

import "github.com/dop251/goja"

// immediates are those of a host; touched on the loop alone.
type immediates struct {
	host  *Host
	batch queue // of the check phase that runs, or was cut short
	fresh queue // set since
	refs  int   // pending ones that keep Run waiting

	proto *goja.Object // of Immediate
	empty *goja.Object // a function that does nothing
	apply *goja.Object // what an immediate with arguments calls
}

// queue is a list of immediates.
type queue struct{ head, tail *immediate }

// immediate is one, and the object that scripts have.
type immediate struct {
	immediates *immediates
	fn         goja.Value
	args       []goja.Value
	in         *queue // nil when it is not pending
	prev, next *immediate
	unref      bool
	object     *goja.Object
	props      properties
}

func (ims *immediates) init(h *Host) {
	ims.host = h
}

func (h *Host) setImmediate(call goja.FunctionCall) goja.Value {
	fn, ok := h.callable(call.Argument(0))
	if !ok {
		panic(h.invalid(call.Argument(0), "callback"))
	}
	return h.immediates.add(fn, rest(call.Arguments, 1)).object
}

func (ims *immediates) add(fn goja.Value, args []goja.Value) *immediate {
	h := ims.host
	im := &immediate{immediates: ims, fn: fn, args: args}
	im.object = h.vm.NewDynamicObject(im)
	_ = im.object.SetPrototype(ims.prototype())
	if h.over == nil {
		ims.fresh.push(im)
		ims.refs++
	}
	return im
}

// addEmpty adds one that does nothing. Node does so when it has told of an uncaught exception, and behind it runs the ticks
// that were left; where it stands among others can be seen.
func (ims *immediates) addEmpty() {
	if ims.empty == nil {
		ims.empty = ims.host.function("noop", 0, func(goja.FunctionCall) goja.Value { return goja.Undefined() })
	}
	ims.add(ims.empty, nil)
}

func (h *Host) clearImmediate(call goja.FunctionCall) goja.Value {
	if o, ok := call.Argument(0).(*goja.Object); ok {
		if im, ok := o.Export().(*immediate); ok {
			im.immediates.clear(im)
		}
	}
	return goja.Undefined()
}

func (ims *immediates) clear(im *immediate) {
	if im.in == nil {
		return
	}
	im.in.remove(im)
	if !im.unref {
		ims.refs--
	}
}

// any tells whether there are any.
func (ims *immediates) any() bool { return ims.batch.head != nil || ims.fresh.head != nil }

// begin makes what was set so far the batch that runs; one that was cut short goes on first.
func (ims *immediates) begin() {
	if ims.batch.head == nil {
		ims.batch, ims.fresh = ims.fresh, queue{}
		for im := ims.batch.head; im != nil; im = im.next {
			im.in = &ims.batch
		}
	}
}

// next takes the next immediate of the batch; nil if there is none.
func (ims *immediates) next() *immediate {
	im := ims.batch.head
	if im != nil {
		ims.clear(im)
	}
	return im
}

// drop forgets all immediates, when the host ends.
func (ims *immediates) drop() {
	for _, q := range []*queue{&ims.batch, &ims.fresh} {
		for im := q.head; im != nil; im = im.next {
			im.in = nil
		}
		*q = queue{}
	}
	ims.refs = 0
}

func (q *queue) push(im *immediate) {
	im.in = q
	if im.prev = q.tail; im.prev != nil {
		im.prev.next = im
	} else {
		q.head = im
	}
	q.tail = im
}

func (q *queue) remove(im *immediate) {
	if im.prev != nil {
		im.prev.next = im.next
	} else {
		q.head = im.next
	}
	if im.next != nil {
		im.next.prev = im.prev
	} else {
		q.tail = im.prev
	}
	im.prev, im.next, im.in = nil, nil, nil
}

// prototype returns that of Immediate.
func (ims *immediates) prototype() *goja.Object {
	if ims.proto != nil {
		return ims.proto
	}
	h := ims.host
	this := func(call goja.FunctionCall) *immediate {
		if o, ok := call.This.(*goja.Object); ok {
			if im, ok := o.Export().(*immediate); ok {
				return im
			}
		}
		panic(h.vm.NewTypeError("not an Immediate"))
	}
	ref := func(unref bool) func(goja.FunctionCall) goja.Value {
		return func(call goja.FunctionCall) goja.Value {
			im := this(call)
			if im.unref != unref {
				im.unref = unref
				if im.in != nil && unref {
					ims.refs--
				} else if im.in != nil {
					ims.refs++
				}
			}
			return call.This
		}
	}
	ims.apply = h.function("callback", 0, func(call goja.FunctionCall) goja.Value {
		im := this(call)
		return h.apply(im.fn, im.object, im.args)
	})
	ims.proto = h.class("Immediate", map[string]func(goja.FunctionCall) goja.Value{
		"ref":   ref(false),
		"unref": ref(true),
		"hasRef": func(call goja.FunctionCall) goja.Value {
			return h.vm.ToValue(this(call).in != nil && !this(call).unref)
		},
	})
	return ims.proto
}

// The goja.DynamicObject of an Immediate.

func (im *immediate) Get(key string) goja.Value {
	if key == onTimeout {
		if im.args != nil {
			return im.immediates.apply
		}
		return im.fn
	}
	return im.props.get(key)
}

func (im *immediate) Set(key string, v goja.Value) bool { return im.props.set(key, v) }
func (im *immediate) Has(key string) bool               { return key == onTimeout || im.props.get(key) != nil }
func (im *immediate) Delete(key string) bool            { return im.props.remove(key) }
func (im *immediate) Keys() []string                    { return im.props.keys }
