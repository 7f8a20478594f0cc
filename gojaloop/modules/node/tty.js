// node:tty, and the standard streams.
(function (go, require) {
'use strict'
const { Readable, Writable } = require('stream'), { Buffer } = require('buffer')
const isatty = fd => Number.isInteger(fd) && fd >= 0 && fd < 2 ** 31 && go.tty(fd).is
const check = fd => { if (!Number.isInteger(fd) || fd < 0 || fd > 2 ** 31 - 1) throw Object.assign(new RangeError(`"fd" must be a positive integer: ${fd}`), { code: 'ERR_INVALID_FD' }) }

// Input reads a descriptor that other processes write to. A read that is under way keeps the program alive only while somebody wants it, and nothing waits for it.
function Input(fd, options) {
	Readable.call(this, { highWaterMark: 65536, ...options })
	const hidden = (name, value) => Object.defineProperty(this, name, { value, writable: true })
	this.fd = fd
	hidden('work', null)
	hidden('held', true)
	this.on('pause', () => { if (this.work) this.work.cancel() })
}
go.inherit(Input, Readable)
Object.assign(Input.prototype, {
	_read() {
		if (this.work) return
		const state = this._readableState
		if (state.flowing === false && !state.readableListening) return void (state.reading = false) // it is paused: what flows on, or listens, asks again
		const work = this.work = go.begin('input', r => {
			if (this.work === work) this.work = null
			if (r.failure) {
				this.destroy(this.destroyed ? undefined : go.systemError(r.failure))
			} else if (r.value !== null) {
				this.push(r.value.byteLength === 0 ? null : Buffer.from(r.value))
			} else if (this.work === null) { // it was cancelled
				this._readableState.reading = false
				if (this._readableState.flowing) this.read(0)
			}
		}, this.fd)
		if (!this.held) work.unref()
	},
	_destroy(e, callback) {
		if (this.work) this.work.cancel()
		this.work = null
		if (this.fd > 2) go.begin('fclose', () => callback(e), this.fd)
		else callback(e)
	},
	ref() { this.held = true; if (this.work) this.work.ref(); return this },
	unref() { this.held = false; if (this.work) this.work.unref(); return this },
})

// Output writes to a descriptor: to the standard ones at once, to others when the reader takes it.
function Output(fd, options) {
	Writable.call(this, { decodeStrings: false, ...options })
	this.fd = fd
}
go.inherit(Output, Writable)
Object.assign(Output.prototype, {
	_write(chunk, encoding, callback) {
		if (typeof chunk === 'string') {
			if (/^utf-?8$/i.test(encoding) && (this.fd === 1 || this.fd === 2)) { go.print(this.fd === 2, chunk); return callback() }
			chunk = Buffer.from(chunk, encoding)
		}
		if (this.fd === 1 || this.fd === 2) { go.write(this.fd === 2, new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength)); return callback() }
		go.begin('fwrite', r => callback(r.failure ? go.systemError(r.failure) : null), this.fd, chunk.buffer.slice(chunk.byteOffset, chunk.byteOffset + chunk.byteLength), -1)
	},
	_destroy(e, callback) {
		if (this.fd > 2) go.begin('fclose', () => callback(e), this.fd)
		else callback(e)
	},
	ref() { return this }, unref() { return this },
})

function ReadStream(fd, options) {
	if (!(this instanceof ReadStream)) return new ReadStream(fd, options)
	check(fd)
	Input.call(this, fd, options)
	this.isTTY = true
	this.isRaw = false
}
Object.setPrototypeOf(ReadStream.prototype, Input.prototype)
ReadStream.prototype.setRawMode = function (raw) {
	const { failure } = go.raw(this.fd, Boolean(raw))
	if (failure) this.emit('error', go.systemError(failure))
	else this.isRaw = Boolean(raw)
	return this
}
function WriteStream(fd) {
	if (!(this instanceof WriteStream)) return new WriteStream(fd)
	check(fd)
	Output.call(this, fd)
	this.isTTY = true
}
Object.setPrototypeOf(WriteStream.prototype, Output.prototype)
const { clearLine, cursorTo, moveCursor, clearScreenDown } = require('readline')
Object.assign(WriteStream.prototype, {
	clearLine(...args) { return clearLine(this, ...args) }, cursorTo(...args) { return cursorTo(this, ...args) },
	moveCursor(...args) { return moveCursor(this, ...args) }, clearScreenDown(...args) { return clearScreenDown(this, ...args) },
	getWindowSize() { return [this.columns, this.rows] },
	getColorDepth(env = process.env) {
		if (env.FORCE_COLOR !== undefined) return { '': 4, 1: 4, true: 4, 2: 8, 3: 24 }[env.FORCE_COLOR] || 1
		if (env.NODE_DISABLE_COLORS || env.NO_COLOR || env.TERM === 'dumb') return 1
		return /^(truecolor|24bit)$/.test(env.COLORTERM) ? 24 : /256/.test(env.TERM) ? 8 : env.TERM ? 4 : 1
	},
	hasColors(n = 16, env) { return typeof n === 'number' ? n <= 2 ** this.getColorDepth(env) : 16 <= 2 ** this.getColorDepth(n) },
})
for (const [name, otherwise] of [['columns', 80], ['rows', 24]]) {
	Object.defineProperty(WriteStream.prototype, name, { configurable: true, get() { return go.tty(this.fd)[name] || otherwise }, set(value) { Object.defineProperty(this, name, { value, writable: true, configurable: true }) } })
}
go.Input = Input
go.Output = Output
return { isatty, ReadStream, WriteStream }
})
