// The words of the language's own errors, caught in the ways there are.
const T = f => { try { f() } catch (e) { console.log(`${e}`) } }
let u, o = { a: 1 }, arr = [1], q = { drain: null, deep: {} }, k = 'key'
class X { constructor() { } }
T(() => u.x); T(() => o.b.c()); T(() => u[k]); T(() => { u.x = 1 }); T(() => o.f()); T(() => q.drain()); T(() => u()); T(() => q.deep.foo()); T(() => arr[0]())
T(() => new o.a()); T(() => { const { a } = u }); T(() => [...u]); T(() => new Map([1])); T(() => nowhere); T(() => { y; let y }); T(() => X()); T(() => [].map(1)); T(() => [].reduce((a, b) => a))
T(() => o
	.a()); T(() => o.f(1).g()); T(() => (function ({ b }) { return b })()); T(() => { 'use strict'; Object.freeze(o).a = 2 }); T(() => Object.create(null) + 1); T(() => decodeURIComponent('%'))
T(() => new RegExp('(')); T(() => new RegExp('a**')); T(() => new RegExp('x', 'gg')); T(() => JSON.parse('abc')); T(() => JSON.parse('{"a":1,}')); T(() => JSON.parse('')); T(() => eval('}'))
const f = async () => u.x
f().catch(e => console.log(e.message))
f().catch(e => console.log(e.stack.split('\n')[0]))
f().catch(e => console.log(String(e)))
Promise.resolve().then(() => o.f()).then(null, e => console.log(e.message))
setTimeout(() => { console.log(require('util').inspect(new TypeError('Value is not an object: 1')).split('\n')[0]); require('assert').throws(() => o.f(), /o\.f is not a function/) })
process.on('uncaughtException', e => console.log('uncaught', e.message, Object.keys(e)))
setTimeout(() => q.deep.foo(), 1)
