package promise

// Unhandled rejections: who is told when nobody has handled an error.

import "errors"

// Unhandled tells whether there may be rejections to report. On the loop; it costs one load.
func (r *Realm) Unhandled() bool { return len(r.unhandled) != 0 }

// Checkpoint reports the first rejection that still nobody has handled, if there is one. The loop calls it, on the
// loop, when a microtask checkpoint has found no more microtasks and Unhandled says so, and then goes on with the
// checkpoint. What is reported has been taken off the list before: should OnUnhandled panic or end the goroutine, the
// next call goes on behind it.
func (r *Realm) Checkpoint() {
	for end := r.end.Load(); len(r.unhandled) != 0; {
		p := r.unhandled[0]
		r.unhandled[0] = nil
		r.unhandled = r.unhandled[1:]
		if len(r.unhandled) == 0 {
			r.unhandled = nil
		}
		if !p.state.CompareAndSwap(rejected, rejected|handled) {
			continue
		}
		if err := p.value.(error); end == nil || !errors.Is(err, *end) { // the end is nobody's fault
			r.onUnhandled(p, p.explained(err))
			return
		}
	}
}

// noteUnhandled puts a rejected promise without a handler on the list. An empty microtask sees to it that there is a
// checkpoint, also if nothing else is scheduled.
func (r *Realm) noteUnhandled(p *Promise) {
	if r.onUnhandled == nil {
		return
	}
	if len(r.unhandled) == 0 {
		_ = r.sched.ScheduleMicrotask(func() {}) // a loop that takes none reports nothing either
	}
	r.unhandled = append(r.unhandled, p)
}
