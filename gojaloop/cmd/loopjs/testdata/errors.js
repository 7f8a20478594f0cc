// Errors as they print, and what V8 adds to the language.
const util = require('util')
const first = (e, n = 1) => console.log(util.inspect(e).split('\n').slice(0, n).join('\n'))
class Invalid extends Error {}
class Wrong extends TypeError {}
class Named extends Error { get name() { return 'Own' } }
class Missing extends Error { constructor(m) { super(m); this.name = 'MissingError' } }
for (const C of [Invalid, Wrong, Named, Missing, Error, RangeError]) { first(new C('text')); first(new C()) }
first({ e: new Invalid('inside') }, 2)

class HttpError extends Error {
	constructor(status, message) {
		super(message)
		this.name = 'HttpError'
		this.status = status
		Error.captureStackTrace(this, HttpError)
	}
}
function fail() { return new HttpError(404, 'not found') }
const e = fail()
console.log(e.stack.split('\n')[0], /^\s*at fail /.test(e.stack.split('\n')[1]), Object.keys(e))
function Old(message) {
	this.message = message
	Error.captureStackTrace(this, Old)
}
util.inherits(Old, Error)
Old.prototype.name = 'Old'
const old = new Old('old')
console.log(old instanceof Error, String(old), old.stack.split('\n')[0])
const plain = {}
Error.captureStackTrace(plain)
console.log(typeof plain.stack, plain.stack.split('\n')[0], Object.keys(plain))

Promise.any([Promise.reject(1), Promise.reject(2)]).catch(e => console.log(e.name, e.message, e.errors, e instanceof AggregateError, Object.keys(e)))
Promise.any([]).catch(e => console.log(e.message, e.errors))
Promise.any([Promise.reject(1), 2]).then(v => console.log(v))
Promise.any({ [Symbol.iterator]() { throw new AggregateError([1]) } }).catch(e => console.log(e.name, e.errors))
class Own extends Promise {}
console.log(Own.any([1]) instanceof Own, Promise.any.name, Promise.any.length)
Promise.resolve().then(() => console.log('a')).then(() => console.log('b')).then(() => console.log('c')).then(() => console.log('d'))
util.callbackify(async () => { throw null })(e => console.log(e.code, e.message, e.reason))
const t = setTimeout(() => console.log('never'), 1)
t[Symbol.dispose]()
setImmediate(() => console.log('never'))[Symbol.dispose]()
process.on('exit', code => console.log(code))
setTimeout(() => { throw new Invalid('uncaught') }, 2)
