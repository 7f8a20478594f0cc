// Deep equality of two values, as in node:assert and node:util.
(function (go) {
'use strict'
const own = Object.prototype.hasOwnProperty
const keysOf = v => [...Object.keys(v), ...Object.getOwnPropertySymbols(v).filter(s => Object.prototype.propertyIsEnumerable.call(v, s))]

function equal(a, b, strict, seen) {
	if (strict ? Object.is(a, b) : a == b || (a !== a && b !== b)) return true
	if (a === null || b === null || typeof a !== 'object' || typeof b !== 'object') {
		return typeof a === 'function' || typeof b === 'function' ? false : !strict && typeof a !== 'object' && typeof b !== 'object' && a == b
	}
	if (strict && Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false
	const cls = go.classOf(a)
	if (cls !== go.classOf(b) || Array.isArray(a) !== Array.isArray(b)) return false
	if (cls === 'Date' && a.getTime() !== b.getTime()) return false
	if (cls === 'RegExp' && (String(a) !== String(b) || a.lastIndex !== b.lastIndex)) return false
	if (['Number', 'String', 'Boolean', 'BigInt', 'Symbol'].includes(cls) && !Object.is(a.valueOf(), b.valueOf())) return false
	if (cls === 'Error' && (a.message !== b.message || a.name !== b.name)) return false
	if (cls === 'WeakMap' || cls === 'WeakSet' || cls === 'Promise') return false
	if (ArrayBuffer.isView(a) || cls === 'ArrayBuffer') {
		const x = bytes(a), y = bytes(b)
		if (x.length !== y.length || x.some((n, i) => n !== y[i])) return false
	}
	for (const [x, y] of seen) if (x === a && y === b) return true
	seen.push([a, b])
	try {
		if (Array.isArray(a) && a.length !== b.length) return false
		if (cls === 'Set' || cls === 'Map') {
			if (a.size !== b.size || !inside(a, b, cls === 'Map', strict, seen)) return false
		}
		const keys = keysOf(a)
		if (keys.length !== keysOf(b).length) return false
		return keys.every(k => own.call(b, k) && equal(a[k], b[k], strict, seen))
	} finally {
		seen.pop()
	}
}

const bytes = v => v instanceof ArrayBuffer ? new Uint8Array(v) : new Uint8Array(v.buffer, v.byteOffset, v.byteLength)

function inside(a, b, map, strict, seen) {
	const left = [...b]
	for (const x of a) {
		const i = left.findIndex(y => map ? equal(x[0], y[0], strict, seen) && equal(x[1], y[1], strict, seen) : equal(x, y, strict, seen))
		if (i < 0) return false
		left.splice(i, 1)
	}
	return true
}

return { equal: (a, b, strict) => equal(a, b, strict, []) }
})
