// node:util
(function (go, require) {
'use strict'
const { inspect, format, formatWithOptions } = go.module('inspect')

// the property that holds a function's own promisified form
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
for (const f of [setTimeout, setImmediate]) {
	if (!f[custom]) Object.defineProperty(f, custom, { configurable: true, get: () => require('timers').promises[f.name] })
}

function callbackify(f) {
	if (typeof f !== 'function') throw go.invalidType('original', 'function', f)
	return function (...args) {
		const callback = args.pop()
		f.apply(this, args).then(v => process.nextTick(callback, null, v), e => process.nextTick(callback, e
			|| Object.assign(new Error('Promise was rejected with falsy value'), { code: 'ERR_FALSY_VALUE_REJECTION', reason: e })))
	}
}

function deprecate(f, message, code) {
	let told = false
	return function deprecated(...args) {
		if (!told) {
			told = true
			process.emitWarning(message, 'DeprecationWarning', code)
		}
		return f.apply(this, args)
	}
}

function inherits(constructor, parent) {
	Object.defineProperty(constructor, 'super_', { value: parent, writable: true, configurable: true })
	Object.setPrototypeOf(constructor.prototype, parent.prototype)
}

const is = (...names) => v => names.includes(go.classOf(v))
const source = f => typeof f === 'function' ? Function.prototype.toString.call(f) : '', tag = v => Object(v) === v ? Object.prototype.toString.call(v).slice(8, -1) : ''
const tagOf = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag).get
const types = {
	isNativeError: v => v instanceof Error, isAnyArrayBuffer: is('ArrayBuffer'), isSharedArrayBuffer: () => false, isExternal: () => false, isModuleNamespaceObject: v => tag(v) === 'Module' && Object.getPrototypeOf(Object.getPrototypeOf(v)) === null,
	isTypedArray: v => ArrayBuffer.isView(v) && !(v instanceof DataView), isArrayBufferView: ArrayBuffer.isView, isBoxedPrimitive: is('Number', 'String', 'Boolean', 'Symbol', 'BigInt'),
	isAsyncFunction: f => /^async\b/.test(source(f)) || tag(f) === 'AsyncGeneratorFunction', isGeneratorFunction: f => /^(static\s+)?(async\s+)?function\s*\*|^\*/.test(source(f)) || tag(f) === 'AsyncGeneratorFunction',
	isGeneratorObject: v => tag(v) === 'Generator' || tag(v) === 'AsyncGenerator', isMapIterator: v => tag(v) === 'Map Iterator', isSetIterator: v => tag(v) === 'Set Iterator',
	isArgumentsObject: is('Arguments'), isKeyObject: () => false, isCryptoKey: () => false,
}
for (const name of ['Promise', 'Map', 'Set', 'Date', 'RegExp', 'Proxy', 'ArrayBuffer']) types['is' + name] = is(name)
for (const C of [WeakMap, WeakSet, DataView]) types['is' + C.name] = v => v instanceof C
for (const name of ['Number', 'String', 'Boolean', 'Symbol', 'BigInt']) types[`is${name}Object`] = is(name)
for (const name of ['Uint8', 'Uint8Clamped', 'Uint16', 'Uint32', 'Int8', 'Int16', 'Int32', 'Float32', 'Float64', 'BigInt64', 'BigUint64']) types[`is${name}Array`] = v => Object(v) === v && tagOf.call(v) === name + 'Array'

// parseArgs reads a command line by a description of its options.
function parseArgs({ args = process.argv.slice(2), options = {}, strict = true, allowPositionals = !strict, allowNegative = false, tokens = false } = {}) {
	const values = Object.create(null), positionals = [], seen = []
	const fail = (code, message) => { throw Object.assign(new TypeError(message), { code: 'ERR_PARSE_ARGS_' + code }) }
	const set = (name, value, raw, index, inlineValue) => {
		const o = options[name]
		if (strict && o === undefined) fail('UNKNOWN_OPTION', `Unknown option '${raw}'${allowPositionals ? `. To specify a positional argument starting with a '-', place it at the end of the command after '--', as in '-- "${raw}"` : ''}`)
		if (strict && o.type === 'string' && typeof value !== 'string') fail('INVALID_OPTION_VALUE', `Option '${o.short ? `-${o.short}, ` : ''}--${name} <value>' argument missing`)
		if (strict && o.type === 'boolean' && typeof value === 'string') fail('INVALID_OPTION_VALUE', `Option '${o.short ? `-${o.short}, ` : ''}--${name}' does not take an argument`)
		seen.push({ kind: 'option', name, rawName: raw, index, value: typeof value === 'string' ? value : undefined, inlineValue })
		if (o && o.multiple) (values[name] = values[name] || []).push(value)
		else values[name] = value
	}
	const takes = name => options[name] !== undefined && options[name].type === 'string'
	for (let i = 0; i < args.length; i++) {
		const a = args[i], at = i
		if (a === '--') {
			seen.push({ kind: 'option-terminator', index: i })
			for (const p of args.slice(i + 1)) positionals.push(p)
			if (strict && !allowPositionals && i + 1 < args.length) fail('UNEXPECTED_POSITIONAL', `Unexpected argument '${args[i + 1]}'. This command does not take positional arguments`)
			break
		}
		if (a.startsWith('--')) {
			const eq = a.indexOf('=', 3), name = eq < 0 ? a.slice(2) : a.slice(2, eq)
			if (eq >= 0) set(name, a.slice(eq + 1), '--' + name, at, true)
			else if (allowNegative && name.startsWith('no-') && options[name.slice(3)] && options[name.slice(3)].type === 'boolean') set(name.slice(3), false, a, at)
			else if (takes(name) && i + 1 < args.length && !(strict && args[i + 1].startsWith('-') && args[i + 1].length > 1)) set(name, args[++i], a, at, false)
			else set(name, true, a, at)
		} else if (a.startsWith('-') && a.length > 1) {
			for (let k = 1; k < a.length; k++) {
				const short = a[k], found = Object.entries(options).find(([, o]) => o.short === short), name = found ? found[0] : short
				if (!takes(name)) set(name, true, '-' + short, at)
				else if (k + 1 < a.length) { set(name, a.slice(k + 1), '-' + short, at, true); break }
				else if (i + 1 < args.length) set(name, args[++i], '-' + short, at, false)
				else set(name, true, '-' + short, at)
			}
		} else {
			if (!allowPositionals) fail('UNEXPECTED_POSITIONAL', `Unexpected argument '${a}'. This command does not take positional arguments`)
			seen.push({ kind: 'positional', index: i, value: a })
			positionals.push(a)
		}
	}
	for (const [name, o] of Object.entries(options)) if (o.default !== undefined && values[name] === undefined) values[name] = o.default
	return { values, positionals, ...(tokens ? { tokens: seen } : {}) }
}

function isDeepStrictEqual(a, b) { return go.deepEqual(a, b, true) }

const escapes = /[\u001b\u009b][[\]()#;?]*(?:[0-9]{1,4}(?:;[0-9]{0,4})*)?[0-9A-PR-TZcf-nq-uy=><~]/g
const systemErrors = () => new Map(Object.entries(require('os').constants.errno).map(([name, n]) => [-n, [name, go.errorText(n)]]))

// debuglog returns a function that prints if the environment variable NODE_DEBUG has its section.
function debuglog(section, callback) {
	section = String(section).toUpperCase()
	const names = (process.env.NODE_DEBUG || '').toUpperCase().split(',').map(n => n.trim().replace(/[.+?^${}()|[\]\\]/g, '\\$&').replace(/\*/g, '.*'))
	const enabled = names.some(n => n !== '' && new RegExp(`^${n}$`).test(section))
	const log = (...args) => { if (enabled) process.stderr.write(`${section} ${process.pid}: ${format(...args)}\n`) }
	if (typeof callback === 'function') callback(log)
	return Object.defineProperty(log, 'enabled', { get: () => enabled, enumerable: true, configurable: true })
}

function parseEnv(text) {
	const values = {}
	for (const m of String(text).matchAll(/^[ \t]*(?:export[ \t]+)?([\w.-]+)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|`([^`]*)`|([^#\r\n]*))/gm)) {
		values[m[1]] = m[2] !== undefined ? m[2].replace(/\\n/g, '\n') : m[3] !== undefined ? m[3] : m[4] !== undefined ? m[4] : m[5].trim()
	}
	return values
}

// MIMEType is a type, a subtype and parameters.
class MIMEType {
	constructor(text) {
		const m = /^\s*([\w!#$%&'*+.^`|~-]+)\/([\w!#$%&'*+.^`|~-]+)\s*(?:;([^]*))?$/.exec(`${text}`)
		if (m === null) throw Object.assign(new TypeError(`The MIME syntax for a ${/^\s*[\w.+-]+\//.test(text) ? 'subtype' : 'type'} in ${JSON.stringify(`${text}`)} is invalid`), { code: 'ERR_INVALID_MIME_SYNTAX', input: `${text}` })
		this.type = m[1].toLowerCase()
		this.subtype = m[2].toLowerCase()
		this.params = new MIMEParams()
		for (const [, k, quoted, v] of (m[3] || '').matchAll(/\s*([^;=]+)(?:=(?:"((?:[^"\\]|\\.)*)"[^;]*|([^;]*)))?(?:;|$)/g)) {
			const value = quoted !== undefined ? quoted.replace(/\\(.)/g, '$1') : v
			if (value && !this.params.has(k.toLowerCase())) this.params.set(k.toLowerCase(), value.trimEnd())
		}
	}
	get essence() { return `${this.type}/${this.subtype}` }
	toString() { const p = `${this.params}`; return p === '' ? this.essence : `${this.essence};${p}` }
	toJSON() { return this.toString() }
}
class MIMEParams extends Map {
	get(k) { return this.has(k) ? super.get(k) : null }
	set(k, v) { super.set(`${k}`, `${v}`) }
	toString() { return [...this].map(([k, v]) => `${k}=${/^[\w!#$%&'*+.^`|~-]+$/.test(v) ? v : `"${v.replace(/["\\]/g, '\\$&')}"`}`).join(';') }
	toJSON() { return this.toString() }
}

return {
	inspect, format, formatWithOptions, promisify, callbackify, deprecate, inherits, types, isDeepStrictEqual, parseArgs, debuglog, debug: debuglog, parseEnv, MIMEType, MIMEParams,
	TextEncoder, TextDecoder, isArray: Array.isArray, isBoolean: v => typeof v === 'boolean', isBuffer: v => Buffer.isBuffer(v), isDate: types.isDate, isError: v => v instanceof Error,
	isFunction: v => typeof v === 'function', isNull: v => v === null, isNullOrUndefined: v => v === null || v === undefined, isNumber: v => typeof v === 'number', isObject: v => v !== null && typeof v === 'object',
	isPrimitive: v => Object(v) !== v, isRegExp: types.isRegExp, isString: v => typeof v === 'string', isSymbol: v => typeof v === 'symbol', isUndefined: v => v === undefined,
	_extend: (to, from) => from !== null && typeof from === 'object' ? Object.assign(to, from) : to, log: (...args) => console.log('%s - %s', new Date().toString().replace(/^\w+ (\w+) 0?(\d+) \d+ (\S+).*/, (_, month, day, time) => `${day} ${month} ${time}`), format(...args)),
	getSystemErrorName: n => (systemErrors().get(n) || [])[0], getSystemErrorMap: systemErrors,
	stripVTControlCharacters: s => { if (typeof s !== 'string') throw go.invalidType('str', 'string', s); return s.replace(escapes, '') },
	styleText: (style, text, { validateStream = true, stream = process.stdout } = {}) => [].concat(style).reduceRight((t, s) => {
		const c = inspect.colors[s]
		if (c === undefined) throw Object.assign(new TypeError(`The argument 'format' must be one of: ${Object.keys(inspect.colors).map(k => `'${k}'`).join(', ')}. Received ${inspect(s)}`), { code: 'ERR_INVALID_ARG_VALUE' })
		return validateStream && typeof style === 'string' && !stream.isTTY && !process.env.FORCE_COLOR ? t : `\u001b[${c[0]}m${t}\u001b[${c[1]}m`
	}, text),
	toUSVString: s => String(s).toWellFormed(),
	aborted: signal => new Promise(resolve => signal.aborted ? resolve() : signal.addEventListener('abort', () => resolve(), { once: true })),
}
})
