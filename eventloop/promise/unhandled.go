package promise

// Unhandled rejections: how errors that have no handler are reported.

// Unhandled returns how many rejections Checkpoint may have to report. On the loop; it costs two loads.
func (o *Owner) Unhandled() int { return len(o.reports) + len(o.unhandled) }

// Checkpoint reports the next rejection that still has no handler, if there is one, and tells whether this round of
// reports goes on. The loop calls it when a microtask checkpoint has found no more microtasks and Unhandled returns true. It
// calls again as long as Checkpoint returns true, and then goes on with the checkpoint.
//
// A round has the rejections that there were when it began. A promise that is rejected during a round waits for the next, so
// that it may get a handler first, as in HTML ("notify about rejected promises") and in Node. A promise leaves the round
// before it is reported: if OnUnhandled panics or ends the goroutine, the next call goes on with the next promise.
func (o *Owner) Checkpoint() (more bool) {
	if len(o.reports) == 0 {
		o.reports, o.unhandled = o.unhandled, nil
	}
	for len(o.reports) != 0 {
		p := o.reports[0]
		o.reports[0] = nil
		if o.reports = o.reports[1:]; len(o.reports) == 0 {
			o.reports = nil
		}
		if p.state.CompareAndSwap(rejected, rejected|handled) {
			o.onUnhandled(p, p.explained(p.value.(error)))
			break
		}
	}
	return len(o.reports) != 0
}

// Waited returns the promises that other goroutines or loops wait for, unless they are more than most; and how many there
// are. Any goroutine may call it.
func (o *Owner) Waited(most int) (all []*Promise, n int) { return o.waiters.promises(&o.Realm, most) }

// noteUnhandled puts a rejected promise without a handler on the list. An empty microtask makes sure that there is a
// checkpoint, also if nothing else is scheduled. If an ending loop refuses this microtask, the rejection is not reported:
// otherwise handlers that reject could keep the loop from its end. On the loop.
func (r *Realm) noteUnhandled(p *Promise) {
	if r.onUnhandled == nil {
		return
	}
	if len(r.unhandled) == 0 && r.sched.ScheduleMicrotask(func() {}) != nil {
		return
	}
	r.unhandled = append(r.unhandled, p)
}
