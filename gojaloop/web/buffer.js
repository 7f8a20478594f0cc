// Buffer of goja_nodejs, completed to Node's. Numbers, UTF-8, hex and base64 are goja_nodejs's own.
(function (host, use) {
'use strict'
const { inspect } = use('inspect')
const Base = host.nodeBuffer()
const P = Base.prototype, U = Uint8Array.prototype
const baseFrom = Base.from, baseString = P.toString
const canonical = {
	utf8: 'utf8', 'utf-8': 'utf8', hex: 'hex', base64: 'base64', base64url: 'base64url', latin1: 'latin1', binary: 'latin1', ascii: 'ascii',
	ucs2: 'utf16le', 'ucs-2': 'utf16le', utf16le: 'utf16le', 'utf-16le': 'utf16le',
}
const encodingOf = e => {
	if (e === undefined || e === null || e === '') return 'utf8'
	const name = canonical[`${e}`.toLowerCase()]
	if (name === undefined) throw Object.assign(new TypeError(`Unknown encoding: ${e}`), { code: 'ERR_UNKNOWN_ENCODING' })
	return name
}
const wrong = (name, expected, v) => Object.assign(new TypeError(`The "${name}" argument must be ${expected}. Received ${v === null || v === undefined ? v
	: typeof v === 'object' ? `an instance of ${v.constructor && v.constructor.name}` : `type ${typeof v} (${inspect(v)})`}`), { code: 'ERR_INVALID_ARG_TYPE' })
const size = n => {
	if (typeof n !== 'number') throw wrong('size', 'of type number', n)
	if (!(n >= 0 && n <= 2 ** 32)) throw Object.assign(new RangeError(`The value of "size" is out of range. It must be >= 0 && <= 4294967296. Received ${n}`), { code: 'ERR_OUT_OF_RANGE' })
	return n
}
const asBuffer = u => Object.setPrototypeOf(u, P)
const plain = b => new Uint8Array(b.buffer, b.byteOffset, b.length)

function encode(text, encoding) {
	switch (encoding) {
	case 'latin1':
	case 'ascii': {
		const b = new Uint8Array(text.length)
		for (let i = 0; i < b.length; i++) b[i] = text.charCodeAt(i)
		return asBuffer(b)
	}
	case 'utf16le': {
		const b = new Uint8Array(text.length * 2)
		for (let i = 0; i < text.length; i++) {
			const c = text.charCodeAt(i)
			b[2 * i] = c
			b[2 * i + 1] = c >> 8
		}
		return asBuffer(b)
	}
	}
	return baseFrom(text, encoding === 'base64url' ? 'base64' : encoding)
}

function decode(b, encoding) {
	switch (encoding) {
	case 'utf8':
	case 'hex':
	case 'base64':
		return baseString.call(b, encoding)
	case 'base64url':
		return baseString.call(b, 'base64').replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '')
	}
	const wide = encoding === 'utf16le', mask = encoding === 'ascii' ? 0x7f : 0xff
	const units = wide ? Array.from({ length: b.length >> 1 }, (_, i) => b[2 * i] | b[2 * i + 1] << 8) : Array.from(b, n => n & mask)
	let text = ''
	for (let i = 0; i < units.length; i += 4096) text += String.fromCharCode.apply(null, units.slice(i, i + 4096))
	return text
}

function Buffer(value, encoding, length) { return typeof value === 'number' ? Buffer.alloc(value) : Buffer.from(value, encoding, length) }
for (const key of Reflect.ownKeys(Base)) {
	if (!['length', 'name', 'prototype'].includes(key)) Object.defineProperty(Buffer, key, Object.getOwnPropertyDescriptor(Base, key))
}
Object.setPrototypeOf(Buffer, Uint8Array)
Object.defineProperty(Buffer, 'prototype', { value: P, writable: false })
Object.defineProperty(Buffer, Symbol.species, { get: () => Uint8Array, configurable: true })
Object.defineProperty(P, 'constructor', { value: Buffer, writable: true, configurable: true })

Object.assign(Buffer, {
	from(value, encoding, length) {
		if (typeof value === 'string') return encode(value, encodingOf(encoding))
		if (value instanceof ArrayBuffer) return asBuffer(new Uint8Array(value, encoding, length))
		if (typeof value === 'object' && value !== null) {
			if (value.type === 'Buffer' && Array.isArray(value.data)) return asBuffer(Uint8Array.from(value.data))
			if (ArrayBuffer.isView(value) || Array.isArray(value)) return asBuffer(new Uint8Array(value))
			const primitive = typeof value.valueOf === 'function' ? value.valueOf() : null
			if (primitive !== null && primitive !== undefined && primitive !== value && ['string', 'object'].includes(typeof primitive)) return Buffer.from(primitive, encoding, length)
			if (value.length !== undefined || value.buffer instanceof ArrayBuffer) return asBuffer(typeof value.length === 'number' ? Uint8Array.from(value) : new Uint8Array(0))
			if (typeof value[Symbol.toPrimitive] === 'function') {
				const text = value[Symbol.toPrimitive]('string')
				if (typeof text === 'string') return encode(text, encodingOf(encoding))
			}
		}
		throw wrong('first', 'of type string or an instance of Buffer, ArrayBuffer, or Array or an Array-like Object', value)
	},
	of: (...items) => asBuffer(Uint8Array.of(...items)),
	alloc(n, fill, encoding) {
		const b = asBuffer(new Uint8Array(size(n)))
		return fill === undefined || fill === 0 || n === 0 ? b : b.fill(fill, encoding)
	},
	allocUnsafe: n => asBuffer(new Uint8Array(size(n))),
	allocUnsafeSlow: n => asBuffer(new Uint8Array(size(n))),
	copyBytesFrom(view, offset = 0, length = view.length - offset) {
		if (!ArrayBuffer.isView(view) || view instanceof DataView) throw wrong('view', 'an instance of TypedArray', view)
		const part = view.subarray(offset, offset + length)
		return asBuffer(new Uint8Array(part.buffer.slice(part.byteOffset, part.byteOffset + part.byteLength)))
	},
	isBuffer: b => b instanceof Buffer,
	isEncoding: e => typeof e === 'string' && canonical[e.toLowerCase()] !== undefined,
	byteLength(value, encoding) {
		if (typeof value !== 'string') {
			if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return value.byteLength
			throw wrong('string', 'of type string or an instance of Buffer or ArrayBuffer', value)
		}
		return encode(value, encodingOf(encoding)).length
	},
	compare(a, b) {
		const n = Math.min(a.length, b.length)
		for (let i = 0; i < n; i++) if (a[i] !== b[i]) return a[i] < b[i] ? -1 : 1
		return Math.sign(a.length - b.length)
	},
})

// find returns the index of a number or of bytes, from an index on forwards or backwards; -1 if it finds none.
function find(b, what, from, encoding, back) {
	if (typeof from === 'string') [encoding, from] = [from, undefined]
	if (typeof what === 'number') what = Uint8Array.of(what)
	else if (typeof what === 'string') what = encode(what, encodingOf(encoding))
	else if (!(what instanceof Uint8Array)) throw wrong('value', 'one of type number or string or an instance of Buffer or Uint8Array', what)
	from = Number(from)
	if (Number.isNaN(from)) from = back ? b.length : 0
	if (from < 0) from += b.length
	if (from < 0 && back) return -1
	const last = b.length - what.length
	for (let i = back ? Math.min(Math.trunc(from), last) : Math.max(Math.trunc(from), 0); back ? i >= 0 : i <= last; i += back ? -1 : 1) {
		let k = 0
		while (k < what.length && b[i + k] === what[k]) k++
		if (k === what.length) return i
	}
	return -1
}

function swap(b, n) {
	if (b.length % n !== 0) throw Object.assign(new RangeError(`Buffer size must be a multiple of ${8 * n}-bits`), { code: 'ERR_INVALID_BUFFER_SIZE' })
	for (let i = 0; i < b.length; i += n) plain(b).subarray(i, i + n).reverse()
	return b
}

const methods = {
	toString(encoding, start, end) {
		if (start === undefined && end === undefined) return decode(this, encodingOf(encoding))
		const at = (n, otherwise) => n === undefined ? otherwise : Math.min(Math.max(Math.trunc(n) || 0, 0), this.length)
		return decode(asBuffer(plain(this).subarray(at(start, 0), at(end, this.length))), encodingOf(encoding))
	},
	write(text, offset, length, encoding) {
		if (typeof text !== 'string') throw wrong('argument', 'of type string', text)
		if (typeof offset === 'string') [encoding, offset, length] = [offset, undefined, undefined]
		else if (typeof length === 'string') [encoding, length] = [length, undefined]
		offset = offset || 0
		if (offset < 0 || offset > this.length) throw Object.assign(new RangeError(`The value of "offset" is out of range. It must be >= 0 && <= ${this.length}. Received ${offset}`), { code: 'ERR_OUT_OF_RANGE' })
		const bytes = encode(text, encodingOf(encoding))
		let n = Math.min(bytes.length, this.length - offset, length === undefined ? Infinity : length)
		if (n < bytes.length && encodingOf(encoding) === 'utf8') while (n > 0 && (bytes[n] & 0xc0) === 0x80) n-- // no part of a character
		U.set.call(this, U.subarray.call(plain(bytes), 0, n), offset)
		return n
	},
	slice(start, end) { return asBuffer(U.subarray.call(plain(this), start, end)) },
	subarray(start, end) { return asBuffer(U.subarray.call(plain(this), start, end)) },
	map(f, self) { return asBuffer(U.map.call(plain(this), f, self)) },
	filter(f, self) { return asBuffer(U.filter.call(plain(this), f, self)) },
	toJSON() { return { type: 'Buffer', data: Array.from(this) } },
	compare(to, toStart = 0, toEnd = to.length, start = 0, end = this.length) { return Buffer.compare(plain(this).subarray(start, end), plain(to).subarray(toStart, toEnd)) },
	indexOf(what, from, encoding) { return find(this, what, from, encoding, false) },
	lastIndexOf(what, from, encoding) { return find(this, what, from, encoding, true) },
	includes(what, from, encoding) { return find(this, what, from, encoding, false) >= 0 },
	fill(value, start, end, encoding) {
		if (typeof start === 'string') [encoding, start, end] = [start, undefined, undefined]
		else if (typeof end === 'string') [encoding, end] = [end, undefined]
		if (typeof value === 'string') value = encode(value, encodingOf(encoding))
		if (!(value instanceof Uint8Array)) return U.fill.call(this, Number(value) & 0xff, start, end)
		if (value.length === 0) return U.fill.call(this, 0, start, end)
		const part = plain(this).subarray(start === undefined ? 0 : start, end === undefined ? this.length : end)
		for (let i = 0; i < part.length; i++) part[i] = value[i % value.length]
		return this
	},
	copy(to, toStart = 0, start = 0, end = this.length) {
		const part = plain(this).subarray(start, Math.min(end, start + to.length - toStart))
		U.set.call(to, part, toStart)
		return part.length
	},
	swap16() { return swap(this, 2) },
	swap32() { return swap(this, 4) },
	swap64() { return swap(this, 8) },
}
methods.toLocaleString = methods.toString
for (const [name, encoding] of [['utf8', 'utf8'], ['ascii', 'ascii'], ['latin1', 'latin1'], ['ucs2', 'utf16le'], ['hex', 'hex'], ['base64', 'base64'], ['base64url', 'base64url']]) {
	Object.assign(methods, { [name + 'Slice'](start, end) { return this.toString(encoding, start, end) }, [name + 'Write'](text, offset, length) { return this.write(text, offset, length, encoding) } })
}
methods.inspect = function () { return this[inspect.custom]() }
for (const [name, of] of [['parent', 'buffer'], ['offset', 'byteOffset']]) Object.defineProperty(P, name, { get() { return this instanceof Buffer ? this[of] : undefined }, enumerable: true, configurable: true })
for (const [name, value] of Object.entries(methods)) Object.defineProperty(P, name, { value, writable: true, enumerable: true, configurable: true })
Object.defineProperty(P, inspect.custom, { writable: true, configurable: true, value() {
	const hex = this.subarray(0, 50).toString('hex').replace(/..(?!$)/g, '$& ')
	const more = this.length - 50
	return `<${this.constructor.name} ${hex}${more > 0 ? ` ... ${more} more byte${more > 1 ? 's' : ''}` : ''}>`
} })
return { Buffer }
})
