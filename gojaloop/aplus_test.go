package gojaloop_test

// Promises/A+ 1.1, on the host: each rule as a script that collects what happens. The promises are goja's; the tests
// show that they keep the rules when the host decides when their jobs run.

import (
	"context"
	"strings"
	"testing"
)

var aplusRules = []struct{ rule, script, want string }{
	{"2.1.2 a fulfilled promise does not change", `new Promise((f, r) => { f(1); f(2); r(3) }).then(log, log)`, "1"},
	{"2.1.3 a rejected promise does not change", `new Promise((f, r) => { r(1); f(2); r(3) }).then(() => log('no'), log)`, "1"},
	{"2.1.2.1 a throw after the decision is ignored", `new Promise(f => { f(1); throw 2 }).then(log, () => log('no'))`, "1"},
	{"2.2.1 arguments that are no functions are ignored", `Promise.resolve(1).then(5, {}).then(log); Promise.reject(2).then(null, 'x').catch(log)`, "1 2"},
	{"2.2.2 onFulfilled is called once, with the value, not before", `
		let f; const p = new Promise(r => f = r); p.then(v => log('v' + v)); setTimeout(() => { log('before'); f(1); f(1); log('sync') }, 1)`, "before sync v1"},
	{"2.2.3 onRejected is called once, with the reason, not before", `
		let r; const p = new Promise((_, x) => r = x); p.catch(v => log('r' + v)); setTimeout(() => { log('before'); r(1); r(1); log('sync') }, 1)`, "before sync r1"},
	{"2.2.4 handlers run when the stack is empty", `
		Promise.resolve().then(() => log('then')); log('sync'); setTimeout(() => { Promise.resolve().then(() => log('then2')); log('sync2') }, 1)`, "sync then sync2 then2"},
	{"2.2.4 also when a Go function has called back", `
		Promise.resolve().then(() => log('then')); [1, 2].forEach(x => log(x)); call(() => log('called')); log('sync')`, "1 2 called sync then"},
	{"2.2.5 handlers are called as functions", `Promise.resolve().then(function () { 'use strict'; log(this === undefined) })`, "true"},
	{"2.2.6 handlers run in the order of the calls to then", `
		let f; const p = new Promise(r => f = r); p.then(() => log(1)); p.then(() => { throw 0 }).catch(() => {}); p.then(() => log(2)); f(); p.then(() => log(3))`, "1 2 3"},
	{"2.2.7 then returns a promise", `log(Promise.resolve().then() instanceof Promise, Promise.reject().catch(() => {}) instanceof Promise)`, "true true"},
	{"2.2.7.1 with the value of the handler", `Promise.resolve(1).then(v => v + 1).then(log); Promise.reject(5).catch(v => v + 1).then(log)`, "2 6"},
	{"2.2.7.2 with what the handler throws", `Promise.resolve(1).then(v => { throw v + 1 }).catch(log); Promise.reject(5).catch(v => { throw v + 1 }).catch(log)`, "2 6"},
	{"2.2.7.3 without onFulfilled, with the same value", `Promise.resolve(1).then(undefined, () => log('no')).then(log)`, "1"},
	{"2.2.7.4 without onRejected, with the same reason", `Promise.reject(1).then(() => log('no')).catch(log)`, "1"},
	{"2.3.1 itself is a TypeError", `const p = Promise.resolve().then(() => p); p.catch(e => log(e instanceof TypeError))`, "true"},
	{"2.3.2 it adopts a promise, pending or not", `
		const later = v => new Promise(f => setTimeout(() => f(v), 2))
		Promise.resolve().then(() => later(1)).then(log); Promise.resolve().then(() => Promise.resolve(2)).then(log)
		Promise.resolve().then(() => Promise.reject(3)).catch(log)`, "2 3 1"},
	{"2.3.3.1 then is read once", `let n = 0; Promise.resolve().then(() => ({ get then() { n++; return f => f(n) } })).then(log)`, "1"},
	{"2.3.3.2 what reading then throws rejects", `Promise.resolve().then(() => ({ get then() { throw 1 } })).catch(log)`, "1"},
	{"2.3.3.3 then is called with the object as this", `const o = { then(f) { f(this === o) } }; Promise.resolve().then(() => o).then(log)`, "true"},
	{"2.3.3.3.1 a thenable's thenable is followed", `Promise.resolve().then(() => ({ then(f) { f({ then(g) { g(1) } }) } })).then(log)`, "1"},
	{"2.3.3.3.2 a thenable rejects", `Promise.resolve().then(() => ({ then(_, r) { r(1) } })).catch(log)`, "1"},
	{"2.3.3.3.3 the first call counts", `Promise.resolve().then(() => ({ then(f, r) { f(1); r(2); f(3); throw 4 } })).then(log, () => log('no'))`, "1"},
	{"2.3.3.3.3 also when it follows something pending", `
		Promise.resolve().then(() => ({ then(f, r) { f({ then(g) { setTimeout(() => g(1), 2) } }); r(2) } })).then(log, () => log('no'))`, "1"},
	{"2.3.3.3.4 what then throws rejects", `Promise.resolve().then(() => ({ then() { throw 1 } })).catch(log)`, "1"},
	{"2.3.3.4 a then that is no function makes it a value", `Promise.resolve().then(() => ({ then: 5 })).then(v => log(v.then))`, "5"},
	{"2.3.4 other values fulfil", `for (const v of [undefined, null, false, 0, '']) Promise.resolve().then(() => v).then(x => log(x === v))`, "true true true true true"},
}

func TestPromisesAPlus(t *testing.T) {
	for _, c := range aplusRules {
		// Each rule holds wherever the script runs: as a program, in a timer, in an immediate, in a nextTick
		// function, in a promise job.
		for _, where := range []string{"%", "setTimeout(() => {%})", "setImmediate(() => {%})", "process.nextTick(() => {%})", "queueMicrotask(() => {%})"} {
			h := newHost(t)
			var seen []string
			h.Set("log", func(values ...any) {
				for _, v := range values {
					seen = append(seen, h.Runtime().ToValue(v).String())
				}
			})
			h.Set("call", func(f func()) { f() })
			if _, err := h.Run(context.Background(), c.rule, strings.Replace(where, "%", c.script, 1)); err != nil {
				t.Errorf("%s, in %s: %v", c.rule, where, err)
			}
			if got := strings.Join(seen, " "); got != c.want {
				t.Errorf("%s, in %s: %s, want %s", c.rule, where, got, c.want)
			}
		}
	}
}
