// RegExp with patterns that goja would match wrongly replaced by equivalent ones, see package compile.
(function (host) {
'use strict'
const Stock = RegExp, proto = Stock.prototype
const { apply, construct, defineProperty, getOwnPropertyDescriptor, ownKeys } = Reflect
const sources = new WeakMap() // of a RegExp whose pattern was replaced: what it was made of
const { get, set } = WeakMap.prototype
const own = getOwnPropertyDescriptor(proto, 'source').get
const sourceOf = re => {
	const s = apply(get, sources, [re])
	return s === undefined ? slashes(apply(own, re, [])) : s
}
// slashes gives a source of goja's its slashes back: in sets they need no escape.
const slashes = source => {
	let set = false
	return !source.includes('\\u002f') ? source : source.replace(/\\u002f|\\.|[[\]]/g, m => {
		if (m === '[' || m === ']') set = m === '['
		return m !== '\\u002f' ? m : set ? '/' : '\\/'
	})
}
defineProperty(proto, 'source', getOwnPropertyDescriptor({ get source() { return sourceOf(this) } }, 'source'))
defineProperty(proto, 'toString', { value: { toString() { return `/${this.source}/${this.flags}` } }.toString, writable: true, configurable: true })

// keep makes a source that of a RegExp.
const keep = (re, source) => {
	apply(set, sources, [re, source])
	return re
}

const stock = v => host.classOf(v) === 'RegExp'

// V8's words for what is wrong with a pattern.
const words = [[/nested repetition|missing argument/, 'Nothing to repeat'], [/trailing backslash/, '\\ at end of pattern'], [/repeat count/, 'numbers out of order in {} quantifier'],
	[/class range/, 'Range out of order in character class'], [/unknown unicode/, 'Invalid property name'], [/escape/, 'Invalid Unicode escape'],
	[/missing closing \)/, 'Unterminated group'], [/undefined group name/, 'Invalid named capture referenced']]

// installed replaces the global RegExp.
function installed() {
	function RegExp(pattern, flags) {
		const match = pattern !== null && typeof pattern === 'object' || typeof pattern === 'function' ? pattern[Symbol.match] : undefined
		const is = match === undefined ? stock(pattern) : !!match
		const target = host.newTarget(new.target)
		if (target === undefined && is && flags === undefined && pattern.constructor === RegExp) return pattern
		if (is) {
			if (flags === undefined) flags = pattern.flags
			pattern = stock(pattern) ? sourceOf(pattern) : pattern.source
		}
		pattern = pattern === undefined ? '' : `${pattern}`
		flags = flags === undefined ? '' : `${flags}`
		const mended = host.pattern(pattern, flags)
		let re
		try {
			re = construct(Stock, [mended === null ? pattern : mended[0], flags], target === undefined ? RegExp : target)
		} catch (e) {
			const of = words.find(([said]) => said.test(e.message))
			throw new SyntaxError(/flag/i.test(e.message) ? `Invalid flags supplied to RegExp constructor '${flags}'` : `Invalid regular expression: /${pattern}/${flags}: ${of ? of[1] : e.message}`)
		}
		return mended === null ? re : keep(re, mended[1])
	}
	for (const key of ownKeys(Stock)) defineProperty(RegExp, key, getOwnPropertyDescriptor(Stock, key))
	defineProperty(proto, 'constructor', { value: RegExp, writable: true, configurable: true })
	defineProperty(globalThis, 'RegExp', { value: RegExp, writable: true, configurable: true })
}

// statics makes the properties of RegExp that tell of the last match.
function statics() {
	const exec = proto.exec
	let last = [''], input = ''
	last.index = 0
	const methods = {
		exec(string) {
			const m = apply(exec, this, [string])
			if (m !== null) {
				last = m
				input = m.input
			}
			return m
		},
		test(string) { return this.exec(string) !== null },
	}
	for (const name of ['exec', 'test']) defineProperty(proto, name, { value: methods[name], writable: true, configurable: true })
	const of = (names, f) => { for (const name of names) defineProperty(RegExp, name, { get: f, set() {}, configurable: true }) }
	for (let i = 1; i < 10; i++) of(['$' + i], () => last[i] === undefined ? '' : last[i])
	of(['input', '$_'], () => input)
	of(['lastMatch', '$&'], () => last[0])
	of(['lastParen', '$+'], () => last.length > 1 && last[last.length - 1] || '')
	of(['leftContext', '$`'], () => input.slice(0, last.index))
	of(['rightContext', "$'"], () => input.slice(last.index + last[0].length))
}

return { keep, installed, statics }
})
