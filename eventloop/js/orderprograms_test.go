package js_test

// The programs of the order tests, each in Go and in JavaScript, with the output that Node printed.

import (
	"github.com/turnloop/turnloop/eventloop/js"
)

// program is a program in JavaScript and in Go, and what Node logs when it runs the former.
type program struct {
	name   string
	source string
	run    func(w *world)
	log    []string
}

// order is a table of programs of callbacks; promiseOrder is one of programs that have promises too. Only programs with
// one possible order are in them.
var order = []program{
	{"ticks go before microtasks",
		`job(says('job')); tick(says('tick')); log('main')`,
		func(w *world) { w.microtask(w.says("job")); w.tick(w.says("tick")); w.say("main") },
		[]string{"main", "tick", "job"}},
	{"ticks of ticks go before microtasks",
		`job(says('job')); tick(() => { log('1'); tick(() => { log('2'); tick(says('3')) }) }); tick(says('b'))`,
		func(w *world) {
			w.microtask(w.says("job"))
			w.tick(func() { w.say("1"); w.tick(func() { w.say("2"); w.tick(w.says("3")) }) })
			w.tick(w.says("b"))
		},
		[]string{"1", "b", "2", "3", "job"}},
	{"ticks of microtasks wait for all microtasks",
		`job(() => { log('a'); tick(says('tick')); job(says('c')) }); job(() => { log('b'); job(says('d')) })`,
		func(w *world) {
			w.microtask(func() { w.say("a"); w.tick(w.says("tick")); w.microtask(w.says("c")) })
			w.microtask(func() { w.say("b"); w.microtask(w.says("d")) })
		},
		[]string{"a", "b", "c", "d", "tick"}},
	{"ticks and microtasks alternate",
		`tick(() => { log('t1'); job(() => { log('j1'); tick(() => { log('t2'); job(says('j2')); tick(says('t3')) }) }) });
		 soon(says('immediate'))`,
		func(w *world) {
			w.tick(func() {
				w.say("t1")
				w.microtask(func() {
					w.say("j1")
					w.tick(func() { w.say("t2"); w.microtask(w.says("j2")); w.tick(w.says("t3")) })
				})
			})
			w.immediate(w.says("immediate"))
		},
		[]string{"t1", "j1", "t2", "t3", "j2", "immediate"}},
	{"the last microtask's tick, then the next callback's",
		`after(5, () => { job(() => tick(says('t1'))); }); after(5, () => { job(says('j2')); tick(says('t2')) })`,
		func(w *world) {
			w.timeout(5, func() { w.microtask(func() { w.tick(w.says("t1")) }) })
			w.timeout(5, func() { w.microtask(w.says("j2")); w.tick(w.says("t2")) })
		},
		[]string{"t1", "t2", "j2"}},
	{"ticks and microtasks run between timers",
		`after(5, () => { log('a'); job(says('ja')); tick(says('ta')) }); after(5, () => { log('b'); job(says('jb')); tick(says('tb')) })`,
		func(w *world) {
			w.timeout(5, func() { w.say("a"); w.microtask(w.says("ja")); w.tick(w.says("ta")) })
			w.timeout(5, func() { w.say("b"); w.microtask(w.says("jb")); w.tick(w.says("tb")) })
		},
		[]string{"a", "ta", "ja", "b", "tb", "jb"}},
	{"ticks and microtasks run between immediates",
		`soon(() => { log('a'); job(says('ja')); tick(says('ta')) }); soon(says('b'))`,
		func(w *world) {
			w.immediate(func() { w.say("a"); w.microtask(w.says("ja")); w.tick(w.says("ta")) })
			w.immediate(w.says("b"))
		},
		[]string{"a", "ta", "ja", "b"}},
	{"everything that is set at once",
		`after(30, says('timer')); soon(says('immediate')); job(says('job')); tick(says('tick'))`,
		func(w *world) {
			w.timeout(30, w.says("timer"))
			w.immediate(w.says("immediate"))
			w.microtask(w.says("job"))
			w.tick(w.says("tick"))
		},
		[]string{"tick", "job", "immediate", "timer"}},
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
	{"a timer's immediate waits for the timers that are due",
		`after(5, () => { log('a'); soon(says('immediate')) }); after(5, says('b')); after(6, says('c')); busy(20)`,
		func(w *world) {
			w.timeout(5, func() { w.say("a"); w.immediate(w.says("immediate")) })
			w.timeout(5, w.says("b"))
			w.timeout(6, w.says("c"))
			w.busy(20)
		},
		[]string{"a", "b", "c", "immediate"}},
	{"a microtask's immediate between timers waits too",
		`after(5, () => { log('a'); job(() => soon(says('immediate'))) }); after(5, says('b')); busy(20)`,
		func(w *world) {
			w.timeout(5, func() { w.say("a"); w.microtask(func() { w.immediate(w.says("immediate")) }) })
			w.timeout(5, w.says("b"))
			w.busy(20)
		},
		[]string{"a", "b", "immediate"}},
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
}
