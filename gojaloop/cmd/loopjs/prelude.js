// What comes before a script: the modules of Node, by name, and what goja lacks of the language.
(function (go) {
'use strict'
for (const name of ['asyncIterator', 'dispose', 'asyncDispose']) {
	if (!(name in Symbol)) Object.defineProperty(Symbol, name, { value: Symbol.for('Symbol.' + name) })
}
go.asyncIterator = Symbol.asyncIterator
go.inspect = (v, o) => go.module('inspect').inspect(v, o)

const article = t => /^(string|number|boolean|object|function|symbol|bigint)/.test(t) ? 'of type ' + t : t
go.invalidType = (name, expected, v) => {
	let received
	if (v === undefined || v === null) received = ` Received ${v}`
	else if (typeof v === 'function') received = ` Received function ${v.name}`
	else if (typeof v === 'object') received = v.constructor && v.constructor.name ? ` Received an instance of ${v.constructor.name}` : ` Received ${go.inspect(v, { depth: -1 })}`
	else received = ` Received type ${typeof v} (${go.inspect(v).slice(0, 28)})`
	return Object.assign(new TypeError(`The "${name}" argument must be ${article(expected)}.${received}`), { code: 'ERR_INVALID_ARG_TYPE' })
}

// Where each module is: in a file of its own, or under a name in another.
const places = {
	assert: m => m('assert'), 'assert/strict': m => m('assert').strict, events: m => m('events'), fs: m => m('fs'), 'fs/promises': m => m('fs').promises,
	os: m => m('os'), path: m => m('path'), 'path/posix': m => m('path').posix, process: m => m('process'), timers: m => m('timers'),
	'timers/promises': m => m('timers').promises, url: m => m('url'), util: m => m('util'), 'util/types': m => m('util').types, module: () => loader.Module,
}
for (const name of ['buffer', 'console', 'constants', 'crypto', 'perf_hooks', 'querystring', 'string_decoder']) places[name] = m => m('other')[name]
go.builtins = Object.keys(places).sort()

const made = new Map()
function file(name) {
	let m = made.get(name)
	if (m === undefined) made.set(name, m = go.source(name)(go, file))
	return m
}
// The files of modules ask for each other by the names of modules, and for what is no module by the name of its file.
const require = name => name === 'deep' || !(name in places) ? file(name) : builtin(name)
function builtin(name) {
	name = String(name).replace(/^node:/, '')
	const key = 'node:' + name
	let m = made.get(key)
	if (m === undefined) made.set(key, m = places[name](f => { let x = made.get(f); if (x === undefined) made.set(f, x = go.source(f)(go, require)); return x }))
	return m
}
const isBuiltin = name => typeof name === 'string' && Object.prototype.hasOwnProperty.call(places, name.replace(/^node:/, ''))
go.deepEqual = (a, b, strict) => require('deep').equal(a, b, strict)

const loader = go.source('loader')(go, builtin, isBuiltin)
builtin('process')

// Who listens to signals is known off the loop too.
for (const name of ['on', 'addListener', 'once', 'prependListener', 'prependOnceListener', 'off', 'removeListener', 'removeAllListeners', 'emit']) {
	const f = process[name]
	process[name] = { [name](...args) {
		try {
			return f.apply(process, args)
		} finally {
			go.listens('SIGINT', process.listenerCount('SIGINT'))
		}
	} }[name]
}

// main waits for a program that awaits: when it never ends, the exit code says so.
function main(promise) {
	if (promise === undefined) return
	let pending = true, idle = false
	process.on('beforeExit', () => { idle = true })
	const onExit = () => {
		if (!pending || !idle || process.exitCode !== undefined) return
		process.exitCode = 13
		go.unsettled()
	}
	process.on('exit', onExit)
	const settled = () => {
		pending = false
		process.off('exit', onExit)
	}
	promise.then(settled, e => {
		settled()
		process.nextTick(() => { throw e })
	})
}

return { ...loader, builtin, isBuiltin, main }
})
