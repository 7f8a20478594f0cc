// node:events
(function (go) {
'use strict'
const check = f => { if (typeof f !== 'function') throw go.invalidType('listener', 'function', f) }
let defaultMaxListeners = 10

function EventEmitter() { EventEmitter.init.call(this) }
EventEmitter.init = function () {
	if (this._events === undefined || this._events === Object.getPrototypeOf(this)._events) {
		this._events = Object.create(null)
		this._eventsCount = 0
	}
	this._maxListeners = this._maxListeners || undefined
}
EventEmitter.prototype._events = undefined
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

const methods = {
	emit(type, ...args) {
		const list = listenersOf(this, type)
		if (type === 'error' && list.length === 0) {
			if (args[0] instanceof Error) throw args[0]
			const e = new Error('Unhandled error. (' + (typeof args[0] === 'string' ? `'${args[0]}'` : go.inspect(args[0])) + ')')
			e.code = 'ERR_UNHANDLED_ERROR'
			e.context = args[0]
			throw e
		}
		for (const f of list) f.apply(this, args)
		return list.length > 0
	},
	on(type, f) { return add(this, type, f, false) },
	prependListener(type, f) { return add(this, type, f, true) },
	once(type, f) { return add(this, type, once(this, type, f), false) },
	prependOnceListener(type, f) { return add(this, type, once(this, type, f), true) },
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
	listenerCount(type) { return listenersOf(this, type).length },
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
