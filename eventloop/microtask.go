package eventloop

// Microtasks: functions that run right after the current callback, before anything else.

import "sync"

// ring is the loop's own microtask queue. Only the loop touches it. Its length is a power of two. A burst that does not
// fit into ringKeep borrows a longer buffer, so that a loop at rest keeps little and a busy one allocates nothing.
type ring struct {
	buf  []func()
	head uint // of the first function; counts on, and may wrap
	n    uint // functions queued

	kept     []func()  // the loop's own buffer while buf is borrowed
	borrowed *[]func() // what buf is to be given back in
}

const (
	ringStart = 64 // length on first use
	ringKeep  = 64 // longest buffer that an empty ring keeps
)

// bursts holds buffers longer than ringKeep, cleared, for all loops.
var bursts = sync.Pool{New: func() any { return new([]func()) }}

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
	old, length := r.buf, max(ringStart, 2*len(r.buf))
	if length > ringKeep {
		r.borrow(length)
	} else {
		r.buf = make([]func(), length)
	}
	for i := range r.n {
		r.buf[i] = old[(r.head+i)&uint(len(old)-1)]
	}
	r.head = 0
	clear(old)
}

// borrow replaces the buffer by one of at least length.
func (r *ring) borrow(length int) {
	if r.borrowed == nil {
		r.kept, r.borrowed = r.buf, bursts.Get().(*[]func())
	}
	if len(*r.borrowed) < length {
		*r.borrowed = make([]func(), length)
	}
	r.buf = *r.borrowed
}

// shrink gives back what a burst borrowed; the ring must be empty.
func (r *ring) shrink() {
	if r.borrowed != nil {
		bursts.Put(r.borrowed)
		r.buf, r.kept, r.borrowed = r.kept, nil, nil
	}
}

// ScheduleMicrotask queues fn to run on the loop after the current callback returns and before the next one starts;
// from another goroutine, after the callback that is running, or as soon as the loop wakes. Microtasks run in the order
// of scheduling, and one that is scheduled by a microtask runs in the same checkpoint (the "perform a microtask
// checkpoint" of the HTML standard). More than [WithMicrotaskBudget] in one checkpoint wait, in order, for the next
// tick.
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
	if l.urgent.Load()&(1<<microtask) != 0 {
		l.adoptMicrotasks() // they were scheduled before
	}
	l.micro.push(fn)
	return nil
}

// NextTick queues fn to run like a microtask, but before all microtasks that wait; scheduled by a microtask, behind
// them (Node's process.nextTick). What it queues itself that way runs before them too.
//
// Any goroutine may call it; from another one, it is as if a microtask did. It counts for the microtask budget, costs
// what ScheduleMicrotask costs, and returns the same errors.
func (l *Loop) NextTick(fn func()) error {
	if fn == nil {
		return ErrNilCallback
	}
	if !l.OnLoop() {
		return l.enqueue(microtask, func() { l.ticks.push(fn) })
	}
	if l.state.load().closing() {
		return ErrLoopTerminated
	}
	if !l.draining { // the caller is no microtask; what a spent budget holds back does not go first
		l.inMicro = false
	}
	l.ticks.push(fn)
	return nil
}

// checkpoint runs ticks and microtasks until none is left or the budget is spent, and then reports the rejections that
// nobody has handled. What a spent budget holds back waits for the next tick, so that timers, tasks and I/O progress
// under an endless chain.
func (l *Loop) checkpoint() {
	for more := !l.microHeld; more; {
		if l.urgent.Load()&(1<<microtask) != 0 {
			l.adoptMicrotasks()
		}
		l.inMicro = l.inMicro && l.micro.n != 0
		switch {
		case l.ticks.n != 0 && !l.inMicro:
			more = l.drain(&l.ticks)
		case l.micro.n != 0:
			l.inMicro = true
			more = l.drain(&l.micro)
		case l.promises.Unhandled():
			for reports := true; more && reports; { // a round of them, before what the first one queues
				if more = l.spend(); more {
					reports = l.promises.Checkpoint()
				}
			}
		default:
			l.micro.shrink()
			l.ticks.shrink()
			l.microLeft = l.microtaskBudget
			l.breach.over()
			return
		}
	}
}

// drain runs functions from q until none is left, or the rest must wait; it tells whether to go on.
func (l *Loop) drain(q *ring) bool {
	l.draining = true
	for q.n != 0 && l.spend() {
		q.pop()()
	}
	l.draining = false
	return q.n == 0
}

// spend takes one microtask from the budget, and tells whether it may run.
func (l *Loop) spend() bool {
	if l.state.load().closing() {
		return false
	}
	if l.microLeft == 0 {
		l.microHeld = true
		l.draining = false // who hears of it is no microtask
		l.breach.report(l, ErrMicrotaskBudget)
		return false
	}
	l.microLeft--
	return true
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
	if l.micro.n|l.ticks.n != 0 || l.urgent.Load()&(1<<microtask) != 0 {
		l.checkpoint()
	}
}
