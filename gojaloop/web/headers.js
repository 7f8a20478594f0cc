// Headers, as the Fetch standard has them.
(function (host, use) {
'use strict'
const { idl, need } = use('events')

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
function headerName(v) {
	v = `${v}`
	if (!token.test(v)) throw new TypeError(`Headers: "${v}" is an invalid header name`)
	return v.toLowerCase()
}
function headerValue(v) {
	v = `${v}`.replace(/^[\t\r\n ]+|[\t\r\n ]+$/g, '')
	if (/[\0\r\n]|[^\0-\xff]/.test(v)) throw new TypeError(`Headers: "${v}" is an invalid header value`)
	return v
}

let listOf, lock
class Headers {
	#list = [] // of [name, value], in order
	#immutable = false
	static {
		listOf = h => h.#list
		lock = h => { h.#immutable = true; return h }
	}
	constructor(init) {
		if (init === undefined) return
		if (init === null || typeof init !== 'object' && typeof init !== 'function') throw new TypeError('Headers: the init is neither a sequence nor a record')
		if (init instanceof Headers) {
			this.#list = init.#list.map(p => [...p])
		} else if (init[Symbol.iterator] !== undefined && init[Symbol.iterator] !== null) {
			for (const pair of init) {
				if (pair === null || typeof pair !== 'object' || typeof pair[Symbol.iterator] !== 'function') throw new TypeError('Headers: an entry is no sequence')
				const p = [...pair]
				if (p.length !== 2) throw new TypeError('Headers: an entry has not two elements')
				this.append(p[0], p[1])
			}
		} else {
			for (const k of Reflect.ownKeys(init)) {
				if (!Object.getOwnPropertyDescriptor(init, k).enumerable) continue
				if (typeof k === 'symbol') throw new TypeError('Headers: a symbol is no name')
				this.append(k, init[k])
			}
		}
	}
	#change() { if (this.#immutable) throw new TypeError('Headers are immutable') }
	append(name, value) {
		need(arguments, 2, 'append')
		name = headerName(name)
		value = headerValue(value)
		this.#change()
		this.#list.push([name, value])
	}
	delete(name) {
		need(arguments, 1, 'delete')
		name = headerName(name)
		this.#change()
		this.#list = this.#list.filter(p => p[0] !== name)
	}
	get(name) {
		need(arguments, 1, 'get')
		name = headerName(name)
		const values = this.#list.filter(p => p[0] === name).map(p => p[1])
		return values.length ? values.join(', ') : null
	}
	getSetCookie() { return this.#list.filter(p => p[0] === 'set-cookie').map(p => p[1]) }
	has(name) {
		need(arguments, 1, 'has')
		name = headerName(name)
		return this.#list.some(p => p[0] === name)
	}
	set(name, value) {
		need(arguments, 2, 'set')
		name = headerName(name)
		value = headerValue(value)
		this.#change()
		const i = this.#list.findIndex(p => p[0] === name)
		if (i < 0) return void this.#list.push([name, value])
		this.#list = this.#list.filter((p, j) => p[0] !== name || j === i)
		this.#list[i] = [name, value]
	}
	#sorted() {
		const names = [...new Set(this.#list.map(p => p[0]))].sort()
		return names.flatMap(n => n === 'set-cookie' ? this.getSetCookie().map(v => [n, v]) : [[n, this.get(n)]])
	}
	*entries() { for (let i = 0; i < this.#sorted().length; i++) yield this.#sorted()[i] }
	*keys() { for (const p of this.entries()) yield p[0] }
	*values() { for (const p of this.entries()) yield p[1] }
	forEach(callback, thisArg) {
		if (typeof callback !== 'function') throw new TypeError('Headers.forEach: the callback is no function')
		for (const [k, v] of this.entries()) callback.call(thisArg, v, k, this)
	}
}
Object.defineProperty(Headers.prototype, Symbol.for('nodejs.util.inspect.custom'), { configurable: true, writable: true, value(depth, options, inspect) {
	return `Headers ${inspect(Object.fromEntries(this), options)}`
} })
idl(Headers)
Object.defineProperty(Headers.prototype, Symbol.iterator, { value: Headers.prototype.entries, writable: true, configurable: true })

return { Headers, token, listOf, lock }
})
