const AG = Object.getPrototypeOf(async function* () {})
console.log(Object.getPrototypeOf(AG) === Function.prototype, typeof AG.prototype, AG[Symbol.toStringTag])
const AIP = Object.getPrototypeOf(Object.getPrototypeOf(async function* () {}).prototype)
console.log(AIP[Symbol.asyncIterator].call(5), Object.getOwnPropertyNames(AG.prototype), Reflect.ownKeys(AIP))
async function* decl() { yield 1; yield 2 }
console.log(Object.getPrototypeOf(decl) === AG, decl, decl(), Object.prototype.toString.call(decl()), typeof decl().next)
class A { async *m() { yield 1 } static async *s() { yield 2 } async *[Symbol.asyncIterator]() { yield 3 } }
const o = { async *x() { yield 1 } }
console.log(require('util').types.isGeneratorObject((function*(){})()), require('util').types.isAsyncFunction(decl), require('util').types.isGeneratorFunction(decl));
(async () => { for await (const x of new A()) console.log(x); for await (const x of A.s()) console.log(x); const d = decl(); console.log(await d.next(), await d.return(7), await d.next()); console.log(decl.constructor.name, AG.constructor.name); for await (const x of { async *[Symbol.asyncIterator]() { try { yield* decl() } finally { console.log('fin') } } }) console.log(x)
 const e = (async function* () { try { yield 1 } catch (e) { console.log('caught', e); yield 2 } })(); await e.next(); console.log(await e.throw(9)) })()
