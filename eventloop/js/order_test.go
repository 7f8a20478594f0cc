package js_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/js"
)

// preamble defines what the JavaScript programs of the table use.
const preamble = `
const all = [], log = s => all.push(s), says = s => () => log(s);
const tick = f => process.nextTick(f), job = queueMicrotask, soon = setImmediate;
const after = (ms, f) => setTimeout(f, ms), every = (ms, f) => setInterval(f, ms);
const busy = ms => { for (const t = performance.now(); performance.now() - t < ms;); };
const io = f => require('fs').stat('.', f);
const resolvers = () => { let a, b; const p = new Promise((x, y) => { a = x; b = y }); return [p, a, b] };
const sleep = (ms, v) => new Promise(resolve => after(ms, () => resolve(v)));
const value = s => v => { log(s + v); return v }, caught = s => e => { log(s + e.message) };
const fail = s => { throw new Error(s) }, failed = s => Promise.reject(new Error(s));
const count = (s, n) => { let p = Promise.resolve(); for (let i = 1; i <= n; i++) p = p.then(says(s + i)) };
process.on('unhandledRejection', e => log('unhandled ' + e.message));
process.on('exit', () => console.log(JSON.stringify(all)));
`

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
	{"an immediate's immediate waits for the next turn",
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

func TestOrder(t *testing.T) {
	for _, p := range slices.Concat(order, promiseOrder) {
		t.Run(p.name, func(t *testing.T) {
			virtual(t, func(t *testing.T, w *world) {
				w.run(func() { p.run(w) })
				w.want(p.log...)
			})
		})
	}
}

// The tables say what Node does. Set TURNLOOP_NODE=1 to ask it again.
func TestOrderOfNode(t *testing.T) {
	node := nodePath(t)
	for _, p := range slices.Concat(order, promiseOrder) {
		t.Run(p.name, func(t *testing.T) {
			w := &world{t: t, log: runNode(t, node, p.source)}
			w.want(p.log...)
		})
	}
}

// nodePath returns where node is, if the test is to ask it.
func nodePath(t *testing.T) string {
	t.Helper()
	if os.Getenv("TURNLOOP_NODE") == "" {
		t.Skip("TURNLOOP_NODE is not set")
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip(err)
	}
	return node
}

// runNode returns what Node logs when it runs a program.
func runNode(t *testing.T, node, source string) (log []string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "program.cjs")
	if err := os.WriteFile(file, []byte(preamble+source), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(node, file).Output()
	if err != nil {
		t.Fatal(err)
	}
	var values []any
	if err := json.Unmarshal(out, &values); err != nil {
		t.Fatal(err)
	}
	for _, v := range values {
		s, ok := v.(string)
		if !ok {
			b, _ := json.Marshal(v)
			s = string(b)
		}
		log = append(log, s)
	}
	return log
}

// The next turn of immediates comes after timers, also if tasks keep the loop busy, and after those that tasks set
// meanwhile.
func TestNextTurnComesAfterTimers(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		w.run(func() {
			w.immediate(func() { w.say("a"); w.immediate(w.says("b")); w.timeout(0, w.says("t1")) })
			for range 2 {
				w.loop.Submit(func() { w.say("task"); w.timeout(0, w.says("t2")) })
			}
		})
		w.want("a", "task", "task", "t1", "t2", "t2", "b")
	})
	virtual(t, func(t *testing.T, w *world) { // no timer is due before the turn
		w.run(func() {
			w.immediate(func() { w.say("a"); w.immediate(w.says("b")) })
			for range 2 {
				w.loop.Submit(func() { w.say("task"); w.timeout(0, w.says("t")) })
			}
		})
		w.want("a", "task", "task", "t", "t", "b")
	})
}

// What two adapters are given, and the loop itself, has one order.
func TestOneOrder(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		other, err := js.New(w.loop)
		if err != nil {
			t.Fatal(err)
		}
		w.run(func() {
			w.microtask(func() { w.say("j1"); w.must(0, other.NextTick(w.says("t3"))) })
			w.must(0, w.loop.NextTick(w.says("t1")))
			w.loop.Promises().Resolved(nil).Then(w.then("p1"), nil)
			w.must(0, other.NextTick(w.says("t2")))
			w.must(0, w.loop.ScheduleMicrotask(w.says("j2")))
			other.Resolve(nil).Then(w.then("p2"), nil)
			w.must(0, other.QueueMicrotask(w.says("j3")))
		})
		w.want("t1", "t2", "j1", "p1", "j2", "p2", "j3", "t3")
	})
	virtual(t, func(t *testing.T, w *world) { // immediates that others' timers set wait for all that are due
		other, err := js.New(w.loop)
		if err != nil {
			t.Fatal(err)
		}
		w.run(func() {
			_, err := w.loop.ScheduleTimer(5*time.Millisecond, func() { w.say("t1"); w.immediate(w.says("i1")) })
			w.must(0, err)
			w.timeout(5, w.says("t2"))
			w.must(other.SetTimeout(func() { w.say("t3"); w.immediate(w.says("i2")) }, 5))
			w.timeout(5, w.says("t4"))
		})
		w.want("t1", "t2", "t3", "t4", "i1", "i2")
	})
}

