// Package promise is the promise engine of the event loop: promises whose state changes, and whose handlers run, on one
// loop, while any goroutine may settle them, derive others, and wait.
//
//	p, resolve, reject := realm.New()
//	length := p.Then(func(v any) (any, error) { return len(v.(string)), nil }, nil)
//	go func() { resolve("hello") }()
//	n, err := length.Await(ctx) // 5
//
// The same with types, and without casts:
//
//	p, resolve, reject := promise.New[string](realm)
//	length := promise.Then(p, func(s string) (int, error) { return len(s), nil })
//
// # Semantics
//
// They are those of ECMAScript (ECMA-262, "Promise Objects"), and so of Promises/A+: the first decision counts;
// handlers are called asynchronously, as microtasks, in the order in which they were attached; a handler's error or
// panic rejects; a promise that is returned is followed; jobs come in the same order, among each other and among
// microtasks. Instead of exceptions there are errors, and where ECMAScript follows anything with a method
// then, this package follows a *Promise and an [Of]; a type that embeds one of them is a value. Two more differences:
// cycles of promises that follow each other are rejected with ErrPromiseCycle as far as a bounded search finds them, where
// ECMAScript rejects only a promise that follows itself; and a Finally function returns no promise to wait for.
//
// # Threading rule
//
// All methods of [Promise] and [Of], the combinators, and the functions that settle a promise may be called from any
// goroutine. A [Realm] belongs to one loop. The loop owns its promises: only there do they change, and only there do
// handlers run. A call on the loop takes effect at once and takes no lock. A call from another goroutine is sent to the loop
// as a microtask and takes effect there, behind what was sent before; so a handler that another goroutine attaches may come
// behind one that is attached later on the loop. Of several calls of resolve and reject the first one counts, wherever it is
// made, and not the first one to reach the loop.
//
// A rejection is unhandled if by the end of the microtask checkpoint in which it happened no handler was attached, no
// goroutine waits for the promise, and none has asked for its outcome. Other goroutines have little time for this. If a
// promise may fail soon, attach its handlers on the loop, or before its work starts. A promise that is rejected while
// rejections are reported has until the end of the microtasks that follow those reports.
//
// # The end of the loop
//
// When the loop shuts down, pending promises are rejected with ErrLoopTerminated, and handlers run; when it is closed,
// handlers do not run. Either way every Await and every channel gets an outcome, at worst ErrLoopTerminated, whenever it was
// asked for. A shutdown gives it at once, except for promises that wait for functions of Promisify which still run. After
// that New returns a rejected promise, and resolve and reject do nothing. Resolved, Rejected, Try, and All of no promises
// return what they always do; but a promise that is derived from one of these is rejected, as no handler runs.
//
// A loop that is ending may refuse microtasks. A promise that would have been derived or settled in a refused one is
// rejected with ErrLoopTerminated, and its handler is not called. A refused call of resolve or reject has no effect.
//
// # Memory
//
// A promise that nothing can settle any more, and no other goroutine waits for, is garbage, with all that was derived
// from it; the realm keeps it no longer than the tick. But a promise that is followed by a promise of another loop is kept,
// and its follower too, until it settles or one of the loops ends. A pending promise keeps the one that it was derived from. A
// settled promise keeps its value and nothing else: no handler, and no promise. A decided Race, Any or All takes its
// reactions off the promises that are still pending, also those of other loops.
//
// # Cost
//
// A promise is one object, which also holds the handlers it was derived with; so a link of a chain is one allocation,
// typed or not, plus what its handler returns when that does not fit into an interface as it is. Promises of New add
// two functions, and a place in the registry of promises that the end must find, once something is derived from them.
package promise
