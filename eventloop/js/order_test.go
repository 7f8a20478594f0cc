package js_test

// Tests of the order of callbacks: that of Node, program by program.

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
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
const caught = s => e => { log(s + e.message) };
const fail = s => { throw new Error(s) }, failed = s => Promise.reject(new Error(s));
process.on('unhandledRejection', e => log('unhandled ' + e.message));
process.on('exit', () => console.log(JSON.stringify(all)));
`

func TestOrder(t *testing.T) {
	for _, p := range order {
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
	for _, p := range order {
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
		t.Fatal(err) // it was asked for
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

// The next immediates come after timers, also if tasks keep the loop busy, and after timers that tasks set meanwhile.
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
	virtual(t, func(t *testing.T, w *world) { // no timer is due before these immediates
		w.run(func() {
			w.immediate(func() { w.say("a"); w.immediate(w.says("b")) })
			for range 2 {
				w.loop.Submit(func() { w.say("task"); w.timeout(0, w.says("t")) })
			}
		})
		w.want("a", "task", "task", "t", "t", "b")
	})
}

// Functions that are given to two adapters, and to the loop itself, have one order.
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

// Functions that are set before the loop runs, or by other goroutines, run in the order of a tick.
func TestOrderOfTheFirstTurn(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		w.must(0, w.loop.Submit(w.says("task")))
		w.immediate(w.says("immediate"))
		w.timeout(0, w.says("timer"))
		w.run(w.says("program"))
		w.want("timer", "task", "immediate", "program")
	})
}

// When more tasks wait than run in a tick, a timer waits for the immediates that were set before it was due, and for no
// task. Immediates that it sets wait for the tasks that were queued before.
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
