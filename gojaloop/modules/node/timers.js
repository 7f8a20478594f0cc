// node:timers and node:timers/promises
(function (go) {
'use strict'
const wait = (set, clear) => (delay, value, options = {}) => new Promise((resolve, reject) => {
	const { signal, ref } = options
	if (signal && signal.aborted) return reject(go.aborted(signal))
	const stop = () => { clear(t); reject(go.aborted(signal)) }
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
	// setInterval is Node's async generator, which goja lacks: it begins with the first request, and serves one after the other.
	setInterval(delay, value, { signal, ref } = {}) {
		const requests = []
		let t, due = 0, given = false, over = false, wake
		const stop = () => { clearInterval(t); if (wake) wake(Promise.reject(go.aborted(signal))) }
		const begin = () => {
			t = setInterval(() => { due++; if (wake) wake() }, delay)
			if (ref === false) t.unref()
			if (signal) signal.addEventListener('abort', stop)
		}
		const end = () => {
			over = true
			clearInterval(t)
			if (signal) signal.removeEventListener('abort', stop)
		}
		const next = async () => {
			if (over) return { value: undefined, done: true }
			if (given) due--
			given = false
			if (due === 0) {
				if (signal && signal.aborted) throw go.aborted(signal)
				if (!t) begin()
				await new Promise(resolve => { wake = resolve }).finally(() => { wake = undefined })
			}
			given = true
			return { value, done: false }
		}
		const serve = async () => {
			for (; requests.length; requests.shift()) {
				try {
					requests[0].resolve(await requests[0].f())
				} catch (e) {
					end()
					requests[0].reject(e)
				}
			}
		}
		const ask = f => new Promise((resolve, reject) => { if (requests.push({ f, resolve, reject }) === 1) serve() })
		return {
			next: () => ask(next),
			return: v => ask(() => { end(); return { value: v, done: true } }),
			throw: e => ask(() => { throw e }),
			[go.asyncIterator]() { return this },
		}
	},
}
promises.scheduler = { wait: (ms, options) => timeout(ms, undefined, options), yield: () => immediate() }
return { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, clearImmediate, promises }
})
