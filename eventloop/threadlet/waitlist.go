package threadlet

// Who waits for one thing, in order.

// waitlist is a queue of waiters. The loop alone touches it.
type waitlist[T any] struct{ first, last *waiter[T] }

// waiter is a threadlet in a list, with what it brings or takes away. It is in the list until somebody pops it, or it
// leaves because its wait has ended otherwise.
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

// wakeFirst pops waiters until one was still waiting, and returns that; nil if there is none. One that a signal has woken
// is in the list until it runs.
func (l *waitlist[T]) wakeFirst(err error) *waiter[T] {
	for w := l.pop(); w != nil; w = l.pop() {
		if w.t.wake(err) {
			return w
		}
	}
	return nil
}
