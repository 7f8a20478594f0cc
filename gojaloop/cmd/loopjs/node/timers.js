// node:timers and node:timers/promises
(function (go) {
'use strict'
const aborted = signal => Object.assign(new Error('The operation was aborted'), { name: 'AbortError', code: 'ABORT_ERR', cause: signal.reason })
const wait = (set, clear) => (delay, value, options = {}) => new Promise((resolve, reject) => {
	const { signal, ref } = options
	if (signal && signal.aborted) return reject(aborted(signal))
	const stop = () => { clear(t); reject(aborted(signal)) }
	const t = set(() => {
		if (signal) signal.removeEventListener('abort', stop)
		resolve(value)
	}, delay)
	if (ref === false) t.unref()
	if (signal) signal.addEventListener('abort', stop)
})
const timeout = wait((f, ms) => setTimeout(f, ms), clearTimeout)
const immediate = wait(f => setImmediate(f), clearImmediate)
const promises = {
	setTimeout: (delay, value, options) => timeout(delay, value, options),
	setImmediate: (value, options) => immediate(undefined, value, options),
	setInterval(delay, value, options = {}) {
		const waiting = []
		let due = 0, over = false, error
		const t = setInterval(() => waiting.length ? waiting.shift().resolve({ value, done: false }) : due++, delay)
		if (options.ref === false) t.unref()
		const end = () => {
			over = true
			clearInterval(t)
			for (const w of waiting.splice(0)) error ? w.reject(error) : w.resolve({ value: undefined, done: true })
			return Promise.resolve({ value: undefined, done: true })
		}
		if (options.signal) options.signal.addEventListener('abort', () => { error = aborted(options.signal); end() })
		const iterator = {
			next() {
				if (due > 0) { due--; return Promise.resolve({ value, done: false }) }
				if (error) return Promise.reject(error)
				if (over) return Promise.resolve({ value: undefined, done: true })
				return new Promise((resolve, reject) => waiting.push({ resolve, reject }))
			},
			return: end,
		}
		iterator[go.asyncIterator] = () => iterator
		return iterator
	},
}
promises.scheduler = { wait: (ms, options) => timeout(ms, undefined, options), yield: () => immediate() }
return { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, clearImmediate, promises }
})
