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

function listenersOf(e, type) {
	if (e._events === undefined) EventEmitter.init.call(e)
	return e._events[type] || []
}
function set(e, type, list) {
	if (list.length > 0) e._events[type] = list
	else delete e._events[type]
	e._eventsCount = Reflect.ownKeys(e._events).length
}
function add(e, type, f, first) {
	check(f)
	if (listenersOf(e, 'newListener').length > 0) e.emit('newListener', type, f.listener || f)
	const list = listenersOf(e, type)
	set(e, type, first ? [f, ...list] : [...list, f])
	const most = e.getMaxListeners()
	if (most > 0 && list.length + 1 === most + 1) {
		process.emitWarning(`Possible EventEmitter memory leak detected. ${list.length + 1} ${String(type)} listeners added to [${e.constructor.name}]. MaxListeners is ${most}. Use emitter.setMaxListeners() to increase limit`, 'MaxListenersExceededWarning')
	}
	return e
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
		if (type === 'error') for (const f of listenersOf(this, EventEmitter.errorMonitor)) f.apply(this, args)
		if (type === 'error' && list.length === 0) {
			if (args[0] instanceof Error) throw args[0]
			const e = new Error('Unhandled error. (' + (typeof args[0] === 'string' ? `'${args[0]}'` : go.inspect(args[0])) + ')')
			e.code = 'ERR_UNHANDLED_ERROR'
			e.context = args[0]
			throw e
		}
		for (const f of list) {
			const r = f.apply(this, args)
			if (this[capture] && r !== null && typeof r === 'object' && typeof r.then === 'function') r.then(undefined, e => process.nextTick(failed, this, e, type, args))
		}
		return list.length > 0
	},
	on(type, f) { return add(this, type, f, false) },
	prependListener(type, f) { return add(this, type, f, true) },
	once(type, f) { return this.on(type, once(this, type, f)) },
	prependOnceListener(type, f) { return this.prependListener(type, once(this, type, f)) },
	removeListener(type, f) {
		check(f)
		const list = listenersOf(this, type)
		let i = list.length
		while (--i >= 0 && list[i] !== f && list[i].listener !== f);
		if (i >= 0) {
			set(this, type, list.filter((_, j) => j !== i))
			if (listenersOf(this, 'removeListener').length > 0) this.emit('removeListener', type, list[i].listener || list[i])
		}
		return this
	},
	removeAllListeners(type) {
		for (const t of type === undefined ? Reflect.ownKeys(this._events || {}) : [type]) {
			for (const f of [...listenersOf(this, t)].reverse()) if (t !== 'removeListener' || type !== undefined) this.removeListener(t, f)
		}
		if (type === undefined) EventEmitter.init.call(this, this._events = undefined)
		return this
	},
	listeners(type) { return listenersOf(this, type).map(f => f.listener || f) },
	rawListeners(type) { return [...listenersOf(this, type)] },
	listenerCount(type, f) { return (f ? listenersOf(this, type).filter(g => g === f || g.listener === f) : listenersOf(this, type)).length },
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
EventEmitter.getEventListeners = (e, type) => e.listeners(type)
EventEmitter.setMaxListeners = (n, ...all) => { for (const e of all) if (e.setMaxListeners) e.setMaxListeners(n) }
EventEmitter.listenerCount = (e, type) => e.listenerCount(type)

const aborted = signal => Object.assign(new Error('The operation was aborted'), { name: 'AbortError', code: 'ABORT_ERR', cause: signal.reason })
EventEmitter.once = (e, type, options = {}) => new Promise((resolve, reject) => {
	const { signal } = options
	if (signal && signal.aborted) return reject(aborted(signal))
	if (typeof e.addEventListener === 'function') return e.addEventListener(type, (...args) => resolve(args), { once: true })
	const clear = () => {
		e.removeListener(type, done)
		e.removeListener('error', failed)
		if (signal) signal.removeEventListener('abort', stop)
	}
	const done = (...args) => { clear(); resolve(args) }
	const failed = error => { clear(); reject(error) }
	const stop = () => { clear(); reject(aborted(signal)) }
	e.once(type, done)
	if (type !== 'error') e.once('error', failed)
	if (signal) signal.addEventListener('abort', stop)
})
// on returns an async iterator over the events of a type.
EventEmitter.on = (e, type, options = {}) => {
	const queue = [], waiting = []
	let over = false, error
	const give = (...args) => waiting.length ? waiting.shift().resolve({ value: args, done: false }) : queue.push(args)
	const fail = x => { if (waiting.length) waiting.shift().reject(x); else error = { x }; stop() }
	const stop = () => {
		over = true
		e.removeListener(type, give)
		e.removeListener('error', fail)
		for (const w of waiting.splice(0)) w.resolve({ value: undefined, done: true })
		return Promise.resolve({ value: undefined, done: true })
	}
	e.on(type, give)
	if (type !== 'error') e.on('error', fail)
	if (options.signal) options.signal.addEventListener('abort', () => fail(aborted(options.signal)))
	const iterator = {
		next() {
			if (queue.length) return Promise.resolve({ value: queue.shift(), done: false })
			if (error) { const { x } = error; error = undefined; return Promise.reject(x) }
			if (over) return Promise.resolve({ value: undefined, done: true })
			return new Promise((resolve, reject) => waiting.push({ resolve, reject }))
		},
		return: stop,
		throw(x) { fail(x); return Promise.reject(x) },
	}
	iterator[go.asyncIterator] = () => iterator
	return iterator
}
return EventEmitter
})
