// The small modules: what is elsewhere already, under the names of Node.
(function (go, require) {
'use strict'
const perf = go.module('performance')
return {
	buffer: { Buffer, Blob, File, atob, btoa, constants: { MAX_LENGTH: 2 ** 32, MAX_STRING_LENGTH: 2 ** 29 }, kMaxLength: 2 ** 32 },
	console,
	constants: {},
	crypto: {
		webcrypto: crypto, randomUUID: () => crypto.randomUUID(), getRandomValues: a => crypto.getRandomValues(a),
		randomBytes: n => Buffer.from(crypto.getRandomValues(new Uint8Array(n)).buffer),
		randomInt(a, b) { const [low, high] = b === undefined || typeof b === 'function' ? [0, a] : [a, b]; return low + Math.floor(Math.random() * (high - low)) },
		createHash(name) {
			const parts = []
			return {
				update(data, encoding) { parts.push(typeof data === 'string' ? Buffer.from(data, encoding) : Buffer.from(data)); return this },
				digest(encoding) {
					const all = Buffer.concat(parts)
					const sum = Buffer.from(go.hash(name, all.buffer.slice(all.byteOffset, all.byteOffset + all.byteLength)))
					return encoding ? sum.toString(encoding) : sum
				},
			}
		},
	},
	perf_hooks: { performance, PerformanceEntry: perf.PerformanceEntry },
	string_decoder: { StringDecoder: class { constructor(e) { this.d = new TextDecoder(e) } write(b) { return this.d.decode(b, { stream: true }) } end(b) { return this.d.decode(b) } } },
	querystring: { parse: s => Object.fromEntries(new URLSearchParams(s)), stringify: o => new URLSearchParams(o).toString(), escape: encodeURIComponent, unescape: decodeURIComponent },
}
})
