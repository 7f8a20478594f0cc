// node:zlib, on Go's packages for deflate, zlib and gzip.
(function (go, require) {
'use strict'
const { Buffer } = require('buffer'), { Transform } = require('stream'), { part } = go
const constants = {
	Z_NO_FLUSH: 0, Z_PARTIAL_FLUSH: 1, Z_SYNC_FLUSH: 2, Z_FULL_FLUSH: 3, Z_FINISH: 4, Z_BLOCK: 5, Z_OK: 0, Z_STREAM_END: 1, Z_NEED_DICT: 2, Z_ERRNO: -1, Z_STREAM_ERROR: -2,
	Z_DATA_ERROR: -3, Z_MEM_ERROR: -4, Z_BUF_ERROR: -5, Z_VERSION_ERROR: -6, Z_NO_COMPRESSION: 0, Z_BEST_SPEED: 1, Z_BEST_COMPRESSION: 9, Z_DEFAULT_COMPRESSION: -1, Z_FILTERED: 1,
	Z_HUFFMAN_ONLY: 2, Z_RLE: 3, Z_FIXED: 4, Z_DEFAULT_STRATEGY: 0, ZLIB_VERNUM: 4880, DEFLATE: 1, INFLATE: 2, GZIP: 3, GUNZIP: 4, DEFLATERAW: 5, INFLATERAW: 6, UNZIP: 7,
	BROTLI_DECODE: 8, BROTLI_ENCODE: 9, Z_MIN_WINDOWBITS: 8, Z_MAX_WINDOWBITS: 15, Z_DEFAULT_WINDOWBITS: 15, Z_MIN_CHUNK: 64, Z_MAX_CHUNK: Infinity, Z_DEFAULT_CHUNK: 16384,
	Z_MIN_MEMLEVEL: 1, Z_MAX_MEMLEVEL: 9, Z_DEFAULT_MEMLEVEL: 8, Z_MIN_LEVEL: -1, Z_MAX_LEVEL: 9, Z_DEFAULT_LEVEL: -1,
}
const codes = Object.fromEntries(['Z_OK', 'Z_STREAM_END', 'Z_NEED_DICT', 'Z_ERRNO', 'Z_STREAM_ERROR', 'Z_DATA_ERROR', 'Z_MEM_ERROR', 'Z_BUF_ERROR', 'Z_VERSION_ERROR'].flatMap(n => [[n, constants[n]], [constants[n], n]]))
const range = (o, name, low, high) => {
	const n = o[name]
	if (n === undefined) return
	if (typeof n !== 'number') throw go.invalidType('options.' + name, 'number', n)
	if (!(n >= low && n <= high)) throw Object.assign(new RangeError(`The value of "options.${name}" is out of range. It must be >= ${low} and <= ${high}. Received ${n}`), { code: 'ERR_OUT_OF_RANGE' })
}
const errorOf = ({ code, message }) => code === 'ERR_BUFFER_TOO_LARGE' ? Object.assign(new RangeError(message), { code }) : Object.assign(new Error(message), { errno: constants[code], code })

// What a codec's window, memory and strategy are is up to Go: they change the size of what comes out, and not what it means.
const bytesOf = (data, name) => go.dataOf(data, undefined, name, 'string or an instance of Buffer, TypedArray, DataView, or ArrayBuffer')
function codecOf(kind, options) {
	const o = options || {}
	range(o, 'level', -1, 9); range(o, 'windowBits', 0, 15); range(o, 'memLevel', 1, 9); range(o, 'strategy', 0, 4); range(o, 'chunkSize', 64, Infinity)
	range(o, 'maxOutputLength', 1, Infinity)
	if (o.info) throw Object.assign(new Error('zlib: the option info is not implemented'), { code: 'ERR_METHOD_NOT_IMPLEMENTED' })
	return go.codec(kind, o.level === undefined ? -1 : o.level, o.dictionary === undefined ? undefined : part(bytesOf(o.dictionary, 'options.dictionary')), o.finishFlush === constants.Z_SYNC_FLUSH, o.maxOutputLength)
}
const zlib = { constants: Object.freeze(constants), codes: Object.freeze(codes) }
for (const [k, v] of Object.entries(constants)) if (k.startsWith('Z_')) Object.defineProperty(zlib, k, { value: v })

class Codec extends Transform {
	constructor(kind, options) {
		const codec = codecOf(kind, options)
		super({ ...options, encoding: undefined, objectMode: false })
		Object.defineProperty(this, 'codec', { value: codec })
		this.bytesWritten = 0
	}
	step(flush, chunk) {
		const r = this.codec(flush, chunk)
		if (r.failure) return errorOf(r.failure)
		if (r.value.byteLength > 0) this.push(Buffer.from(r.value))
		return null
	}
	_transform(chunk, encoding, callback) {
		this.bytesWritten += chunk.length
		callback(this.step(0, part(chunk)))
	}
	_flush(callback) { callback(this.step(4)) }
	_destroy(e, callback) { this.codec(-1); callback(e) }
	flush(kind, callback) {
		if (typeof kind === 'function') [kind, callback] = [undefined, kind]
		const done = () => {
			const e = this.destroyed || this.writableFinished ? null : this.step(kind === undefined ? constants.Z_FULL_FLUSH : kind)
			if (e) this.destroy(e)
			else if (callback) process.nextTick(callback)
		}
		if (this.writableLength === 0) done()
		else this.write(Buffer.alloc(0), done)
	}
	close(callback) { if (callback) this.once('close', callback); this.destroy() }
	reset() { this.codec(-2) }
	params() { throw Object.assign(new Error('zlib: params() is not implemented'), { code: 'ERR_METHOD_NOT_IMPLEMENTED' }) }
}
function all(kind, data, options) {
	const b = bytesOf(data, 'buffer'), codec = codecOf(kind, options), out = []
	for (const [flush, chunk] of [[0, part(b)], [4]]) {
		const r = codec(flush, chunk)
		if (r.failure) { codec(-1); throw errorOf(r.failure) }
		out.push(Buffer.from(r.value))
	}
	return out.length === 1 ? out[0] : Buffer.concat(out)
}
for (const name of ['Gzip', 'Gunzip', 'Deflate', 'Inflate', 'DeflateRaw', 'InflateRaw', 'Unzip']) {
	const one = name[0].toLowerCase() + name.slice(1)
	const C = { [name]: function (options) { return Reflect.construct(Codec, [one, options], C) } }[name]
	go.inherit(C, Codec)
	zlib[name] = C
	zlib['create' + name] = options => new C(options)
	zlib[one + 'Sync'] = (data, options) => all(one, data, options)
	zlib[one] = (data, options, callback) => {
		if (typeof options === 'function') [options, callback] = [{}, options]
		if (typeof callback !== 'function') throw go.invalidType('callback', 'function', callback)
		bytesOf(data, 'buffer')
		setImmediate(() => {
			let out
			try { out = all(one, data, options) } catch (e) { return callback(e) }
			callback(null, out)
		})
	}
}
for (const name of ['createBrotliCompress', 'createBrotliDecompress', 'brotliCompress', 'brotliCompressSync', 'brotliDecompress', 'brotliDecompressSync']) {
	zlib[name] = () => { throw Object.assign(new Error(`zlib.${name}: loopjs has no Brotli; there are gzip and deflate`), { code: 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM' }) }
}
const table = Array.from({ length: 256 }, (_, n) => { for (let k = 0; k < 8; k++) n = n & 1 ? n >>> 1 ^ 0xedb88320 : n >>> 1; return n })
zlib.crc32 = (data, value = 0) => {
	let c = ~value
	for (const b of bytesOf(data, 'data')) c = table[(c ^ b) & 255] ^ c >>> 8
	return ~c >>> 0
}
return zlib
})
