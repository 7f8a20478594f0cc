// Message channels, as the HTML standard has them.
(function (host, use) {
'use strict'
const { DOMException, Event, MessageEvent, EventTarget, idl, need, dictionary, changed, listenersOf, fire, handlerOf } = use('events')

// internal is what the constructor of ports is given here; scripts cannot have it.
const internal = Symbol('internal')

let entangle
class MessagePort extends EventTarget {
	#other = null
	#queue = []
	#started = false
	#closed = false
	#release = null
	static {
		entangle = (a, b) => { a.#other = b; b.#other = a }
	}
	constructor(key) {
		if (key !== internal) throw new TypeError('Illegal constructor')
		super()
	}
	postMessage(message, options) {
		need(arguments, 1, 'postMessage')
		const transfer = Array.isArray(options) ? options : dictionary(options).transfer || []
		if ([...transfer].includes(this)) throw new DOMException('A port cannot be posted through itself', 'DataCloneError')
		const data = use('clone').structuredClone(message, { transfer })
		const to = this.#other
		if (!to || to.#closed) return
		to.#queue.push(data)
		to.#deliver()
	}
	start() {
		if (this.#started || this.#closed) return
		this.#started = true
		this.#deliver()
	}
	close() {
		const other = this.#other
		this.#end()
		if (other) host.task(() => other.#end())
	}
	#end() {
		if (this.#closed) return
		this.#closed = true
		this.#queue = []
		this.#other = null
		this.#hold()
		host.task(() => fire(this, new Event('close')))
	}
	ref() { this.#hold(true); return this }
	unref() { this.#hold(false); return this }
	// A port with listeners keeps the program alive, as in Node, until it is closed.
	#hold(on = false) {
		if (on && !this.#release && !this.#closed) {
			this.#release = host.hold()
		} else if (!on && this.#release) {
			this.#release()
			this.#release = null
		}
	}
	[changed](type) {
		if (type === 'message') this.#hold(listenersOf(this, 'message').size > 0)
	}
	#deliver() {
		if (!this.#started) return
		for (const data of this.#queue.splice(0)) {
			host.task(() => { if (!this.#closed) fire(this, new MessageEvent('message', { data })) })
		}
	}
}
idl(MessagePort)
handlerOf(MessagePort, 'message')
handlerOf(MessagePort, 'messageerror')
{
	const d = Object.getOwnPropertyDescriptor(MessagePort.prototype, 'onmessage'), set = d.set
	d.set = function (v) { set.call(this, v); this.start() }
	Object.defineProperty(MessagePort.prototype, 'onmessage', d)
}

class MessageChannel {
	#port1 = new MessagePort(internal)
	#port2 = new MessagePort(internal)
	constructor() { entangle(this.#port1, this.#port2) }
	get port1() { return this.#port1 }
	get port2() { return this.#port2 }
}
idl(MessageChannel)

return { MessagePort, MessageChannel }
})
