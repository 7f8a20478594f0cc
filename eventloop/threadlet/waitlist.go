package threadlet

// Lists of threadlets that wait for the same thing, first come, first served.

// waitlist is a queue of waiters. Only code on the loop touches it.
type waitlist[T any] struct{ first, last *waiter[T] }

// waiter is the place of a threadlet in a list, with a value that it brings or receives. It is in the list until it is
// popped, or until it leaves because its wait has ended otherwise.
type waiter[T any] struct {
	t          *Threadlet
	in         *waitlist[T]
	prev, next *waiter[T]
	value      T
}

func (l *waitlist[T]) push(w *waiter[T]) {
	w.in, w.prev = l, l.last
	if l.last == nil {
		l.first = w
	} else {
		l.last.next = w
	}
	l.last = w
}

func (l *waitlist[T]) pop() *waiter[T] {
	w := l.first
	if w != nil {
		w.leave()
	}
	return w
}

// leave takes the waiter out of its list, if it is in one.
func (w *waiter[T]) leave() {
	l := w.in
	if l == nil {
		return
	}
	if w.prev == nil {
		l.first = w.next
	} else {
		w.prev.next = w.next
	}
	if w.next == nil {
		l.last = w.prev
	} else {
		w.next.prev = w.prev
	}
	w.in, w.prev, w.next = nil, nil, nil
}

// wakeFirst pops waiters until it finds one whose threadlet still waits, wakes that with err and returns it, or nil if there
// is none. A waiter whose wait was ended by a signal stays in the list until its threadlet runs.
func (l *waitlist[T]) wakeFirst(err error) *waiter[T] {
	for w := l.pop(); w != nil; w = l.pop() {
		if w.t.wake(err) {
			return w
		}
	}
	return nil
}
