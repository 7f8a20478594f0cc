// node:diagnostics_channel
(function (go, require) {
'use strict'
const channels = new Map(), listeners = Symbol('listeners')
class Channel {
	constructor(name) { this.name = name; Object.defineProperty(this, listeners, { value: [], writable: true }) }
	get hasSubscribers() { return this[listeners].length > 0 }
	subscribe(f) { if (typeof f !== 'function') throw go.invalidType('subscription', 'function', f); this[listeners] = [...this[listeners], f] }
	unsubscribe(f) { const before = this[listeners].length; this[listeners] = this[listeners].filter(g => g !== f); return this[listeners].length < before }
	publish(message) {
		for (const f of this[listeners]) {
			try { f(message, this.name) } catch (e) { process.nextTick(() => { throw e }) }
		}
	}
	bindStore() { throw Object.assign(new Error('diagnostics_channel: bindStore is not implemented'), { code: 'ERR_METHOD_NOT_IMPLEMENTED' }) }
}
const channel = name => {
	if (typeof name !== 'string' && typeof name !== 'symbol') throw go.invalidType('channel', 'string or an instance of Symbol', name)
	if (!channels.has(name)) channels.set(name, new Channel(name))
	return channels.get(name)
}
function tracingChannel(name) {
	const kinds = ['start', 'end', 'asyncStart', 'asyncEnd', 'error'], t = typeof name === 'object' ? { ...name } : Object.fromEntries(kinds.map(k => [k, channel(`tracing:${name}:${k}`)]))
	const publish = (k, c) => t[k].publish(c)
	const within = (context, f) => {
		publish('start', context)
		try {
			return f()
		} catch (e) {
			context.error = e
			publish('error', context)
			throw e
		} finally {
			publish('end', context)
		}
	}
	return Object.assign(t, {
		subscribe(handlers) { for (const k of kinds) if (handlers[k]) t[k].subscribe(handlers[k]) },
		unsubscribe(handlers) { return kinds.map(k => !handlers[k] || t[k].unsubscribe(handlers[k])).every(Boolean) },
		traceSync(f, context = {}, self, ...args) { return within(context, () => context.result = f.apply(self, args)) },
		tracePromise(f, context = {}, self, ...args) {
			const settled = (k, v) => { context[k] = v; if (k === 'error') publish('error', context); publish('asyncStart', context); publish('asyncEnd', context) }
			return within(context, () => Promise.resolve(f.apply(self, args)).then(v => { settled('result', v); return v }, e => { settled('error', e); throw e }))
		},
	})
}
return { channel, Channel, tracingChannel, hasSubscribers: name => channels.has(name) && channels.get(name).hasSubscribers, subscribe: (name, f) => channel(name).subscribe(f), unsubscribe: (name, f) => channel(name).unsubscribe(f) }
})
