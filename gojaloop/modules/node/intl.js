// Intl, as far as programs use it: in American and British English, and for numbers and short dates in some languages more.
(function (go) {
'use strict'
// By language: the separators of decimals and of thousands, the order of a short date, and its separator.
const languages = { en: ['.', ',', 'mdy', '/'], 'en-GB': ['.', ',', 'DMy', '/'], de: [',', '.', 'dmy', '.'], fr: [',', '\u202f', 'DMy', '/'], es: [',', '.', 'dmy', '/'], it: [',', '.', 'dmy', '/'], pt: [',', '.', 'DMy', '/'],
	nl: [',', '.', 'dmy', '-'], ru: [',', '\xa0', 'DMy', '.'], pl: [',', '\xa0', 'dMy', '.'], sv: [',', '\xa0', 'yMD', '-'], ja: ['.', ',', 'ymd', '/'], zh: ['.', ',', 'ymd', '/'] }
function localeOf(locales) {
	const [first] = typeof locales === 'string' ? [locales] : locales === undefined ? [] : [...locales]
	if (first === undefined || first === 'default') return 'en-US'
	if (typeof first !== 'string' && !(first && typeof first === 'object')) throw new TypeError('Incorrect locale information provided')
	const tag = `${first}`
	if (!/^[a-z]{2,3}(?:-[a-z\d]{2,8})*$/i.test(tag)) throw new RangeError(`Incorrect locale information provided`)
	return tag.split('-').map((p, i) => i === 0 ? p.toLowerCase() : p.length === 2 ? p.toUpperCase() : p.length === 4 ? p[0].toUpperCase() + p.slice(1).toLowerCase() : p).join('-')
}
const known = locale => languages[locale] || languages[locale.split('-')[0]] || languages.en
const english = locale => known(locale) === languages.en || locale === 'en-GB'
const oneOf = (o, name, values, otherwise) => {
	const v = o[name]
	if (v === undefined) return otherwise
	if (!values.includes(`${v}`)) throw new RangeError(`Value ${v} out of range for Intl.${/^(date|time)|^(weekday|year|month|day|hour|minute|second)/.test(name) ? 'DateTimeFormat' : 'NumberFormat'} options property ${name}`)
	return `${v}`
}
const digits = (o, name, least, most, otherwise) => {
	const v = o[name]
	if (v === undefined) return otherwise
	if (!(v >= least && v <= most)) throw new RangeError(`${name} value is out of range.`)
	return Math.floor(v)
}
const join = parts => parts.map(p => p.value).join('')
const signs = { USD: '$', EUR: '€', GBP: '£', JPY: '¥', INR: '₹', KRW: '₩', CNY: 'CN¥', BRL: 'R$', CAD: 'CA$', AUD: 'A$', MXN: 'MX$', ILS: '₪', VND: '₫' }
const units = { kilometer: 'km', meter: 'm', centimeter: 'cm', kilogram: 'kg', gram: 'g', liter: 'L', byte: 'byte', kilobyte: 'kB', megabyte: 'MB', gigabyte: 'GB', second: 'sec', minute: 'min', hour: 'hr', day: 'day', celsius: '°C', percent: '%' }
const base = (C, names) => class {
	#locale
	constructor(locales) { this.#locale = localeOf(locales) }
	get [Symbol.toStringTag]() { return `Intl.${C}` }
	static supportedLocalesOf(locales) { return (typeof locales === 'string' ? [locales] : [...locales || []]).map(l => localeOf(l)).filter(l => known(l) !== languages.en || l.startsWith('en')) }
	resolvedOptions() { return { locale: this.#locale, ...this.settings } }
}

class NumberFormat extends base('NumberFormat') {
	constructor(locales, o = {}) {
		super(locales)
		const style = oneOf(o, 'style', ['decimal', 'percent', 'currency', 'unit'], 'decimal'), currency = o.currency && `${o.currency}`.toUpperCase()
		if (style === 'currency' && !currency) throw new TypeError('Currency code is required with currency style.')
		if (style === 'unit' && !o.unit) throw new TypeError('Required unit "unit" is undefined')
		const notation = oneOf(o, 'notation', ['standard', 'compact', 'scientific', 'engineering'], 'standard'), money = style === 'currency' ? ['JPY', 'KRW', 'VND'].includes(currency) ? 0 : 2 : undefined
		if (notation === 'scientific' || notation === 'engineering') go.refuse('Intl', `NumberFormat with the notation ${notation}`, 'toExponential')()
		let least = digits(o, 'minimumFractionDigits', 0, 100), most = digits(o, 'maximumFractionDigits', 0, 100)
		if (least !== undefined && most !== undefined && least > most) throw new RangeError('maximumFractionDigits value is out of range.')
		if (least === undefined) least = Math.min(most === undefined ? Infinity : most, money || 0)
		if (most === undefined) most = Math.max(least, money !== undefined ? money : style === 'percent' || notation === 'compact' ? 0 : 3)
		const low = digits(o, 'minimumSignificantDigits', 1, 100), high = digits(o, 'maximumSignificantDigits', 1, 100)
		Object.defineProperty(this, 'settings', { value: { numberingSystem: 'latn', style, ...(style === 'currency' ? { currency, currencyDisplay: o.currencyDisplay || 'symbol', currencySign: o.currencySign || 'standard' } : {}), ...(style === 'unit' ? { unit: o.unit, unitDisplay: o.unitDisplay || 'short' } : {}),
			minimumIntegerDigits: digits(o, 'minimumIntegerDigits', 1, 21, 1), ...(low || high ? { minimumSignificantDigits: low || 1, maximumSignificantDigits: high || 21 } : { minimumFractionDigits: least, maximumFractionDigits: most }),
			useGrouping: o.useGrouping === undefined ? 'auto' : o.useGrouping, notation, signDisplay: oneOf(o, 'signDisplay', ['auto', 'never', 'always', 'exceptZero', 'negative'], 'auto'), roundingMode: 'halfExpand' } })
		this.format = this.format.bind(this)
		Object.defineProperty(this, 'format', { enumerable: false })
	}
	format(n) { return join(this.formatToParts(n)) }
	formatToParts(value) {
		const o = this.settings, { locale } = this.resolvedOptions(), [point, comma] = known(locale)
		let n = typeof value === 'bigint' ? value : Number(value), suffix = ''
		const negative = n < 0 || Object.is(n, -0)
		if (negative) n = -n
		if (o.style === 'percent') n *= typeof n === 'bigint' ? 100n : 100
		if (o.notation === 'compact') for (const [size, letter] of [[1e12, 'T'], [1e9, 'B'], [1e6, 'M'], [1e3, 'K']]) if (suffix === '' && Number(n) >= size * 0.9995) { n = Number(n) / size; suffix = letter }
		let text
		if (typeof n === 'bigint') text = `${n}`
		else if (!Number.isFinite(n)) text = Number.isNaN(n) ? 'NaN' : '∞'
		else if (o.maximumSignificantDigits !== undefined) text = trimmed(Number(n.toPrecision(Math.min(o.maximumSignificantDigits, 100))), o.minimumSignificantDigits)
		else if (o.notation === 'compact' && o.maximumFractionDigits === 0) text = n < 100 ? `${Number(n.toPrecision(2))}` : n.toFixed(0)
		else text = fixed(n, o.minimumFractionDigits, o.maximumFractionDigits)
		const parts = [], zero = !/[1-9∞N]/.test(text)
		const [whole, fraction] = text.split('.')
		const grouped = o.useGrouping !== false && o.useGrouping !== 'false' && !(o.notation === 'compact' && whole.length < 5) && !(/^(es|pt|pl)/.test(locale) && whole.length < 5) ? whole.padStart(o.minimumIntegerDigits, '0').split(/\B(?=(?:\d{3})+$)/) : [whole.padStart(o.minimumIntegerDigits, '0')]
		if (/[N∞]/.test(text)) parts.push({ type: text === 'NaN' ? 'nan' : 'infinity', value: text })
		else grouped.forEach((g, i) => { if (i > 0) parts.push({ type: 'group', value: comma }); parts.push({ type: 'integer', value: g }) })
		if (fraction !== undefined) parts.push({ type: 'decimal', value: point }, { type: 'fraction', value: fraction })
		if (suffix) parts.push({ type: 'compact', value: suffix })
		const before = known(locale)[0] === '.'
		if (o.style === 'percent') parts.push(...(before ? [] : [{ type: 'literal', value: '\xa0' }]), { type: 'percentSign', value: '%' })
		if (o.style === 'unit') parts.push({ type: 'literal', value: /celsius|percent/.test(o.unit) ? '' : ' ' }, { type: 'unit', value: o.unitDisplay === 'long' ? o.unit + (text === '1' ? '' : 's') : (units[o.unit] || o.unit) + (o.unit === 'day' && text !== '1' ? 's' : '') })
		if (o.style === 'currency') {
			const c = o.currencyDisplay === 'code' || !signs[o.currency] ? o.currency : o.currencyDisplay === 'narrowSymbol' ? signs[o.currency].replace(/^\w+(?=\W)/, '') : signs[o.currency]
			const sign = { type: 'currency', value: c }, space = { type: 'literal', value: '\xa0' }
			before ? parts.unshift(sign, ...(/\w$/.test(c) ? [space] : [])) : parts.push(space, sign)
		}
		const d = o.signDisplay, sign = negative && (d === 'auto' || d === 'always' || !zero && d !== 'never') ? '-' : !negative && text !== 'NaN' && (d === 'always' || d === 'exceptZero' && !zero) ? '+' : ''
		if (sign !== '') parts.unshift({ type: sign === '-' ? 'minusSign' : 'plusSign', value: sign })
		return parts
	}
}
// fixed rounds as decimal numbers are read: half away from zero.
const fixed = (n, least, most) => {
	let text = n < 1e21 ? n.toFixed(most) : BigInt(n).toString()
	const [, whole, part, exponent] = /^(\d+)(?:\.(\d+))?(?:e(.*))?$/.exec(`${n}`) || []
	if (part !== undefined && exponent === undefined && part.length > most && part[most] === '5' && /^50*$/.test(part.slice(most))) text = Number(`${whole}.${part.slice(0, most)}6`).toFixed(most)
	return most > least && text.includes('.') ? text.replace(new RegExp(`\\.?0{1,${most - least}}$`), '') : text
}
const trimmed = (n, least) => { const text = n < 1e21 ? fixed(n, 0, 20).replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '') : BigInt(n).toString(), have = text.replace(/^0\.0*|\./g, '').length; return have >= least ? text : n.toPrecision(least) }

const months = 'January February March April May June July August September October November December'.split(' '), days = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ')
const styles = { full: { weekday: 'long', year: 'numeric', month: 'long', day: 'numeric' }, long: { year: 'numeric', month: 'long', day: 'numeric' }, medium: { year: 'numeric', month: 'short', day: 'numeric' }, short: { year: '2-digit', month: 'numeric', day: 'numeric' } }
const clocks = { full: { hour: 'numeric', minute: '2-digit', second: '2-digit', timeZoneName: 'long' }, long: { hour: 'numeric', minute: '2-digit', second: '2-digit', timeZoneName: 'short' }, medium: { hour: 'numeric', minute: '2-digit', second: '2-digit' }, short: { hour: 'numeric', minute: '2-digit' } }
const dateKeys = ['weekday', 'year', 'month', 'day'], timeKeys = ['hour', 'minute', 'second', 'fractionalSecondDigits', 'dayPeriod']
class DateTimeFormat extends base('DateTimeFormat') {
	constructor(locales, o = {}, need = dateKeys, add = ['year', 'month', 'day']) {
		super(locales)
		const { locale } = super.resolvedOptions(), zone = o.timeZone === undefined ? go.zone('', 0) : go.zone(`${o.timeZone}`, 0)
		if (zone === null) throw new RangeError(`Invalid time zone specified: ${o.timeZone}`)
		const s = { calendar: 'gregory', numberingSystem: 'latn', timeZone: zone[0] }, given = k => o[k] !== undefined
		if (o.dateStyle || o.timeStyle) {
			if ([...dateKeys, ...timeKeys].some(given)) throw new TypeError(`Can't set option ${[...dateKeys, ...timeKeys].find(given)} when ${o.dateStyle ? 'dateStyle' : 'timeStyle'} is used`)
			Object.assign(s, o.dateStyle && styles[oneOf(o, 'dateStyle', Object.keys(styles))], o.dateStyle === 'short' && locale === 'en-GB' ? { year: 'numeric' } : {}, o.timeStyle && clocks[oneOf(o, 'timeStyle', Object.keys(clocks))])
			s.at = o.dateStyle === 'full' || o.dateStyle === 'long' ? ' at ' : ', '
		} else {
			for (const k of [...dateKeys, ...timeKeys, 'timeZoneName']) if (given(k)) s[k] = k === 'fractionalSecondDigits' ? digits(o, k, 1, 3) : oneOf(o, k, { weekday: ['long', 'short', 'narrow'], month: ['numeric', '2-digit', 'long', 'short', 'narrow'], timeZoneName: ['short', 'long', 'shortOffset', 'longOffset', 'shortGeneric', 'longGeneric'], dayPeriod: ['short', 'long', 'narrow'] }[k] || ['numeric', '2-digit'])
			if (!need.some(given) && ![...dateKeys, ...timeKeys].some(k => !need.includes(k) && given(k))) for (const k of add) s[k] = k === 'minute' || k === 'second' ? '2-digit' : 'numeric'
		}
		if (s.hour) {
			s.hour12 = o.hour12 !== undefined ? Boolean(o.hour12) : o.hourCycle !== undefined ? /h1[12]/.test(o.hourCycle) : known(locale) === languages.en
			s.hourCycle = s.hour12 ? 'h12' : o.hour12 === false && known(locale) === languages.en && o.hourCycle === undefined ? 'h24' : 'h23'
		}
		Object.defineProperty(this, 'settings', { value: s })
		this.format = this.format.bind(this)
		Object.defineProperty(this, 'format', { enumerable: false })
	}
	resolvedOptions() { const { at, ...rest } = super.resolvedOptions(); return rest }
	format(date) { return join(this.formatToParts(date)).replace('\u202f', ' ') }
	formatRange(a, b) { return this.format(a) === this.format(b) ? this.format(a) : `${this.format(a)} – ${this.format(b)}` }
	formatToParts(date) {
		const s = this.settings, { locale } = super.resolvedOptions(), t = date === undefined ? Date.now() : Number(date)
		if (Number.isNaN(t)) throw new RangeError('Invalid time value')
		const [, minutes, letters] = go.zone(s.timeZone, t), d = new Date(t + minutes * 60000), two = n => `${n}`.padStart(2, '0')
		const [, , order, slash] = known(locale), text = s.month && /long|short|narrow/.test(s.month), padDay = /D/.test(order) && s.month, padMonth = /M/.test(order) && (s.day || s.year)
		const name = (list, n, how) => how === 'long' ? list[n] : how === 'short' ? list[n].slice(0, 3) : list[n][0]
		const parts = {
			weekday: s.weekday && name(days, d.getUTCDay(), s.weekday), year: s.year && (s.year === '2-digit' ? two(d.getUTCFullYear() % 100) : `${d.getUTCFullYear()}`),
			month: s.month && (text ? name(months, d.getUTCMonth(), s.month) : s.month === '2-digit' || padMonth ? two(d.getUTCMonth() + 1) : `${d.getUTCMonth() + 1}`),
			day: s.day && (s.day === '2-digit' || padDay && !text ? two(d.getUTCDate()) : `${d.getUTCDate()}`),
		}
		const out = [], put = (type, value) => { if (value) out.push({ type, value }) }, line = (keys, between) => keys.filter(k => parts[k]).forEach((k, i) => { if (i > 0) put('literal', between); put(k, parts[k]) })
		const british = !(known(locale) === languages.en)
		put('weekday', parts.weekday)
		if (parts.weekday && (parts.day || parts.month || parts.year)) put('literal', british && s.month === 'long' && !s.at ? ' ' : ', ')
		if (text && british) line(['day', 'month', 'year'], ' ')
		else if (text) {
			line(['month', 'day'], ' ')
			if (parts.year && out.length > 0 && (parts.day || parts.month)) put('literal', parts.day ? ', ' : ' ')
			put('year', parts.year)
		} else line([...order.toLowerCase()].map(c => ({ d: 'day', m: 'month', y: 'year' })[c]), slash)
		const h = d.getUTCHours(), clock = []
		if (s.hour) clock.push({ type: 'hour', value: s.hour === '2-digit' || !s.hour12 ? two(s.hour12 ? h % 12 || 12 : s.hourCycle === 'h24' ? h || 24 : h) : `${h % 12 || 12}` })
		if (s.minute) clock.push({ type: 'minute', value: s.hour || s.second || s.minute === '2-digit' && s.hour ? two(d.getUTCMinutes()) : `${d.getUTCMinutes()}` })
		if (s.second) clock.push({ type: 'second', value: s.minute ? two(d.getUTCSeconds()) : `${d.getUTCSeconds()}` })
		if (clock.length > 0 && out.length > 0) put('literal', s.at || ', ')
		clock.forEach((p, i) => { if (i > 0) put('literal', ':'); out.push(p) })
		if (s.fractionalSecondDigits) { put('literal', '.'); put('fractionalSecond', `${d.getUTCMilliseconds()}`.padStart(3, '0').slice(0, s.fractionalSecondDigits)) }
		if (s.hour && s.hour12) { put('literal', '\u202f'); put('dayPeriod', locale === 'en-GB' ? h < 12 ? 'am' : 'pm' : h < 12 ? 'AM' : 'PM') }
		if (s.timeZoneName) {
			if (out.length > 0) put('literal', clock.length > 0 ? ' ' : ', ')
			const hours = Math.trunc(Math.abs(minutes) / 60), rest = Math.abs(minutes) % 60, named = s.timeZone === 'UTC' || (british ? /^(?:GMT|BST|CES?T)$/ : /^(?:[ECMPH]|AK)[SD]T$/).test(letters)
			put('timeZoneName', s.timeZoneName === 'long' && s.timeZone === 'UTC' ? 'Coordinated Universal Time' : named ? letters : minutes === 0 ? 'GMT' : `GMT${minutes < 0 ? '-' : '+'}${hours}${rest ? ':' + two(rest) : ''}`)
		}
		return out
	}
}

class Collator extends base('Collator') {
	constructor(locales, o = {}) {
		super(locales)
		const s = { usage: o.usage || 'sort', sensitivity: oneOf(o, 'sensitivity', ['base', 'accent', 'case', 'variant'], 'variant'), ignorePunctuation: Boolean(o.ignorePunctuation), collation: 'default', numeric: Boolean(o.numeric), caseFirst: 'false' }
		Object.defineProperty(this, 'settings', { value: s })
		const plain = t => { t = `${t}`; if (s.ignorePunctuation) t = t.replace(/[\s!-/:-@[-`{-~]/g, ''); if (/base|case/.test(s.sensitivity)) t = t.normalize('NFD').replace(/[\u0300-\u036f]/g, ''); return /base|accent/.test(s.sensitivity) ? t.toLowerCase() : t }
		Object.defineProperty(this, 'compare', { value: (a, b) => {
			a = plain(a)
			b = plain(b)
			if (!s.numeric) return compare.call(a, b)
			const as = a.split(/(\d+)/), bs = b.split(/(\d+)/)
			for (let i = 0; i < Math.min(as.length, bs.length); i++) {
				const c = i % 2 ? Math.sign(as[i] - bs[i]) : compare.call(as[i].toLowerCase(), bs[i].toLowerCase())
				if (c !== 0) return c
			}
			return Math.sign(as.length - bs.length) || compare.call(a, b)
		} })
	}
}
const compare = String.prototype.localeCompare
class PluralRules extends base('PluralRules') {
	constructor(locales, o = {}) { super(locales); Object.defineProperty(this, 'settings', { value: { type: oneOf(o, 'type', ['cardinal', 'ordinal'], 'cardinal') } }) }
	select(n) {
		n = Number(n)
		if (this.settings.type === 'cardinal') return n === 1 ? 'one' : 'other'
		return n % 10 === 1 && n % 100 !== 11 ? 'one' : n % 10 === 2 && n % 100 !== 12 ? 'two' : n % 10 === 3 && n % 100 !== 13 ? 'few' : 'other'
	}
}
class ListFormat extends base('ListFormat') {
	constructor(locales, o = {}) { super(locales); Object.defineProperty(this, 'settings', { value: { type: oneOf(o, 'type', ['conjunction', 'disjunction', 'unit'], 'conjunction'), style: oneOf(o, 'style', ['long', 'short', 'narrow'], 'long') } }) }
	format(list) {
		const all = [...list], { type, style } = this.settings, word = type === 'unit' ? '' : type === 'disjunction' ? 'or ' : style === 'long' ? 'and ' : style === 'short' ? '& ' : ''
		if (all.length < 3) return all.join(type === 'unit' ? ', ' : word === '' ? ', ' : ` ${word}`)
		return `${all.slice(0, -1).join(', ')}, ${word}${all[all.length - 1]}`
	}
}
class RelativeTimeFormat extends base('RelativeTimeFormat') {
	constructor(locales, o = {}) { super(locales); Object.defineProperty(this, 'settings', { value: { style: o.style || 'long', numeric: oneOf(o, 'numeric', ['always', 'auto'], 'always'), numberingSystem: 'latn' } }) }
	format(n, unit) {
		unit = `${unit}`.replace(/s$/, '')
		if (!['second', 'minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'].includes(unit)) throw new RangeError(`Invalid unit argument for format() '${unit}'`)
		const named = { day: ['yesterday', 'today', 'tomorrow'], second: [, 'now'] }[unit] || (unit === 'hour' || unit === 'minute' ? [, `this ${unit}`] : [`last ${unit}`, `this ${unit}`, `next ${unit}`])
		if (this.settings.numeric === 'auto' && named[n + 1] !== undefined) return named[n + 1]
		const many = new NumberFormat('en').format(Math.abs(n)) + ` ${unit}${Math.abs(n) === 1 ? '' : 's'}`
		return n < 0 || Object.is(n, -0) ? `${many} ago` : `in ${many}`
	}
}
// callable makes a class one that may be called without new.
const callable = C => {
	const f = { [C.name]: function (locales, options) { return new C(locales, options) } }[C.name]
	f.prototype = C.prototype
	Object.defineProperty(C.prototype, 'constructor', { value: f })
	return Object.assign(f, { supportedLocalesOf: C.supportedLocalesOf })
}
const Intl = { getCanonicalLocales: l => (l === undefined ? [] : typeof l === 'string' ? [l] : [...l]).map(x => localeOf(x)), supportedValuesOf: () => [] }
for (const [name, C] of Object.entries({ NumberFormat: callable(NumberFormat), DateTimeFormat: callable(DateTimeFormat), Collator: callable(Collator), PluralRules, ListFormat, RelativeTimeFormat })) Object.defineProperty(Intl, name, { value: C, writable: true, configurable: true })
for (const name of ['Segmenter', 'DisplayNames', 'Locale']) Object.defineProperty(Intl, name, { value: go.refuse('Intl', name, 'NumberFormat, DateTimeFormat, Collator, PluralRules, ListFormat and RelativeTimeFormat'), writable: true, configurable: true })
Object.defineProperty(Intl, Symbol.toStringTag, { value: 'Intl', configurable: true })
const time = ['hour', 'minute', 'second'], all = [...dateKeys, ...timeKeys], date = (need, add) => (d, l, o) => Number.isNaN(d.getTime()) ? 'Invalid Date' : new DateTimeFormat(l, o, need, add).format(d)
return { Intl, number: (n, l, o) => new NumberFormat(l, o).format(n), dates: { toLocaleDateString: date(dateKeys, ['year', 'month', 'day']), toLocaleTimeString: date(timeKeys, time), toLocaleString: date(all, ['year', 'month', 'day', ...time]) } }
})
