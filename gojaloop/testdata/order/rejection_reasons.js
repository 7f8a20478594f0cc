// What an unhandled rejection says of a reason that is no error; nothing of it is called.
class Foo { toString() { return 'own' } } class Bar {}
const all = [[1], new Date(0), new Map(), new Foo(), new Bar(), Object.create(null), {}, { toString: null }, { constructor: 5 }, { constructor: { name: 'Z' } }, /x/, function f() {}, class Q {}, Symbol('s'), 1n, 'str', null, undefined, { get constructor() { throw 1 } }, new Proxy({}, {}), { toString() { return 'x' } }, { [Symbol.toStringTag]: 'Tag' }, Object(1), Promise.resolve(), { name: 'x', message: 'y' }, -0, NaN, true, (function () { return arguments })()]
let i = 0
process.on('uncaughtException', e => console.log(i++, e.message.slice(e.message.indexOf('reason "')), e.code, e.name, e instanceof Error))
const next = () => { if (all.length) { Promise.reject(all.shift()); setTimeout(next, 1) } }
next()