// What is set before the loop runs, or by other goroutines, has the order of a turn.
func TestOrderOfTheFirstTurn(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		w.must(0, w.loop.Submit(w.says("task")))
		w.immediate(w.says("immediate"))
		w.timeout(0, w.says("timer"))
		w.run(w.says("program"))
		w.want("timer", "task", "immediate", "program")
	})
}

// When tasks fill more than a turn, a timer waits for the immediates that were set before it was due and for no task;
// and what it sets waits for the tasks that were queued before.
func TestImmediatesBehindTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, eventloop.WithTickBudget(1), eventloop.WithOnOverload(func(error) {}))
		w.run(func() {
			w.must(0, w.loop.Submit(w.says("x1")))
			w.immediate(w.says("i1"))
			w.must(0, w.loop.Submit(w.says("x2")))
			first, last := w.timeout(0, w.says("cleared")), js.ID(0)
			w.timeout(0, func() { w.say("t1"); w.ClearTimeout(last); w.immediate(w.says("i3")) })
			last = w.timeout(0, w.says("cleared"))
			w.timeout(0, w.says("t2"))
			w.immediate(func() { w.say("i2"); w.ClearTimeout(first) })
		})
		w.want("i1", "i2", "t1", "t2", "x1", "x2", "i3")
	})
}

// Ticks and microtasks that are queued off the loop all run, each kind in order.
func TestMicrotasksFromElsewhere(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		var ticks, jobs []int
		for i := range 100 {
			w.tick(func() { ticks = append(ticks, i) })
			w.microtask(func() { jobs = append(jobs, i) })
		}
		w.run(func() {})
		for i := range 100 {
			if len(ticks) != 100 || len(jobs) != 100 || ticks[i] != i || jobs[i] != i {
				t.Fatalf("ticks %v\njobs %v", ticks, jobs)
			}
		}
	})
}

// An endless chain of ticks or microtasks lets timers through, and keeps its order.
func TestEndlessChains(t *testing.T) {
	for _, kind := range []string{"ticks", "microtasks", "immediates", "timers"} {
		t.Run(kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				over := 0
				w := newWorld(t, eventloop.WithOnOverload(func(error) {}))
				set := map[string]func(func()){
					"ticks": w.tick, "microtasks": w.microtask,
					"immediates": func(fn func()) { w.immediate(fn) },
					"timers":     func(fn func()) { w.timeout(0, fn) },
				}[kind]
				stop, runs := false, 0
				var chain func()
				chain = func() {
					if runs++; runs == 1e6 {
						t.Error("the timer starves")
						stop = true
					}
					if runs == 2000 {
						w.busy(10)
					}
					if !stop {
						set(chain)
					} else {
						over++
					}
				}
				w.run(func() {
					w.timeout(10, func() { stop = true })
					chain()
				})
				if over != 1 {
					t.Errorf("the chain ended %d times", over)
				}
			})
		})
	}
}

// What a panic or an exit leaves behind goes on in order.
func TestMicrotasksThatPanic(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		w.run(func() {
			w.microtask(func() { w.say("j1"); w.tick(w.says("t2")); panic("j") })
			w.microtask(w.says("j2"))
			w.tick(func() { w.tick(w.says("t1")); panic("t") })
			w.timeout(1, func() { w.microtask(w.says("j3")); w.tick(w.says("t3")); panic("timer") })
			w.immediate(func() { w.immediate(w.says("i3")); panic("i") })
			w.immediate(w.says("i2"))
			w.timeout(2, func() { w.microtask(func() { panic("the last") }) })
			w.timeout(3, func() { w.microtask(w.says("j4")); w.tick(w.says("t4")) })
		})
		w.want("t1", "j1", "j2", "t2", "i2", "i3", "t3", "j3", "t4", "j4")
		if len(w.faults) != 5 {
			t.Errorf("%d faults: %v", len(w.faults), w.faults)
		}
	})
}
