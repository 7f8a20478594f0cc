// events.once and events.on with signals, targets and events that close them.
const { EventEmitter, once, on, getEventListeners } = require('events')
const told = p => p.then(v => JSON.stringify(v && v.value === undefined && v.done === undefined ? v.length : v), e => e.code || e.message)
const fails = f => { try { return f() && 'nothing' } catch (e) { return e.code || e.name } }
;(async () => {
	const before = AbortSignal.abort()
	console.log(await told(once(new EventEmitter(), 'x', { signal: before })), fails(() => on(new EventEmitter(), 'x', { signal: before })))
	console.log(await told(once(new EventEmitter(), 'x', { signal: {} })), fails(() => on(new EventEmitter(), 'x', { signal: 1 })))
	for (const e of [new EventEmitter(), new EventTarget()]) {
		const c = new AbortController(), p = told(once(e, 'x', { signal: c.signal })), it = on(e, 'x', { signal: c.signal }), next = told(it.next())
		console.log(getEventListeners(e, 'x').length)
		c.abort()
		console.log(await p, await next, await told(it.next()), getEventListeners(e, 'x').length, getEventListeners(c.signal, 'abort').length)
	}
	const t = new EventTarget(), of = once(t, 'x'), each = on(t, 'x')
	t.dispatchEvent(new Event('x'))
	console.log((await of)[0].type, (await each.next()).value[0].type)
	const e = new EventEmitter(), it = on(e, 'x', { close: ['end', 'close'] })
	e.emit('x', 1)
	e.emit('end')
	e.emit('x', 2)
	console.log(await told(it.next()), await told(it.next()), e.eventNames().length)
	const failing = once(e, 'x')
	e.emit('error', new Error('why'))
	console.log(await told(failing), e.eventNames().length)
	const f = () => {}
	e.once('y', f).on('y', f).prependListener('y', f)
	console.log(e.listenerCount('y', f), e.off('y', f).rawListeners('y').map(l => l === f).join(), e.off('y', f).off('y', f).off('y', f).listenerCount('y'))
	const order = []
	e.on('z', () => { order.push(1); e.off('z', two); e.on('z', () => order.push(3)) })
	const two = () => order.push(2)
	e.on('z', two)
	e.emit('z')
	console.log(order.join(), e.listenerCount('z'))
})()

// Promise.any asks its class for the method resolve once.
let asked = 0
class Asked extends Promise { static get resolve() { asked++; return super.resolve } }
setTimeout(() => Asked.any([1, 2, 3]).then(v => console.log(v, asked)), 5)
