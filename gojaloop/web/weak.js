// WeakRef, and FinalizationRegistry, which calls nothing: the standard lets it.
(function (host) {
'use strict'
const object = o => o !== null && (typeof o === 'object' || typeof o === 'function')
class WeakRef {
	#target
	constructor(target) {
		if (!object(target)) throw new TypeError('WeakRef: invalid target')
		this.#target = host.weak(target)
	}
	deref() { return this.#target() }
}
class FinalizationRegistry {
	#tokens = new WeakSet()
	constructor(cleanup) { if (typeof cleanup !== 'function') throw new TypeError('FinalizationRegistry: cleanup must be callable') }
	register(target, held, token) {
		if (!object(target)) throw new TypeError('FinalizationRegistry.prototype.register: invalid target')
		if (target === held) throw new TypeError('FinalizationRegistry.prototype.register: target and holdings must not be same')
		if (object(token)) this.#tokens.add(token)
	}
	unregister(token) { return this.#tokens.delete(token) }
}
for (const C of [WeakRef, FinalizationRegistry]) Object.defineProperty(C.prototype, Symbol.toStringTag, { value: C.name, configurable: true })
return { WeakRef, FinalizationRegistry }
})
