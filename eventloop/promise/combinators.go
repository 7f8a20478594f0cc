package promise

// Combinators, promises of several others: All, AllSettled, Race, Any; and the owner's Watch, which is one without a promise.

// All returns a promise of the values of ps, an []any in their order; it is rejected with the first error. Without ps
// it is fulfilled at once. Each may be of any loop. ECMAScript: Promise.all.
func (r *Realm) All(ps ...*Promise) *Promise { return combine(r, ps, newAll[any](len(ps))) }

// AllSettled returns a promise of how each of ps settled, a []Result in their order; it is never rejected by them.
// Without ps it is fulfilled at once. ECMAScript: Promise.allSettled.
func (r *Realm) AllSettled(ps ...*Promise) *Promise {
	return combine(r, ps, newAllSettled[any](len(ps)))
}

// Race returns a promise that settles as the first of ps does. Without ps it stays pending. It leaves nothing attached to
// the others. ECMAScript: Promise.race.
func (r *Realm) Race(ps ...*Promise) *Promise { return combine(r, ps, race{}) }

// Any returns a promise of the value of the first of ps that is fulfilled; when all are rejected, and also without ps, it is
// rejected with an *AggregateError. ECMAScript: Promise.any.
//
// As in the other combinators, a nil *Promise stands for one that is fulfilled with nil.
func (r *Realm) Any(ps ...*Promise) *Promise { return combine(r, ps, newFirst(len(ps))) }

// Watch calls fn with the outcome of p, which may be of any loop, when p has settled: as a microtask, like a handler of Then, and like
// one it counts as a handler of the rejection. stop takes fn back, and leaves nothing at p. It is for waits that may end before
// their promise. When the loop ends first, fn may not be called. Watch and stop are called on the loop.
func (o *Owner) Watch(p *Promise, fn func(value any, err error)) (stop func()) {
	result := combine(&o.Realm, []*Promise{p}, watch(fn))
	return func() {
		if g, waits := result.value.(*group); waits {
			g.settle(nil, nil)
		}
	}
}

// Has tells whether p is a promise of the realm. Any goroutine may call it.
func (o *Owner) Has(p *Promise) bool { return p.realm == &o.Realm }

// rule is the part in which combinators differ: it gets the outcome of each promise once, and decides the result.
type rule interface {
	// observe is called when p, the promise with index i, has settled; last says that all others have settled before. It
	// returns whether the result is decided now, and the value or the error of the result.
	observe(i int, p *Promise, last bool) (decided bool, v any, e error)
	// ofNone returns the same for a combinator that was given no promises.
	ofNone() (decided bool, v any, e error)
}

// group is a combinator at work. Until the result settles, the group is in the result's field value: so the result keeps
// alive the promises that it waits for.
type group struct {
	rule
	result   *Promise
	elements []element
	left     int // elements that have not settled
}

// element is a group's reaction to one of its promises. The reaction's value is the element itself, its target is the
// group's result, and its source is the promise, until call has run or the result is decided.
type element struct {
	reaction
	prev  *reaction // the reaction before this one in the list of the source; nil if this is the first
	index int
}

// promiser is a promise, typed or not, or nil.
type promiser interface{ promise() *Promise }

func (p *Promise) promise() *Promise { return p }

// combine makes a group's elements wait for ps and returns its result.
func combine[P promiser](r *Realm, ps []P, rule rule) *Promise {
	if len(ps) == 0 {
		switch decided, value, err := rule.ofNone(); {
		case !decided:
			return r.open()
		case err != nil:
			return r.Rejected(err)
		default:
			return r.settled(fulfilled, value)
		}
	}
	g := &group{rule: rule, result: r.pending(), elements: make([]element, len(ps)), left: len(ps)}
	g.result.value = g
	for i, p := range ps {
		e := &g.elements[i]
		e.index, e.target, e.value = i, g.result, e
		if q := p.promise(); q == nil || q.realm == r {
			e.source = r.Resolved(q)
		} else {
			e.source = r.pending()
			e.source.value = &foreign{p: e.source, q: q, guest: true}
		}
	}
	if r.sched.OnLoop() {
		g.start()
	} else if r.sched.ScheduleMicrotask(g.start) != nil {
		for _, p := range ps {
			if q := p.promise(); q != nil {
				q.set(handled, 0)
			}
		}
		g.result.refuse()
	}
	return g.result
}

