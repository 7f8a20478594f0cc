package promise

// Unhandled rejections: who is told when nobody has handled an error.

import "errors"

// Unhandled tells whether there may be rejections to report. On the loop; it costs two loads.
func (r *Realm) Unhandled() bool { return len(r.reports)|len(r.unhandled) != 0 }

// Checkpoint reports the next rejection that still nobody has handled, if there is one, and tells whether this round of
// reports goes on. The loop calls it, on the loop, when a microtask checkpoint has found no more microtasks and Unhandled
// says so; again as long as it returns true; and then goes on with the checkpoint.
//
// A round has the rejections that there were when it began: what is rejected meanwhile has its chance of a handler first,
// as in HTML ("notify about rejected promises") and in Node. What is reported has left the round before: should
// OnUnhandled panic or end the goroutine, the next call goes on behind it, whatever runs before that.
func (r *Realm) Checkpoint() (more bool) {
	if len(r.reports) == 0 {
		r.reports, r.unhandled = r.unhandled, nil
	}
	for len(r.reports) != 0 {
		p := r.reports[0]
		r.reports[0] = nil
		if r.reports = r.reports[1:]; len(r.reports) == 0 {
			r.reports = nil
		}
		if !p.state.CompareAndSwap(rejected, rejected|handled) {
			continue
		}
		if err := p.value.(error); !r.isEnd(err) {
			r.onUnhandled(p, p.explained(err))
			break
		}
	}
	return len(r.reports) != 0
}

// Waited returns the promises that goroutines, or other loops, wait for, unless they are more than most; and how many they
// are. Any goroutine may call it.
func (r *Realm) Waited(most int) (all []*Promise, n int) { return r.waiters.promises(most) }

// isEnd tells whether err comes of the end, which is nobody's fault. Users' errors may panic when they are compared: by a
// method Is or Unwrap, or by what they have in an interface.
func (r *Realm) isEnd(err error) (is bool) {
	end := r.end.Load()
	if end == nil {
		return false
	}
	defer func() { _ = recover() }()
	return errors.Is(err, *end)
}

// noteUnhandled puts a rejected promise without a handler on the list. An empty microtask sees to it that there is a
// checkpoint, also if nothing else is scheduled. If an ending loop refuses that, it reports nothing: else a handler that
// rejects could keep it from its end.
func (r *Realm) noteUnhandled(p *Promise) {
	if r.onUnhandled == nil {
		return
	}
	if len(r.unhandled) == 0 && r.sched.ScheduleMicrotask(func() {}) != nil {
		return
	}
	r.unhandled = append(r.unhandled, p)
}
