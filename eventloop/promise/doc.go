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
// panic rejects; a promise that is returned is followed; the order of jobs among each other and among microtasks is
// the same to the turn. Instead of exceptions there are errors, and where ECMAScript follows anything with a method
// then, this package follows a *Promise and an [Of]; what embeds one is a value. Two more differences: circles of
// promises that follow each other are rejected with ErrPromiseCycle as far as a bounded search finds them, where
// ECMAScript rejects only a promise that follows itself; and a Finally function returns no promise to wait for.
//
// # Threading rule
//
// All methods of [Promise] and [Of], the combinators, and the functions that settle a promise may be called from any
// goroutine. A [Realm] belongs to one loop. Its promises have one owner, the loop: only there do they change, and
// handlers run. A call on the loop takes effect at once and takes no lock. A call from another goroutine is sent to
// the loop as a microtask and takes effect there, behind what was sent before; so of handlers attached on the loop
// and elsewhere, those elsewhere may come later than they were attached. Who settles is decided where resolve or
// reject is called, and not by when the loop hears of it.
//
// A rejection is unhandled if nobody has attached a handler, waits, or asks, by the end of the microtask checkpoint
// in which it happened. That leaves other goroutines little time: who derives from a promise that may fail soon does
// it on the loop, or before the work starts. What is rejected while rejections are reported has until the end of the
// microtasks behind those reports.
//
// # The end of the loop
//
// When the loop shuts down, what is pending is rejected with ErrLoopTerminated, and handlers run; when it is closed,
// they do not. Either way every Await and every channel has an answer, however it was timed, ErrLoopTerminated at worst;
// a shutdown gives it at once, but for what waits for functions of Promisify that still run. After that promises
// that would be pending (New) are rejected from the start, and resolve and reject do nothing. What settles at once is
// what it would be (Resolved, Rejected, Try, All of none); what is derived from it is rejected, as no handler runs.
//
// A loop that is ending need not accept all that is asked of it. What it refuses is rejected with ErrLoopTerminated too,
// without a call to handlers: what is derived on other goroutines, and what handlers would have settled. A decision that it
// refuses is void.
//
// # Memory
//
// A promise that nobody can settle, and nobody waits for on another goroutine, is garbage, with all that was derived
// from it; the realm keeps it no longer than the tick. But one that a promise of another loop follows is kept, and that
// promise too, until it settles or one of the loops ends. A promise keeps what it was derived from until it settles.
// What has settled keeps its value and nothing else: no handler, and no promise. A decided Race, Any or All takes its
// reactions off the promises that are still pending, also those of other loops.
//
// # Cost
//
// A promise is one object, which also holds the handlers it was derived with; so a link of a chain is one allocation,
// typed or not, plus what its handler returns when that does not fit into an interface as it is. Promises of New add
// two functions, and a place in the registry of those that the end must find, once something is derived from them.
package promise
