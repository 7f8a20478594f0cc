package promise_test

// The programs of the order tests, each in Go and in JavaScript, with the output that Node printed.

import (
	"errors"
	"fmt"
	"strings"

	"github.com/turnloop/turnloop/eventloop/promise"
)

var programs = []struct {
	name, js, want string
	run            func(s *script)
}{
	{
		name: "handlers run after the code that settles",
		js:   `const [p, resolve] = resolvers(); p.then(say("then")); resolve(); log("sync");`,
		want: "sync then",
		run: func(s *script) {
			p, resolve, _ := s.New()
			p.Then(s.say("then"), nil)
			resolve(nil)
			s.log("sync")
		},
	},
	{
		name: "handlers of one promise in order, also late ones",
		js: `const p = Promise.resolve(); p.then(() => { log(1); p.then(say(4)) }); p.then(say(2)); p.then(say(3));
			log("sync");`,
		want: "sync 1 2 3 4",
		run: func(s *script) {
			p := s.Resolved(nil)
			p.Then(func(any) (any, error) { s.log(1); p.Then(s.say("4"), nil); return nil, nil }, nil)
			p.Then(s.say("2"), nil)
			p.Then(s.say("3"), nil)
			s.log("sync")
		},
	},
	{
		name: "two chains take turns",
		js:   `ticks("a", 3); ticks("b", 3);`,
		want: "a1 b1 a2 b2 a3 b3",
		run:  func(s *script) { s.ticks("a", 3); s.ticks("b", 3) },
	},
	{
		name: "jobs and microtasks share one queue",
		js: `micro(say("m1")); Promise.resolve().then(() => { log("p1"); micro(say("m3")) }).then(say("p3"));
			micro(() => { log("m2"); Promise.resolve().then(say("p4")) }); Promise.resolve().then(say("p2"));`,
		want: "m1 p1 m2 p2 m3 p3 p4",
		run: func(s *script) {
			s.micro(func() { s.log("m1") })
			s.Resolved(nil).Then(func(any) (any, error) {
				s.log("p1")
				s.micro(func() { s.log("m3") })
				return nil, nil
			}, nil).Then(s.say("p3"), nil)
			s.micro(func() { s.log("m2"); s.Resolved(nil).Then(s.say("p4"), nil) })
			s.Resolved(nil).Then(s.say("p2"), nil)
		},
	},
	{
		name: "a promise returned by a handler takes two turns more",
		js:   `Promise.resolve().then(() => { log("f"); return Promise.resolve("v") }).then(value("got ")); ticks("t", 6);`,
		want: "f t1 t2 t3 got v t4 t5 t6",
		run: func(s *script) {
			s.Resolved(nil).Then(func(any) (any, error) { s.log("f"); return s.Resolved("v"), nil }, nil).
				Then(s.value("got "), nil)
			s.ticks("t", 6)
		},
	},
	{
		name: "so does a rejected one",
		js:   `Promise.resolve().then(() => Promise.reject("e")).catch(caught("got ")); ticks("t", 5);`,
		want: "t1 t2 t3 got e t4 t5",
		run: func(s *script) {
			s.Resolved(nil).Then(func(any) (any, error) { return s.Rejected(errors.New("e")), nil }, nil).Catch(s.caught("got "))
			s.ticks("t", 5)
		},
	},
	{
		name: "resolve with a settled promise",
		js:   `const [p, resolve] = resolvers(); p.then(value("got ")); resolve(Promise.resolve(1)); ticks("t", 4);`,
		want: "t1 t2 got 1 t3 t4",
		run: func(s *script) {
			p, resolve, _ := s.New()
			p.Then(s.value("got "), nil)
			resolve(s.Resolved(1))
			s.ticks("t", 4)
		},
	},
	{
		name: "resolve with a pending promise locks in",
		js: `const [p, resolve, reject] = resolvers(), [q, resolveQ] = resolvers(); p.then(value("p "), caught("no "));
			resolve(q); reject("no"); resolve("no"); q.then(value("q ")); micro(() => resolveQ(1)); ticks("t", 4);`,
		want: "t1 q 1 t2 p 1 t3 t4",
		run: func(s *script) {
			p, resolve, reject := s.New()
			q, resolveQ, _ := s.New()
			p.Then(s.value("p "), s.caught("no "))
			resolve(q)
			reject(errors.New("no"))
			resolve("no")
			q.Then(s.value("q "), nil)
			s.micro(func() { resolveQ(1) })
			s.ticks("t", 4)
		},
	},
	{
		name: "who asked the followed promise before hears before",
		js: `const [p, resolve] = resolvers(), [q, resolveQ] = resolvers(); q.then(say("q1")); resolve(q); p.then(say("p"));
			q.then(say("q2")); micro(() => { q.then(say("q3")); resolveQ() }); ticks("t", 4);`,
		want: "t1 q1 q2 q3 t2 p t3 t4",
		run: func(s *script) {
			p, resolve, _ := s.New()
			q, resolveQ, _ := s.New()
			q.Then(s.say("q1"), nil)
			resolve(q)
			p.Then(s.say("p"), nil)
			q.Then(s.say("q2"), nil)
			s.micro(func() { q.Then(s.say("q3"), nil); resolveQ(nil) })
			s.ticks("t", 4)
		},
	},
	{
		name: "promises that follow promises that follow promises",
		js: `const deep = n => n == 0 ? Promise.resolve("end")
				: Promise.resolve().then(() => { log("d" + n); return deep(n - 1) });
			deep(3).then(value("got ")); ticks("t", 12);`,
		want: "d3 t1 d2 t2 d1 t3 t4 t5 t6 t7 got end t8 t9 t10 t11 t12",
		run: func(s *script) {
			var deep func(n int) *promise.Promise
			deep = func(n int) *promise.Promise {
				if n == 0 {
					return s.Resolved("end")
				}
				return s.Resolved(nil).Then(func(any) (any, error) { s.log(fmt.Sprint("d", n)); return deep(n - 1), nil }, nil)
			}
			deep(3).Then(s.value("got "), nil)
			s.ticks("t", 12)
		},
	},
	{
		name: "errors pass by thens, values pass by catches",
		js: `Promise.reject("e").then(say("no")).catch(e => { log("c " + e); return 1 }).catch(say("no")).then(value("v "));
			ticks("t", 5);`,
		want: "t1 c e t2 t3 v 1 t4 t5",
		run: func(s *script) {
			s.Rejected(errors.New("e")).Then(s.say("no"), nil).
				Catch(func(err error) (any, error) { s.log("c " + err.Error()); return 1, nil }).
				Catch(func(error) (any, error) { s.log("no"); return nil, nil }).
				Then(s.value("v "), nil)
			s.ticks("t", 5)
		},
	},
	{
		name: "an error thrown by either handler",
		js: `Promise.resolve().then(() => { throw "a" }).then(null, e => { log(e); throw "b" }).then(say("no"), caught(""));
			ticks("t", 4);`,
		want: "t1 a t2 b t3 t4",
		run: func(s *script) {
			s.Resolved(nil).Then(func(any) (any, error) { return nil, errors.New("a") }, nil).
				Then(nil, func(err error) (any, error) { s.log(err); return nil, errors.New("b") }).
				Then(s.say("no"), s.caught(""))
			s.ticks("t", 4)
		},
	},
	{
		name: "finally passes a value on, later",
		js:   `Promise.resolve("v").finally(say("f")).then(value("got ")); ticks("t", 6);`,
		want: "f t1 t2 t3 got v t4 t5 t6",
		run: func(s *script) {
			s.Resolved("v").Finally(func() error { s.log("f"); return nil }).Then(s.value("got "), nil)
			s.ticks("t", 6)
		},
	},
	{
		name: "finally passes an error on, later",
		js:   `Promise.reject("e").finally(say("f")).catch(caught("got ")); ticks("t", 6);`,
		want: "f t1 t2 t3 got e t4 t5 t6",
		run: func(s *script) {
			s.Rejected(errors.New("e")).Finally(func() error { s.log("f"); return nil }).Catch(s.caught("got "))
			s.ticks("t", 6)
		},
	},
	{
		name: "finally that fails",
		js:   `Promise.resolve("v").finally(() => { log("f"); throw "e" }).then(say("no"), caught("got ")); ticks("t", 4);`,
		want: "f t1 got e t2 t3 t4",
		run: func(s *script) {
			s.Resolved("v").Finally(func() error { s.log("f"); return errors.New("e") }).Then(s.say("no"), s.caught("got "))
			s.ticks("t", 4)
		},
	},
	{
		name: "finally without a function",
		js:   `Promise.resolve("v").finally().then(value("got ")); ticks("t", 4);`,
		want: "t1 got v t2 t3 t4",
		run: func(s *script) {
			s.Resolved("v").Finally(nil).Then(s.value("got "), nil)
			s.ticks("t", 4)
		},
	},
	{
		name: "Promise.resolve of a promise is that promise",
		js: `const p = Promise.resolve(1); log(Promise.resolve(p) === p); Promise.resolve(p).then(say("a"));
			ticks("t", 2);`,
		want: "true a t1 t2",
		run: func(s *script) {
			p := s.Resolved(1)
			s.log(s.Resolved(p) == p)
			s.Resolved(p).Then(s.say("a"), nil)
			s.ticks("t", 2)
		},
	},
	{
		name: "a promise resolved with itself",
		js:   `const [p, resolve] = resolvers(); p.catch(() => log("cycle")); resolve(p); ticks("t", 3);`,
		want: "cycle t1 t2 t3",
		run: func(s *script) {
			p, resolve, _ := s.New()
			p.Catch(func(error) (any, error) { s.log("cycle"); return nil, nil })
			resolve(p)
			s.ticks("t", 3)
		},
	},
	{
		name: "a handler that returns its own promise",
		js:   `const p = Promise.resolve().then(() => p); p.catch(() => log("cycle")); ticks("t", 4);`,
		want: "t1 cycle t2 t3 t4",
		run: func(s *script) {
			var p *promise.Promise
			p = s.Resolved(nil).Then(func(any) (any, error) { return p, nil }, nil)
			p.Catch(func(error) (any, error) { s.log("cycle"); return nil, nil })
			s.ticks("t", 4)
		},
	},
	{
		name: "a handler settles another promise",
		js: `const [p, resolve] = resolvers(); p.then(value("p ")); Promise.resolve().then(() => { resolve(1); log("a") })
			.then(say("c")); Promise.resolve().then(say("b"));`,
		want: "a b p 1 c",
		run: func(s *script) {
			p, resolve, _ := s.New()
			p.Then(s.value("p "), nil)
			s.Resolved(nil).Then(func(any) (any, error) { resolve(1); s.log("a"); return nil, nil }, nil).Then(s.say("c"), nil)
			s.Resolved(nil).Then(s.say("b"), nil)
		},
	},
	{
		name: "all keeps the order of its arguments",
		js: `const [p, resolveP] = resolvers(), [q, resolveQ] = resolvers();
			Promise.all([p, Promise.resolve("s"), q]).then(v => log(v.join())); resolveQ("q"); resolveP("p"); ticks("t", 4);`,
		want: "t1 p,s,q t2 t3 t4",
		run: func(s *script) {
			p, resolveP, _ := s.New()
			q, resolveQ, _ := s.New()
			s.All(p, s.Resolved("s"), q).Then(s.joined, nil)
			resolveQ("q")
			resolveP("p")
			s.ticks("t", 4)
		},
	},
	{
		name: "all rejects with the first error, and once",
		js: `const [p, , reject] = resolvers(); Promise.all([p, Promise.resolve(), Promise.reject("a"), Promise.reject("b")])
			.then(say("no"), caught("got ")); reject("c"); ticks("t", 4);`,
		want: "t1 got a t2 t3 t4",
		run: func(s *script) {
			p, _, reject := s.New()
			s.All(p, s.Resolved(nil), s.Rejected(errors.New("a")), s.Rejected(errors.New("b"))).
				Then(s.say("no"), s.caught("got "))
			reject(errors.New("c"))
			s.ticks("t", 4)
		},
	},
	{
		name: "all of nothing, and of all",
		js: `Promise.all([]).then(v => log("none " + v.length)); Promise.all([Promise.all([Promise.resolve(1)])])
			.then(v => log("nested " + v[0][0])); ticks("t", 5);`,
		want: "none 0 t1 t2 nested 1 t3 t4 t5",
		run: func(s *script) {
			s.All().Then(func(v any) (any, error) { s.log(fmt.Sprint("none ", len(v.([]any)))); return nil, nil }, nil)
			s.All(s.All(s.Resolved(1))).Then(func(v any) (any, error) {
				s.log(fmt.Sprint("nested ", v.([]any)[0].([]any)[0]))
				return nil, nil
			}, nil)
			s.ticks("t", 5)
		},
	},
	{
		name: "allSettled tells of each",
		js: `const [p, resolve] = resolvers(); Promise.allSettled([p, Promise.reject("e"), Promise.resolve(2)])
			.then(v => log(v.map(o => o.status == "fulfilled" ? "+" + o.value : "-" + o.reason).join())); resolve(1);
			Promise.allSettled([]).then(v => log(v.length)); ticks("t", 4);`,
		want: "0 t1 +1,-e,+2 t2 t3 t4",
		run: func(s *script) {
			p, resolve, _ := s.New()
			s.AllSettled(p, s.Rejected(errors.New("e")), s.Resolved(2)).Then(func(v any) (any, error) {
				var parts []string
				for _, o := range v.([]promise.Result) {
					if o.Err != nil {
						parts = append(parts, "-"+o.Err.Error())
					} else {
						parts = append(parts, fmt.Sprint("+", o.Value))
					}
				}
				s.log(strings.Join(parts, ","))
				return nil, nil
			}, nil)
			resolve(1)
			s.AllSettled().Then(func(v any) (any, error) { s.log(len(v.([]promise.Result))); return nil, nil }, nil)
			s.ticks("t", 4)
		},
	},
	{
		name: "race takes the first that settles, not the first argument",
		js: `const [p, resolve] = resolvers(); Promise.race([p, Promise.reject("e"), Promise.resolve("v")])
			.then(say("no"), caught("got ")); resolve("late"); Promise.race([]).then(say("never")); ticks("t", 4);`,
		want: "t1 got e t2 t3 t4",
		run: func(s *script) {
			p, resolve, _ := s.New()
			s.Race(p, s.Rejected(errors.New("e")), s.Resolved("v")).Then(s.say("no"), s.caught("got "))
			resolve("late")
			s.Race().Then(s.say("never"), nil)
			s.ticks("t", 4)
		},
	},
	{
		name: "any takes the first value",
		js: `Promise.any([Promise.reject("a"), Promise.resolve("v"), Promise.resolve("w")]).then(value("got "));
			Promise.any([Promise.reject("a"), Promise.reject("b")]).catch(e => log(e.errors.join()));
			Promise.any([]).catch(e => log("none " + e.errors.length)); ticks("t", 4);`,
		want: "none 0 t1 got v a,b t2 t3 t4",
		run: func(s *script) {
			a, b := errors.New("a"), errors.New("b")
			s.Any(s.Rejected(a), s.Resolved("v"), s.Resolved("w")).Then(s.value("got "), nil)
			s.Any(s.Rejected(a), s.Rejected(b)).Catch(func(err error) (any, error) {
				s.log(strings.ReplaceAll(errors.Join(err.(*promise.AggregateError).Errors...).Error(), "\n", ","))
				return nil, nil
			})
			s.Any().Catch(func(err error) (any, error) {
				s.log(fmt.Sprint("none ", len(err.(*promise.AggregateError).Errors)))
				return nil, nil
			})
			s.ticks("t", 4)
		},
	},
	{
		name: "combinators among handlers of the same promise",
		js: `const [p, resolve] = resolvers(); p.then(say("1")); Promise.race([p, p]).then(say("race")); p.then(say("2"));
			Promise.all([p, p]).then(say("all")); p.then(say("3")).then(say("4")); resolve(); ticks("t", 3);`,
		want: "1 2 3 t1 race all 4 t2 t3",
		run: func(s *script) {
			p, resolve, _ := s.New()
			p.Then(s.say("1"), nil)
			s.Race(p, p).Then(s.say("race"), nil)
			p.Then(s.say("2"), nil)
			s.All(p, p).Then(s.say("all"), nil)
			p.Then(s.say("3"), nil).Then(s.say("4"), nil)
			resolve(nil)
			s.ticks("t", 3)
		},
	},
	{
		name: "rejections come to be reported in rounds",
		js: `process.on("unhandledRejection", e => { log("report " + e); if (e.length > 1) return; micro(say("micro " + e));
				const p = Promise.reject(e + 1); if (e == "a") p.catch(() => log("caught " + e)); else Promise.reject(e + 2) });
			Promise.reject("a"); Promise.reject("b"); ticks("t", 2);`,
		want: "t1 t2 report a report b micro a caught a micro b report b1 report b2",
		run: func(s *script) {
			s.unhandled = func(err error) {
				e := err.Error()
				if s.log("report " + e); len(e) > 1 {
					return
				}
				s.micro(func() { s.log("micro " + e) })
				if p := s.Rejected(errors.New(e + "1")); e == "a" {
					p.Catch(func(error) (any, error) { s.log("caught " + e); return nil, nil })
				} else {
					s.Rejected(errors.New(e + "2"))
				}
			}
			s.Rejected(errors.New("a"))
			s.Rejected(errors.New("b"))
			s.ticks("t", 2)
		},
	},
}
