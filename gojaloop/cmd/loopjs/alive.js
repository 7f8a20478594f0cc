// For --trace-alive: the functions that set timers remember where they were called.
(function (stackOf) {
'use strict'
const pending = new Map() // descriptions of pending timers and requests, by object
const place = () => {
	const line = stackOf(new Error('here')).split('\n').map(l => l.trim()).find(l => l.startsWith('at '))
	return line ? ' ' + line : ''
}
const now = () => performance.now()
function wrap(name, describe, repeat) {
	const set = globalThis[name]
	globalThis[name] = { [name](f, ...rest) {
		if (typeof f !== 'function') return set(f, ...rest)
		const t = set.call(this, function (...args) {
			if (!repeat) pending.delete(t)
			return f.apply(this, args)
		}, ...rest)
		pending.set(t, { what: describe(rest[0]), at: place(), since: now() })
		return t
	} }[name]
}
const ms = n => `${n >= 1 ? Math.trunc(n) : 1} ms`
wrap('setTimeout', n => `a timer of ${ms(n)}`, false)
wrap('setInterval', n => `an interval of ${ms(n)}`, true)
wrap('setImmediate', () => 'an immediate', false)
for (const name of ['clearTimeout', 'clearInterval', 'clearImmediate']) {
	const clear = globalThis[name]
	globalThis[name] = { [name](t) {
		for (const p of pending.keys()) if (p === t || typeof t !== 'object' && t !== undefined && +p === +t) pending.delete(p)
		return clear(t)
	} }[name]
}
for (const name of ['fetch']) {
	const f = globalThis[name]
	globalThis[name] = { [name](...args) {
		const key = {}
		pending.set(key, { what: `a request of ${String(args[0] && args[0].url || args[0])}`, at: place(), since: now(), hasRef: () => true })
		const done = () => pending.delete(key)
		const p = f.apply(this, args)
		p.then(done, done)
		return p
	} }[name]
}
return () => [...pending].filter(([t, p]) => (p.hasRef ? p : t).hasRef()).map(([, p]) => `${p.what} for ${Math.round(now() - p.since)} ms${p.at}`)
})
