const { types, inspect } = require('util')
const vs = { u8: new Uint8Array(1), buf: Buffer.from('a'), f32: new Float32Array(1), dv: new DataView(new ArrayBuffer(1)), ab: new ArrayBuffer(1), n: Object(1), s: Object('a'), b: Object(true), sy: Object(Symbol()), bi: Object(1n), m: new Map(), mi: new Map().entries(), si: new Set().values(), g: (function* () {})(), gf: function* () {}, af: async () => {}, p: Promise.resolve(), pr: new Proxy({}, {}), d: new Date(), r: /x/, e: new Error(), args: (function () { return arguments })(), wm: new WeakMap(), ws: new WeakSet(), nul: null, und: undefined, one: 1, cls: class {}, ai: [].values() }
for (const t of Object.keys(types).sort()) console.log(t, Object.keys(vs).filter(k => types[t](vs[k])).join())
console.log(Object.keys(types).length)
