// Values as text for people, much as Node's util.inspect and util.format show them.
(function (host, use) {
'use strict'
const custom = Symbol.for('nodejs.util.inspect.custom')
const typed = Object.getPrototypeOf(Uint8Array)
const tagOf = Object.getOwnPropertyDescriptor(typed.prototype, Symbol.toStringTag).get
const plainKey = /^[A-Za-z_]\w*$/
const has = (o, k) => Object.prototype.hasOwnProperty.call(o, k)

const escapes = { '\n': '\\n', '\t': '\\t', '\r': '\\r', '\b': '\\b', '\f': '\\f', '\v': '\\v' }
function quote(s) {
	let q = "'"
	if (s.includes("'")) q = !s.includes('"') ? '"' : !s.includes('`') && !s.includes('${') ? '`' : "'"
	let out = ''
	for (const c of s) {
		const n = c.codePointAt(0)
		if (c === q || c === '\\') out += '\\' + c
		else if (escapes[c]) out += escapes[c]
		else if (n < 32 || n >= 127 && n < 160) out += '\\x' + n.toString(16).toUpperCase().padStart(2, '0')
		else if (n >= 0xd800 && n <= 0xdfff) out += '\\u' + n.toString(16)
		else out += c
	}
	return q + out + q
}

// What SGR codes begin and end a colour, and which of them a kind of value has.
const colors = { reset: [0, 0], bold: [1, 22], dim: [2, 22], italic: [3, 23], underline: [4, 24], blink: [5, 25], inverse: [7, 27], hidden: [8, 28], strikethrough: [9, 29], doubleunderline: [21, 24] }
const names = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white']
const capital = n => n[0].toUpperCase() + n.slice(1), bright = n => n === 'black' ? 'gray' : n + 'Bright'
for (const [first, of] of [[30, n => n], [40, n => 'bg' + capital(n)]]) names.forEach((n, i) => { colors[of(n)] = [first + i, first + 9 - first % 10] })
Object.assign(colors, { framed: [51, 54], overlined: [53, 55] })
for (const [first, end, of] of [[90, 39, bright], [100, 49, n => 'bg' + capital(bright(n))]]) names.forEach((n, i) => { colors[of(n)] = [first + i, end] })
for (const [alias, of] of [['grey', 'gray'], ['bgGrey', 'bgGray'], ['blackBright', 'gray'], ['bgBlackBright', 'bgGray'], ['faint', 'dim'], ['crossedout', 'strikethrough'], ['strikeThrough', 'strikethrough'],
	['crossedOut', 'strikethrough'], ['conceal', 'hidden'], ['swapColors', 'inverse'], ['swapcolors', 'inverse'], ['doubleUnderline', 'doubleunderline']]) Object.defineProperty(colors, alias, { get: () => colors[of], set(v) { colors[of] = v }, configurable: true })
const styles = { __proto__: null, special: 'cyan', number: 'yellow', bigint: 'yellow', boolean: 'yellow', undefined: 'grey', null: 'bold', string: 'green', symbol: 'green', date: 'magenta', regexp: 'red', module: 'underline' }
const style = (ctx, text, kind) => {
	const c = ctx.colors && colors[styles[kind]]
	return c ? `\u001b[${c[0]}m${text}\u001b[${c[1]}m` : text
}
const width = (ctx, s) => ctx.colors ? s.replace(/\u001b\[\d+m/g, '').length : s.length

function primitive(v, ctx) {
	switch (typeof v) {
	case 'string': {
		let more = ''
		if (v.length > ctx.maxStringLength) {
			const n = v.length - ctx.maxStringLength
			v = v.slice(0, ctx.maxStringLength)
			more = `... ${n} more character${n > 1 ? 's' : ''}`
		}
		const lines = ctx.compact !== true && v.length > 16 && v.length > ctx.breakLength - ctx.indent - 4 ? v.match(/.*\n|.+$/g) || [v] : [v]
		return lines.map(l => style(ctx, quote(l), 'string')).join(` +\n${' '.repeat(ctx.indent + 2)}`) + more
	}
	case 'number': return style(ctx, Object.is(v, -0) ? '-0' : `${v}`, 'number')
	case 'bigint': return style(ctx, `${v}n`, 'bigint')
	}
	return style(ctx, String(v), v === null ? 'null' : typeof v)
}
const plainly = v => primitive(v, { maxStringLength: Infinity, compact: true })

// nameOf returns the name of an object's class, null when it has no prototype.
function nameOf(o) {
	for (let p = o; p !== null; p = Object.getPrototypeOf(p)) {
		const d = Object.getOwnPropertyDescriptor(p, 'constructor')
		if (d !== undefined && typeof d.value === 'function' && d.value.name !== '') {
			const n = Object.getOwnPropertyDescriptor(d.value, 'name')
			if (n && typeof n.value === 'string') return n.value
		}
	}
	return null
}

function inspect(value, options) {
	const o = { ...inspect.defaultOptions, ...(options === null || typeof options !== 'object' ? {} : options) }
	const ctx = {
		depth: o.depth === undefined ? 2 : o.depth === null ? Infinity : o.depth,
		showHidden: !!o.showHidden, breakLength: o.breakLength === undefined ? 80 : o.breakLength,
		maxArrayLength: o.maxArrayLength === undefined ? 100 : o.maxArrayLength === null ? Infinity : o.maxArrayLength,
		maxStringLength: o.maxStringLength === undefined ? 10000 : o.maxStringLength === null ? Infinity : o.maxStringLength,
		compact: o.compact === undefined ? 3 : o.compact, sorted: o.sorted, customInspect: o.customInspect !== false, colors: !!o.colors, getters: o.getters, showProxy: !!o.showProxy, options: o,
		seen: [], circular: new Map(), indent: 0, level: 0,
	}
	return show(ctx, value, 0, true)
}

const settings = ctx => ({ showHidden: ctx.showHidden, colors: ctx.colors, customInspect: ctx.customInspect, showProxy: ctx.showProxy, maxArrayLength: ctx.maxArrayLength, maxStringLength: ctx.maxStringLength,
	breakLength: ctx.breakLength, compact: ctx.compact, sorted: ctx.sorted || false, getters: ctx.getters || false })

function show(ctx, v, depth, top) {
	if (typeof v !== 'object' && typeof v !== 'function' || v === null) return primitive(v, ctx)
	if (host.classOf(v) === 'Proxy') return show(ctx, host.targetOf(v), depth, top)
	if (ctx.customInspect) {
		const f = v[custom]
		if (typeof f === 'function' && f !== inspect) {
			const r = f.call(v, ctx.depth - depth, { ...ctx.options, ...settings(ctx), depth: ctx.depth - depth, stylize: (text, kind) => style(ctx, `${text}`, kind) }, inspect)
			if (r !== v) return typeof r === 'string' ? r.replace(/\n/g, '\n' + ' '.repeat(ctx.indent)) : show(ctx, r, depth)
		}
	}
	if (ctx.seen.includes(v)) {
		if (!ctx.circular.has(v)) ctx.circular.set(v, ctx.circular.size + 1)
		return style(ctx, `[Circular *${ctx.circular.get(v)}]`, 'special')
	}
	return object(ctx, v, depth)
}

function keysOf(ctx, v) {
	const keys = ctx.showHidden ? Object.getOwnPropertyNames(v) : Object.keys(v)
	for (const s of Object.getOwnPropertySymbols(v)) {
		if (ctx.showHidden || Object.getOwnPropertyDescriptor(v, s).enumerable) keys.push(s)
	}
	return ctx.sorted ? keys.sort(typeof ctx.sorted === 'function' ? ctx.sorted : (a, b) => String(a) < String(b) ? -1 : 1) : keys
}

function object(ctx, v, depth) {
	const cls = v instanceof WeakMap ? 'WeakMap' : v instanceof WeakSet ? 'WeakSet' : host.classOf(v)
	const name = nameOf(v)
	let tag = v[Symbol.toStringTag]
	if (typeof tag !== 'string' || tag === name || Object.prototype.propertyIsEnumerable.call(v, Symbol.toStringTag)) tag = ''
	const prefix = (fallback, size) => {
		const n = name === null ? `[${fallback}${size === undefined ? '' : `(${size})`}: null prototype]` : name + (size === undefined ? '' : `(${size})`)
		return `${n} ${tag !== '' && (name !== null || tag !== fallback) ? `[${tag}] ` : ''}`
	}
	let keys = keysOf(ctx, v), braces = ['{', '}'], base = '', items = () => [], array = false
	const list = Array.isArray(v) ? 'Array' : ArrayBuffer.isView(v) ? tagOf.call(v) : undefined
	if (list !== undefined) {
		array = true
		keys = keys.filter(k => typeof k === 'symbol' || !/^(0|[1-9]\d*)$/.test(k))
		braces = [(list === 'Array' && name === 'Array' && tag === '' ? '' : prefix(list, v.length)) + '[', ']']
		items = () => elements(ctx, v, depth)
	} else if (cls === 'Set') {
		const all = [...Set.prototype.values.call(v)]
		braces[0] = prefix('Set', all.length) + '{'
		items = () => inner(ctx, () => all.map(x => show(ctx, x, depth + 1)))
	} else if (cls === 'Map') {
		const all = [...Map.prototype.entries.call(v)]
		braces[0] = prefix('Map', all.length) + '{'
		items = () => inner(ctx, () => all.map(([k, x]) => `${show(ctx, k, depth + 1)} => ${show(ctx, x, depth + 1)}`))
	} else if (cls === 'Arguments') {
		braces[0] = '[Arguments] {'
	} else if (ArrayBuffer.isView(v)) {
		braces[0] = prefix('DataView') + '{'
		items = () => ['byteLength', 'byteOffset', 'buffer'].map(k => `${k}: ${inner(ctx, () => show(ctx, v[k], depth + 1))}`)
	} else if (typeof v === 'function') {
		base = functionBase(v, name, tag)
		if (keys.length === 0) return style(ctx, base, 'special')
	} else if (cls === 'RegExp') {
		base = RegExp.prototype.toString.call(v)
		if (name !== 'RegExp') base = prefix('RegExp') + base
		if (keys.length === 0) return style(ctx, base, 'regexp')
	} else if (cls === 'Date') {
		const t = Date.prototype.getTime.call(v)
		base = Number.isNaN(t) ? 'Invalid Date' : Date.prototype.toISOString.call(v)
		if (name !== 'Date') base = prefix('Date') + base
		if (keys.length === 0) return style(ctx, base, 'date')
	} else if (cls === 'Error' || v instanceof Error) {
		base = errorBase(ctx, v, name, name === null ? '' : prefix('Error').slice(0, -1))
		keys = keys.filter(k => k !== 'stack' && k !== 'message' && !(k === 'name' && typeof v.name === 'string' && base.includes(v.name)) && !(k === 'value' && host.platform(v.value)))
		if (has(v, 'cause') && !keys.includes('cause')) keys.push('cause')
		if (Array.isArray(v.errors) && has(v, 'errors') && !keys.includes('errors')) keys.push('errors')
		if (keys.length === 0) return base
	} else if (cls === 'ArrayBuffer') {
		if (host.detached(v)) return 'ArrayBuffer { (detached), byteLength: 0 }'
		const bytes = new Uint8Array(v)
		const hex = Array.from(bytes.subarray(0, 50), b => b.toString(16).padStart(2, '0')).join(' ')
		braces[0] = prefix('ArrayBuffer') + '{'
		items = () => [`[Uint8Contents]: <${hex}${bytes.length > 50 ? ` ... ${bytes.length - 50} more byte${bytes.length > 51 ? 's' : ''}` : ''}>`, `byteLength: ${bytes.length}`]
	} else if (cls === 'Promise') {
		braces[0] = prefix('Promise') + '{'
		items = () => {
			const [state, result] = host.stateOf(v)
			return inner(ctx, () => [state === 'pending' ? style(ctx, '<pending>', 'special') : (state === 'rejected' ? style(ctx, '<rejected>', 'special') + ' ' : '') + show(ctx, result, depth + 1)])
		}
	} else if (cls === 'WeakSet' || cls === 'WeakMap') {
		braces[0] = prefix(cls) + '{'
		items = () => [style(ctx, '<items unknown>', 'special')]
	} else if (cls === 'Boolean' || cls === 'Number' || cls === 'String' || cls === 'BigInt' || cls === 'Symbol') {
		const inner = cls === 'Symbol' ? Symbol.prototype.valueOf.call(v) : v.valueOf()
		base = `[${cls}${name !== cls ? ` (${name})` : ''}: ${plainly(inner)}]`
		if (cls === 'String') keys = keys.filter(k => typeof k === 'symbol' || !/^\d+$/.test(k))
		if (keys.length === 0) return style(ctx, base, cls.toLowerCase())
	} else {
		const plain = name === 'Object' && tag === ''
		if (plain) {
			if (keys.length === 0) return '{}'
		} else {
			if (name === null && namespace(v)) braces[0] = '[Module: null prototype] {'
			else braces[0] = (cls !== 'Object' && cls !== name && /Iterator$|Generator$/.test(cls) ? `Object [${cls}] ` : prefix('Object')) + '{'
			if (keys.length === 0) return braces[0] + '}'
		}
	}
	if (depth > ctx.depth) return style(ctx, array ? `[${name === null ? 'Array: null prototype' : 'Array'}]` : `[${name === null ? 'Object: null prototype' : name}${tag !== '' ? ` [${tag}]` : ''}]`, 'special')

	ctx.seen.push(v)
	ctx.level = depth
	let out
	const indent = ctx.indent
	try {
		out = items()
		for (const k of keys) out.push(property(ctx, v, k, depth, array))
	} finally {
		ctx.indent = indent
		ctx.seen.pop()
	}
	if (ctx.circular.has(v)) {
		const ref = style(ctx, `<ref *${ctx.circular.get(v)}>`, 'special') + ' '
		if (base !== '') base = ref + base
		else braces[0] = ref + braces[0]
	}
	return join(ctx, out, base, braces, array, depth, v)
}

// inner calls f with one more level of indentation.
function inner(ctx, f) {
	ctx.indent += 2
	const out = f()
	ctx.indent -= 2
	return out
}

function elements(ctx, v, depth) {
	const out = []
	const most = Math.min(v.length, ctx.maxArrayLength)
	let i = 0
	for (; i < v.length && out.length < most; i++) {
		if (!has(v, i)) {
			let n = 0
			while (i < v.length && !has(v, i)) { n++; i++ }
			i--
			out.push(style(ctx, `<${n} empty item${n > 1 ? 's' : ''}>`, 'undefined'))
			continue
		}
		ctx.indent += 2
		out.push(show(ctx, v[i], depth + 1))
		ctx.indent -= 2
	}
	if (i < v.length) out.push(`... ${v.length - i} more item${v.length - i > 1 ? 's' : ''}`)
	return out
}

function functionBase(f, name, tag) {
	const source = Function.prototype.toString.call(f)
	const own = Object.getOwnPropertyDescriptor(f, 'name')
	const n = own && typeof own.value === 'string' ? own.value : ''
	if (/^class[\s{]/.test(source)) {
		const base = Object.getPrototypeOf(f)
		return `[class ${n === '' ? '(anonymous)' : n}${typeof base === 'function' && base.name ? ` extends ${base.name}` : base === null ? ' extends null' : ''}]`
	}
	let type = f[Symbol.toStringTag] === 'AsyncGeneratorFunction' ? 'AsyncGeneratorFunction' : /^async\b/.test(source) && !/^async\s*[=(]?>/.test(source) ? 'AsyncFunction' : /^(function\s*\*|\*)/.test(source) ? 'GeneratorFunction' : 'Function'
	if (name === null) type += ' (null prototype)'
	return `[${type}${n === '' ? ' (anonymous)' : `: ${n}`}]${tag !== '' && tag !== type ? ` [${tag}]` : ''}`
}

// errorBase returns an error's message and stack. It makes the message line itself: goja's stack does not always have one.
// prefix is its class, which an error without a name of its own is shown by.
function errorBase(ctx, e, cls, prefix) {
	host.spoken(e)
	let head
	try {
		head = Error.prototype.toString.call(e)
		const name = `${e.name === undefined ? 'Error' : e.name}`
		if (cls !== null && name.endsWith('Error') && name !== prefix && (head === name || head.startsWith(name + ':'))) {
			head = (prefix.includes(name) ? prefix : `${prefix} [${name}]`) + head.slice(name.length)
		}
	} catch (_) {
		head = 'Error'
	}
	let lines = host.stackOf(e)
	if (lines !== '') {
		lines = lines.split('\n').slice(0, Error.stackTraceLimit >= 0 ? Error.stackTraceLimit : 10).map(l => '    ' + l.trim()).join('\n')
		return ctx.indent ? (head + '\n' + lines).replace(/\n/g, '\n' + ' '.repeat(ctx.indent)) : head + '\n' + lines
	}
	return `[${head}]`
}

// namespace tells whether an object is a module's namespace, whose getters are its exports.
function namespace(v) {
	const p = Object.getPrototypeOf(v)
	return p !== null && Object.getPrototypeOf(p) === null && v[Symbol.toStringTag] === 'Module'
}

function property(ctx, v, k, depth, array) {
	const d = Object.getOwnPropertyDescriptor(v, k) || { value: v[k], enumerable: true }
	let text
	if (d.value !== undefined || 'value' in d) {
		text = inner(ctx, () => show(ctx, d.value, depth + 1))
	} else if (d.get !== undefined && namespace(v)) {
		text = inner(ctx, () => {
			try {
				return show(ctx, v[k], depth + 1)
			} catch (_) {
				return '<uninitialized>'
			}
		})
	} else if (d.get !== undefined) {
		const label = d.set !== undefined ? 'Getter/Setter' : 'Getter', ask = ctx.getters === true || ctx.getters === 'get' && d.set === undefined || ctx.getters === 'set' && d.set !== undefined
		let value
		if (ask) try { value = v[k] } catch (e) { value = `<Inspection threw (${e.message})>` }
		text = !ask ? style(ctx, `[${label}]`, 'special') : value === null || typeof value !== 'object' ? `${style(ctx, `[${label}:`, 'special')} ${primitive(value, ctx)}${style(ctx, ']', 'special')}`
			: `${style(ctx, `[${label}]`, 'special')} ${inner(ctx, () => show(ctx, value, depth + 1))}`
	} else {
		text = d.set !== undefined ? style(ctx, '[Setter]', 'special') : style(ctx, 'undefined', 'undefined')
	}
	let name
	if (typeof k === 'symbol') name = `[${style(ctx, k.toString(), 'symbol')}]`
	else if (k === '__proto__') name = "['__proto__']"
	else if (!d.enumerable) name = `[${k}]`
	else name = plainKey.test(k) ? style(ctx, k, 'name') : style(ctx, quote(k), 'string')
	return `${name}: ${text}`
}

// join lays entries out as Node does: on one line when they are short, long arrays in columns.
function join(ctx, out, base, braces, array, depth, v) {
	const entries = out.length
	if (entries === 0) return `${base ? `${base} ` : ''}${braces[0]}${braces[1]}`
	if (array && entries > 6 && ctx.compact >= 1) out = columns(ctx, out, v)
	if (ctx.compact !== false && ctx.level - depth < ctx.compact && entries === out.length) {
		const start = out.length + ctx.indent + braces[0].length + base.length + 10
		let length = out.length + start
		for (const s of out) length += width(ctx, s)
		if (length <= ctx.breakLength && !(base + out.join('')).includes('\n')) {
			return `${base ? `${base} ` : ''}${braces[0]} ${out.join(', ')} ${braces[1]}`
		}
	}
	const pad = '\n' + ' '.repeat(ctx.indent)
	return `${base ? `${base} ` : ''}${braces[0]}${pad}  ${out.join(`,${pad}  `)}${pad}${braces[1]}`
}

// columns is Node's groupArrayElements.
function columns(ctx, out, v) {
	let total = 0, most = 0, n = out.length
	if (ctx.maxArrayLength < v.length) n--
	const lengths = []
	for (let i = 0; i < n; i++) {
		lengths[i] = width(ctx, out[i])
		total += lengths[i] + 2
		if (lengths[i] > most) most = lengths[i]
	}
	const cell = most + 2
	if (!(cell * 3 + ctx.indent < ctx.breakLength && (total / cell > 5 || most <= 6))) return out
	const bias = Math.sqrt(cell - total / out.length)
	const biased = Math.max(cell - 3 - bias, 1)
	const cols = Math.min(Math.round(Math.sqrt(2.5 * biased * n) / biased), Math.floor((ctx.breakLength - ctx.indent) / cell), ctx.compact * 4, 15)
	if (cols <= 1) return out
	const widths = []
	for (let i = 0; i < cols; i++) {
		let w = 0
		for (let j = i; j < n; j += cols) if (lengths[j] > w) w = lengths[j]
		widths.push(w + 2)
	}
	const start = v !== undefined && Array.prototype.every.call(v, x => typeof x === 'number' || typeof x === 'bigint')
	const rows = []
	for (let i = 0; i < n; i += cols) {
		const max = Math.min(i + cols, n)
		let row = '', j = i
		for (; j < max - 1; j++) {
			const item = `${out[j]}, `, size = widths[j - i] + out[j].length - lengths[j]
			row += start ? item.padStart(size) : item.padEnd(size)
		}
		row += start ? out[j].padStart(widths[j - i] + out[j].length - lengths[j] - 2) : out[j]
		rows.push(row)
	}
	if (ctx.maxArrayLength < v.length) rows.push(out[n])
	return rows
}

function format(...args) { return formatWithOptions({}, ...args) }

function formatWithOptions(options, ...args) {
	let i = 0, out = ''
	if (typeof args[0] === 'string') {
		const f = args[0]
		if (args.length === 1) return f
		i = 1
		out = f.replace(/%([sdifjoOc%])/g, (whole, c) => {
			if (c === '%') return '%'
			if (i >= args.length) return whole
			const v = args[i++]
			switch (c) {
			case 's': return string(v)
			case 'd': return typeof v === 'bigint' ? `${v}n` : typeof v === 'symbol' ? 'NaN' : plainly(Number(v))
			case 'i': return typeof v === 'bigint' ? `${v}n` : typeof v === 'symbol' ? 'NaN' : plainly(parseInt(v))
			case 'f': return typeof v === 'symbol' ? 'NaN' : plainly(parseFloat(v))
			case 'j': return json(v)
			case 'o': return inspect(v, { ...options, showHidden: true, depth: 4 })
			case 'O': return inspect(v, options)
			}
			return '' // %c: CSS
		})
	}
	const rest = args.slice(i).map(v => typeof v === 'string' ? v : inspect(v, options))
	if (typeof args[0] === 'string') rest.unshift(out)
	return rest.join(' ')
}

function string(v) {
	if (typeof v === 'number' || typeof v === 'bigint') return plainly(v)
	if (typeof v === 'object' && v !== null) {
		const own = typeof v.toString === 'function' && (has(v, 'toString') || !builtin(v))
		return own ? String(v) : inspect(v, { depth: 0, compact: 3 })
	}
	return String(v)
}

// builtin tells whether an object's toString is one of the language's own, which says little.
function builtin(v) {
	let p = v
	while (p !== null && !has(p, 'toString')) p = Object.getPrototypeOf(p)
	if (p === null) return true
	return p === Object.prototype || p === Array.prototype
}

function json(v) {
	try {
		return JSON.stringify(v)
	} catch (e) {
		if (e instanceof TypeError && /circular/i.test(e.message)) return '[Circular]'
		throw e
	}
}

Object.assign(inspect, { custom, colors, styles, defaultOptions: { showHidden: false, depth: 2, ...settings({ customInspect: true, maxArrayLength: 100, maxStringLength: 10000, breakLength: 80, compact: 3, showHidden: false, colors: false, showProxy: false }), numericSeparator: false } })
return { inspect, format, formatWithOptions, spoken: host.spoken }
})
