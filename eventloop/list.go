package eventloop

// A list whose elements contain their links, so that it allocates nothing.

// links are in each element: the ones added before it and after it, nil at the ends and outside of a list.
type links[T any] struct{ prev, next *T }

func (k *links[T]) linked() *links[T] { return k }

// list has its elements in the order in which they were added.
type list[T any, E interface {
	*T
	linked() *links[T]
}] struct{ first, last *T }

func (l *list[T, E]) add(e *T) {
	k := E(e).linked()
	if k.prev = l.last; k.prev == nil {
		l.first = e
	} else {
		E(k.prev).linked().next = e
	}
	l.last = e
}

func (l *list[T, E]) remove(e *T) {
	k := E(e).linked()
	if k.prev == nil {
		l.first = k.next
	} else {
		E(k.prev).linked().next = k.next
	}
	if k.next == nil {
		l.last = k.prev
	} else {
		E(k.next).linked().prev = k.prev
	}
	*k = links[T]{} // so that an element that is kept keeps no other in memory
}
