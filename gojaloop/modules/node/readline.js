// node:readline and node:readline/promises, as far as lines of an input go: no cursor, history or completion.
(function (go, require) {
'use strict'
const EventEmitter = require('events')
const closedError = () => Object.assign(new Error('readline was closed'), { code: 'ERR_USE_AFTER_CLOSE' })

class Interface extends EventEmitter {
	constructor(input, output) {
		super()
		const options = input && input.input !== undefined ? input : { input, output }
		if (!options.input || typeof options.input.on !== 'function') throw go.invalidType('input', 'instance of a stream', options.input)
		this.input = options.input
		this.output = options.output
		this.terminal = false
		this.line = ''
		this.closed = false
		this.prompting = options.prompt === undefined ? '> ' : options.prompt
		this.asked = null // the pending question, null without one
		this.iterator = null
		this.lines = []   // that came without a listener
		const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
		let rest = ''
		this.data = chunk => {
			const lines = (rest + (typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true }))).split(/\r\n|\n|\r(?!\n|$)/)
			rest = lines.pop()
			for (const l of lines) this.give(l)
		}
		this.end = () => {
			if (rest !== '') this.give(rest.replace(/\r$/, ''))
			rest = ''
			this.close()
		}
		this.input.on('end', this.end)
		this.input.on('data', this.data)
		if (options.signal) options.signal.addEventListener('abort', () => this.close())
	}
	give(line) {
		if (this.closed) return
		if (this.asked) {
			const { answer } = this.asked
			this.asked = null
			answer(line)
		} else if (this.listenerCount('line') > 0) {
			this.emit('line', line)
		} else {
			this.lines.push(line)
		}
		// Without a question or a listener no input is read, so that a program that has its answers can end.
		if (!this.closed && this.asked === null && this.listenerCount('line') === 0 && this.listenerCount('close') === 0) this.input.pause()
	}
	on(name, f) {
		super.on(name, f)
		if (name === 'line' && !this.closed) {
			for (const l of this.lines.splice(0)) this.emit('line', l)
			this.input.resume()
		}
		return this
	}
	ask(query, answer, failed) {
		if (this.closed) return failed(closedError())
		if (this.output) this.output.write(query)
		if (this.lines.length > 0) return answer(this.lines.shift())
		this.asked = { answer }
		this.input.resume()
	}
	question(query, options, callback) {
		if (typeof options === 'function') [options, callback] = [{}, options]
		this.ask(query, callback, e => { throw e })
	}
	setPrompt(text) { this.prompting = text }
	getPrompt() { return this.prompting }
	prompt() { if (this.output) this.output.write(this.prompting) }
	write(text) { if (this.output && text !== undefined) this.output.write(text) }
	pause() { this.input.pause(); this.emit('pause'); return this }
	resume() { this.input.resume(); this.emit('resume'); return this }
	close() {
		if (this.closed) return
		this.closed = true
		this.input.off('data', this.data)
		this.input.off('end', this.end)
		this.input.pause()
		this.emit('close')
	}
	[go.asyncIterator]() {
		if (this.iterator) return this.iterator
		const waiting = [], had = []
		let over = this.closed
		const give = line => waiting.length > 0 ? waiting.shift()({ value: line, done: false }) : had.push(line)
		const end = () => { over = true; for (const w of waiting.splice(0)) w({ value: undefined, done: true }) }
		this.once('close', end)
		this.on('line', give)
		return this.iterator = { // one for all loops: what came between two of them is not lost
			next: () => had.length > 0 ? Promise.resolve({ value: had.shift(), done: false }) : over ? Promise.resolve({ value: undefined, done: true }) : new Promise(resolve => waiting.push(resolve)),
			return: () => { this.close(); return Promise.resolve({ value: undefined, done: true }) },
		}
	}
}
Interface.prototype.addListener = Interface.prototype.on

class PromisesInterface extends Interface {
	question(query, { signal } = {}) {
		return new Promise((resolve, reject) => {
			if (signal && signal.aborted) return reject(go.aborted(signal))
			const stop = () => { this.asked = null; reject(go.aborted(signal)) }
			if (signal) signal.addEventListener('abort', stop)
			this.ask(query, line => { if (signal) signal.removeEventListener('abort', stop); resolve(line) }, reject)
		})
	}
}
const writes = text => (stream, ...rest) => { stream.write(text(...rest)); const f = rest.pop(); if (typeof f === 'function') process.nextTick(f); return true }
return {
	Interface, createInterface: (input, output) => new Interface(input, output),
	clearLine: writes(dir => dir < 0 ? '\x1b[1K' : dir > 0 ? '\x1b[0K' : '\x1b[2K'),
	cursorTo: writes((x, y) => typeof y === 'number' ? `\x1b[${y + 1};${x + 1}H` : `\x1b[${x + 1}G`),
	moveCursor: writes((dx, dy) => (dx < 0 ? `\x1b[${-dx}D` : dx > 0 ? `\x1b[${dx}C` : '') + (dy < 0 ? `\x1b[${-dy}A` : dy > 0 ? `\x1b[${dy}B` : '')),
	clearScreenDown: writes(() => '\x1b[0J'),
	promises: { Interface: PromisesInterface, createInterface: (input, output) => new PromisesInterface(input, output) },
}
})
