package js_test

// Programs of the order tests that use promises, and the handlers of these.

import (
	"errors"
	"fmt"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/js"
)

// then returns a handler that says a word.
func (w *world) then(s string) func(any) (any, error) {
	return func(any) (any, error) { w.say(s); return nil, nil }
}

// value returns a handler that says a word and the value, and passes that on.
func (w *world) value(s string) func(any) (any, error) {
	return func(v any) (any, error) { w.say(fmt.Sprint(s, v)); return v, nil }
}

// caught returns a handler that says a word and the error.
func (w *world) caught(s string) func(error) (any, error) {
	return func(err error) (any, error) { w.say(s + err.Error()); return nil, nil }
}

// doing returns a handler that does something.
func doing(fn func()) func(any) (any, error) {
	return func(any) (any, error) { fn(); return nil, nil }
}

// finally returns a function for Finally that says a word.
func (w *world) finally(s string) func() error { return func() error { w.say(s); return nil } }

func (w *world) failed(s string) *eventloop.Promise { return w.Reject(errors.New(s)) }

// sleep returns a promise that a timer fulfils.
func (w *world) sleep(ms float64, v any) *eventloop.Promise {
	w.t.Helper()
	p, resolve, _ := w.WithResolvers()
	w.timeout(ms, func() { resolve(v) })
	return p
}

// count says a word with 1 to n, in as many jobs, one after the other.
func (w *world) count(s string, n int) {
	p := w.Resolve(nil)
	for i := range n {
		p = p.Then(w.then(fmt.Sprint(s, i+1)), nil)
	}
}