func (g *group) start() {
	for i := range g.elements {
		e := &g.elements[i]
		if e.source == nil {
			return // the loop is ending, and has decided the group
		}
		if f, ok := e.source.value.(*foreign); ok && f.guest {
			f.follow()
		}
		e.prev = e.source.last
		e.source.attach(&e.reaction)
	}
}

// call is the job of an element.
func (e *element) call(source *Promise) {
	g := e.target.value.(*group)
	e.drop()
	g.left--
	if decided, value, err := g.observe(e.index, source, g.left == 0); decided {
		g.result.cameThrough(source)
		g.settle(value, err)
	}
}

// settle settles the result, and takes the group's elements off the promises that are still pending.
func (g *group) settle(value any, err error) {
	if err != nil {
		g.result.settle(rejected, err)
	} else {
		g.result.settle(fulfilled, value)
	}
	if g.left == 0 {
		return
	}
	for i := range g.elements {
		if e := &g.elements[i]; e.source != nil {
			e.source.detach(e)
			e.drop()
		}
	}
}

// drop turns e into a reaction that does nothing and keeps nothing alive.
func (e *element) drop() { e.prev, e.target, e.source = nil, nil, nil }

// detach takes e out of the list of reactions to p, if it is in there. A later rejection of p counts as handled by the group.
func (p *Promise) detach(e *element) {
	p.set(handled, settledMask)
	if p.last == nil || e.next == nil {
		return
	}
	if e.prev != nil {
		e.prev.next = e.next
	} else {
		p.last.next = e.next
	}
	if p.last == &e.reaction {
		p.last = e.prev
	} else if after, ok := e.next.value.(*element); ok {
		after.prev = e.prev
	}
	e.next = nil
	if f, ok := p.value.(*foreign); ok && f.guest {
		f.leave()
		if p.slot != 0 { // otherwise RejectAll has already taken p out of the registry
			p.realm.registry.remove(p)
		}
	}
}

// all is the rule of All. It has the values so far.
type all[T any] []T

func newAll[T any](n int) *all[T] {
	a := make(all[T], n)
	return &a
}

func (a *all[T]) observe(i int, p *Promise, last bool) (bool, any, error) {
	var err error
	if (*a)[i], err = outcomeAs[T](p); err != nil || !last {
		return err != nil, nil, err
	}
	return true, []T(*a), nil
}

func (a *all[T]) ofNone() (bool, any, error) { return true, []T(*a), nil }

// allSettled is the rule of AllSettled. It has the outcomes so far.
type allSettled[T any] []Outcome[T]

func newAllSettled[T any](n int) *allSettled[T] {
	a := make(allSettled[T], n)
	return &a
}

func (a *allSettled[T]) observe(i int, p *Promise, last bool) (bool, any, error) {
	o := &(*a)[i]
	if o.Value, o.Err = outcomeAs[T](p); !last {
		return false, nil, nil
	}
	return true, []Outcome[T](*a), nil
}

func (a *allSettled[T]) ofNone() (bool, any, error) { return true, []Outcome[T](*a), nil }

// race is the rule of Race.
type race struct{}

func (race) observe(_ int, p *Promise, _ bool) (bool, any, error) {
	value, err := p.outcome()
	return true, value, err
}

func (race) ofNone() (bool, any, error) { return false, nil, nil }

// watch is the rule of Watch.
type watch func(value any, err error)

func (w watch) observe(_ int, p *Promise, _ bool) (bool, any, error) {
	w(p.outcome())
	return true, nil, nil
}

func (watch) ofNone() (bool, any, error) { return true, nil, nil }

// first is the rule of Any. It has the errors so far.
type first AggregateError

func newFirst(n int) *first { return &first{Errors: make([]error, n)} }

func (f *first) observe(i int, p *Promise, last bool) (bool, any, error) {
	value, err := p.outcome()
	if err == nil {
		return true, value, nil
	}
	f.Errors[i] = err
	if !last {
		return false, nil, nil
	}
	return true, nil, (*AggregateError)(f)
}

func (f *first) ofNone() (bool, any, error) { return true, nil, (*AggregateError)(f) }
