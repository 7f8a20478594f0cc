// structuredClone, as the HTML standard has it.
(function (host, use) {
'use strict'
const { DOMException, need, dictionary, isPlatform } = use('events')
const errors = { EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError }
const primitives = { Boolean, Number, String, BigInt }
const typed = Object.getPrototypeOf(Uint8Array)
const tagOf = Object.getOwnPropertyDescriptor(typed.prototype, Symbol.toStringTag).get
const views = {}
for (const C of [Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, Float32Array, Float64Array]) views[C.name] = C
for (const name of ['BigInt64Array', 'BigUint64Array']) if (globalThis[name]) views[name] = globalThis[name]
const has = (o, k) => Object.prototype.hasOwnProperty.call(o, k)

function fail(v) {
	let text
	try {
		text = typeof v === 'symbol' ? v.toString() : typeof v === 'function' ? `${v}` : `#<${(v.constructor && v.constructor.name) || 'Object'}>`
	} catch (_) {
		text = '#<Object>'
	}
	throw new DOMException(`${text} could not be cloned.`, 'DataCloneError')
}

function structuredClone(value, options) {
	need(arguments, 1, 'structuredClone')
	const transfer = [...(dictionary(options, 'The "options" argument').transfer || [])]
	const seen = new Map()
	const moved = new Set()
	for (const t of transfer) {
		if (host.classOf(t) !== 'ArrayBuffer') throw new DOMException('Value not transferable', 'DataCloneError')
		if (moved.has(t)) throw new DOMException('ArrayBuffer occurs more than once in the transfer list', 'DataCloneError')
		if (host.detached(t)) throw new DOMException('An ArrayBuffer is detached and could not be cloned.', 'DataCloneError')
		moved.add(t)
	}
	const result = copy(value)
	for (const t of moved) host.detach(t)
	return result

	function copy(v) {
		if (typeof v === 'symbol' || typeof v === 'function') fail(v)
		if (typeof v !== 'object' || v === null) return v
		if (seen.has(v)) return seen.get(v)
		const put = c => { seen.set(v, c); return c }
		const cls = host.classOf(v)
		switch (cls) {
		case 'Boolean':
		case 'Number':
		case 'String':
		case 'BigInt':
			return put(Object(primitives[cls].prototype.valueOf.call(v)))
		case 'Date': return put(new Date(Date.prototype.getTime.call(v)))
		case 'RegExp': return put(new RegExp(v.source, v.flags))
		case 'ArrayBuffer':
			if (host.detached(v)) throw new DOMException('An ArrayBuffer is detached and could not be cloned.', 'DataCloneError')
			return put(ArrayBuffer.prototype.slice.call(v, 0))
		case 'Map': {
			const c = put(new Map())
			for (const [k, x] of [...Map.prototype.entries.call(v)]) c.set(copy(k), copy(x))
			return c
		}
		case 'Set': {
			const c = put(new Set())
			for (const x of [...Set.prototype.values.call(v)]) c.add(copy(x))
			return c
		}
		case 'Error': {
			if (v instanceof DOMException) return put(new DOMException(v.message, v.name))
			const name = `${v.name}`
			const C = has(errors, name) ? errors[name] : Error
			const d = Object.getOwnPropertyDescriptor(v, 'message')
			const real = put(d && 'value' in d ? new C(`${d.value}`) : new C())
			const stack = v.stack
			if (typeof stack === 'string') Object.defineProperty(real, 'stack', { value: stack, writable: true, configurable: true })
			if (has(v, 'cause')) Object.defineProperty(real, 'cause', { value: copy(v.cause), writable: true, configurable: true })
			return real
		}
		case 'Array':
		case 'Arguments': {
			const c = put(cls === 'Array' ? new Array(v.length) : {})
			for (const k of Object.keys(v)) c[k] = copy(v[k])
			return c
		}
		case 'Object': {
			if (ArrayBuffer.isView(v)) {
				const tag = tagOf.call(v), b = copy(v.buffer)
				return put(tag === undefined ? new DataView(b, v.byteOffset, v.byteLength) : new views[tag](b, v.byteOffset, v.length))
			}
			if (host.platform(v) || isPlatform(v) || v instanceof WeakMap || v instanceof WeakSet) fail(v)
			const c = put({})
			for (const k of Object.keys(v)) {
				if (has(v, k)) Object.defineProperty(c, k, { value: copy(v[k]), writable: true, enumerable: true, configurable: true })
			}
			return c
		}
		}
		return fail(v)
	}
}

return { structuredClone }
})
