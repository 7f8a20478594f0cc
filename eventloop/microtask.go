package eventloop

// Microtasks: functions that run right after the current callback, before anything else.

// ring is the loop's own microtask queue. Only the loop touches it. Its length is a power of two.
type ring struct {
	buf  []func()
	head uint // of the first function; counts on, and may wrap
	n    uint // functions queued
}

const (
	ringStart = 64  // length on first use
	ringKeep  = 512 // longest buffer that an empty ring keeps
)

func (r *ring) push(fn func()) {
	if r.n == uint(len(r.buf)) {
		r.resize()
	}
	r.buf[(r.head+r.n)&uint(len(r.buf)-1)] = fn
	r.n++
}

func (r *ring) pop() func() {
	p := &r.buf[r.head&uint(len(r.buf)-1)]
	fn := *p
	*p = nil
	r.head++
	r.n--
	return fn
}

// resize doubles the buffer.
func (r *ring) resize() {
	buf := make([]func(), max(ringStart, 2*len(r.buf)))
	for i := range r.n {
		buf[i] = r.buf[(r.head+i)&uint(len(r.buf)-1)]
	}
	r.buf, r.head = buf, 0
}

// shrink gives the memory of a burst back; the ring must be empty.
func (r *ring) shrink() {
	if len(r.buf) > ringKeep {
		r.buf = nil
	}
}

// ScheduleMicrotask queues fn to run on the loop after the current callback returns and before the next one starts;
// from another goroutine, after the callback that is running, or as soon as the loop wakes. Microtasks run in the order
// of scheduling, and one that is scheduled by a microtask runs in the same checkpoint (the "perform a microtask
// checkpoint" of the HTML standard). More than [WithMicrotaskBudget] in one checkpoint wait, in order, for the next tick.
//
// Any goroutine may call it. On the loop it costs a few nanoseconds and takes no lock. It returns ErrNilCallback, or
// ErrLoopTerminated when the loop has ended.
func (l *Loop) ScheduleMicrotask(fn func()) error {
	if fn == nil {
		return ErrNilCallback
	}
	if !l.OnLoop() {
		return l.enqueue(microtask, fn)
	}
	if l.state.load().closing() {
		return ErrLoopTerminated
	}
	l.micro.push(fn)
	return nil
}

// checkpoint runs microtasks until none is left or the budget is spent. What a spent budget holds back waits for the next
// tick, so that timers, tasks and I/O progress under an endless chain.
func (l *Loop) checkpoint() {
	for !l.microHeld {
		if l.urgent.Load()&(1<<microtask) != 0 {
			l.adoptMicrotasks()
		}
		if l.micro.n == 0 {
			l.micro.shrink()
			l.microLeft = l.microtaskBudget
			l.breach.over()
			return
		}
		for l.micro.n > 0 {
			if l.state.load().closing() {
				return
			}
			if l.microLeft == 0 {
				l.microHeld = true
				l.breach.report(l, ErrMicrotaskBudget)
				return
			}
			l.microLeft--
			l.micro.pop()()
		}
	}
}

// adoptMicrotasks appends what other goroutines scheduled to the loop's own.
func (l *Loop) adoptMicrotasks() {
	l.take(microtask, &l.adopted)
	for !l.adopted.empty() {
		l.micro.push(l.adopted.pop())
	}
}

// afterCallback is the microtask checkpoint behind a callback; the usual one finds nothing to do.
func (l *Loop) afterCallback() {
	if l.micro.n != 0 || l.urgent.Load()&(1<<microtask) != 0 {
		l.checkpoint()
	}
}
