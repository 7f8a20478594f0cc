package eventloop

// What waits for the end of a loop without a goroutine.

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
