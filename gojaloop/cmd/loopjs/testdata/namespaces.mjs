// Namespaces of modules, as they print and as objects.
import * as ns from './modules/named.mjs'
import * as path from 'node:path'
import { z } from './modules/named.cjs'
console.log(ns, ns[Symbol.toStringTag], Object.prototype.toString.call(ns), 'hasOwnProperty' in ns)
console.log({ ns }, JSON.stringify(ns), { ...ns }.b, ns.none, Object.keys(ns))
console.log(typeof path.join, path.default.join === path.join, z)
import('./modules/named.cjs').then(c => console.log(Object.keys(c).filter(k => !/^(__esModule|module.exports)$/.test(k)), c.default.z))
console.log((await import('./modules/named.mjs')) === (await import('./modules/named.mjs')))
