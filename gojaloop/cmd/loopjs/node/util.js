// node:util
(function (go, require) {
'use strict'
const { inspect, format, formatWithOptions } = go.module('inspect')
const kept = new WeakSet()

// what names functions are promisified by
const custom = Symbol.for('nodejs.util.promisify.custom')
function promisify(f) {
	if (typeof f !== 'function') throw go.invalidType('original', 'function', f)
	if (f[custom]) return f[custom]
	const promisified = function (...args) {
		return new Promise((resolve, reject) => f.call(this, ...args, (e, v) => e ? reject(e) : resolve(v)))
	}
	Object.setPrototypeOf(promisified, Object.getPrototypeOf(f))
	return Object.defineProperty(promisified, custom, { value: promisified })
}
promisify.custom = custom

function callbackify(f) {
	return function (...args) {
		const callback = args.pop()
		f.apply(this, args).then(v => process.nextTick(callback, null, v), e => process.nextTick(callback, e || new Error('falsy reason')))
	}
}

function deprecate(f, message, code) {
	let told = false
	return function (...args) {
		if (!told) {
			told = true
			go.print(true, `(loopjs:${process.pid}) ${code ? `[${code}] ` : ''}DeprecationWarning: ${message}\n`)
		}
		return f.apply(this, args)
	}
}

function inherits(constructor, parent) {
	Object.defineProperty(constructor, 'super_', { value: parent, writable: true, configurable: true })
	Object.setPrototypeOf(constructor.prototype, parent.prototype)
}

const is = name => v => go.classOf(v) === name
const types = {
	isPromise: is('Promise'), isMap: is('Map'), isSet: is('Set'), isDate: is('Date'), isRegExp: is('RegExp'), isProxy: is('Proxy'),
	isNativeError: v => v instanceof Error, isArrayBuffer: is('ArrayBuffer'), isAnyArrayBuffer: is('ArrayBuffer'), isWeakMap: is('WeakMap'), isWeakSet: is('WeakSet'),
	isTypedArray: v => ArrayBuffer.isView(v) && !(v instanceof DataView), isUint8Array: v => v instanceof Uint8Array, isDataView: v => v instanceof DataView,
	isArrayBufferView: v => ArrayBuffer.isView(v), isBoxedPrimitive: v => ['Number', 'String', 'Boolean', 'Symbol', 'BigInt'].includes(go.classOf(v)),
	isAsyncFunction: f => typeof f === 'function' && /^async\b/.test(Function.prototype.toString.call(f)),
	isGeneratorFunction: f => typeof f === 'function' && /^(static\s+)?function\s*\*|^\*/.test(Function.prototype.toString.call(f)),
}

function isDeepStrictEqual(a, b) { return go.deepEqual(a, b, true) }

const escapes = /[\u001b\u009b][[\]()#;?]*(?:[0-9]{1,4}(?:;[0-9]{0,4})*)?[0-9A-PR-TZcf-nq-uy=><~]/g
const styles = { bold: [1, 22], italic: [3, 23], underline: [4, 24], red: [31, 39], green: [32, 39], yellow: [33, 39], blue: [34, 39], magenta: [35, 39], cyan: [36, 39], white: [37, 39], gray: [90, 39] }

return {
	inspect, format, formatWithOptions, promisify, callbackify, deprecate, inherits, types, isDeepStrictEqual,
	TextEncoder, TextDecoder, isArray: Array.isArray,
	stripVTControlCharacters: s => String(s).replace(escapes, ''),
	styleText: (style, text) => [].concat(style).reduce((t, s) => `\u001b[${styles[s][0]}m${t}\u001b[${styles[s][1]}m`, text),
	toUSVString: s => String(s).toWellFormed ? String(s).toWellFormed() : String(s),
	debuglog: () => Object.assign(() => {}, { enabled: false }),
	aborted: signal => new Promise(resolve => signal.aborted ? resolve() : signal.addEventListener('abort', () => resolve())),
}
})
