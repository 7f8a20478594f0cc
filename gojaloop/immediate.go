package gojaloop

// Immediates: the check phase.

import "github.com/dop251/goja"

// immediates holds the immediates of a host. Used on the loop alone.
type immediates struct {
	host  *Host
	batch queue // immediates of the check phase that runs, or was cut short
	fresh queue // immediates that were set since that phase began
	refs  int   // pending immediates with a ref, for which Run waits

	proto *goja.Object // prototype of Immediate
	empty *goja.Object // a function that does nothing
	apply *goja.Object // calls the function of an immediate with arguments
}

// queue is a doubly linked list of immediates.
type queue struct{ head, tail *immediate }

// immediate is a call of setImmediate, and implements its Immediate object.
type immediate struct {
	immediates *immediates
	fn         goja.Value
	in         *queue // nil when it is not pending
	prev, next *immediate
	object     *goja.Object
	rare
	unref bool
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
	im := &immediate{immediates: ims, fn: fn, rare: rare{none}}
	if args != nil {
		im.own().args = args
	}
	if h.scope != nil {
		im.own().scope = h.scope
	}
	im.object = h.vm.NewDynamicObject(im)
	_ = im.object.SetPrototype(ims.prototype())
	if !h.over() {
		ims.fresh.push(im)
		ims.refs++
	}
	return im
}

// addEmpty adds an immediate that does nothing. Node adds one after it has reported an uncaught exception, and runs
// the remaining nextTick functions behind it; scripts can see its place among other immediates.
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

// any tells whether an immediate is pending.
func (ims *immediates) any() bool { return ims.batch.head != nil || ims.fresh.head != nil }

// begin makes the immediates set so far the batch that runs. A batch that was cut short goes on first.
func (ims *immediates) begin() {
	if ims.batch.head == nil {
		ims.batch, ims.fresh = ims.fresh, queue{}
		for im := ims.batch.head; im != nil; im = im.next {
			im.in = &ims.batch
		}
	}
}

// next takes out the next immediate of the batch, nil if there is none.
func (ims *immediates) next() *immediate {
	im := ims.batch.head
	if im != nil {
		ims.clear(im)
	}
	return im
}

// drop cancels all immediates, when the host ends.
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

// prototype returns the prototype of Immediate, made on the first call.
func (ims *immediates) prototype() *goja.Object {
	if ims.proto != nil {
		return ims.proto
	}
	h := ims.host
	this := func(call goja.FunctionCall) *immediate { return thisOf[*immediate](h, call, "an Immediate") }
	state := func(call goja.FunctionCall) (unref *bool, pending bool) {
		im := this(call)
		return &im.unref, im.in != nil
	}
	ims.apply = h.function("callback", 0, func(call goja.FunctionCall) goja.Value {
		im := this(call)
		return h.apply(im.fn, im.object, im.args)
	})
	ims.proto = h.class("Immediate", map[string]func(goja.FunctionCall) goja.Value{
		"ref":   reference(false, &ims.refs, state),
		"unref": reference(true, &ims.refs, state),
		"hasRef": func(call goja.FunctionCall) goja.Value {
			return h.vm.ToValue(this(call).in != nil && !this(call).unref)
		},
	})
	h.disposable(ims.proto, h.clearImmediate)
	return ims.proto
}

// An immediate implements goja.DynamicObject, for its Immediate.

func (im *immediate) Get(key string) goja.Value {
	if key == onTimeout {
		if im.args != nil {
			return im.immediates.apply
		}
		return im.fn
	}
	return im.props.get(key)
}

func (im *immediate) Set(key string, v goja.Value) bool { return im.own().props.set(key, v) }
func (im *immediate) Has(key string) bool               { return key == onTimeout || im.props.get(key) != nil }
func (im *immediate) Delete(key string) bool            { return im.own().props.remove(key) }
func (im *immediate) Keys() []string                    { return im.props.keys }
