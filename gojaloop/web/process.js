// The process object, with its events, as Node has it.
(function (host, use) {
'use strict'
const { Listeners } = use('lists')
const events = new Map()
const none = new Listeners()
const listenersOf = name => events.get(name) || none
function add(name, f, once, first) {
	if (typeof f !== 'function') throw host.invalid(f, 'listener')
	if (events.has('newListener')) process.emit('newListener', name, f)
	if (!events.has(name)) events.set(name, new Listeners())
	events.get(name).add(f, { once }, first)
	host.listening(name, true)
	return process
}
function remove(name, list, l) {
	list.remove(l)
	if (list.size === 0) drop(name)
	if (events.has('removeListener')) process.emit('removeListener', name, l.f)
}
function drop(name) {
	events.delete(name)
	host.listening(name, false)
}
let exitCode
let capture = null // takes uncaught exceptions instead of listeners
const started = host.now()
const hrtime = function (previous) {
	const [s, ns] = host.hrtime()
	if (previous === undefined) return [s, ns]
	if (!Array.isArray(previous)) throw host.invalid(previous, 'time')
	const d = [s - previous[0], ns - previous[1]]
	if (d[1] < 0) { d[0]--; d[1] += 1e9 }
	return d
}
hrtime.bigint = () => { const [s, ns] = host.hrtime(); return BigInt(s) * 1000000000n + BigInt(ns) }
const stream = (error, fd) => ({
	fd, writable: true, isTTY: false, columns: 80,
	write(chunk, encoding, callback) {
		host.print(error, typeof chunk === 'string' ? chunk : use('encoding').decode(chunk))
		const f = typeof encoding === 'function' ? encoding : callback
		if (typeof f === 'function') host.nextTick(f)
		return true
	},
	end() {}, on() { return this }, once() { return this },
})
const lazy = (name, make) => Object.defineProperty(process, name, {
	get() { const v = make(); Object.defineProperty(process, name, { value: v, writable: true, enumerable: true, configurable: true }); return v },
	set(v) { Object.defineProperty(process, name, { value: v, writable: true, enumerable: true, configurable: true }) },
	enumerable: true, configurable: true,
})
const process = {
	nextTick: host.nextTick,
	exit: host.exit, reallyExit: host.reallyExit,
	get exitCode() { return exitCode },
	set exitCode(v) {
		const n = typeof v === 'string' && v !== '' ? Number(v) : v
		if (n !== undefined && n !== null && !(typeof n === 'number' && Number.isInteger(n))) throw host.invalidInteger(v, 'code')
		exitCode = v
	},
	title: 'node', version: 'v20.0.0', versions: { node: '20.0.0', turnloop: '1' }, release: { name: 'node' },
	hrtime,
	uptime() { return (host.now() - started) / 1000 },
	cwd() { return host.cwd() },
	memoryUsage() { return host.memoryUsage() },
	emitWarning(warning) { host.print(true, `(node:${process.pid}) ${warning instanceof Error ? warning : `Warning: ${warning}`}\n`) },
	on(name, listener) { return add(name, listener, false, false) },
	addListener(name, listener) { return add(name, listener, false, false) },
	once(name, listener) { return add(name, listener, true, false) },
	prependListener(name, listener) { return add(name, listener, false, true) },
	prependOnceListener(name, listener) { return add(name, listener, true, true) },
	off(name, listener) {
		const list = listenersOf(name), l = list.find(listener)
		if (l) remove(name, list, l)
		return process
	},
	removeListener(name, listener) { return process.off(name, listener) },
	removeAllListeners(name) {
		for (const n of name === undefined ? [...events.keys()] : [name]) if (events.has(n)) drop(n)
		return process
	},
	listenerCount(name) { return listenersOf(name).size },
	listeners(name) { return listenersOf(name).all().map(l => l.f) },
	rawListeners(name) { return process.listeners(name) },
	eventNames() { return [...events.keys()] },
	emit(name, ...args) {
		const list = listenersOf(name), all = list.all()
		for (const l of all) {
			if (l.once && !l.removed) remove(name, list, l)
			l.f.apply(process, args)
		}
		return all.length > 0
	},
	setUncaughtExceptionCaptureCallback(fn) {
		if (fn !== null && typeof fn !== 'function') {
			const e = host.invalid(fn, 'fn')
			e.message = e.message.replace('function.', 'function or null.')
			throw e
		}
		if (fn !== null && capture !== null) {
			throw Object.assign(new Error('`process.setupUncaughtExceptionCapture()` was called while a capture callback was already active'), { code: 'ERR_UNCAUGHT_EXCEPTION_CAPTURE_ALREADY_SET' })
		}
		capture = fn
	},
	hasUncaughtExceptionCaptureCallback() { return capture !== null },
}
Object.defineProperty(process, 'exitCode', { configurable: false })
Object.defineProperty(process, Symbol.toStringTag, { value: 'process', configurable: true })
for (const name of ['argv', 'execArgv', 'argv0', 'execPath', 'env', 'pid', 'ppid', 'platform', 'arch']) lazy(name, () => host.about(name))
lazy('stdout', () => stream(false, 1))
lazy('stderr', () => stream(true, 2))
// What the host calls, whatever scripts do to the object.
const { emit, listenerCount } = process
return {
	process, lazy,
	emit(name, ...args) {
		if (name !== 'uncaughtException' || capture === null) return (typeof process.emit === 'function' ? process.emit : emit).call(process, name, ...args)
		capture(args[0])
		return true
	},
	listenerCount: name => name === 'uncaughtException' && capture !== null ? 1 : listenerCount(name),
	mainFailed: host.mainFailed,
}
})
