package js_test

// The programs of the order tests, each in Go and in JavaScript, with the output that Node printed. They have what the random
// programs (order_random_test.go) do not: several delays, intervals, what is cleared or refreshed, signals and events.

import (
	"errors"

	"github.com/turnloop/turnloop/eventloop/js"
)

// program is a program in JavaScript and in Go, and what Node logs when it runs the former.
type program struct {
	name   string
	source string
	run    func(w *world)
	log    []string
}

// order has programs with one possible order only.
var order = []program{
	{"timers by delay, equal ones in order",
		`after(40, says('a')); after(20, says('b')); after(40, says('c')); after(20, says('d'))`,
		func(w *world) {
			w.timeout(40, w.says("a"))
			w.timeout(20, w.says("b"))
			w.timeout(40, w.says("c"))
			w.timeout(20, w.says("d"))
		},
		[]string{"b", "d", "a", "c"}},
	{"a timer's immediate goes before the timer's timer",
		`after(1, () => { log('a'); after(1, says('b')); soon(says('immediate')); busy(10) })`,
		func(w *world) {
			w.timeout(1, func() { w.say("a"); w.timeout(1, w.says("b")); w.immediate(w.says("immediate")); w.busy(10) })
		},
		[]string{"a", "immediate", "b"}},
	{"so does one of a signal that times out",
		`AbortSignal.timeout(5).addEventListener('abort', () => { log('abort'); soon(says('immediate')) });
		 after(6, says('a')); after(6, says('b')); busy(20)`,
		func(w *world) {
			s, err := w.TimeoutSignal(5)
			w.must(0, err)
			s.OnAbort(func(error) { w.say("abort"); w.immediate(w.says("immediate")) })
			w.timeout(6, w.says("a"))
			w.timeout(6, w.says("b"))
			w.busy(20)
		},
		[]string{"abort", "a", "b", "immediate"}},
	{"an immediate's immediate waits for the next tick",
		`soon(() => { log('a'); soon(says('c')); after(1, says('timer')); busy(10) }); soon(says('b'))`,
		func(w *world) {
			w.immediate(func() { w.say("a"); w.immediate(w.says("c")); w.timeout(1, w.says("timer")); w.busy(10) })
			w.immediate(w.says("b"))
		},
		[]string{"a", "b", "timer", "c"}},
	{"so does the last immediate's microtask's",
		`soon(() => { log('a'); job(() => { soon(says('c')); after(1, says('timer')); busy(10) }) })`,
		func(w *world) {
			w.immediate(func() {
				w.say("a")
				w.microtask(func() { w.immediate(w.says("c")); w.timeout(1, w.says("timer")); w.busy(10) })
			})
		},
		[]string{"a", "timer", "c"}},
	{"a chain of immediates and timers",
		`let n = 0; soon(function f() { log('i' + n); if (++n < 4) { soon(f); after(1, says('t' + n)); busy(10) } })`,
		func(w *world) {
			n := 0
			var f func()
			f = func() {
				w.say("i" + string(rune('0'+n)))
				if n++; n < 4 {
					w.immediate(f)
					w.timeout(1, w.says("t"+string(rune('0'+n))))
					w.busy(10)
				}
			}
			w.immediate(f)
		},
		[]string{"i0", "t1", "i1", "t2", "i2", "t3", "i3"}},
	{"immediates of a completion go before its timers",
		`io(() => { after(0, says('timer')); soon(says('immediate')); busy(10) })`,
		func(w *world) {
			w.io(func() { w.timeout(0, w.says("timer")); w.immediate(w.says("immediate")); w.busy(10) })
		},
		[]string{"immediate", "timer"}},
	{"an immediate clears the next",
		`soon(() => { log('a'); clearImmediate(b) }); const b = soon(says('b')); soon(says('c'))`,
		func(w *world) {
			var b js.ID
			w.immediate(func() { w.say("a"); w.ClearImmediate(b) })
			b = w.immediate(w.says("b"))
			w.immediate(w.says("c"))
		},
		[]string{"a", "c"}},
	{"a timer clears the next",
		`after(5, () => { log('a'); clearTimeout(b) }); const b = after(5, says('b')); after(5, says('c'))`,
		func(w *world) {
			var b js.ID
			w.timeout(5, func() { w.say("a"); w.ClearTimeout(b) })
			b = w.timeout(5, w.says("b"))
			w.timeout(5, w.says("c"))
		},
		[]string{"a", "c"}},
	{"either clear takes either id",
		`clearInterval(after(5, says('a'))); clearTimeout(every(5, says('b'))); after(10, says('c'))`,
		func(w *world) {
			w.ClearInterval(w.timeout(5, w.says("a")))
			w.ClearTimeout(w.interval(5, w.says("b")))
			w.timeout(10, w.says("c"))
		},
		[]string{"c"}},
	{"an interval clears itself",
		`let n = 0; const i = every(5, () => { log('i'); tick(says('t')); if (++n == 3) clearInterval(i) })`,
		func(w *world) {
			n := 0
			var i js.ID
			i = w.interval(5, func() {
				w.say("i")
				w.tick(w.says("t"))
				if n++; n == 3 {
					w.ClearInterval(i)
				}
			})
		},
		[]string{"i", "t", "i", "t", "i", "t"}},
	{"timers clear themselves and set others",
		`const a = after(5, () => { log('a'); clearTimeout(a); after(5, says('b')); clearTimeout(a) });
		 const i = every(40, () => { log('i'); clearInterval(i); const k = every(5, () => { log('k'); clearInterval(k) }) })`,
		func(w *world) {
			var a, i js.ID
			a = w.timeout(5, func() {
				w.say("a")
				w.ClearTimeout(a)
				w.timeout(5, w.says("b"))
				w.ClearTimeout(a)
			})
			i = w.interval(40, func() {
				w.say("i")
				w.ClearInterval(i)
				var k js.ID
				k = w.interval(5, func() { w.say("k"); w.ClearInterval(k) })
			})
		},
		[]string{"a", "b", "i", "k"}},
	{"a timer among an interval's runs",
		`let n = 0; const i = every(40, () => { log('i'); if (++n == 3) clearInterval(i) }); after(100, says('timer'))`,
		func(w *world) {
			n := 0
			var i js.ID
			i = w.interval(40, func() {
				w.say("i")
				if n++; n == 3 {
					w.ClearInterval(i)
				}
			})
			w.timeout(100, w.says("timer"))
		},
		[]string{"i", "i", "timer", "i"}},
	{"a refreshed timer starts anew",
		`const a = after(60, says('a')); after(30, () => a.refresh()); after(75, says('b'))`,
		func(w *world) {
			a := w.timeout(60, w.says("a"))
			w.timeout(30, func() { w.must(a, w.Refresh(a)) })
			w.timeout(75, w.says("b"))
		},
		[]string{"b", "a"}},
	{"a timer refreshes itself",
		`let n = 0; const a = after(5, () => { log('a'); if (++n < 3) a.refresh() })`,
		func(w *world) {
			n := 0
			var a js.ID
			a = w.timeout(5, func() {
				w.say("a")
				if n++; n < 3 {
					w.must(a, w.Refresh(a))
				}
			})
		},
		[]string{"a", "a", "a"}},
	{"an unref'd timer does not keep the program",
		`const a = after(2000, says('a')); a.unref(); log(a.hasRef()); const b = after(20, says('b')); b.unref(); b.ref(); log(b.hasRef())`,
		func(w *world) {
			say := map[bool]string{true: "true", false: "false"}
			a := w.timeout(2000, w.says("a"))
			w.Unref(a)
			w.say(say[w.HasRef(a)])
			b := w.timeout(20, w.says("b"))
			w.Unref(b)
			w.Ref(b)
			w.say(say[w.HasRef(b)])
		},
		[]string{"false", "true", "b"}},
	{"abort listeners run within abort, sources' before followers'",
		`const c = new AbortController(), any = AbortSignal.any([c.signal]), two = AbortSignal.any([any]);
		 two.addEventListener('abort', says('two')); any.addEventListener('abort', says('any'));
		 c.signal.addEventListener('abort', () => { log('source'); tick(says('tick')) });
		 c.signal.addEventListener('abort', says('second')); c.abort(); log('main'); c.abort()`,
		func(w *world) {
			c := w.NewAbortController()
			follow := w.AnySignal(c.Signal())
			two := w.AnySignal(follow)
			two.OnAbort(func(error) { w.say("two") })
			follow.OnAbort(func(error) { w.say("any") })
			c.Signal().OnAbort(func(error) {
				w.say("source")
				w.tick(w.says("tick"))
			})
			c.Signal().OnAbort(func(error) { w.say("second") })
			c.Abort(nil)
			w.say("main")
			c.Abort(nil)
		},
		[]string{"source", "second", "any", "two", "main", "tick"}},
	{"events are dispatched at once",
		`const t = new EventTarget(), l = says('l');
		 t.addEventListener('x', () => { log('once'); t.removeEventListener('x', l); job(says('job')) }, { once: true });
		 t.addEventListener('x', l); t.addEventListener('x', l); t.addEventListener('x', says('kept'));
		 t.dispatchEvent(new Event('x')); log('main'); t.dispatchEvent(new Event('x'))`,
		func(w *world) {
			t := w.NewEventTarget()
			listener := func(s string) *js.EventListener { return js.NewEventListener(func(*js.Event) { w.say(s) }) }
			l := listener("l")
			t.AddEventListener("x", js.NewEventListener(func(*js.Event) {
				w.say("once")
				t.RemoveEventListener("x", l)
				w.microtask(w.says("job"))
			}), js.Once())
			t.AddEventListener("x", l)
			t.AddEventListener("x", l)
			t.AddEventListener("x", listener("kept"))
			t.DispatchEvent(js.NewEvent("x"))
			w.say("main")
			t.DispatchEvent(js.NewEvent("x"))
		},
		[]string{"once", "kept", "main", "kept", "job"}},
	{"one that an immediate handles is not",
		`const p = failed('e'); soon(() => { log('immediate'); p.catch(caught('got ')) }); job(says('j'))`,
		func(w *world) {
			p := w.failed("e")
			w.immediate(func() { w.say("immediate"); p.Catch(w.caught("got ")) })
			w.microtask(w.says("j"))
		},
		[]string{"j", "unhandled e", "immediate", "got e"}},
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
}
