// The console, by the Console standard, printing as Node does.
(function (host, use) {
'use strict'
const { inspect, formatWithOptions } = use('inspect')
let indent = ''
const counts = new Map()
const timers = new Map()

function print(error, text) {
	if (indent !== '') text = indent + text.replace(/\n/g, '\n' + indent)
	host.print(error, text + '\n')
}
const show = (error, args) => print(error, formatWithOptions({ breakLength: Math.max(20, 80 - indent.length) }, ...args))

function duration(ms) {
	if (ms >= 1000) {
		let s = ms / 1000, m = 0, h = 0
		if (s >= 60) {
			m = Math.floor(s / 60)
			s %= 60
			if (m >= 60) { h = Math.floor(m / 60); m %= 60 }
			const two = n => `${Math.floor(n)}`.padStart(2, '0')
			const ss = `${two(s)}.${`${Math.floor(s * 1000) % 1000}`.padStart(3, '0')}`
			return h ? `${h}:${two(m)}:${two(s)} (h:mm:ss)` : `${m}:${ss} (m:ss.mmm)`
		}
		return `${s.toFixed(3)}s`
	}
	return `${Number(ms.toFixed(3))}ms`
}

function warn(what, label, problem) { print(true, `Warning: ${problem} for console.${what}()`.replace('%s', label)) }

function elapsed(what, label, args) {
	label = `${label}`
	if (!timers.has(label)) return warn(what, label, `No such label '%s'`)
	const text = `${label}: ${duration(host.now() - timers.get(label))}`
	show(false, args.length ? [text, ...args] : [text])
}

function stack() { return host.trace().split('\n').filter(l => l !== '').map(l => '    ' + l.trim()).join('\n') }

const cell = v => inspect(v, { depth: v !== null && typeof v === 'object' && !Array.isArray(v) && Object.keys(v).length > 2 ? -1 : 0, breakLength: Infinity })
function table(head, rows) {
	const widths = head.map((h, i) => Math.max(h.length, ...rows.map(r => r[i].length)) + 2)
	const line = cells => `│${cells.map((c, i) => ` ${c}`.padEnd(widths[i])).join('│')}│`
	const rule = (l, m, r) => l + widths.map(w => '─'.repeat(w)).join(m) + r
	return [rule('┌', '┬', '┐'), line(head), rule('├', '┼', '┤'), ...rows.map(line), rule('└', '┴', '┘')].join('\n')
}

const console = {
	log(...args) { show(false, args) },
	warn(...args) { show(true, args) },
	dir(value, options) { print(false, inspect(value, { customInspect: false, ...options })) },
	time(label = 'default') {
		label = `${label}`
		if (timers.has(label)) return warn('time', label, `Label '%s' already exists`)
		timers.set(label, host.now())
	},
	timeEnd(label = 'default') {
		elapsed('timeEnd', label, [])
		timers.delete(`${label}`)
	},
	timeLog(label = 'default', ...args) { elapsed('timeLog', label, args) },
	trace(...args) { print(true, `Trace${args.length ? ': ' + formatWithOptions({}, ...args) : ''}\n${stack()}`) },
	assert(condition, ...args) {
		if (condition) return
		args[0] = args.length ? `Assertion failed: ${String(args[0])}` : 'Assertion failed'
		show(true, args)
	},
	clear() {},
	count(label = 'default') {
		label = `${label}`
		const n = (counts.get(label) || 0) + 1
		counts.set(label, n)
		show(false, [`${label}: ${n}`])
	},
	countReset(label = 'default') {
		label = `${label}`
		if (!counts.has(label)) return warn('countReset', label, `Count for '%s' does not exist`)
		counts.delete(label)
	},
	group(...args) {
		if (args.length) show(false, args)
		indent += '  '
	},
	groupEnd() { indent = indent.slice(2) },
	table(data, columns) {
		if (data === null || typeof data !== 'object') return show(false, [data])
		const rows = [], keys = [], index = host.classOf(data) === 'Map' || host.classOf(data) === 'Set' ? '(iteration index)' : '(index)'
		let values = false
		const add = (i, v, extra) => {
			const row = { index: i, cells: new Map(), extra }
			if (v !== null && typeof v === 'object') {
				for (const k of columns || Object.keys(v)) {
					if (!keys.includes(k)) keys.push(k)
					if (Object.prototype.hasOwnProperty.call(v, k)) row.cells.set(k, cell(v[k]))
				}
			} else {
				values = true
				row.value = cell(v)
			}
			rows.push(row)
		}
		let pairs = false
		if (host.classOf(data) === 'Map') {
			pairs = true
			let i = 0
			for (const [k, v] of data) add(`${i++}`, v, cell(k))
		} else if (host.classOf(data) === 'Set') {
			let i = 0
			for (const v of data) add(`${i++}`, v)
		} else {
			for (const k of Object.keys(data)) add(k, data[k])
		}
		const head = [index, ...(pairs ? ['Key'] : []), ...keys.map(String), ...(values ? ['Values'] : [])]
		print(false, table(head, rows.map(r => [r.index, ...(pairs ? [r.extra] : []), ...keys.map(k => r.cells.get(k) || ''), ...(values ? [r.value || ''] : [])])))
	},
}
for (const [alias, name] of [['debug', 'log'], ['info', 'log'], ['error', 'warn'], ['dirxml', 'log'], ['groupCollapsed', 'group']]) {
	const f = console[name]
	console[alias] = { [alias](...args) { return f(...args) } }[alias]
}
Object.defineProperty(console, Symbol.toStringTag, { value: 'console', configurable: true })
return { console }
})
