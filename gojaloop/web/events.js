// Events and abort signals, as the DOM and HTML standards have them.
(function (host, use) {
'use strict'
const { Listeners } = use('lists')

const platform = new WeakSet()
// isPlatform tells whether a value is an object of one of the interfaces.
function isPlatform(v) {
	for (let p = v; p !== null; p = Object.getPrototypeOf(p)) if (platform.has(p)) return true
	return false
}

// idl makes the members of an interface enumerable, as Web IDL says.
function idl(C, constants) {
	platform.add(C.prototype)
	for (const o of [C, C.prototype]) {
		for (const name of Object.getOwnPropertyNames(o)) {
			if (name === 'constructor' || name === 'prototype' || o === C && (name === 'name' || name === 'length')) continue
			const d = Object.getOwnPropertyDescriptor(o, name)
			if (!d.configurable || d.enumerable) continue
			d.enumerable = true
			Object.defineProperty(o, name, d)
		}
	}
	Object.defineProperty(C.prototype, Symbol.toStringTag, { value: C.name, configurable: true })
	for (const name in constants) {
		for (const o of [C, C.prototype]) Object.defineProperty(o, name, { value: constants[name], enumerable: true })
	}
	return C
}

function need(args, n, what) {
	if (args.length < n) throw new TypeError(`${what}: ${n} argument${n > 1 ? 's' : ''} required, but only ${args.length} present`)
}

function dictionary(v, what) {
	if (v === undefined || v === null) return {}
	if (typeof v !== 'object' && typeof v !== 'function') throw new TypeError(`${what} is not an object`)
	return v
}

// The names that have a code, which counts from 1. The standard has constants for the empty ones too, and none of the names.
const coded = ['IndexSizeError', '', 'HierarchyRequestError', 'WrongDocumentError', 'InvalidCharacterError', '', 'NoModificationAllowedError',
	'NotFoundError', 'NotSupportedError', 'InUseAttributeError', 'InvalidStateError', 'SyntaxError', 'InvalidModificationError', 'NamespaceError',
	'InvalidAccessError', '', 'TypeMismatchError', 'SecurityError', 'NetworkError', 'AbortError', 'URLMismatchError', 'QuotaExceededError',
	'TimeoutError', 'InvalidNodeTypeError', 'DataCloneError']
const legacy = { 2: 'DOMSTRING_SIZE', 6: 'NO_DATA_ALLOWED', 10: 'INUSE_ATTRIBUTE', 16: 'VALIDATION', 21: 'URL_MISMATCH' }

class DOMException extends Error {
	#name
	#message
	constructor(message = '', options = 'Error') {
		super()
		this.#message = `${message}`
		if (options !== null && typeof options === 'object') {
			if ('cause' in options) Object.defineProperty(this, 'cause', { value: options.cause, configurable: true, writable: true })
			this.#name = 'name' in options ? `${options.name}` : 'Error'
		} else {
			this.#name = `${options}`
		}
	}
	// A getter that is given another object finds no private name.
	get name() { return this.#name }
	get message() { return this.#message }
	get code() { return this.#name === '' ? 0 : coded.indexOf(this.#name) + 1 }
}
idl(DOMException, Object.fromEntries(coded.map((name, i) =>
	[(legacy[i + 1] || name.replace(/Error$/, '').replace(/([a-z])([A-Z])/g, '$1_$2').toUpperCase()) + '_ERR', i + 1])))

// Functions for the parts of an event that only dispatch may change.
let setTarget, flagsOf, makeTrusted

class Event {
	#type; #bubbles; #cancelable; #composed
	#target = null
	#current = null
	#phase = 0
	#time = host.now()
	#flags = { stop: false, stopNow: false, canceled: false, passive: false, dispatching: false, trusted: false }
	static {
		setTarget = (e, target, current, phase) => {
			if (target !== undefined) e.#target = target
			e.#current = current
			e.#phase = phase
		}
		flagsOf = e => {
			if (!(typeof e === 'object' && e !== null && #flags in e)) throw new TypeError('The "event" argument must be an instance of Event')
			return e.#flags
		}
		makeTrusted = e => { e.#flags.trusted = true; return e }
	}
	constructor(type, init) {
		need(arguments, 1, 'Event')
		init = dictionary(init, 'The "options" argument')
		this.#type = `${type}`
		this.#bubbles = !!init.bubbles
		this.#cancelable = !!init.cancelable
		this.#composed = !!init.composed
	}
	get type() { return this.#type }
	get target() { return this.#target }
	get srcElement() { return this.#target }
	get currentTarget() { return this.#current }
	composedPath() { return this.#phase === 0 ? [] : [this.#current] }
	get eventPhase() { return this.#phase }
	stopPropagation() { this.#flags.stop = true }
	get cancelBubble() { return this.#flags.stop }
	set cancelBubble(v) { if (v) this.#flags.stop = true }
	stopImmediatePropagation() { this.#flags.stop = this.#flags.stopNow = true }
	get bubbles() { return this.#bubbles }
	get cancelable() { return this.#cancelable }
	get returnValue() { return !this.#flags.canceled }
	set returnValue(v) { if (!v) this.preventDefault() }
	preventDefault() { if (this.#cancelable && !this.#flags.passive) this.#flags.canceled = true }
	get defaultPrevented() { return this.#flags.canceled }
	get composed() { return this.#composed }
	get isTrusted() { return this.#flags.trusted }
	get timeStamp() { return this.#time }
	initEvent(type, bubbles = false, cancelable = false) {
		need(arguments, 1, 'initEvent')
		if (this.#flags.dispatching) return
		this.#type = `${type}`
		this.#bubbles = !!bubbles
		this.#cancelable = !!cancelable
		this.#target = null
		Object.assign(this.#flags, { stop: false, stopNow: false, canceled: false, trusted: false })
	}
}
idl(Event, { NONE: 0, CAPTURING_PHASE: 1, AT_TARGET: 2, BUBBLING_PHASE: 3 })

// kind makes a class of events, with attributes that read returns for an init.
function kind(name, needed, read) {
	const attributes = new WeakMap()
	const C = { [name]: class extends Event {
		constructor(type, init) {
			need(arguments, needed, name)
			super(type, init)
			attributes.set(this, read(needed > 1 ? init : dictionary(init)))
		}
	} }[name]
	for (const key of Object.keys(read({}))) {
		Object.defineProperty(C.prototype, key, Object.getOwnPropertyDescriptor({ get [key]() {
			if (!attributes.has(this)) throw new TypeError(`${name}: not one`)
			return attributes.get(this)[key]
		} }, key))
	}
	return idl(C)
}
const CustomEvent = kind('CustomEvent', 1, ({ detail = null }) => ({ detail }))
const ErrorEvent = kind('ErrorEvent', 1, ({ message = '', filename = '', lineno = 0, colno = 0, error }) =>
	({ message: `${message}`, filename: `${filename}`, lineno: lineno >>> 0, colno: colno >>> 0, error }))
const PromiseRejectionEvent = kind('PromiseRejectionEvent', 2, ({ promise, reason }) => ({ promise, reason }))
const MessageEvent = kind('MessageEvent', 1, ({ data = null, origin = '', lastEventId = '', source = null, ports = [] }) =>
	({ data, origin: `${origin}`, lastEventId: `${lastEventId}`, source, ports: Object.freeze([...ports]) }))

// A target's method of this name is called when its listeners of a type have changed.
const changed = Symbol('changed')
let listenersOf

class EventTarget {
	#listeners = new Map() // by type
	static {
		listenersOf = (target, type) => target.#listeners.get(type) || none
	}
	addEventListener(type, callback, options) {
		need(arguments, 2, 'addEventListener')
		type = `${type}`
		if (callback !== null && callback !== undefined && typeof callback !== 'function' && typeof callback !== 'object') {
			throw host.invalid(callback, 'listener')
		}
		let capture = false, once = false, passive = false, signal
		if (typeof options === 'object' && options !== null || typeof options === 'function') {
			capture = !!options.capture
			once = !!options.once
			passive = !!options.passive
			signal = options.signal
			if (signal !== undefined && !(signal instanceof AbortSignal)) throw new TypeError('options.signal is not an AbortSignal')
		} else {
			capture = !!options
		}
		let list = listenersOf(this, type)
		if (callback === null || callback === undefined || signal && signal.aborted) return
		for (let l = list.find(callback); l; l = l.earlier) if (l.capture === capture) return
		if (list === none) this.#listeners.set(type, list = new Listeners())
		const listener = list.add(callback, { capture, once, passive, signal, abort: null })
		if (this[changed]) this[changed](type)
		if (signal) addAlgorithm(signal, listener.abort = () => this.removeEventListener(type, callback, capture))
	}
	removeEventListener(type, callback, options) {
		need(arguments, 2, 'removeEventListener')
		type = `${type}`
		const capture = !!(typeof options === 'object' && options !== null ? options.capture : options)
		const list = listenersOf(this, type)
		let l = list.find(callback)
		while (l && l.capture !== capture) l = l.earlier
		if (!l) return
		list.remove(l)
		if (l.signal) removeAlgorithm(l.signal, l.abort)
		if (list.size === 0) this.#listeners.delete(type)
		if (this[changed]) this[changed](type)
	}
	dispatchEvent(event) {
		need(arguments, 1, 'dispatchEvent')
		const flags = flagsOf(event)
		if (flags.dispatching) throw new DOMException('The event is already being dispatched', 'InvalidStateError')
		flags.trusted = false
		return dispatch(this, event, flags)
	}
}
idl(EventTarget)
const none = new Listeners()

function dispatch(target, event, flags) {
	flags.dispatching = true
	setTarget(event, target, target, 2)
	for (const l of listenersOf(target, event.type).all()) {
		if (l.removed) continue
		if (l.once) target.removeEventListener(event.type, l.f, l.capture)
		flags.passive = l.passive
		try {
			if (typeof l.f === 'function') {
				l.f.call(target, event)
			} else {
				const handle = l.f.handleEvent
				if (typeof handle !== 'function') throw new TypeError('handleEvent is not a function')
				handle.call(l.f, event)
			}
		} catch (e) {
			host.report(e)
		}
		flags.passive = false
		if (flags.stopNow) break
	}
	setTarget(event, undefined, null, 0)
	flags.dispatching = flags.stop = flags.stopNow = false
	return !flags.canceled
}

function fire(target, event) { return dispatch(target, event, flagsOf(makeTrusted(event))) }

// handlerOf defines an event handler attribute, such as onabort: a listener that keeps its place when its function changes.
function handlerOf(C, type) {
	const handlers = new WeakMap()
	Object.defineProperty(C.prototype, 'on' + type, {
		get() { const h = handlers.get(this); return h ? h.value : null },
		set(v) {
			if (typeof v !== 'function' && (typeof v !== 'object' || v === undefined)) v = null
			let h = handlers.get(this)
			if (v === null) {
				if (h) {
					this.removeEventListener(type, h.listener)
					handlers.delete(this)
				}
				return
			}
			if (h) {
				h.value = v
				return
			}
			h = { value: v, listener: function (e) { if (typeof h.value === 'function' && h.value.call(this, e) === false) e.preventDefault() } }
			handlers.set(this, h)
			this.addEventListener(type, h.listener)
		},
		enumerable: true, configurable: true,
	})
}

const internal = Symbol('internal')
let addAlgorithm, removeAlgorithm, abortSignal
let made = 0, aborts = 0 // signals, and calls of abortSignal, so far

class AbortSignal extends EventTarget {
	#aborted = false
	#reason
	#made = ++made
	#abort = 0 // the value of aborts when it was aborted
	#algorithms = new Set()
	#sources = null // of a signal of any()
	#linked = false // the sources refer to it
	#dependents = new Set() // signals of any() that have listeners; the others look at their sources when they are read
	static {
		addAlgorithm = (s, f) => {
			if (s.aborted) return f()
			s.#algorithms.add(f)
			s.#link()
		}
		removeAlgorithm = (s, f) => { s.#algorithms.delete(f); s.#link() }
		abortSignal = (s, reason) => {
			if (s.#aborted) return
			const all = [s]
			for (const d of [...s.#dependents].sort((a, b) => a.#made - b.#made)) if (!d.#aborted) all.push(d)
			aborts++
			for (const t of all) {
				t.#aborted = true
				t.#abort = aborts
				t.#reason = reason === undefined ? new DOMException('This operation was aborted', 'AbortError') : reason
				reason = t.#reason
			}
			for (const t of all) {
				const algorithms = [...t.#algorithms]
				t.#algorithms.clear()
				for (const f of algorithms) f()
				fire(t, new Event('abort'))
				t.#link()
			}
		}
	}
	constructor(key) {
		if (key !== internal) throw new TypeError('Illegal constructor')
		super()
	}
	[Symbol.for('nodejs.util.inspect.custom')]() { return `AbortSignal { aborted: ${this.aborted} }` }
	get aborted() {
		this.#look()
		return this.#aborted
	}
	get reason() {
		this.#look()
		return this.#reason
	}
	throwIfAborted() { if (this.aborted) throw this.#reason }
	#look() {
		if (this.#aborted || !this.#sources) return
		let first
		for (const s of this.#sources) if (s.#aborted && !(first && first.#abort <= s.#abort)) first = s
		if (!first) return
		this.#aborted = true
		this.#reason = first.#reason
	}
	[changed](type) { if (type === 'abort') this.#link() }
	// Sources refer to a signal of any() while it has listeners or algorithms.
	#link() {
		if (!this.#sources) return
		const listens = !this.aborted && (this.#algorithms.size > 0 || listenersOf(this, 'abort').size > 0)
		if (listens === this.#linked) return
		this.#linked = listens
		for (const s of this.#sources) listens ? s.#dependents.add(this) : s.#dependents.delete(this)
	}
	static abort(reason) {
		const s = new AbortSignal(internal)
		s.#aborted = true
		s.#reason = reason === undefined ? new DOMException('This operation was aborted', 'AbortError') : reason
		return s
	}
	static timeout(ms) {
		need(arguments, 1, 'timeout')
		ms = host.toLongLong(ms)
		const s = new AbortSignal(internal)
		host.after(ms, () => abortSignal(s, new DOMException('The operation was aborted due to timeout', 'TimeoutError')))
		return s
	}
	static any(signals) {
		need(arguments, 1, 'any')
		const list = [...signals]
		for (const s of list) if (!(s instanceof AbortSignal)) throw new TypeError('not an AbortSignal')
		const result = new AbortSignal(internal)
		for (const s of list) {
			if (s.aborted) {
				result.#aborted = true
				result.#reason = s.#reason
				return result
			}
		}
		result.#sources = [...new Set(list.flatMap(s => s.#sources || [s]))]
		return result
	}
}
idl(AbortSignal)
handlerOf(AbortSignal, 'abort')

class AbortController {
	#signal = new AbortSignal(internal)
	get signal() { return this.#signal }
	[Symbol.for('nodejs.util.inspect.custom')]() { return `AbortController { signal: AbortSignal { aborted: ${this.#signal.aborted} } }` }
	abort(reason) { abortSignal(this.#signal, reason) }
}
idl(AbortController)

function reportError(e) {
	need(arguments, 1, 'reportError')
	host.report(e)
}

return {
	DOMException, Event, CustomEvent, ErrorEvent, PromiseRejectionEvent, MessageEvent, EventTarget,
	AbortSignal, AbortController, reportError,
	idl, isPlatform, need, dictionary, addAlgorithm, removeAlgorithm, changed, listenersOf, fire, handlerOf,
}
})
