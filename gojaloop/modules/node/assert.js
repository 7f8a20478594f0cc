// node:assert
(function (go, require) {
'use strict'
const deep = require('deep').equal
const show = v => go.inspect(v, { depth: 1000, sorted: true, compact: false, maxArrayLength: Infinity, breakLength: Infinity })

class AssertionError extends Error {
	constructor(options) {
		super(options.message)
		this.generatedMessage = Boolean(options.generated)
		this.code = 'ERR_ASSERTION'
		this.actual = options.actual
		this.expected = options.expected
		this.operator = options.operator
		Object.defineProperty(this, 'name', { value: 'AssertionError', writable: true, configurable: true })
	}
	toString() { return `${this.name} [${this.code}]: ${this.message}` }
}

function fail(message, otherwise, options) {
	if (message instanceof Error) throw message
	if (options.plain) { // Node does not mark these messages as generated
		delete options.plain
		throw new AssertionError({ ...options, message: otherwise() })
	}
	throw new AssertionError({ ...options, message: message === undefined ? otherwise() : message, generated: message === undefined })
}

// differ shows the differences line by line: a minus marks expected lines, a plus actual ones.
function differ(actual, expected) {
	const a = show(actual).split('\n'), e = show(expected).split('\n'), out = []
	let start = 0, end = 0
	while (start < a.length && start < e.length && a[start] === e[start]) start++
	while (end < a.length - start && end < e.length - start && a[a.length - 1 - end] === e[e.length - 1 - end]) end++
	for (const l of a.slice(0, start)) out.push('  ' + l)
	for (const l of a.slice(start, a.length - end)) out.push('+ ' + l)
	for (const l of e.slice(start, e.length - end)) out.push('- ' + l)
	for (const l of a.slice(a.length - end)) out.push('  ' + l)
	return '+ actual - expected\n\n' + out.join('\n')
}

const one = v => { const t = go.inspect(v); return t.includes('\n') ? undefined : t }
const simple = (what, operator, a, e) => () => one(a) !== undefined && one(e) !== undefined && (a === null || typeof a !== 'object' || e === null || typeof e !== 'object')
	? `${what}\n\n${one(a)} ${operator} ${one(e)}\n` : `${what}\n${differ(a, e)}`

function assert(value, message) { ok(value, message, 'The expression evaluated to a falsy value') }
function ok(value, message, otherwise = 'The expression evaluated to a falsy value') {
	if (!value) fail(message, () => otherwise, { actual: value, expected: true, operator: '==' })
}
assert.ok = (value, message) => ok(value, message)
assert.fail = message => fail(message, () => 'Failed', { operator: 'fail' })
assert.equal = (a, e, m) => { if (!(a == e || (a !== a && e !== e))) fail(m, () => `${go.inspect(a)} == ${go.inspect(e)}`, { actual: a, expected: e, operator: '==' }) }
assert.notEqual = (a, e, m) => { if (a == e || (a !== a && e !== e)) fail(m, () => `${go.inspect(a)} != ${go.inspect(e)}`, { actual: a, expected: e, operator: '!=' }) }
assert.strictEqual = (a, e, m) => { if (!Object.is(a, e)) fail(m, simple('Expected values to be strictly equal:', '!==', a, e), { actual: a, expected: e, operator: 'strictEqual' }) }
assert.notStrictEqual = (a, e, m) => { if (Object.is(a, e)) fail(m, () => `Expected "actual" to be strictly unequal to: ${go.inspect(e)}`, { actual: a, expected: e, operator: 'notStrictEqual' }) }
assert.deepEqual = (a, e, m) => { if (!deep(a, e, false)) fail(m, () => `Expected values to be loosely deep-equal:\n\n${show(a)}\n\nshould loosely deep-equal\n\n${show(e)}`, { actual: a, expected: e, operator: 'deepEqual' }) }
assert.notDeepEqual = (a, e, m) => { if (deep(a, e, false)) fail(m, () => `Expected "actual" not to be loosely deep-equal to: ${show(e)}`, { actual: a, expected: e, operator: 'notDeepEqual' }) }
assert.deepStrictEqual = (a, e, m) => { if (!deep(a, e, true)) fail(m, simple('Expected values to be strictly deep-equal:', '!==', a, e), { actual: a, expected: e, operator: 'deepStrictEqual' }) }
assert.notDeepStrictEqual = (a, e, m) => { if (deep(a, e, true)) fail(m, () => `Expected "actual" not to be strictly deep-equal to:${one(e) && typeof e !== 'object' ? ' ' : '\n\n'}${show(e)}${typeof e === 'object' ? '\n' : ''}`, { actual: a, expected: e, operator: 'notDeepStrictEqual' }) }
assert.match = (s, r, m) => { if (!r.test(s)) fail(m, () => `The input did not match the regular expression ${r}. Input:\n\n${go.inspect(s)}\n`, { actual: s, expected: r, operator: 'match' }) }
assert.doesNotMatch = (s, r, m) => { if (r.test(s)) fail(m, () => `The input was expected to not match the regular expression ${r}. Input:\n\n${go.inspect(s)}\n`, { actual: s, expected: r, operator: 'doesNotMatch' }) }
assert.ifError = v => { if (v !== null && v !== undefined) throw new AssertionError({ message: `ifError got unwanted exception: ${typeof v === 'object' && typeof v.message === 'string' ? v.message || v.constructor.name : go.inspect(v)}`, actual: v, expected: null, operator: 'ifError' }) }

// Comparison is the class under which a message shows the actual and the expected properties of an error.
class Comparison {}

// expected checks a thrown value against a class, a function, a regular expression, or an object of properties.
function expected(e, want, message, operator) {
	go.module('inspect').spoken(e)
	if (want === undefined || typeof want === 'string') return
	const options = { actual: e, expected: want, operator }
	if (want instanceof RegExp) {
		if (!want.test(String(e))) fail(message, () => `The input did not match the regular expression ${want}. Input:\n\n${go.inspect(String(e))}\n`, options)
	} else if (typeof want === 'function') {
		if (want.prototype !== undefined && e instanceof want) return
		if (want === Error || Error.isPrototypeOf(want)) {
			fail(message, () => `The error is expected to be an instance of "${want.name}". Received ${e instanceof Error ? `"${e.name}"\n\nError message:\n\n${e.message}` : `"${go.inspect(e, { depth: -1 })}"`}`, options)
		}
		if (want.call({}, e) !== true) fail(message, () => `The ${want.name ? `"${want.name}" ` : ''}validation function is expected to return "true".`, options)
	} else {
		for (const k of [...Object.keys(want), ...(want instanceof Error ? ['name', 'message'] : [])]) {
			if (want[k] instanceof RegExp && typeof e[k] === 'string' ? !want[k].test(e[k]) : !deep(e[k], want[k], true)) {
				const of = x => Object.assign(new Comparison(), Object.fromEntries(Object.keys(want).filter(n => n in x).map(n => [n, want[n] instanceof RegExp && x !== want && typeof x[n] === 'string' && want[n].test(x[n]) ? want[n] : x[n]])))
				fail(message, () => `Expected values to be strictly deep-equal:\n${differ(of(Object(e)), of(want))}`, options)
			}
		}
	}
}
const missing = (what, want, message) => fail(undefined, () => `Missing expected ${what}${want && want.name ? ` (${want.name})` : ''}${typeof want === 'string' ? ': ' + want : message ? ': ' + message : '.'}`,
	{ plain: true, operator: what === 'exception' ? 'throws' : 'rejects', expected: want })

const unwanted = (what, e, want, message) => `Got unwanted ${what}${typeof want === 'string' ? ': ' + want : message ? ': ' + message : '.'}\nActual message: "${e && e.message}"`

// thrown checks what was thrown, in a list; nothing was without one.
function thrown(e, what, want, message, operator) {
	if (e === undefined) missing(what, want, message)
	expected(e[0], want, message, operator)
}
assert.throws = (f, want, message) => {
	if (typeof f !== 'function') throw go.invalidType('fn', 'function', f)
	let e
	try { f() } catch (x) { e = [x] }
	thrown(e, 'exception', want, message, 'throws')
}
assert.doesNotThrow = (f, want, message) => {
	try {
		f()
	} catch (e) {
		fail(undefined, () => unwanted('exception', e, want, message), { plain: true, actual: e, expected: want, operator: 'doesNotThrow' })
	}
}
assert.rejects = async (p, want, message) => {
	let e
	try { await (typeof p === 'function' ? p() : p) } catch (x) { e = [x] }
	thrown(e, 'rejection', want, message, 'rejects')
}
assert.doesNotReject = async (p, want, message) => {
	try {
		await (typeof p === 'function' ? p() : p)
	} catch (e) {
		fail(undefined, () => unwanted('rejection', e, want, message), { plain: true, actual: e, expected: want, operator: 'doesNotReject' })
	}
}
assert.AssertionError = AssertionError
assert.strict = Object.assign((value, message) => assert(value, message), assert, {
	equal: assert.strictEqual, notEqual: assert.notStrictEqual, deepEqual: assert.deepStrictEqual, notDeepEqual: assert.notDeepStrictEqual,
})
assert.strict.strict = assert.strict
return assert
})
