// This runs before a script: Node's modules by name, and parts of the language that goja lacks.
(function (go) {
'use strict'
for (const name of ['asyncIterator', 'dispose', 'asyncDispose']) {
	if (!(name in Symbol)) Object.defineProperty(Symbol, name, { value: Symbol.for('Symbol.' + name) })
}
go.asyncIterator = Symbol.asyncIterator

// goja takes the language that toLocaleString is given for a radix.
const intl = () => require('intl')
Object.defineProperty(globalThis, 'Intl', { get: () => intl().Intl, set(value) { Object.defineProperty(globalThis, 'Intl', { value, writable: true }) }, configurable: true })
for (const C of [Number, BigInt]) Object.defineProperty(C.prototype, 'toLocaleString', { writable: true, configurable: true, value: { toLocaleString(locales, options) { return intl().number(this.valueOf(), locales, options) } }.toLocaleString })
for (const name of ['toLocaleDateString', 'toLocaleTimeString', 'toLocaleString']) {
	Object.defineProperty(Date.prototype, name, { writable: true, configurable: true, value: { [name](locales, options) { return intl().dates[name](this, locales, options) } }[name] })
}
const lone = /[\ud800-\udbff][\udc00-\udfff]|[\ud800-\udfff]/g
for (const [C, methods] of [[String, { isWellFormed() { return `${this}` === this.toWellFormed() }, toWellFormed() { return `${this}`.replace(lone, c => c.length === 2 ? c : '\ufffd') } }],
	[Date, { getYear() { return this.getFullYear() - 1900 }, setYear(y) { return this.setFullYear(y >= 0 && y <= 99 ? 1900 + Math.trunc(y) : y) } }]]) {
	for (const [name, value] of Object.entries(methods)) Object.defineProperty(C.prototype, name, { value, writable: true, configurable: true })
}
Object.defineProperty(Date.prototype, 'toGMTString', { value: Date.prototype.toUTCString, writable: true, configurable: true })
// goja has a time zone's letters where Node has its name; zones that are not here keep their letters.
const zones = { 'UTC+0000': 'Coordinated Universal Time' }
for (const z of ['GMT+0000 Greenwich Mean', 'BST+0100 British Summer', 'JST+0900 Japan Standard', 'CST+0800 China Standard', 'IST+0530 India Standard',
	...['Eastern', 'Central', 'Mountain', 'Pacific'].flatMap((n, i) => [`${n[0]}ST-0${5 + i}00 ${n} Standard`, `${n[0]}DT-0${4 + i}00 ${n} Daylight`]),
	...['Western', 'Central', 'Eastern'].flatMap((n, i) => [`${n[0]}ET+0${i}00 ${n} European Standard`, `${n[0]}EST+0${i + 1}00 ${n} European Summer`])]) zones[z.slice(0, z.indexOf(' '))] = z.slice(z.indexOf(' ') + 1) + ' Time'
for (const name of ['toString', 'toTimeString']) {
	const text = Date.prototype[name]
	Object.defineProperty(Date.prototype, name, { writable: true, configurable: true, value: { [name]() {
		return text.call(this).replace(/([+-]\d{4}) \((\w+)\)$/, (_, offset, letters) => `${offset} (${zones[letters + offset] || letters})`)
	} }[name] })
}
go.inspect = (v, o) => go.module('inspect').inspect(v, o)

// What V8 adds to the language, and scripts take for granted.
const any = Promise.any
Object.defineProperty(Promise, 'any', { writable: true, configurable: true, value: { any(list) {
	const C = this
	const named = function (executor) {
		return new C((resolve, reject) => executor(resolve, e => {
			if (e instanceof AggregateError && !Object.hasOwn(e, 'message')) Object.defineProperty(e, 'message', { value: 'All promises were rejected', writable: true, configurable: true })
			reject(e)
		}))
	}
	Object.defineProperty(named, 'resolve', { get() { const f = C.resolve; return typeof f === 'function' ? v => f.call(C, v) : f } })
	return any.call(named, list)
} }.any })
for (const [kind, name] of [['get', 'Getter'], ['set', 'Setter']]) {
	for (const [key, value] of Object.entries({
		[`__define${name}__`](key, f) { Object.defineProperty(this, key, { [kind]: f, enumerable: true, configurable: true }) },
		[`__lookup${name}__`](key) {
			for (let o = Object(this); o !== null; o = Object.getPrototypeOf(o)) if (Object.hasOwn(o, key)) return Object.getOwnPropertyDescriptor(o, key)[kind]
		},
	})) Object.defineProperty(Object.prototype, key, { value, writable: true, configurable: true })
}
if (Error.stackTraceLimit === undefined) Error.stackTraceLimit = 10
if (Error.captureStackTrace === undefined) {
	Object.defineProperty(Error, 'captureStackTrace', { writable: true, configurable: true, value: { captureStackTrace(o, from) {
		go.module('stack').capture(o, from)
	} }.captureStackTrace })
}

const article = t => /^(string|number|boolean|object|function|symbol|bigint)/.test(t) ? 'of type ' + t : t
go.invalidType = (name, expected, v) => {
	let received
	if (v === undefined || v === null) received = ` Received ${v}`
	else if (typeof v === 'function') received = ` Received function ${v.name}`
	else if (typeof v === 'object') received = v.constructor && v.constructor.name ? ` Received an instance of ${v.constructor.name}` : ` Received ${go.inspect(v, { depth: -1 })}`
	else received = ` Received type ${typeof v} (${go.inspect(v).slice(0, 28)})`
	return Object.assign(new TypeError(`The "${name}" argument must be ${article(expected)}.${received}`), { code: 'ERR_INVALID_ARG_TYPE' })
}

// refuse makes a function for what loopjs lacks: a script may ask for it, or import it along with others; calling it throws.
go.refuse = (module, name, instead) => Object.defineProperty(function () {
	throw Object.assign(new Error(`${module}.${name}: loopjs does not have it; there is ${instead}`), { code: 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM' })
}, 'name', { value: name, configurable: true })

go.aborted = signal => Object.assign(new Error('The operation was aborted'), { name: 'AbortError', code: 'ABORT_ERR', cause: signal.reason })

// inherit makes C a subclass of P, and define adds methods and accessors that are not enumerable, as those of classes are not.
go.inherit = (C, P) => { Object.setPrototypeOf(C.prototype, P.prototype); Object.setPrototypeOf(C, P) }
go.define = (C, methods) => {
	for (const k of Reflect.ownKeys(methods)) Object.defineProperty(C.prototype, k, { ...Object.getOwnPropertyDescriptor(methods, k), enumerable: false })
}

// part returns a copy of the bytes that a view shows, and dataOf the bytes of a text or of binary data as a Buffer.
go.part = b => b.buffer.slice(b.byteOffset, b.byteOffset + b.byteLength)
go.dataOf = (data, encoding, name, expected) => {
	if (typeof data === 'string') return Buffer.from(data, encoding === 'buffer' ? undefined : encoding)
	if (ArrayBuffer.isView(data)) return Buffer.from(data.buffer, data.byteOffset, data.byteLength)
	if (data instanceof ArrayBuffer) return Buffer.from(data)
	throw go.invalidType(name, expected, data)
}

// The error of a system call, from what Go tells of it.
go.systemError = f => {
	const where = f.path ? ` '${f.path}'` : ''
	const e = new Error(`${f.code}: ${f.message}, ${f.syscall}${where}${f.dest ? ` -> '${f.dest}'` : ''}`)
	e.errno = f.errno
	e.code = f.code
	e.syscall = f.syscall
	if (f.path) e.path = f.path
	if (f.dest) e.dest = f.dest
	return e
}

// The place of each module: a file of its own, or a name in another.
const places = {
	'assert/strict': m => m('assert').strict, 'fs/promises': m => m('fs').promises, 'path/posix': m => m('path').posix, 'path/win32': m => m('path').win32,
	'timers/promises': m => m('timers').promises, 'util/types': m => m('util').types, module: () => loader.Module, 'readline/promises': m => m('readline').promises,
	'stream/promises': m => m('stream').promises, 'stream/web': m => m('other')['stream/web'], 'stream/consumers': m => m('other')['stream/consumers'], sys: m => m('util'), constants: m => ({ ...m('os').constants.errno, ...m('os').constants.signals, ...m('fs').constants }),
}
for (const name of ['assert', 'child_process', 'diagnostics_channel', 'events', 'fs', 'os', 'path', 'process', 'punycode', 'querystring', 'readline', 'stream', 'string_decoder', 'timers', 'tty', 'url', 'util', 'zlib']) places[name] = m => m(name)
for (const name of ['async_hooks', 'buffer', 'console', 'crypto', 'perf_hooks']) places[name] = m => m('other')[name]
for (const name of ['cluster', 'dgram', 'dns', 'dns/promises', 'domain', 'http', 'http2', 'https', 'inspector', 'net', 'repl', 'test', 'tls', 'trace_events', 'v8', 'vm', 'wasi', 'worker_threads']) places[name] = m => m('refused')(name)
const onlyWithScheme = ['test']
go.builtins = Object.keys(places).filter(n => !onlyWithScheme.includes(n)).sort()

const made = new Map()
function file(name) {
	let m = made.get(name)
	if (m === undefined) made.set(name, m = go.source(name)(go, require))
	return m
}
// In these files require takes the name of a module, or the name of a file that is no module.
const require = name => name === 'deep' || !(name in places) ? file(name) : builtin(name)
function builtin(name) {
	name = String(name).replace(/^node:/, '')
	const key = 'node:' + name
	let m = made.get(key)
	if (m === undefined) made.set(key, m = places[name](f => { let x = made.get(f); if (x === undefined) made.set(f, x = go.source(f)(go, require)); return x }))
	return m
}
const isBuiltin = go.isBuiltin = name => go.node && typeof name === 'string' && Object.prototype.hasOwnProperty.call(places, name.replace(/^node:/, '')) && !onlyWithScheme.includes(name)
go.deepEqual = (a, b, strict) => require('deep').equal(a, b, strict)

const loader = go.source('loader')(go, builtin, isBuiltin)
if (go.node) builtin('process')

// main gets the promise of a program that is an ES module: if the promise never settles, the exit code says so.
function main(promise) {
	if (promise === undefined) return
	let pending = true, idle = false
	const onIdle = () => { idle = true }
	process.on('beforeExit', onIdle)
	const onExit = () => {
		if (!pending || !idle || process.exitCode !== undefined) return
		process.exitCode = 13
		go.unsettled()
	}
	process.on('exit', onExit)
	const settled = () => {
		pending = false
		process.off('exit', onExit)
		process.off('beforeExit', onIdle)
	}
	promise.then(settled, e => {
		settled()
		go.module('process').mainFailed(e)
	})
}

return { ...loader, builtin, isBuiltin, main }
})
