package gojaloop

// Rejections: those that nobody has handled are told when a checkpoint has run out of ticks and promise jobs.

import (
	"weak"

	"github.com/dop251/goja"
)

// rejections are of promises that had no handler when they were rejected. On the loop.
type rejections struct {
	waiting map[*goja.Promise]struct{} // to be told
	order   []*goja.Promise            // these, in order, and some that were handled meanwhile
	handled []*goja.Promise            // handled after they were told
	told    map[weakPromise]struct{}   // told, and not handled since
	sweep   int                        // size of told at which the dead are dropped
}

type weakPromise = weak.Pointer[goja.Promise]

// track is goja's rejection tracker.
func (h *Host) track(p *goja.Promise, op goja.PromiseRejectionOperation) {
	r := &h.rejections
	switch {
	case h.over != nil:
	case op == goja.PromiseRejectionReject:
		r.add(p)
	case !r.remove(p):
		if w := weak.Make(p); len(r.told) > 0 {
			if _, ok := r.told[w]; ok {
				delete(r.told, w)
				r.handled = append(r.handled, p)
			}
		}
	}
}

func (r *rejections) add(p *goja.Promise) {
	if r.waiting == nil {
		r.waiting = map[*goja.Promise]struct{}{}
	}
	r.waiting[p] = struct{}{}
	r.order = append(r.order, p)
}

// remove takes out a promise that waits to be told, and says whether it did.
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

// note remembers a promise that was told, as long as it lives. Now and then it drops those that are garbage, so that
// the map has at most about twice the entries that it needs.
func (r *rejections) note(p *goja.Promise) {
	if r.told == nil {
		r.told = map[weakPromise]struct{}{}
	}
	r.told[weak.Make(p)] = struct{}{}
	if len(r.told) < max(r.sweep, 64) {
		return
	}
	for w := range r.told {
		if w.Value() == nil {
			delete(r.told, w)
		}
	}
	r.sweep = 2 * len(r.told)
}

// tellRejections tells the rejections that there are by now: first those that were handled late. In the frame.
func (h *Host) tellRejections() {
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
		if r.remove(p) && h.over == nil {
			h.tellRejection(p)
		}
	}
}

func (h *Host) tellRejection(p *goja.Promise) {
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

// asException makes an error of a reason that is none, as Node does.
func (h *Host) asException(reason goja.Value) goja.Value {
	if o, ok := reason.(*goja.Object); ok && o.ClassName() == "Error" {
		return reason
	}
	text := "an object"
	h.vm.Try(func() { text = reason.String() })
	e := h.newError("Error", "ERR_UNHANDLED_REJECTION", "This error originated either by throwing inside of an async function without a catch "+
		"block, or by rejecting a promise which was not handled with .catch(). The promise rejected with the reason \""+text+"\".")
	_ = e.Set("name", "UnhandledPromiseRejection")
	return e
}
