// Random numbers, of the Web Cryptography API.
(function (host, use) {
'use strict'
const { DOMException, idl, need } = use('events')
const internal = Symbol('internal')
const integers = [Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array]
for (const name of ['BigInt64Array', 'BigUint64Array']) if (globalThis[name]) integers.push(globalThis[name])

class Crypto {
	constructor(key) { if (key !== internal) throw new TypeError('Illegal constructor') }
	getRandomValues(array) {
		need(arguments, 1, 'getRandomValues')
		if (!integers.some(C => array instanceof C)) throw new DOMException('The data argument must be an integer-type TypedArray', 'TypeMismatchError')
		if (array.byteLength > 65536) throw new DOMException(`The requested length exceeds 65,536 bytes`, 'QuotaExceededError')
		new Uint8Array(array.buffer, array.byteOffset, array.byteLength).set(new Uint8Array(host.random(array.byteLength)))
		return array
	}
	randomUUID() { return host.uuid() }
}
idl(Crypto)

class Navigator {
	constructor(key) { if (key !== internal) throw new TypeError('Illegal constructor') }
	get userAgent() { return 'Turnloop' }
	get hardwareConcurrency() { return host.processors() }
	get language() { return 'en-US' }
	get languages() { return Object.freeze(['en-US']) }
	get platform() { return host.system() }
}
idl(Navigator)

return { Crypto, crypto: new Crypto(internal), Navigator, navigator: new Navigator(internal) }
})
