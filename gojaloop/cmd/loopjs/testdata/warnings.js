// Warnings: their text for people is on the error output.
const util = require('util')
process.on('warning', w => console.log(w.name, w.code, w.message, w.detail, w instanceof Error))
const old = util.deprecate(function f(a) { return a + this.b }, 'f is old', 'DEP1')
console.log(old.call({ b: 1 }, 1), old.call({ b: 2 }, 2))
process.emitWarning('plain')
process.emitWarning(new RangeError('an error'))
process.emitWarning('all', { type: 'Type', code: 'C', detail: 'more' })
for (const v of [5, undefined, {}]) try { process.emitWarning(v) } catch (e) { console.log(e.name, e.code, e.message) }
console.log('sync')
