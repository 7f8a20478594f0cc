// performance, as High Resolution Time and User Timing have it.
(function (host, use) {
'use strict'
const { DOMException, EventTarget, idl, need, dictionary } = use('events')
const { structuredClone } = use('clone')
const internal = Symbol('internal')

class PerformanceEntry {
	#name; #type; #start; #duration
	constructor(key, name, type, start, duration) {
		if (key !== internal) throw new TypeError('Illegal constructor')
		this.#name = name
		this.#type = type
		this.#start = start
		this.#duration = duration
	}
	get name() { return this.#name }
	get entryType() { return this.#type }
	get startTime() { return this.#start }
	get duration() { return this.#duration }
	toJSON() {
		const { name, entryType, startTime, duration } = this
		return { name, entryType, startTime, duration }
	}
}
idl(PerformanceEntry)

function detailOf(options) {
	const { detail } = options
	return detail === undefined || detail === null ? null : structuredClone(detail)
}

function time(v, what) {
	v = Number(v)
	if (!Number.isFinite(v)) throw new TypeError(`${what} is not a finite number`)
	if (v < 0) throw new TypeError(`${what} cannot be negative`)
	return v
}

class PerformanceMark extends PerformanceEntry {
	#detail
	constructor(name, options) {
		need(arguments, 1, 'PerformanceMark')
		options = dictionary(options, 'The "options" argument')
		super(internal, `${name}`, 'mark', options.startTime === undefined ? host.now() : time(options.startTime, 'startTime'), 0)
		this.#detail = detailOf(options)
	}
	get detail() { return this.#detail }
	toJSON() { return { ...super.toJSON(), detail: this.#detail } }
}
idl(PerformanceMark)

class PerformanceMeasure extends PerformanceEntry {
	#detail
	constructor(key, name, start, end, detail) {
		super(key, name, 'measure', start, end - start)
		this.#detail = detail
	}
	get detail() { return this.#detail }
	toJSON() { return { ...super.toJSON(), detail: this.#detail } }
}
idl(PerformanceMeasure)

let entries = []
const byTime = list => list.map((e, i) => [e, i]).sort((a, b) => a[0].startTime - b[0].startTime || a[1] - b[1]).map(x => x[0])

function timeOf(v) {
	if (typeof v === 'number') return time(v, 'a time')
	const name = `${v}`
	const mark = entries.findLast(e => e.entryType === 'mark' && e.name === name)
	if (mark !== undefined) return mark.startTime
	throw new DOMException(`The "${name}" performance mark has not been set`, 'SyntaxError')
}

class Performance extends EventTarget {
	constructor(key) {
		if (key !== internal) throw new TypeError('Illegal constructor')
		super()
	}
	now() { return host.now() }
	get timeOrigin() { return host.timeOrigin() }
	mark(name, options) {
		need(arguments, 1, 'mark')
		const m = new PerformanceMark(name, options)
		entries.push(m)
		return m
	}
	measure(name, startOrOptions, endMark) {
		need(arguments, 1, 'measure')
		let options = {}, has = false
		if (typeof startOrOptions === 'object' && startOrOptions !== null) {
			options = startOrOptions
			has = ['start', 'end', 'duration', 'detail'].some(k => options[k] !== undefined)
			if (has) {
				if (endMark !== undefined) throw new TypeError('endMark must not be given beside options')
				if (options.start === undefined && options.end === undefined) throw new TypeError('options have neither start nor end')
				if (options.start !== undefined && options.end !== undefined && options.duration !== undefined) throw new TypeError('options have start, end and duration')
			}
		} else if (startOrOptions !== undefined && startOrOptions !== null) {
			options = { start: `${startOrOptions}` }
		}
		let end
		if (endMark !== undefined) end = timeOf(`${endMark}`)
		else if (has && options.end !== undefined) end = timeOf(options.end)
		else if (has && options.start !== undefined && options.duration !== undefined) end = timeOf(options.start) + time(options.duration, 'duration')
		else end = host.now()
		let start
		if (options.start !== undefined) start = timeOf(options.start)
		else if (has && options.duration !== undefined && options.end !== undefined) start = timeOf(options.end) - time(options.duration, 'duration')
		else start = 0
		const m = new PerformanceMeasure(internal, `${name}`, start, end, detailOf(options))
		entries.push(m)
		return m
	}
	getEntries() { return byTime(entries) }
	getEntriesByName(name, type) {
		need(arguments, 1, 'getEntriesByName')
		name = `${name}`
		return byTime(entries.filter(e => e.name === name && (type === undefined || e.entryType === `${type}`)))
	}
	getEntriesByType(type) {
		need(arguments, 1, 'getEntriesByType')
		type = `${type}`
		return byTime(entries.filter(e => e.entryType === type))
	}
	clearMarks(name) { clear('mark', name) }
	clearMeasures(name) { clear('measure', name) }
	toJSON() { return { timeOrigin: this.timeOrigin } }
}
idl(Performance)

function clear(type, name) {
	entries = entries.filter(e => e.entryType !== type || name !== undefined && e.name !== `${name}`)
}

return { Performance, PerformanceEntry, PerformanceMark, PerformanceMeasure, performance: new Performance(internal) }
})
