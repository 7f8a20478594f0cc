package gojaloop

// Rejections: promises without a handler are reported when a checkpoint has run out of nextTick functions and promise jobs.

import (
	"weak"

	"github.com/dop251/goja"
	"github.com/turnloop/turnloop/internal/slim"
)

// rejections holds promises that had no handler when they were rejected. Used on the loop alone.
type rejections struct {
	waiting  map[*goja.Promise]*scope        // to be reported, with the contexts in which they were rejected
	order    []*goja.Promise                 // the same in their order, and some that were handled meanwhile
	handled  []*goja.Promise                 // handled after they were reported
	reported slim.Map[weakPromise, struct{}] // reported, and not handled since
	sweep    int                             // size of reported at which dead promises are dropped
}

type weakPromise = weak.Pointer[goja.Promise]

// track is goja's rejection tracker.
func (h *Host) track(p *goja.Promise, op goja.PromiseRejectionOperation) {
	r := &h.rejections
	switch {
	case h.endErr != nil:
	case op == goja.PromiseRejectionReject:
		h.speak(p.Result())
		r.add(p, h.scope)
	case !r.remove(p):
		if w := weak.Make(p); len(r.reported.Of) > 0 {
			if _, ok := r.reported.Of[w]; ok {
				r.reported.Delete(w)
				r.handled = append(r.handled, p)
			}
		}
	}
}

func (r *rejections) add(p *goja.Promise, o *scope) {
	if r.waiting == nil {
		r.waiting = map[*goja.Promise]*scope{}
	}
	r.waiting[p] = o
	r.order = append(r.order, p)
}

// remove takes out a promise that waits to be reported, and tells whether there was one.
func (r *rejections) remove(p *goja.Promise) bool {
	if _, ok := r.waiting[p]; !ok {
		return false
	}
	if delete(r.waiting, p); len(r.waiting) == 0 {
		r.waiting, r.order = nil, nil
	}
	return true
}

func (r *rejections) due() bool { return len(r.order)+len(r.handled) != 0 }

// note remembers a reported promise as long as it lives. Dead ones are dropped now and then, so that the map is at
// most about twice as large as it needs to be.
func (r *rejections) note(p *goja.Promise) {
	r.reported.Put(weak.Make(p), struct{}{})
	if len(r.reported.Of) < max(r.sweep, 64) {
		return
	}
	for w := range r.reported.Of {
		if w.Value() == nil {
			r.reported.Delete(w)
		}
	}
	r.sweep = 2 * len(r.reported.Of)
}

// dropLeft drops the nextTick functions and rejections that an interrupted script has left.
func (h *Host) dropLeft() {
	h.ticks.clear()
	h.rejections.waiting, h.rejections.order = nil, nil
}

// reportRejections reports the rejections that there are by now. Those that were handled late come first. In the frame.
func (h *Host) reportRejections() {
	r := &h.rejections
	late := r.handled
	r.handled = nil
	for _, p := range late {
		if err := h.emit("rejectionHandled", h.vm.ToValue(p)); err != nil {
			h.uncaught(nil, err, "uncaughtException")
		}
	}
	batch := r.order
	r.order = nil
	for _, p := range batch {
		ended := r.waiting[p].over()
		if r.remove(p) && h.endErr == nil && !ended {
			h.reportRejection(p)
		}
	}
}

func (h *Host) reportRejection(p *goja.Promise) {
	h.rejections.note(p)
	reason := p.Result()
	switch {
	case h.listens("unhandledRejection"):
		if err := h.emit("unhandledRejection", reason, h.vm.ToValue(p)); err != nil {
			h.uncaught(nil, err, "uncaughtException")
		}
	case h.onUnhandled != nil:
		e := h.errorOf(reason, nil)
		if err := h.protect(func() error { h.onUnhandled(p, e); return nil }); err != nil {
			h.fatal(h.asError(nil, err), 7)
		}
	default:
		h.uncaught(h.asException(reason), nil, "unhandledRejection")
	}
}

// asException returns the reason if it is an Error object, else an error that describes it, as Node does.
func (h *Host) asException(reason goja.Value) goja.Value {
	if o, ok := reason.(*goja.Object); ok && o.ClassName() == "Error" {
		return reason
	}
	e := h.newError("Error", "ERR_UNHANDLED_REJECTION", "This error originated either by throwing inside of an async function without a catch "+
		"block, or by rejecting a promise which was not handled with .catch(). The promise rejected with the reason \""+h.reasonText(reason)+"\".")
	_ = e.Set("name", "UnhandledPromiseRejection")
	return e
}

// reasonText describes a reason as Node does: an object that has no toString of its own by its class.
func (h *Host) reasonText(reason goja.Value) string {
	o, ok := reason.(*goja.Object)
	if _, symbol := reason.(*goja.Symbol); symbol {
		return "Symbol(" + reason.String() + ")"
	} else if !ok {
		return reason.String()
	}
	text := "[object " + o.ClassName() + "]"
	h.vm.Try(func() { // getters may throw
		if _, callable := goja.AssertFunction(o); callable {
			text = o.String()
			return
		}
		common := h.vm.GlobalObject().Get("Object").ToObject(h.vm).Get("prototype").ToObject(h.vm).Get("toString")
		if own := o.Get("toString"); own == nil || !own.SameAs(common) {
			return
		}
		if class, ok := o.Get("constructor").(*goja.Object); ok && class.ClassName() == "Function" {
			text = "#<" + class.Get("name").String() + ">"
		}
	})
	return text
}
