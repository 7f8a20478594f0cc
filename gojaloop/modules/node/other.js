// The small modules: mostly functions that exist elsewhere, under Node's names.
(function (go, require) {
'use strict'
const lazy = { __proto__: null }
const { part } = go, bytesOf = (data, encoding, name = 'data') => go.dataOf(data, encoding, name, 'string or an instance of Buffer, TypedArray, or DataView')

lazy.buffer = () => {
	const bytes = v => v instanceof ArrayBuffer ? new Uint8Array(v) : new Uint8Array(v.buffer, v.byteOffset, v.byteLength)
	const SlowBuffer = function SlowBuffer(n) { return Buffer.alloc(n) }
	SlowBuffer.prototype = Buffer.prototype
	return {
		Buffer, SlowBuffer, Blob, File, atob, btoa, constants: { MAX_LENGTH: 2 ** 32, MAX_STRING_LENGTH: 2 ** 29 }, kMaxLength: 2 ** 32, kStringMaxLength: 2 ** 29, INSPECT_MAX_BYTES: 50,
		transcode: (source, from, to) => Buffer.from(Buffer.from(source).toString(from), to),
		isAscii: v => bytes(v).every(b => b < 128), isUtf8(v) { try { new TextDecoder('utf-8', { fatal: true }).decode(bytes(v)); return true } catch (_) { return false } },
		resolveObjectURL: go.refuse('buffer', 'resolveObjectURL', 'Blob'),
	}
}

lazy.crypto = () => {
	const { Transform } = require('stream')
	const names = ['md5', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512', 'sha512-224', 'sha512-256', 'sha3-224', 'sha3-256', 'sha3-384', 'sha3-512']
	const nameOf = name => { if (typeof name !== 'string') throw go.invalidType('algorithm', 'string', name); return name.toLowerCase().replace(/^rsa-/, '').replace(/^sha-/, 'sha').replace('sha512/', 'sha512-') }
	const state = Symbol('state')
	const unset = () => { throw Object.assign(new Error('Digest already called'), { code: 'ERR_CRYPTO_HASH_FINALIZED' }) }
	function make(C, name, key, options, sum) {
		Transform.call(this, options)
		Object.defineProperty(this, state, { value: { sum: sum || go.hasher(nameOf(name), key && part(key)), over: false } })
	}
	const methods = {
		update(data, encoding) {
			const s = this[state]
			if (s.over) unset()
			s.sum(part(bytesOf(data, encoding)))
			return this
		},
		digest(encoding) {
			const s = this[state]
			if (s.over) { if (this instanceof Hmac) return encoding && encoding !== 'buffer' ? '' : Buffer.alloc(0); unset() }
			s.over = true
			const b = Buffer.from(s.sum())
			return encoding && encoding !== 'buffer' ? b.toString(encoding) : b
		},
		_transform(chunk, encoding, callback) { this[state].sum(part(bytesOf(chunk, encoding))); callback() },
		_flush(callback) { this.push(this.digest()); callback() },
	}
	function Hash(name, options, sum) { if (!(this instanceof Hash)) return new Hash(name, options, sum); make.call(this, Hash, name, undefined, options, sum) }
	function Hmac(name, key, options) { if (!(this instanceof Hmac)) return new Hmac(name, key, options); make.call(this, Hmac, name, bytesOf(key, options && options.encoding, 'key'), options) }
	for (const C of [Hash, Hmac]) {
		go.inherit(C, Transform)
		for (const [k, value] of Object.entries(methods)) Object.defineProperty(C.prototype, k, { value, writable: true, configurable: true })
	}
	Hash.prototype.copy = function (options) { if (this[state].over) unset(); return new Hash('', options, this[state].sum(null)) }
	const random = a => { for (let i = 0; i < a.byteLength; i += 65536) crypto.getRandomValues(new Uint8Array(a.buffer || a, (a.byteOffset || 0) + i, Math.min(65536, a.byteLength - i))); return a }
	const later = (callback, f) => {
		if (typeof callback !== 'function') throw go.invalidType('callback', 'function', callback)
		setImmediate(() => { let v; try { v = f() } catch (e) { return callback(e) } callback(null, v) })
	}
	const count = (n, name, most = 2 ** 31 - 1) => { if (typeof n !== 'number') throw go.invalidType(name, 'number', n); if (!(n >= 0 && n <= most) || !Number.isInteger(n)) throw Object.assign(new RangeError(`The value of "${name}" is out of range. It must be >= 0 && <= ${most}. Received ${n}`), { code: 'ERR_OUT_OF_RANGE' }); return n }
	const randomFillSync = (a, offset = 0, size) => {
		const unit = a.BYTES_PER_ELEMENT || 1, bytes = a instanceof ArrayBuffer ? new Uint8Array(a) : new Uint8Array(a.buffer, a.byteOffset, a.byteLength)
		offset = count(offset, 'offset') * unit
		const end = size === undefined ? bytes.length : offset + count(size, 'size') * unit
		if (end > bytes.length) throw Object.assign(new RangeError(`The value of "size + offset" is out of range. It must be <= ${bytes.length}. Received ${end}`), { code: 'ERR_OUT_OF_RANGE' })
		random(bytes.subarray(offset, end))
		return a
	}
	const int = (low, high) => {
		for (const [n, v] of [['min', low], ['max', high]]) if (!Number.isSafeInteger(v)) throw go.invalidType(n, 'safe integer', v)
		if (!(high > low)) throw Object.assign(new RangeError(`The value of "max" is out of range. It must be greater than the value of "min" (${low}). Received ${high}`), { code: 'ERR_OUT_OF_RANGE' })
		const span = high - low, most = 2 ** 48 - 2 ** 48 % span
		for (;;) { // values beyond the last whole span would make some numbers likelier
			const n = random(new Uint8Array(6)).reduce((n, b) => n * 256 + b, 0)
			if (n < most) return low + n % span
		}
	}
	const pbkdf2Sync = (password, salt, iterations, length, digest) => Buffer.from(go.pbkdf2(nameOf(digest), part(bytesOf(password, 'utf8', 'password')), part(bytesOf(salt, 'utf8', 'salt')), count(iterations, 'iterations'), count(length, 'keylen')))
	const refused = 'checkPrime checkPrimeSync createCipheriv createDecipheriv createDiffieHellman createDiffieHellmanGroup createECDH createPrivateKey createPublicKey createSecretKey createSign createVerify diffieHellman generatePrime generatePrimeSync getCipherInfo getDiffieHellman hkdf hkdfSync generateKeyPair generateKeyPairSync generateKey generateKeySync privateDecrypt privateEncrypt publicDecrypt publicEncrypt scrypt scryptSync sign verify setEngine Certificate Cipheriv Decipheriv DiffieHellman ECDH KeyObject Sign Verify X509Certificate createCipher createDecipher'
	const c = {
		webcrypto: crypto, subtle: crypto.subtle, constants: {}, fips: 0, getFips: () => 0, getCiphers: () => [], getCurves: () => [], getHashes: () => [...names],
		randomUUID: () => crypto.randomUUID(), getRandomValues: a => crypto.getRandomValues(a), Hash, Hmac,
		createHash: (name, options) => new Hash(name, options), createHmac: (name, key, options) => new Hmac(name, key, options),
		hash: (name, data, encoding = 'hex') => new Hash(name).update(data).digest(encoding),
		randomBytes(n, callback) {
			count(n, 'size')
			const f = () => random(Buffer.alloc(n))
			return callback === undefined ? f() : later(callback, f)
		},
		randomFillSync, randomFill(a, ...rest) { const callback = rest.pop(); later(callback, () => randomFillSync(a, ...rest)) },
		randomInt(low, high, callback) {
			if (high === undefined || typeof high === 'function') [low, high, callback] = [0, low, high]
			return callback === undefined ? int(low, high) : later(callback, () => int(low, high))
		},
		pbkdf2Sync, pbkdf2(...args) { const callback = args.pop(); later(callback, () => pbkdf2Sync(...args)) },
		timingSafeEqual(a, b) {
			if (a.byteLength !== b.byteLength) throw Object.assign(new RangeError('Input buffers must have the same byte length'), { code: 'ERR_CRYPTO_TIMING_SAFE_EQUAL_LENGTH' })
			return Buffer.compare(bytesOf(a), bytesOf(b)) === 0
		},
	}
	c.pseudoRandomBytes = c.prng = c.rng = c.randomBytes
	for (const n of refused.split(' ')) c[n] = go.refuse('crypto', n, 'createHash, createHmac, pbkdf2 and random numbers')
	return c
}

lazy.perf_hooks = () => {
	const perf = go.module('performance'), refuse = n => go.refuse('perf_hooks', n, 'performance')
	return { performance, ...Object.fromEntries(['Performance', 'PerformanceEntry', 'PerformanceMark', 'PerformanceMeasure'].map(n => [n, perf[n]])), PerformanceObserver: refuse('PerformanceObserver'), monitorEventLoopDelay: refuse('monitorEventLoopDelay'), createHistogram: refuse('createHistogram'), constants: {} }
}
lazy.console = () => Object.assign(console, { Console: go.Console || console.Console })
lazy['stream/web'] = () => Object.fromEntries(['ReadableStream', 'ReadableStreamDefaultReader', 'TextDecoderStream', 'TextEncoderStream', 'WritableStream', 'TransformStream', 'CompressionStream', 'DecompressionStream'].filter(n => n in globalThis).map(n => [n, globalThis[n]]))
lazy['stream/consumers'] = () => {
	const buffer = async s => {
		const all = [], it = s[go.asyncIterator]()
		for (let r; !(r = await it.next()).done;) all.push(typeof r.value === 'string' ? Buffer.from(r.value) : Buffer.from(r.value))
		return Buffer.concat(all)
	}
	const text = async s => new TextDecoder().decode(await buffer(s))
	return { buffer, text, json: async s => JSON.parse(await text(s)), arrayBuffer: async s => part(await buffer(s)), blob: async s => new Blob([await buffer(s)]) }
}

lazy.async_hooks = () => {
	// A store is a property of the context, an object that work inherits from the work that began it.
	const context = go.follow()
	const run = (c, f, self, args) => {
		const before = context()
		context(c)
		try { return f.apply(self, args) } finally { context(before) }
	}
	const bind = f => { const c = context(); return function (...args) { return run(c, f, this, args) } }
	class AsyncLocalStorage {
		#key = Symbol('store')
		static bind(f) { return bind(f) }
		static snapshot() { return bind((f, ...args) => f(...args)) }
		getStore() { const c = context(); return c === undefined ? undefined : c[this.#key] }
		run(store, f, ...args) { return run({ ...context(), [this.#key]: store }, f, undefined, args) }
		exit(f, ...args) { return this.run(undefined, f, ...args) }
		enterWith(store) { context({ ...context(), [this.#key]: store }) }
		disable() { this.enterWith(undefined) }
	}
	let last = 1
	class AsyncResource {
		#context = context()
		#id = ++last
		constructor(type) { if (typeof type !== 'string') throw go.invalidType('type', 'string', type) }
		static bind(f, type, self) { return new AsyncResource(type || f.name || 'bound-anonymous-fn').bind(f, self) }
		runInAsyncScope(f, self, ...args) { return run(this.#context, f, self, args) }
		bind(f, self) { const r = this; return Object.defineProperty(function (...args) { return r.runInAsyncScope(f, self === undefined ? this : self, ...args) }, 'length', { value: f.length, configurable: true }) }
		asyncId() { return this.#id }
		triggerAsyncId() { return 1 }
		emitDestroy() { return this }
	}
	return { AsyncLocalStorage, AsyncResource, executionAsyncId: () => 1, triggerAsyncId: () => 0, executionAsyncResource: () => ({}), createHook: go.refuse('async_hooks', 'createHook', 'AsyncLocalStorage') }
}
const made = {}
return new Proxy({}, { get: (_, name) => made[name] || (made[name] = lazy[name]()) })
})
