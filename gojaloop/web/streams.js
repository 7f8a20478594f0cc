// Streams and blobs: readable streams with one reader, as much of the Streams standard as bodies need, and the File API's Blob.
(function (host, use) {
'use strict'
const { DOMException, idl, need, dictionary } = use('events')
const { Queue } = use('lists')
const internal = Symbol('internal')
let openReader, closeReader, pullFrom, cancelOf, stateOf, isDisturbed

class ReadableStream {
	#queue = new Queue() // of { chunk, size }
	#size = 0 // the sum of their sizes
	#waiting = new Queue() // reads: { resolve, reject }
	#state = 'readable'
	#disturbed = false
	#error
	#source
	#reader = null
	#pulling = false
	#again = false
	#started = false
	#mark
	#sizeOf
	#controller
	#closing = false
	static {
		openReader = (s, r) => {
			if (s.#reader !== null) throw new TypeError('The stream is locked to a reader')
			s.#reader = r
		}
		closeReader = (s, r) => {
			s.#reader = null
			for (const w of s.#waiting.clear()) w.reject(new TypeError('The reader was released'))
		}
		pullFrom = s => {
			s.#disturbed = true
			if (s.#queue.length) {
				const { chunk, size } = s.#queue.shift()
				s.#size -= size
				if (s.#closing && s.#queue.length === 0) s.#close()
				else s.#pull()
				return Promise.resolve({ value: chunk, done: false })
			}
			if (s.#state === 'closed') return Promise.resolve({ value: undefined, done: true })
			if (s.#state === 'errored') return Promise.reject(s.#error)
			return new Promise((resolve, reject) => {
				s.#waiting.push({ resolve, reject })
				s.#pull()
			})
		}
		cancelOf = (s, reason) => {
			s.#disturbed = true
			if (s.#state === 'closed') return Promise.resolve()
			if (s.#state === 'errored') return Promise.reject(s.#error)
			s.#queue.clear()
			s.#close()
			const { cancel } = s.#source
			try {
				return Promise.resolve(cancel === undefined ? undefined : cancel.call(s.#source, reason)).then(() => undefined)
			} catch (e) {
				return Promise.reject(e)
			}
		}
		stateOf = s => [s.#state, s.#error]
		isDisturbed = s => s.#disturbed
	}
	constructor(source = {}, strategy = {}) {
		this.#source = dictionary(source, 'The underlying source')
		if (this.#source.type !== undefined && this.#source.type !== 'bytes') throw new TypeError('The type of the underlying source is neither undefined nor "bytes"')
		const { highWaterMark: mark, size } = dictionary(strategy)
		if (size !== undefined && typeof size !== 'function') throw new TypeError('size is not a function')
		this.#sizeOf = size === undefined ? () => 1 : chunk => size(chunk)
		this.#mark = mark === undefined ? this.#source.type === 'bytes' ? 0 : 1 : Number(mark)
		if (!(this.#mark >= 0)) throw new RangeError('highWaterMark is not a number of at least 0')
		const s = this
		this.#controller = {
			get desiredSize() { return s.#state === 'errored' ? null : s.#state === 'closed' ? 0 : s.#mark - s.#size },
			enqueue(chunk) { s.#enqueue(chunk) },
			close() {
				if (s.#closing || s.#state !== 'readable') throw new TypeError('The stream is closed already')
				s.#closing = true
				if (s.#queue.length === 0) s.#close()
			},
			error(e) { s.#fail(e) },
		}
		const { start } = this.#source
		const started = start === undefined ? undefined : start.call(this.#source, this.#controller)
		Promise.resolve(started).then(() => { this.#started = true; this.#pull() }, e => this.#fail(e))
	}
	#enqueue(chunk) {
		if (this.#closing || this.#state !== 'readable') throw new TypeError('The stream is closed already')
		if (this.#waiting.length) {
			this.#waiting.shift().resolve({ value: chunk, done: false })
		} else {
			let size
			try {
				size = Number(this.#sizeOf(chunk))
				if (!(size >= 0 && size < Infinity)) throw new RangeError('The size of the chunk is not a finite number of at least 0')
			} catch (e) {
				this.#fail(e)
				throw e
			}
			this.#size += size
			this.#queue.push({ chunk, size })
		}
		this.#pull()
	}
	#close() {
		if (this.#state !== 'readable') return
		this.#state = 'closed'
		for (const w of this.#waiting.clear()) w.resolve({ value: undefined, done: true })
		if (this.#reader) this.#reader[internal].resolve()
	}
	#fail(e) {
		if (this.#state !== 'readable') return
		this.#state = 'errored'
		this.#error = e
		this.#queue.clear()
		for (const w of this.#waiting.clear()) w.reject(e)
		if (this.#reader) this.#reader[internal].reject(e)
	}
	#pull() {
		if (!this.#started || this.#state !== 'readable' || this.#closing) return
		if (!this.#waiting.length && this.#size >= this.#mark) return
		if (this.#pulling) {
			this.#again = true
			return
		}
		const { pull } = this.#source
		if (pull === undefined) return
		this.#pulling = true
		let result
		try {
			result = Promise.resolve(pull.call(this.#source, this.#controller))
		} catch (e) {
			return this.#fail(e)
		}
		result.then(() => {
			this.#pulling = false
			if (this.#again) {
				this.#again = false
				this.#pull()
			}
		}, e => this.#fail(e))
	}
	get locked() { return this.#reader !== null }
	cancel(reason) {
		if (this.#reader !== null) return Promise.reject(new TypeError('The stream is locked to a reader'))
		return cancelOf(this, reason)
	}
	getReader(options) {
		if (dictionary(options).mode !== undefined) throw new TypeError('There are no readers that bring their own buffer')
		return new ReadableStreamDefaultReader(this)
	}
	tee() {
		const reader = this.getReader()
		const controllers = [], reasons = []
		let reading = false, canceled
		const done = new Promise(resolve => { canceled = resolve })
		const each = f => {
			controllers.forEach((c, i) => {
				if (!(i in reasons)) f(c)
			})
		}
		reader.closed.catch(e => {
			each(c => c.error(e))
			canceled()
		})
		const pull = async () => {
			if (reading) return
			reading = true
			try {
				const { value, done } = await reader.read()
				each(c => done ? c.close() : c.enqueue(value))
				if (done) canceled()
			} catch (e) { /* the branches have it from closed */ }
			reading = false
		}
		const branch = i => new ReadableStream({
			start(c) { controllers.push(c) },
			pull,
			cancel(reason) {
				reasons[i] = reason
				if (0 in reasons && 1 in reasons) canceled(reader.cancel([...reasons]))
				return done
			},
		}, { highWaterMark: this.#source.type === 'bytes' ? 0 : 1 })
		return [branch(0), branch(1)]
	}
	values({ preventCancel = false } = {}) {
		const reader = this.getReader()
		let over = false
		return {
			async next() {
				if (over) return { value: undefined, done: true }
				try {
					const r = await reader.read()
					if (r.done) { over = true; reader.releaseLock() }
					return r
				} catch (e) {
					over = true
					reader.releaseLock()
					throw e
				}
			},
			async return(value) {
				if (!over) {
					over = true
					const done = preventCancel ? undefined : reader.cancel(value)
					reader.releaseLock()
					await done
				}
				return { value, done: true }
			},
			[asyncIterator]() { return this },
		}
	}
	static from(iterable) {
		const it = iterable[asyncIterator] ? iterable[asyncIterator]() : iterable[Symbol.iterator]()
		return new ReadableStream({
			async pull(c) {
				const r = await it.next()
				r.done ? c.close() : c.enqueue(await r.value)
			},
			async cancel(reason) { if (it.return) await it.return(reason) },
		}, { highWaterMark: 0 })
	}
}
// goja has no Symbol.asyncIterator of its own; compilers of for await to older JavaScript use this one.
const asyncIterator = Symbol.asyncIterator || Symbol.for('Symbol.asyncIterator')
idl(ReadableStream)
Object.defineProperty(ReadableStream.prototype, asyncIterator, { value: ReadableStream.prototype.values, writable: true, configurable: true })

class ReadableStreamDefaultReader {
	#stream
	#closed
	constructor(stream) {
		need(arguments, 1, 'ReadableStreamDefaultReader')
		if (!(stream instanceof ReadableStream)) throw new TypeError('not a ReadableStream')
		openReader(stream, this)
		this.#stream = stream
		this.#closed = new Promise((resolve, reject) => {
			Object.defineProperty(this, internal, { value: { resolve, reject } })
			const [state, error] = stateOf(stream)
			if (state === 'closed') resolve()
			if (state === 'errored') reject(error)
		})
		this.#closed.catch(() => {})
	}
	get closed() { return this.#closed }
	read() {
		if (!this.#stream) return Promise.reject(new TypeError('The reader was released'))
		return pullFrom(this.#stream)
	}
	cancel(reason) {
		if (!this.#stream) return Promise.reject(new TypeError('The reader was released'))
		return cancelOf(this.#stream, reason)
	}
	releaseLock() {
		if (!this.#stream) return
		const released = new TypeError('The reader was released')
		if (stateOf(this.#stream)[0] === 'readable') {
			this[internal].reject(released)
		} else {
			this.#closed = Promise.reject(released)
			this.#closed.catch(() => {})
		}
		closeReader(this.#stream, this)
		this.#stream = null
	}
}
idl(ReadableStreamDefaultReader)

// bytesOf returns a copy of the bytes of a buffer or view.
function bytesOf(v) {
	if (ArrayBuffer.isView(v)) return new Uint8Array(v.buffer.slice(v.byteOffset, v.byteOffset + v.byteLength))
	return new Uint8Array(v.slice(0))
}
const isBuffer = v => ArrayBuffer.isView(v) || host.classOf(v) === 'ArrayBuffer'

function concat(chunks) {
	let n = 0
	for (const c of chunks) n += c.length
	const out = new Uint8Array(n)
	n = 0
	for (const c of chunks) {
		out.set(c, n)
		n += c.length
	}
	return out
}

// mime returns a script's value as a MIME type, '' if it cannot be one.
function mime(v) {
	v = `${v}`
	return /^[\x20-\x7e]*$/.test(v) ? v.toLowerCase() : ''
}

let contentOf
class Blob {
	#bytes
	#type
	static { contentOf = b => b.#bytes }
	constructor(parts, options) {
		if (parts === undefined) parts = []
		else if (parts === null || typeof parts !== 'object' || typeof parts[Symbol.iterator] !== 'function') throw new TypeError('The "sources" argument must be a sequence')
		options = dictionary(options, 'The "options" argument')
		const native = options.endings === 'native'
		if (options.endings !== undefined && !['transparent', 'native'].includes(`${options.endings}`)) throw new TypeError('endings is neither "transparent" nor "native"')
		if (parts === owned) {
			this.#bytes = owned.bytes
			owned.bytes = null
		} else {
			this.#bytes = concat([...parts].map(p => {
				if (p instanceof Blob) return p.#bytes
				if (isBuffer(p)) return bytesOf(p)
				p = `${p}`
				return new Uint8Array(host.encode(native ? p.replace(/\r\n?/g, '\n') : p))
			}))
		}
		this.#type = options.type === undefined ? '' : mime(options.type)
	}
	get size() { return this.#bytes.length }
	get type() { return this.#type }
	slice(start = 0, end = this.size, type = '') { return blobOf(this.#bytes.slice(start, end), type) }
	async text() { return host.decode(this.#bytes) }
	async arrayBuffer() { return this.#bytes.slice().buffer }
	async bytes() { return this.#bytes.slice() }
	stream() {
		const bytes = this.#bytes
		let at = 0
		return new ReadableStream({
			type: 'bytes',
			pull(c) {
				if (at >= bytes.length) return c.close()
				c.enqueue(bytes.slice(at, at += 65536))
			},
		}, { highWaterMark: 0 })
	}
}
idl(Blob)
// owned passes bytes to a new blob without copying them.
const owned = Object.assign([], { bytes: null })
function blobOf(bytes, type) {
	owned.bytes = bytes
	return new Blob(owned, { type })
}

class File extends Blob {
	#name
	#modified
	constructor(parts, name, options) {
		need(arguments, 2, 'File')
		super(parts, options)
		this.#name = `${name}`
		const modified = dictionary(options).lastModified
		this.#modified = modified === undefined ? Date.now() : host.toLongLong(modified)
	}
	get name() { return this.#name }
	get lastModified() { return this.#modified }
	get webkitRelativePath() { return '' }
}
idl(File)

return { ReadableStream, ReadableStreamDefaultReader, Blob, File, bytesOf, isBuffer, concat, contentOf, blobOf, asyncIterator, isDisturbed }
})
