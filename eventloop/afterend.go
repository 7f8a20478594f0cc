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

// endFunc is one call of AfterEnd. Its fn is nil once stop was called.
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

// end has all of them called.
func (es *endFuncs) end() {
	es.mu.Lock()
	first := es.list.first
	es.list, es.ended = list[endFunc, *endFunc]{}, true
	es.mu.Unlock()
	if first != nil {
		sched.Go(first.run)
	}
}
