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

let pairsOf, fill, lock
class Headers {
	#values = new Map() // by name, in order
	#sorted = null // what entries are, until a change
	#immutable = false
	static {
		pairsOf = h => [...h.#values].flatMap(([name, values]) => values.map(v => [name, v]))
		fill = (h, pairs) => { for (const [name, value] of pairs) h.#add(name, value) }
		lock = h => { h.#immutable = true; return h }
	}
	constructor(init) {
		if (init === undefined) return
		if (init === null || typeof init !== 'object' && typeof init !== 'function') throw new TypeError('Headers: the init is neither a sequence nor a record')
		if (init instanceof Headers) {
			fill(this, pairsOf(init))
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
	#add(name, value) {
		const values = this.#values.get(name)
		values ? values.push(value) : this.#values.set(name, [value])
		this.#sorted = null
	}
	#change() {
		if (this.#immutable) throw new TypeError('Headers are immutable')
		this.#sorted = null
	}
	append(name, value) {
		need(arguments, 2, 'append')
		name = headerName(name)
		value = headerValue(value)
		this.#change()
		this.#add(name, value)
	}
	delete(name) {
		need(arguments, 1, 'delete')
		name = headerName(name)
		this.#change()
		this.#values.delete(name)
	}
	get(name) {
		need(arguments, 1, 'get')
		const values = this.#values.get(headerName(name))
		return values ? values.join(', ') : null
	}
	getSetCookie() { return [...this.#values.get('set-cookie') || []] }
	has(name) {
		need(arguments, 1, 'has')
		return this.#values.has(headerName(name))
	}
	set(name, value) {
		need(arguments, 2, 'set')
		name = headerName(name)
		value = headerValue(value)
		this.#change()
		this.#values.set(name, [value])
	}
	#entries() {
		if (this.#sorted === null) {
			this.#sorted = [...this.#values.keys()].sort().flatMap(n => n === 'set-cookie' ? this.getSetCookie().map(v => [n, v]) : [[n, this.get(n)]])
		}
		return this.#sorted
	}
	*entries() { for (let i = 0; i < this.#entries().length; i++) yield [...this.#entries()[i]] }
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

return { Headers, token, pairsOf, fill, lock }
})