var promiseOrder = []program{
	{"jobs and microtasks share a queue behind ticks",
		`job(says('j1')); Promise.resolve().then(says('p1')); tick(says('t')); job(says('j2'));
		 Promise.resolve().then(says('p2')); log('main')`,
		func(w *world) {
			w.microtask(w.says("j1"))
			w.Resolve(nil).Then(w.then("p1"), nil)
			w.tick(w.says("t"))
			w.microtask(w.says("j2"))
			w.Resolve(nil).Then(w.then("p2"), nil)
			w.say("main")
		},
		[]string{"main", "t", "j1", "p1", "j2", "p2"}},
	{"a handler's tick waits for the chain",
		`Promise.resolve().then(() => { log('p1'); tick(says('tick')); job(says('job')) }).then(says('p2')).then(says('p3'))`,
		func(w *world) {
			w.Resolve(nil).Then(doing(func() { w.say("p1"); w.tick(w.says("tick")); w.microtask(w.says("job")) }), nil).
				Then(w.then("p2"), nil).Then(w.then("p3"), nil)
		},
		[]string{"p1", "job", "p2", "p3", "tick"}},
	{"a tick's handler waits for the ticks",
		`tick(() => { log('t1'); Promise.resolve().then(says('p')); tick(says('t3')) }); tick(says('t2')); job(says('j'))`,
		func(w *world) {
			w.tick(func() { w.say("t1"); w.Resolve(nil).Then(w.then("p"), nil); w.tick(w.says("t3")) })
			w.tick(w.says("t2"))
			w.microtask(w.says("j"))
		},
		[]string{"t1", "t2", "t3", "j", "p"}},
	{"ticks and handlers alternate",
		`function round(n) { if (n < 4) tick(() => { log('t' + n);
			Promise.resolve(n).then(v => { log('p' + v); round(n + 1) }).finally(says('f' + n)) }) }
		 round(1); soon(says('immediate'))`,
		func(w *world) {
			var round func(n int)
			round = func(n int) {
				if n < 4 {
					w.tick(func() {
						w.say(fmt.Sprint("t", n))
						w.Resolve(n).Then(func(v any) (any, error) {
							w.say(fmt.Sprint("p", v))
							round(n + 1)
							return nil, nil
						}, nil).Finally(w.finally(fmt.Sprint("f", n)))
					})
				}
			}
			round(1)
			w.immediate(w.says("immediate"))
		},
		[]string{"t1", "p1", "f1", "t2", "p2", "f2", "t3", "p3", "f3", "immediate"}},
	{"ticks wait until an adoption is over",
		`Promise.resolve().then(() => { tick(says('tick')); return Promise.resolve('v') }).then(value('got '));
		 count('c', 5); after(1, says('timer'))`,
		func(w *world) {
			w.Resolve(nil).Then(func(any) (any, error) { w.tick(w.says("tick")); return w.Resolve("v"), nil }, nil).
				Then(w.value("got "), nil)
			w.count("c", 5)
			w.timeout(1, w.says("timer"))
		},
		[]string{"c1", "c2", "c3", "got v", "c4", "c5", "tick", "timer"}},
	{"a promise adopts one that a timer settles",
		`const [p, resolve] = resolvers(), [q, resolveQ] = resolvers(); p.then(value('p ')); resolve(q); resolve('no');
		 q.then(value('q ')); after(5, () => { log('timer'); tick(says('tick')); resolveQ(1); count('c', 3); log('end') });
		 tick(says('first'))`,
		func(w *world) {
			p, resolve, _ := w.WithResolvers()
			q, resolveQ, _ := w.WithResolvers()
			p.Then(w.value("p "), nil)
			resolve(q)
			resolve("no")
			q.Then(w.value("q "), nil)
			w.timeout(5, func() { w.say("timer"); w.tick(w.says("tick")); resolveQ(1); w.count("c", 3); w.say("end") })
			w.tick(w.says("first"))
		},
		[]string{"first", "timer", "end", "tick", "q 1", "c1", "p 1", "c2", "c3"}},
	{"handlers run between timers that are due",
		`const [p, resolve] = resolvers(); p.then(says('p1')).then(says('p2'));
		 after(5, () => { log('a'); resolve(); tick(says('ta')) }); after(5, () => { log('b'); p.then(says('p3')) });
		 after(6, says('c')); busy(20)`,
		func(w *world) {
			p, resolve, _ := w.WithResolvers()
			p.Then(w.then("p1"), nil).Then(w.then("p2"), nil)
			w.timeout(5, func() { w.say("a"); resolve(nil); w.tick(w.says("ta")) })
			w.timeout(5, func() { w.say("b"); p.Then(w.then("p3"), nil) })
			w.timeout(6, w.says("c"))
			w.busy(20)
		},
		[]string{"a", "ta", "p1", "p2", "b", "p3", "c"}},
	{"handlers run between immediates",
		`const [p, resolve] = resolvers(); p.then(() => { log('p'); soon(says('i3')); tick(says('t')) });
		 soon(() => { log('i1'); resolve() }); soon(says('i2'))`,
		func(w *world) {
			p, resolve, _ := w.WithResolvers()
			p.Then(doing(func() { w.say("p"); w.immediate(w.says("i3")); w.tick(w.says("t")) }), nil)
			w.immediate(func() { w.say("i1"); resolve(nil) })
			w.immediate(w.says("i2"))
		},
		[]string{"i1", "p", "t", "i2", "i3"}},
	{"a completion's handlers, immediates and timers",
		`io(() => { after(0, says('timer')); soon(says('immediate'));
			Promise.resolve().then(() => { log('p'); soon(says('later')) }); tick(says('t')); busy(10) })`,
		func(w *world) {
			w.io(func() {
				w.timeout(0, w.says("timer"))
				w.immediate(w.says("immediate"))
				w.Resolve(nil).Then(doing(func() { w.say("p"); w.immediate(w.says("later")) }), nil)
				w.tick(w.says("t"))
				w.busy(10)
			})
		},
		[]string{"t", "p", "immediate", "later", "timer"}},
	{"a chain of sleeps beside an interval",
		`sleep(30).then(() => { log('a'); return sleep(40, 'b') }).then(value('')).then(() => sleep(45)).finally(says('f'))
			.then(says('c'));
		 let n = 0; const i = every(50, () => { log('i'); if (++n == 3) clearInterval(i) })`,
		func(w *world) {
			w.sleep(30, nil).Then(func(any) (any, error) { w.say("a"); return w.sleep(40, "b"), nil }, nil).
				Then(w.value(""), nil).
				Then(func(any) (any, error) { return w.sleep(45, nil), nil }, nil).Finally(w.finally("f")).
				Then(w.then("c"), nil)
			n := 0
			var i js.ID
			i = w.interval(50, func() {
				w.say("i")
				if n++; n == 3 {
					w.ClearInterval(i)
				}
			})
		},
		[]string{"a", "i", "b", "i", "f", "c", "i"}},
	{"combinators over timers",
		`const a = sleep(60, 'a'), b = sleep(20, 'b');
		 const c = sleep(40).then(() => fail('c')), d = sleep(30).then(() => fail('d'));
		 Promise.all([a, b]).then(v => log('all ' + v.join()));
		 Promise.race([a, b, c]).then(value('race '));
		 Promise.any([c, d, a]).then(value('any '));
		 Promise.any([c, d]).catch(e => log('none ' + e.errors.map(e => e.message).join()));
		 Promise.allSettled([a, c]).then(v => log('settled ' + v.map(r => r.value ?? r.reason.message).join()));
		 Promise.all([a, c, d]).catch(caught('all '))`,
		func(w *world) {
			a, b := w.sleep(60, "a"), w.sleep(20, "b")
			c := w.sleep(40, nil).Then(func(any) (any, error) { return nil, errors.New("c") }, nil)
			d := w.sleep(30, nil).Then(func(any) (any, error) { return nil, errors.New("d") }, nil)
			w.All(a, b).Then(func(v any) (any, error) {
				values := v.([]any)
				w.say(fmt.Sprintf("all %v,%v", values...))
				return nil, nil
			}, nil)
			w.Race(a, b, c).Then(w.value("race "), nil)
			w.Any(c, d, a).Then(w.value("any "), nil)
			w.Any(c, d).Catch(func(err error) (any, error) {
				var none *eventloop.AggregateError
				if !errors.As(err, &none) {
					return nil, err
				}
				w.say(fmt.Sprintf("none %v,%v", none.Errors[0], none.Errors[1]))
				return nil, nil
			})
			w.AllSettled(a, c).Then(func(v any) (any, error) {
				results := v.([]eventloop.Result)
				w.say(fmt.Sprintf("settled %v,%v", results[0].Value, results[1].Err))
				return nil, nil
			}, nil)
			w.All(a, c, d).Catch(w.caught("all "))
		},
		[]string{"race b", "all d", "none c,d", "all a,b", "any a", "settled a,c"}},
	{"finally and catch amid microtasks",
		`Promise.resolve('v').finally(() => { log('f1'); tick(says('t')) }).then(() => fail('e')).finally(says('f2'))
			.catch(caught('got ')).then(says('end'));
		 count('c', 10); job(says('j'))`,
		func(w *world) {
			w.Resolve("v").Finally(func() error { w.say("f1"); w.tick(w.says("t")); return nil }).
				Then(func(any) (any, error) { return nil, errors.New("e") }, nil).Finally(w.finally("f2")).
				Catch(w.caught("got ")).Then(w.then("end"), nil)
			w.count("c", 10)
			w.microtask(w.says("j"))
		},
		[]string{"f1", "c1", "j", "c2", "c3", "c4", "f2", "c5", "c6", "c7", "got e", "c8", "end", "c9", "c10", "t"}},
	{"an async function is a chain",
		`(async () => { log('a'); await null; log('b'); await sleep(5); log('c'); await new Promise(tick); log('d') })()
			.then(says('end'));
		 after(5, () => { log('timer'); tick(says('t')) }); job(says('j'))`,
		func(w *world) {
			done, finish, _ := w.WithResolvers()
			w.say("a")
			w.Resolve(nil).Then(doing(func() {
				w.say("b")
				w.sleep(5, nil).Then(doing(func() {
					w.say("c")
					ticked, resolve, _ := w.WithResolvers()
					w.tick(func() { resolve(nil) })
					ticked.Then(doing(func() { w.say("d"); finish(nil) }), nil)
				}), nil)
			}), nil)
			done.Then(w.then("end"), nil)
			w.timeout(5, func() { w.say("timer"); w.tick(w.says("t")) })
			w.microtask(w.says("j"))
		},
		[]string{"a", "b", "j", "timer", "t", "c", "d", "end"}},
	{"a rejection that a tick or a tick's job handles is handled",
		`const p = failed('e'), q = failed('f'); tick(() => p.catch(caught('got ')));
		 job(() => tick(() => job(() => q.catch(caught('got ')))))`,
		func(w *world) {
			p, q := w.failed("e"), w.failed("f")
			w.tick(func() { p.Catch(w.caught("got ")) })
			w.microtask(func() { w.tick(func() { w.microtask(func() { q.Catch(w.caught("got ")) }) }) })
		},
		[]string{"got e", "got f"}},
	{"one that an immediate handles is not",
		`const p = failed('e'); soon(() => { log('immediate'); p.catch(caught('got ')) }); job(says('j'))`,
		func(w *world) {
			p := w.failed("e")
			w.immediate(func() { w.say("immediate"); p.Catch(w.caught("got ")) })
			w.microtask(w.says("j"))
		},
		[]string{"j", "unhandled e", "immediate", "got e"}},
	{"a timer's rejection is reported before the next timer",
		`after(5, () => { log('a'); failed('e'); job(says('j')); tick(says('t')) }); after(5, says('b')); busy(10)`,
		func(w *world) {
			w.timeout(5, func() { w.say("a"); w.failed("e"); w.microtask(w.says("j")); w.tick(w.says("t")) })
			w.timeout(5, w.says("b"))
			w.busy(10)
		},
		[]string{"a", "t", "j", "unhandled e", "b"}},
	{"each end of a chain that fails is reported, in order",
		`const p = sleep(5).then(() => { log('a'); fail('e') });
		 p.then(says('no')); p.finally(says('f')); p.catch(caught('got ')); after(6, says('b'))`,
		func(w *world) {
			p := w.sleep(5, nil).Then(func(any) (any, error) { w.say("a"); return nil, errors.New("e") }, nil)
			p.Then(w.then("no"), nil)
			p.Finally(w.finally("f"))
			p.Catch(w.caught("got "))
			w.timeout(6, w.says("b"))
		},
		[]string{"a", "f", "got e", "unhandled e", "unhandled e", "b"}},
	{"an abort listener rejects",
		`const c = new AbortController(), [p, , reject] = resolvers();
		 c.signal.addEventListener('abort', () => { log('listener'); reject(c.signal.reason) });
		 Promise.race([sleep(1), p]).catch(caught('race ')); p.catch(caught('got '));
		 tick(() => { c.abort(new Error('enough')); log('aborted'); tick(says('t')) })`,
		func(w *world) {
			c := w.NewAbortController()
			p, _, reject := w.WithResolvers()
			c.Signal().OnAbort(func(reason error) { w.say("listener"); reject(reason) })
			w.Race(w.sleep(1, nil), p).Catch(w.caught("race "))
			p.Catch(w.caught("got "))
			w.tick(func() { w.must(0, c.Abort(errors.New("enough"))); w.say("aborted"); w.tick(w.says("t")) })
		},
		[]string{"listener", "aborted", "t", "got enough", "race enough"}},
	{"event listeners settle promises",
		`const t = new EventTarget(), [p, resolve] = resolvers(); p.then(says('p1')).then(says('p2'));
		 t.addEventListener('x', e => { log('x'); resolve(); tick(says('tick')) }, { once: true });
		 t.addEventListener('x', () => { log('y'); p.then(says('p3')) });
		 after(1, () => { t.dispatchEvent(new Event('x')); log('end') })`,
		func(w *world) {
			t := w.NewEventTarget()
			p, resolve, _ := w.WithResolvers()
			p.Then(w.then("p1"), nil).Then(w.then("p2"), nil)
			t.AddEventListener("x", js.NewEventListener(func(*js.Event) {
				w.say("x")
				resolve(nil)
				w.tick(w.says("tick"))
			}), js.Once())
			t.AddEventListener("x", js.NewEventListener(func(*js.Event) { w.say("y"); p.Then(w.then("p3"), nil) }))
			w.timeout(1, func() { t.DispatchEvent(js.NewEvent("x")); w.say("end") })
		},
		[]string{"x", "y", "end", "tick", "p1", "p3", "p2"}},
}
