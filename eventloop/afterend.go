package eventloop

// What waits for the end of a loop without a goroutine, and the list in which it waits.

import "github.com/turnloop/turnloop/internal/sched"

// AfterEnd has fn called when the loop has ended, on a goroutine of its own, behind the closing of the channel of Done; at once
// if the loop has ended already. stop has fn not called, and tells whether it came in time. AfterEnd is to a loop what
// context.AfterFunc is to a context. If fn is nil it panics with ErrNilCallback, as it returns no error.
func (l *Loop) AfterEnd(fn func()) (stop func() bool) {
	if fn == nil {
		panic(ErrNilCallback)
	}
	e := &endFunc{fn: fn}
	if !l.ends.add(e) {
		sched.Go(fn)
	}
	return func() bool { return l.ends.remove(e) }
}

// atEnd is what is called when the loop has ended. Any goroutine adds to it.
type atEnd struct {
	ends endFuncs // functions of AfterEnd
	left endFuncs // functions of UnregisterFDThen that the loop has not called; nothing is added once the descriptors are closed
}

// endFunc is a function that waits for the end. Its fn is nil once it was removed.
type endFunc struct {
	links[endFunc]
	fn func()
}

// run calls fn. It first starts a goroutine that does the same for the next in the list: so none waits for another, and however
// many there are, only a few of these goroutines exist at a time.
func (e *endFunc) run() {
	if e.next != nil {
		sched.Go(e.next.run)
	}
	e.fn()
}

// endFuncs are the functions that wait for the end.
type endFuncs struct {
	mu    sched.Mutex // guards the other fields, and endFunc.fn
	list  list[endFunc, *endFunc]
	ended bool // the list is out of use: its elements run
}

// add adds e, unless the loop has ended.
func (es *endFuncs) add(e *endFunc) bool {
	es.mu.Lock()
	defer es.mu.Unlock()
	if !es.ended {
		es.list.add(e)
	}
	return !es.ended
}

// remove removes e, unless that has been done, or the loop has ended.
func (es *endFuncs) remove(e *endFunc) bool {
	es.mu.Lock()
	defer es.mu.Unlock()
	if es.ended || e.fn == nil {
		return false
	}
	e.fn = nil
	es.list.remove(e)
	return true
}

// end returns the first function, which has the others in next.
func (es *endFuncs) end() (first *endFunc) {
	es.mu.Lock()
	defer es.mu.Unlock()
	first = es.list.first
	es.list, es.ended = list[endFunc, *endFunc]{}, true
	return first
}

// links are in each element: the ones added before it and after it, nil at the ends and outside of a list.
type links[T any] struct{ prev, next *T }

func (k *links[T]) linked() *links[T] { return k }

// list has its elements in the order in which they were added. It allocates nothing, since they contain their links.
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
