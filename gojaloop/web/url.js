// URL and URLSearchParams, as the URL standard has them. URLs are parsed in Go.
(function (host, use) {
'use strict'
const { idl, need } = use('events')
const { replaced } = use('lists')

// text is Web IDL's USVString.
const text = v => {
	v = `${v}`
	return /[\ud800-\udfff]/.test(v) ? host.wellFormed(v) : v
}
const inspected = Symbol.for('nodejs.util.inspect.custom')

let begin, listOf
class URLSearchParams {
	#list = [] // of [name, value], in order
	#changed = null // called with the URL's new query
	static {
		listOf = p => p.#list
		begin = (p, query, changed) => {
			p.#list = host.parseForm(query)
			p.#changed = changed
		}
	}
	constructor(init = undefined) {
		if (init === undefined || init === null) return
		if (typeof init !== 'object' && typeof init !== 'function') {
			const s = text(init)
			this.#list = host.parseForm(s.startsWith('?') ? s.slice(1) : s)
			return
		}
		const iterator = init[Symbol.iterator]
		if (iterator !== undefined && iterator !== null) {
			if (typeof iterator !== 'function') throw fault(new TypeError('Query pairs must be iterable'), 'ERR_ARG_NOT_ITERABLE')
			for (const pair of init) {
				if (pair === null || typeof pair !== 'object' && typeof pair !== 'function' || typeof pair[Symbol.iterator] !== 'function') throw tuple()
				const p = [...pair]
				if (p.length !== 2) throw tuple()
				this.#list.push([text(p[0]), text(p[1])])
			}
			return
		}
		const values = new Map()
		for (const k of Reflect.ownKeys(init)) {
			const d = Reflect.getOwnPropertyDescriptor(init, k)
			if (d !== undefined && d.enumerable) values.set(text(k), text(init[k]))
		}
		this.#list = [...values]
	}
	#update() { if (this.#changed) this.#changed(host.writeForm(this.#list)) }
	get size() { return this.#list.length }
	append(name, value) {
		needed(this, arguments, 2)
		this.#list.push([text(name), text(value)])
		this.#update()
	}
	delete(name, value = undefined) {
		needed(this, arguments, 1)
		name = text(name)
		if (value !== undefined) value = text(value)
		this.#list = this.#list.filter(p => p[0] !== name || value !== undefined && p[1] !== value)
		this.#update()
	}
	get(name) {
		needed(this, arguments, 1)
		name = text(name)
		const p = this.#list.find(p => p[0] === name)
		return p ? p[1] : null
	}
	getAll(name) {
		needed(this, arguments, 1)
		name = text(name)
		return this.#list.filter(p => p[0] === name).map(p => p[1])
	}
	has(name, value = undefined) {
		needed(this, arguments, 1)
		name = text(name)
		if (value !== undefined) value = text(value)
		return this.#list.some(p => p[0] === name && (value === undefined || p[1] === value))
	}
	set(name, value) {
		needed(this, arguments, 2)
		this.#list = replaced(this.#list, [text(name), text(value)])
		this.#update()
	}
	sort() {
		this.#list.sort((a, b) => a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0)
		this.#update()
	}
	forEach(callback, thisArg = undefined) {
		listOf(this)
		if (typeof callback !== 'function') throw host.invalid(callback, 'callback')
		for (let i = 0; i < this.#list.length; i++) callback.call(thisArg, this.#list[i][1], this.#list[i][0], this)
	}
	entries() { return cursor(this, p => [p[0], p[1]]) }
	keys() { return cursor(this, p => p[0]) }
	values() { return cursor(this, p => p[1]) }
	toString() { return host.writeForm(this.#list) }
}
idl(URLSearchParams)
Object.defineProperty(URLSearchParams.prototype, Symbol.iterator, { value: URLSearchParams.prototype.entries, writable: true, configurable: true })
Object.defineProperty(URLSearchParams.prototype, inspected, { configurable: true, writable: true, value(depth, options, inspect) {
	const pairs = this.toString === undefined ? [] : listOf(this).map(([k, v]) => `${inspect(k)} => ${inspect(v)}`)
	return `URLSearchParams ${pairs.length ? `{ ${pairs.join(', ')} }` : '{}'}`
} })

// Each step of an iterator reads the current list.
const cursors = new WeakMap()
const next = { next() {
	const c = cursors.get(this)
	if (c === undefined) throw new TypeError('next is called on what is no iterator of URLSearchParams')
	const list = listOf(c.of)
	return c.at < list.length ? { value: c.pick(list[c.at++]), done: false } : { value: undefined, done: true }
} }
const prototype = Object.create(Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]())), {
	next: { value: next.next, writable: true, enumerable: true, configurable: true },
	[Symbol.toStringTag]: { value: 'URLSearchParams Iterator', configurable: true },
})
function cursor(of, pick) {
	listOf(of)
	const c = Object.create(prototype)
	cursors.set(c, { of, pick, at: 0 })
	return c
}

const fault = (e, code) => Object.assign(e, { code })
const tuple = () => fault(new TypeError('Each query pair must be an iterable [name, value] tuple'), 'ERR_INVALID_TUPLE')
function needed(params, args, n) {
	listOf(params) // throws if they are none
	if (args.length < n) throw fault(new TypeError(n === 1 ? 'The "name" argument must be specified' : 'The "name" and "value" arguments must be specified'), 'ERR_MISSING_ARGS')
}

const invalid = (input, base) => Object.assign(fault(new TypeError('Invalid URL'), 'ERR_INVALID_URL'), { input }, base === undefined ? {} : { base })

const names = ['href', 'origin', 'protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname', 'search', 'hash']
class URL {
	#parts // in the order of names
	#params = null
	constructor(url, base = undefined) {
		if (arguments.length === 0) throw fault(new TypeError('The "url" argument must be specified'), 'ERR_MISSING_ARGS')
		url = `${url}`
		if (base !== undefined) base = `${base}`
		this.#parts = host.parseURL(url, base)
		if (this.#parts === null) throw invalid(url, base)
	}
	#set(name, value) {
		const before = this.#parts[9]
		this.#parts = host.changeURL(this.#parts[0], name, text(value))
		if (this.#params !== null && this.#parts[9] !== before) this.#link()
	}
	#link() {
		begin(this.#params, this.#parts[9].slice(1), query => { this.#parts = host.changeURL(this.#parts[0], 'search', query) })
	}
	static {
		for (let i = 1; i < names.length; i++) {
			const name = names[i], { get, set } = Object.getOwnPropertyDescriptor({
				get [name]() { return this.#parts[i] },
				set [name](v) { this.#set(name, v) },
			}, name)
			Object.defineProperty(URL.prototype, name, { get, set: name === 'origin' ? undefined : set, configurable: true })
		}
	}
	get href() { return this.#parts[0] }
	set href(v) {
		v = `${v}`
		const parts = host.parseURL(v)
		if (parts === null) throw invalid(v)
		this.#parts = parts
		if (this.#params !== null) this.#link()
	}
	get searchParams() {
		const parts = this.#parts
		if (this.#params === null) {
			this.#params = new URLSearchParams()
			begin(this.#params, parts[9].slice(1), null)
			this.#link()
		}
		return this.#params
	}
	toString() { return this.#parts[0] }
	toJSON() { return this.#parts[0] }
	static canParse(url, base = undefined) {
		if (arguments.length === 0) throw fault(new TypeError('The "url" argument must be specified'), 'ERR_MISSING_ARGS')
		return host.parseURL(`${url}`, base === undefined ? undefined : `${base}`) !== null
	}
	static parse(url, base = undefined) {
		need(arguments, 1, 'parse')
		url = `${url}`
		if (base !== undefined) base = `${base}`
		return URL.canParse(url, base) ? new URL(url, base) : null
	}
}
idl(URL)
Object.defineProperty(URL.prototype, inspected, { configurable: true, writable: true, value(depth, options, inspect) {
	if (typeof depth === 'number' && depth < 0) return this
	const o = {}
	for (const name of names) {
		o[name] = this[name]
		if (name === 'search') o.searchParams = this.searchParams
	}
	return `${this.constructor.name} ${inspect(o, options)}`
} })

return { URL, URLSearchParams }
})
