// The small modules: mostly functions that exist elsewhere, under Node's names.
(function (go, require) {
'use strict'
const perf = go.module('performance')
const bytesOf = (data, encoding) => typeof data === 'string' ? Buffer.from(data, encoding) : Buffer.from(data)
const part = b => b.buffer.slice(b.byteOffset, b.byteOffset + b.byteLength)
function digest(name, key) {
	const sumOf = data => go.hash(String(name).toLowerCase().replace(/^sha-/, 'sha'), data, key && part(key)), parts = []
	sumOf(new ArrayBuffer(0)) // throws if there is no such hash
	return {
		update(data, encoding) { parts.push(bytesOf(data, encoding)); return this },
		digest(encoding) {
			const sum = Buffer.from(sumOf(part(Buffer.concat(parts))))
			return encoding ? sum.toString(encoding) : sum
		},
	}
}
const unescape = s => { try { return decodeURIComponent(s) } catch (_) { return s } }
const querystring = {
	escape: encodeURIComponent, unescape,
	parse(text, sep = '&', eq = '=') {
		const out = Object.create(null)
		for (const p of String(text).split(sep)) {
			if (p === '') continue
			const i = p.indexOf(eq), [k, v] = (i < 0 ? [p, ''] : [p.slice(0, i), p.slice(i + eq.length)]).map(s => unescape(s.replace(/\+/g, ' ')))
			out[k] = out[k] === undefined ? v : [].concat(out[k], v)
		}
		return out
	},
	stringify(o, sep = '&', eq = '=') {
		const text = v => typeof v === 'string' || typeof v === 'boolean' || typeof v === 'bigint' || Number.isFinite(v) ? encodeURIComponent(v) : ''
		return Object.entries(o || {}).flatMap(([k, v]) => [].concat(v).map(x => encodeURIComponent(k) + eq + text(x))).join(sep)
	},
}
querystring.decode = querystring.parse
querystring.encode = querystring.stringify
return {
	buffer: { Buffer, Blob, File, atob, btoa, constants: { MAX_LENGTH: 2 ** 32, MAX_STRING_LENGTH: 2 ** 29 }, kMaxLength: 2 ** 32 },
	console,
	constants: {},
	crypto: {
		webcrypto: crypto, randomUUID: () => crypto.randomUUID(), getRandomValues: a => crypto.getRandomValues(a),
		randomBytes: n => Buffer.from(crypto.getRandomValues(new Uint8Array(n)).buffer),
		randomInt(a, b) { const [low, high] = b === undefined || typeof b === 'function' ? [0, a] : [a, b]; return low + Math.floor(crypto.getRandomValues(new Uint8Array(6)).reduce((n, b) => n * 256 + b, 0) / 2 ** 48 * (high - low)) },
		createHash: name => digest(name),
		createHmac: (name, key) => digest(name, bytesOf(key)),
		getHashes: () => ['md5', 'sha1', 'sha256', 'sha512'],
		timingSafeEqual(a, b) {
			if (a.byteLength !== b.byteLength) throw Object.assign(new RangeError('Input buffers must have the same byte length'), { code: 'ERR_CRYPTO_TIMING_SAFE_EQUAL_LENGTH' })
			return Buffer.compare(a, b) === 0
		},
	},
	perf_hooks: { performance, PerformanceEntry: perf.PerformanceEntry },
	string_decoder: { StringDecoder: class { constructor(e) { this.d = new TextDecoder(e) } write(b) { return this.d.decode(b, { stream: true }) } end(b) { return this.d.decode(b) } } },
	querystring,
}
})
