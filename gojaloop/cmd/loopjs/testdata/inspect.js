const u = require('util'); const o = { a: 1, s: 'x', 'b-c': null, u: undefined, f() {}, k: class A {}, [Symbol('q')]: true, d: new Date(0), r: /x/g, m: new Map([[1, { a: { b: { c: {} } } }]]), st: new Set(['a']), arr: [1, , 3], n: -0, big: 10n, e: [[[[]]]], get g() { return 5 }, set h(v) {}, p: Promise.resolve(4), w: new WeakMap() }
o.self = o
console.log(u.inspect(o, { colors: true })); console.log(u.inspect(Array.from({ length: 120 }, (_, i) => i * 3), { colors: true })); console.log(u.inspect(Array.from({ length: 30 }, (_, i) => 'item' + i), { colors: true }))
console.log(u.inspect('x'.repeat(50), { maxStringLength: 10 }), u.inspect({ get a() { return { x: 1 } }, get b() { return 2 }, set b(v) {} }, { getters: true }), u.inspect({ b: 1, a: 2, c: 3 }, { sorted: (a, b) => a < b ? 1 : -1 }))
console.log(u.inspect({ t: 'first line is long enough to be split somewhere\nsecond line of the text is also rather long, so that it breaks\nthird' }), u.inspect(Object.keys(u.inspect.colors).length), u.inspect.styles)
class C { [u.inspect.custom](depth, options, inspect) { return options.stylize('C!', 'special') + depth + inspect({ a: 1 }, options) } }
console.log(u.inspect({ c: new C() }, { colors: true }), [new C()]); console.log(u.inspect.defaultOptions)
console.log(u.inspect(new Proxy({ a: 1 }, {}), { colors: true }), u.inspect(Object('s'), { colors: true }), u.inspect([undefined, null, true, Symbol('x'), 1n], { colors: true }), u.inspect(new Error('e'), { colors: true }).split('\n')[0])
console.log(u.formatWithOptions({ colors: true }, '%s %o %O %d', 'a', [1], { b: 1 }, 5, 'rest', { z: 1 }))
console.log(u.styleText('red', 'x'), u.styleText(['bold', 'underline'], 'y')); try { u.styleText('nope', 'x') } catch (e) { console.log(e.code) }
console.log(u.parseEnv('A=1\nB="two words"\nexport C=\'x\'\n# c\nD=a#b\nE=`q`\nF= spaced  \n'), u.getSystemErrorName(-2), u.isError(new Error()), u.isPrimitive(1), u._extend({ a: 1 }, { b: 2 }))
const m = new u.MIMEType('Text/HTML; charset=utf-8; q="a;b"'); console.log(String(m), m.essence, m.type, m.subtype, m.params.get('charset'), m.params.get('q')); m.params.set('x', 'y z'); console.log(`${m}`); try { new u.MIMEType('bad') } catch (e) { console.log(e.code, e.message) }
console.log(u.stripVTControlCharacters('\u001b[31mx\u001b[0m'), u.toUSVString('a\ud800b'), typeof u.debuglog('x').enabled)
