// node:events
(function (go) {
'use strict'
const check = f => { if (typeof f !== 'function') throw go.invalidType('listener', 'function', f) }
let defaultMaxListeners = 10

const capture = Symbol('captureRejections'), rejected = Symbol.for('nodejs.rejection')
function EventEmitter(options) { EventEmitter.init.call(this, options) }
EventEmitter.init = function (options) {
	if (options && options.captureRejections) this[capture] = true
	if (this._events === undefined || this._events === Object.getPrototypeOf(this)._events) {
		this._events = Object.create(null)
		this._eventsCount = 0
	}
	this._maxListeners = this._maxListeners || undefined
}
EventEmitter.prototype._events = undefined
Object.defineProperty(EventEmitter.prototype, capture, { value: false, writable: true })
EventEmitter.prototype._eventsCount = 0
EventEmitter.prototype._maxListeners = undefined

const { Listeners, Queue } = go.module('lists')
const none = new Listeners()
const where = Symbol('node') // of a function that stands for another one: its node

function listenersOf(e, type) {
	if (e._events === undefined) EventEmitter.init.call(e)
	return e._events[type] || none
}
function add(e, type, f, first) {
	check(f)
	if (listenersOf(e, 'newListener').size > 0) e.emit('newListener', type, f.listener || f)
	let list = listenersOf(e, type)
	if (list === none) {
		list = e._events[type] = new Listeners()
		e._eventsCount++
	}
	const node = list.add(f.listener || f, { call: f, list }, first)
	if (f.listener) f[where] = node
	const most = e.getMaxListeners()
	if (most > 0 && list.size === most + 1) {
		process.emitWarning(`Possible EventEmitter memory leak detected. ${list.size} ${String(type)} listeners added to [${e.constructor.name}]. MaxListeners is ${most}. Use emitter.setMaxListeners() to increase limit`, 'MaxListenersExceededWarning')
	}
	return e
}
function find(list, f) {
	if (f[where] && f[where].list === list && !f[where].removed) return f[where]
	let node = list.find(f.listener || f)
	while (node && node.call !== f && node.f !== f) node = node.earlier
	return node
}
function once(e, type, f) {
	check(f)
	const wrapped = function (...args) {
		e.removeListener(type, wrapped)
		return f.apply(e, args)
	}
	wrapped.listener = f
	return wrapped
}

// failed passes on the rejection of a listener's promise, for captureRejections.
function failed(e, reason, type, args) {
	if (typeof e[rejected] === 'function') return e[rejected](reason, type, ...args)
	const before = e[capture]
	e[capture] = false // or a listener of 'error' that rejects would go on for ever
	try {
		e.emit('error', reason)
	} finally {
		e[capture] = before
	}
}

const methods = {
	emit(type, ...args) {
		const list = listenersOf(this, type)
		if (type === 'error') for (const { call } of listenersOf(this, EventEmitter.errorMonitor).all()) call.apply(this, args)
		if (type === 'error' && list.size === 0) {
			if (args[0] instanceof Error) throw args[0]
			const e = new Error('Unhandled error. (' + (typeof args[0] === 'string' ? `'${args[0]}'` : go.inspect(args[0])) + ')')
			e.code = 'ERR_UNHANDLED_ERROR'
			e.context = args[0]
			throw e
		}
		const all = list.all()
		for (const { call } of all) {
			const r = call.apply(this, args)
			if (this[capture] && r !== null && typeof r === 'object' && typeof r.then === 'function') r.then(undefined, e => process.nextTick(failed, this, e, type, args))
		}
		return all.length > 0
	},
	on(type, f) { return add(this, type, f, false) },
	prependListener(type, f) { return add(this, type, f, true) },
	once(type, f) { return this.on(type, once(this, type, f)) },
	prependOnceListener(type, f) { return this.prependListener(type, once(this, type, f)) },
	removeListener(type, f) {
		check(f)
		const list = listenersOf(this, type), node = find(list, f)
		if (node) {
			list.remove(node)
			if (list.size === 0) {
				delete this._events[type]
				this._eventsCount--
			}
			if (listenersOf(this, 'removeListener').size > 0) this.emit('removeListener', type, node.f)
		}
		return this
	},
	removeAllListeners(type) {
		for (const t of type === undefined ? Reflect.ownKeys(this._events || {}) : [type]) {
			for (const { call } of [...listenersOf(this, t).all()].reverse()) if (t !== 'removeListener' || type !== undefined) this.removeListener(t, call)
		}
		if (type === undefined) EventEmitter.init.call(this, this._events = undefined)
		return this
	},
	listeners(type) { return listenersOf(this, type).all().map(l => l.f) },
	rawListeners(type) { return listenersOf(this, type).all().map(l => l.call) },
	listenerCount(type, f) { return f ? listenersOf(this, type).all().filter(l => l.f === f || l.call === f).length : listenersOf(this, type).size },
	eventNames() { return Reflect.ownKeys(this._events || {}) },
	setMaxListeners(n) { this._maxListeners = n; return this },
	getMaxListeners() { return this._maxListeners === undefined ? defaultMaxListeners : this._maxListeners },
}
methods.addListener = methods.on
methods.off = methods.removeListener
for (const [name, f] of Object.entries(methods)) EventEmitter.prototype[name] = f

EventEmitter.EventEmitter = EventEmitter
Object.defineProperty(EventEmitter, 'defaultMaxListeners', { enumerable: true, get: () => defaultMaxListeners, set(n) { defaultMaxListeners = n } })
EventEmitter.errorMonitor = Symbol('events.errorMonitor')
EventEmitter.captureRejectionSymbol = rejected
EventEmitter.getEventListeners = (e, type) => typeof e.listeners === 'function' ? e.listeners(type) : go.module('events').listenersOf(e, type).all().map(l => l.f)
EventEmitter.setMaxListeners = (n, ...all) => { for (const e of all) if (e.setMaxListeners) e.setMaxListeners(n) }
EventEmitter.getMaxListeners = e => typeof e.getMaxListeners === 'function' ? e.getMaxListeners() : defaultMaxListeners
EventEmitter.usingDomains = EventEmitter.captureRejections = false
EventEmitter.addAbortListener = (signal, f) => {
	if (!signal || typeof signal !== 'object' || !('aborted' in signal)) throw go.invalidType('signal', 'instance of AbortSignal', signal)
	check(f)
	if (signal.aborted) queueMicrotask(() => f())
	else signal.addEventListener('abort', f, { once: true })
	return { [Symbol.dispose]() { signal.removeEventListener('abort', f) } }
}
EventEmitter.EventEmitterAsyncResource = go.refuse('events', 'EventEmitterAsyncResource', 'AsyncResource of async_hooks')
EventEmitter.listenerCount = (e, type) => e.listenerCount(type)

const signalOf = ({ signal }) => {
	if (signal !== undefined && !(signal instanceof AbortSignal)) throw go.invalidType('options.signal', 'an instance of AbortSignal', signal)
	return signal
}
// listen adds listeners to an emitter, by its method of that name, or to a target, and returns a function that removes them. stop hears of the signal.
function listen(e, how, listeners, signal, stop) {
	const [on, off] = typeof e.on === 'function' ? [how, 'removeListener'] : ['addEventListener', 'removeEventListener']
	if (typeof e[on] !== 'function') throw go.invalidType('emitter', 'an instance of EventEmitter', e)
	for (const [type, f] of listeners) e[on](type, f)
	if (signal) signal.addEventListener('abort', stop, { once: true })
	return () => {
		for (const [type, f] of listeners) e[off](type, f)
		if (signal) signal.removeEventListener('abort', stop)
	}
}
const errors = (e, type, f) => type === 'error' || typeof e.on !== 'function' ? [] : [['error', f]]

EventEmitter.once = async (e, type, options = {}) => {
	const signal = signalOf(options)
	if (signal && signal.aborted) throw go.aborted(signal)
	return new Promise((resolve, reject) => {
		const over = f => { clear(); f() }
		const clear = listen(e, 'once', [[type, (...args) => over(() => resolve(args))], ...errors(e, type, error => over(() => reject(error)))],
			signal, () => over(() => reject(go.aborted(signal))))
	})
}
// on returns an async iterator over the events of a type, until an error, the signal, or one of the events that close it.
EventEmitter.on = (e, type, options = {}) => {
	const signal = signalOf(options)
	if (signal && signal.aborted) throw go.aborted(signal)
	const queue = new Queue(), waiting = new Queue(), end = { value: undefined, done: true }
	let over = false, error
	const give = (...args) => waiting.length ? waiting.shift().resolve({ value: args, done: false }) : queue.push(args)
	const fail = x => { if (waiting.length) waiting.shift().reject(x); else error = { x }; stop() }
	const stop = () => {
		over = true
		clear()
		for (const w of waiting.clear()) w.resolve(end)
		return Promise.resolve(end)
	}
	const clear = listen(e, 'on', [[type, give], ...errors(e, type, fail), ...(options.close || []).map(name => [name, stop])], signal, () => fail(go.aborted(signal)))
	const iterator = {
		next() {
			if (queue.length) return Promise.resolve({ value: queue.shift(), done: false })
			if (error) { const { x } = error; error = undefined; return Promise.reject(x) }
			if (over) return Promise.resolve(end)
			return new Promise((resolve, reject) => waiting.push({ resolve, reject }))
		},
		return() { queue.clear(); return stop() },
		throw(x) { fail(x); return Promise.reject(x) },
	}
	iterator[go.asyncIterator] = () => iterator
	return iterator
}
return EventEmitter
})
