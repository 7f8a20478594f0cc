// node:stream and stream/promises: Readable, Writable, Duplex, Transform and PassThrough. The states have Node's names, since packages read them.
(function (go, require) {
'use strict'
const EventEmitter = require('events'), { Buffer } = require('buffer'), { StringDecoder } = require('string_decoder'), { Queue } = go.module('lists')
const { asyncIterator, aborted, inherit, define } = go, nextTick = process.nextTick, nop = () => {}
const fail = (code, message, C = Error) => Object.assign(new C(message), { code })
const destroyedError = call => fail('ERR_STREAM_DESTROYED', `Cannot call ${call} after a stream was destroyed`)
const premature = () => fail('ERR_STREAM_PREMATURE_CLOSE', 'Premature close')
const marks = { bytes: 16384, objects: 16 }

// Stream is the old base of all streams, with a pipe that knows events only.
function Stream(options) { EventEmitter.call(this, options) }
inherit(Stream, EventEmitter)
define(Stream, {
	pipe(to, options) {
		let over = false
		const listeners = [
			[this, 'data', chunk => { if (to.writable && to.write(chunk) === false && this.pause) this.pause() }],
			[to, 'drain', () => { if (this.readable && this.resume) this.resume() }],
		]
		const clear = () => { for (const [e, name, f] of listeners) e.removeListener(name, f) }
		const error = function (e) { clear(); if (this.listenerCount('error') === 0) this.emit('error', e) }
		if (!to._isStdio && (!options || options.end !== false)) {
			listeners.push([this, 'end', () => { if (!over) { over = true; to.end() } }])
			listeners.push([this, 'close', () => { if (!over) { over = true; if (typeof to.destroy === 'function') to.destroy() } }])
		}
		listeners.push([this, 'end', clear], [this, 'close', clear], [to, 'close', clear], [this, 'error', error], [to, 'error', error])
		for (const [e, name, f] of listeners) e.on(name, f)
		to.emit('pipe', this)
		return to
	},
	eventNames() { return Reflect.ownKeys(this._events || {}).filter(n => this.listenerCount(n) > 0) },
})

// What readable and writable sides have in common: construction, errors and the end.

function commonState(s, options, side, duplex) {
	const objects = Boolean(options && (options.objectMode || duplex && options[side + 'ObjectMode']))
	let mark = options && options.highWaterMark
	if (duplex && options && options[side + 'HighWaterMark'] !== undefined && mark === undefined) mark = options[side + 'HighWaterMark']
	if (mark === undefined || mark === null) mark = objects ? marks.objects : marks.bytes
	if (!Number.isInteger(+mark) || mark < 0) throw fail('ERR_INVALID_ARG_VALUE', `The property 'options.${duplex && options[side + 'HighWaterMark'] !== undefined ? side + 'HighWaterMark' : 'highWaterMark'}' is invalid. Received ${go.inspect(mark)}`, TypeError)
	return Object.assign(s, {
		objectMode: objects, highWaterMark: Math.floor(mark), length: 0, ended: false, constructed: true, sync: true, errorEmitted: false,
		emitClose: !options || options.emitClose !== false, autoDestroy: !options || options.autoDestroy !== false,
		destroyed: false, errored: null, closed: false, closeEmitted: false, defaultEncoding: options && options.defaultEncoding || 'utf8',
	})
}
const states = s => [s._readableState, s._writableState].filter(Boolean)
const note = (s, e) => { for (const x of states(s)) if (!x.errored) x.errored = e }
const constructed = Symbol('constructed')

// begin is called at the end of each constructor: options may bring methods and a signal, and _construct comes before all work.
function begin(s, options, names) {
	if (options) {
		for (const n of [...names, 'destroy', 'construct']) if (typeof options[n] === 'function') s['_' + n] = options[n]
		if (options.signal) addAbortSignal(options.signal, s)
	}
	if (typeof s._construct !== 'function' || states(s).some(x => !x.constructed)) return
	for (const x of states(s)) x.constructed = false
	nextTick(() => {
		let called = false
		const done = e => {
			if (called) return errorOrDestroy(s, e || fail('ERR_MULTIPLE_CALLBACK', 'Callback called multiple times'))
			called = true
			for (const x of states(s)) x.constructed = true
			s.emit(constructed, e)
			if (s.destroyed) return
			if (e) return errorOrDestroy(s, e, true)
			if (s._writableState) { clearBuffer(s, s._writableState); finishMaybe(s, s._writableState) }
			if (s._readableState) maybeReadMore(s, s._readableState)
		}
		try { s._construct(e => nextTick(done, e)) } catch (e) { nextTick(done, e) }
	})
}

function destroy(e, callback) {
	const all = states(this)
	if (all.some(x => x.destroyed)) { if (typeof callback === 'function') callback(); return this }
	if (e) note(this, e)
	for (const x of all) x.destroyed = true
	const close = e => {
		let called = false
		const done = e => {
			if (called) return
			called = true
			if (e) note(this, e)
			for (const x of all) x.closed = true
			if (typeof callback === 'function') callback(e)
			nextTick(() => {
				if (e) emitError(this, e)
				for (const x of all) x.closeEmitted = true
				if (all.some(x => x.emitClose)) this.emit('close')
			})
		}
		try { this._destroy(e || null, done) } catch (e) { done(e) }
	}
	if (all.every(x => x.constructed)) close(e)
	else this.once(constructed, e2 => close(e || e2))
	return this
}
function emitError(s, e) {
	if (states(s).some(x => x.errorEmitted)) return
	for (const x of states(s)) x.errorEmitted = true
	s.emit('error', e)
}
function errorOrDestroy(s, e, sync) {
	if (states(s).some(x => x.destroyed)) return
	if (states(s).some(x => x.autoDestroy)) return void s.destroy(e)
	note(s, e)
	if (sync) nextTick(emitError, s, e)
	else emitError(s, e)
}
const common = {
	destroy,
	_destroy(e, callback) { callback(e) },
	get destroyed() { return states(this).some(x => x.destroyed) },
	set destroyed(v) { for (const x of states(this)) x.destroyed = v },
	get closed() { return states(this).every(x => x.closed) },
	get errored() { return states(this).reduce((e, x) => e || x.errored, null) },
}

// told adds getters for properties of a side's state, by the getter's name.
const told = (C, state, names) => {
	for (const [name, of] of Object.entries(names)) define(C, Object.defineProperty({}, name, { get() { return this[state][of] }, enumerable: true, configurable: true }))
}

// Readable.

function ReadableState(options, stream, duplex) {
	commonState(this, options, 'readable', duplex)
	Object.assign(this, {
		buffer: new Queue(), pipes: [], flowing: null, endEmitted: false, reading: false, needReadable: false, emittedReadable: false, readableListening: false,
		resumeScheduled: false, awaitDrainWriters: new Set(), readingMore: false, dataEmitted: false, decoder: null, encoding: null, paused: null,
	})
	if (options && options.encoding) { this.decoder = new StringDecoder(options.encoding); this.encoding = options.encoding }
}
function Readable(options) {
	if (!(this instanceof Readable)) return new Readable(options)
	const duplex = typeof Duplex === 'function' && this instanceof Duplex
	this._readableState = new ReadableState(options, this, duplex)
	Stream.call(this, options)
	if (!duplex) begin(this, options, ['read'])
}
inherit(Readable, Stream)
Readable.ReadableState = ReadableState

function add(s, chunk, encoding, first) {
	const r = s._readableState
	let wrong
	if (!r.objectMode) {
		if (typeof chunk === 'string') {
			encoding = encoding || r.defaultEncoding
			if (r.encoding !== encoding) {
				chunk = Buffer.from(chunk, encoding)
				if (first && r.encoding) chunk = chunk.toString(r.encoding)
				else encoding = ''
			}
		} else if (chunk instanceof Uint8Array) {
			if (!(chunk instanceof Buffer)) chunk = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
			encoding = ''
		} else if (chunk !== undefined && chunk !== null) {
			wrong = go.invalidType('chunk', 'string or an instance of Buffer or Uint8Array', chunk)
		}
	}
	if (wrong) {
		errorOrDestroy(s, wrong)
	} else if (chunk === null) {
		r.reading = false
		endOfChunks(s, r)
	} else if (r.objectMode || chunk && chunk.length > 0) {
		if (first) {
			if (r.endEmitted) errorOrDestroy(s, fail('ERR_STREAM_UNSHIFT_AFTER_END_EVENT', 'stream.unshift() after end event'))
			else if (r.destroyed || r.errored) return false
			else addChunk(s, r, chunk, true)
		} else if (r.ended) {
			errorOrDestroy(s, fail('ERR_STREAM_PUSH_AFTER_EOF', 'stream.push() after EOF'))
		} else if (r.destroyed || r.errored) {
			return false
		} else {
			r.reading = false
			if (r.decoder && !encoding) chunk = r.decoder.write(chunk)
			if (r.objectMode || chunk.length !== 0) addChunk(s, r, chunk, false)
			else maybeReadMore(s, r)
		}
	} else if (!first) {
		r.reading = false
		maybeReadMore(s, r)
	}
	return !r.ended && (r.length < r.highWaterMark || r.length === 0)
}
function addChunk(s, r, chunk, first) {
	if (r.flowing && r.length === 0 && !r.sync && s.listenerCount('data') > 0) {
		r.awaitDrainWriters.clear()
		r.dataEmitted = true
		s.emit('data', chunk)
	} else {
		r.length += r.objectMode ? 1 : chunk.length
		first ? r.buffer.unshift(chunk) : r.buffer.push(chunk)
		if (r.needReadable) emitReadable(s)
	}
	maybeReadMore(s, r)
}
function endOfChunks(s, r) {
	if (r.ended) return
	const rest = r.decoder ? r.decoder.end() : ''
	if (rest && rest.length) { r.buffer.push(rest); r.length += r.objectMode ? 1 : rest.length }
	r.ended = true
	if (r.sync) return emitReadable(s)
	r.needReadable = false
	r.emittedReadable = true
	readableNow(s)
}
function emitReadable(s) {
	const r = s._readableState
	r.needReadable = false
	if (r.emittedReadable) return
	r.emittedReadable = true
	nextTick(readableNow, s)
}
function readableNow(s) {
	const r = s._readableState
	if (!r.destroyed && !r.errored && (r.length || r.ended)) {
		s.emit('readable')
		r.emittedReadable = false
	}
	r.needReadable = !r.flowing && !r.ended && r.length <= r.highWaterMark
	flow(s)
}
function maybeReadMore(s, r) {
	if (r.readingMore || !r.constructed) return
	r.readingMore = true
	nextTick(() => {
		while (!r.reading && !r.ended && (r.length < r.highWaterMark || r.flowing && r.length === 0)) {
			const before = r.length
			s.read(0)
			if (before === r.length) break
		}
		r.readingMore = false
	})
}
function flow(s) { while (s._readableState.flowing && s.read() !== null); }
function much(n, r) {
	if (n <= 0 || r.length === 0 && r.ended) return 0
	if (r.objectMode) return 1
	if (Number.isNaN(n)) return r.flowing && r.length ? r.buffer.first().length : r.length
	return n <= r.length ? n : r.ended ? r.length : 0
}
function take(n, r) {
	if (r.length === 0) return null
	if (r.objectMode) return r.buffer.shift()
	if (n === r.buffer.first().length) return r.buffer.shift()
	const parts = []
	for (let left = n; left > 0;) {
		const c = r.buffer.shift()
		if (c.length > left) r.buffer.unshift(c.slice(left))
		parts.push(c.length > left ? c.slice(0, left) : c)
		left -= c.length
	}
	return r.decoder ? parts.join('') : parts.length === 1 ? parts[0] : Buffer.concat(parts, n)
}
function endReadable(s) {
	const r = s._readableState
	if (r.endEmitted) return
	r.ended = true
	nextTick(() => {
		if (r.errored || r.closeEmitted || r.endEmitted || r.length !== 0) return
		r.endEmitted = true
		s.emit('end')
		const w = s._writableState
		if (s.writable && s.allowHalfOpen === false) nextTick(() => { if (s.writable && !s.writableEnded && !s.destroyed) s.end() })
		else if (r.autoDestroy && (!w || w.autoDestroy && (w.finished || w.writable === false))) s.destroy()
	})
}
function listenReadable(s) {
	const r = s._readableState
	r.readableListening = s.listenerCount('readable') > 0
	if (r.resumeScheduled && r.paused === false) r.flowing = true
	else if (s.listenerCount('data') > 0) s.resume()
	else if (!r.readableListening) r.flowing = null
}

define(Readable, common)
define(Readable, {
	push(chunk, encoding) { return add(this, chunk, encoding, false) },
	unshift(chunk, encoding) { return add(this, chunk, encoding, true) },
	isPaused() { return this._readableState.paused === true || this._readableState.flowing === false },
	setEncoding(encoding) {
		const r = this._readableState, decoder = new StringDecoder(encoding), text = [...r.buffer].map(c => decoder.write(c)).join('')
		r.decoder = decoder
		r.encoding = decoder.encoding
		r.buffer.clear()
		if (text !== '') r.buffer.push(text)
		r.length = text.length
		return this
	},
	read(n) {
		const r = this._readableState, asked = n === undefined ? NaN : Number.parseInt(n, 10)
		n = asked
		if (n > r.highWaterMark) r.highWaterMark = 2 ** Math.ceil(Math.log2(n))
		if (n !== 0) r.emittedReadable = false
		if (n === 0 && r.needReadable && ((r.highWaterMark !== 0 ? r.length >= r.highWaterMark : r.length > 0) || r.ended)) {
			if (r.length === 0 && r.ended) endReadable(this)
			else emitReadable(this)
			return null
		}
		n = much(n, r)
		if (n === 0 && r.ended) {
			if (r.length === 0) endReadable(this)
			return null
		}
		if ((r.needReadable || r.length === 0 || r.length - n < r.highWaterMark) && !r.ended && !r.reading && !r.destroyed && !r.errored && r.constructed) {
			r.reading = r.sync = true
			if (r.length === 0) r.needReadable = true
			try { this._read(r.highWaterMark) } catch (e) { errorOrDestroy(this, e) }
			r.sync = false
			if (!r.reading) n = much(asked, r)
		}
		const chunk = n > 0 ? take(n, r) : null
		if (chunk === null) {
			r.needReadable = r.length <= r.highWaterMark
			n = 0
		} else {
			r.length -= n
			if (r.pipes.length < 2) r.awaitDrainWriters.clear()
		}
		if (r.length === 0) {
			if (!r.ended) r.needReadable = true
			if (asked !== n && r.ended) endReadable(this)
		}
		if (chunk !== null && !r.errorEmitted && !r.closeEmitted) {
			r.dataEmitted = true
			this.emit('data', chunk)
		}
		return chunk
	},
	_read() { throw fail('ERR_METHOD_NOT_IMPLEMENTED', 'The _read() method is not implemented') },
	pipe(to, options) {
		const r = this._readableState
		r.pipes.push(to)
		const end = () => to.end(), unpipe = () => this.unpipe(to)
		const over = (!options || options.end !== false) && to !== process.stdout && to !== process.stderr ? end : unpipe
		let cleaned = false, drains = false
		const drain = () => {
			r.awaitDrainWriters.delete(to)
			if (r.awaitDrainWriters.size === 0 && this.listenerCount('data') > 0) this.resume()
		}
		const data = chunk => {
			if (to.write(chunk) !== false || cleaned) return
			if (r.pipes.includes(to)) r.awaitDrainWriters.add(to)
			this.pause()
			if (!drains) { drains = true; to.on('drain', drain) }
		}
		const error = e => {
			unpipe()
			to.removeListener('error', error)
			if (to.listenerCount('error') > 0) return
			const x = to._writableState || to._readableState
			if (x && !x.errorEmitted) errorOrDestroy(to, e)
			else to.emit('error', e)
		}
		const close = () => { to.removeListener('finish', finish); unpipe() }
		const finish = () => { to.removeListener('close', close); unpipe() }
		const onUnpipe = (from, info) => {
			if (from !== this || !info || info.hasUnpiped) return
			info.hasUnpiped = cleaned = true
			for (const [name, f] of [['close', close], ['finish', finish], ['drain', drain], ['error', error], ['unpipe', onUnpipe]]) to.removeListener(name, f)
			for (const [name, f] of [['end', end], ['end', unpipe], ['data', data]]) this.removeListener(name, f)
			if (drains && r.awaitDrainWriters.has(to)) drain()
		}
		if (r.endEmitted) nextTick(over)
		else this.once('end', over)
		to.on('unpipe', onUnpipe)
		this.on('data', data)
		if (typeof to.prependListener === 'function') to.prependListener('error', error)
		else to.on('error', error)
		to.once('close', close)
		to.once('finish', finish)
		to.emit('pipe', this)
		if (to.writableNeedDrain === true) { r.awaitDrainWriters.add(to); drains = true; to.on('drain', drain); this.pause() }
		else if (!r.flowing) this.resume()
		return to
	},
	unpipe(to) {
		const r = this._readableState
		if (r.pipes.length === 0) return this
		const gone = to === undefined ? r.pipes : r.pipes.filter(p => p === to)
		if (gone.length === 0) return this
		r.pipes = to === undefined ? [] : r.pipes.filter(p => p !== to)
		if (r.pipes.length === 0) this.pause()
		for (const p of gone) p.emit('unpipe', this, { hasUnpiped: false })
		return this
	},
	on(name, f) {
		Stream.prototype.on.call(this, name, f)
		const r = this._readableState
		if (name === 'data') {
			r.readableListening = this.listenerCount('readable') > 0
			if (r.flowing !== false) this.resume()
		} else if (name === 'readable' && !r.endEmitted && !r.readableListening) {
			r.readableListening = r.needReadable = true
			r.flowing = false
			r.emittedReadable = false
			if (r.length) emitReadable(this)
			else if (!r.reading) nextTick(() => this.read(0))
		}
		return this
	},
	removeListener(name, f) {
		Stream.prototype.removeListener.call(this, name, f)
		if (name === 'readable') nextTick(listenReadable, this)
		return this
	},
	removeAllListeners(...args) {
		Stream.prototype.removeAllListeners.apply(this, args)
		if (args.length === 0 || args[0] === 'readable') nextTick(listenReadable, this)
		return this
	},
	resume() {
		const r = this._readableState
		if (!r.flowing) {
			r.flowing = !r.readableListening
			if (!r.resumeScheduled) {
				r.resumeScheduled = true
				nextTick(() => {
					if (!r.reading) this.read(0)
					r.resumeScheduled = false
					this.emit('resume')
					flow(this)
					if (r.flowing && !r.reading) this.read(0)
				})
			}
		}
		r.paused = false
		return this
	},
	pause() {
		const r = this._readableState
		if (r.flowing !== false) {
			r.flowing = false
			this.emit('pause')
		}
		r.paused = true
		return this
	},
	wrap(old) {
		let paused = false
		old.on('data', chunk => { if (!this.push(chunk) && old.pause) { paused = true; old.pause() } })
		old.on('end', () => this.push(null))
		old.on('error', e => errorOrDestroy(this, e))
		old.on('close', () => this.destroy())
		this._read = () => { if (paused && old.resume) { paused = false; old.resume() } }
		return this
	},
	iterator(options) { return iterate(this, options) },
	[asyncIterator]() { return iterate(this) },
	get readable() { const r = this._readableState; return Boolean(r) && r.readable !== false && !r.destroyed && !r.errorEmitted && !r.endEmitted },
	set readable(v) { if (this._readableState) this._readableState.readable = Boolean(v) },
	get readableAborted() { const r = this._readableState; return r.readable !== false && (r.destroyed || Boolean(r.errored)) && !r.endEmitted },
	get readableFlowing() { return this._readableState.flowing },
	set readableFlowing(v) { this._readableState.flowing = v },
})
told(Readable, '_readableState', { readableHighWaterMark: 'highWaterMark', readableBuffer: 'buffer', readableLength: 'length', readableObjectMode: 'objectMode',
	readableEncoding: 'encoding', readableEnded: 'endEmitted', readableDidRead: 'dataEmitted' })
Readable.prototype.addListener = Readable.prototype.on
Readable.prototype.off = Readable.prototype.removeListener

// iterate returns an async iterator over the chunks of a stream. goja has no async generators: requests stand in a line.
function iterate(s, options) {
	const stays = options && options.destroyOnReturn === false
	let over = false, wake, ended, error, line = Promise.resolve(), listening = false
	const awake = () => { if (wake) { const f = wake; wake = undefined; f() } }
	let clear = nop
	const listen = () => {
		listening = true
		if (typeof s.read !== 'function') s = new Readable({ objectMode: true }).wrap(s)
		s.on('readable', awake)
		clear = finished(s, { writable: false }, e => { ended = true; error = e; awake() })
	}
	const end = destroys => {
		over = true
		s.removeListener('readable', awake)
		clear()
		if (destroys && (error !== undefined || !stays) && (error === undefined || s._readableState && s._readableState.autoDestroy)) s.destroy(null)
	}
	const next = async () => {
		if (!listening) listen()
		for (;;) {
			if (over) return { value: undefined, done: true }
			const chunk = s.destroyed ? null : s.read()
			if (chunk !== null) return { value: chunk, done: false }
			if (error) { const e = error; end(true); throw e }
			if (ended) { end(false); return { value: undefined, done: true } }
			await new Promise(resolve => { wake = resolve })
		}
	}
	const later = f => { const p = line.then(f); line = p.catch(nop); return p }
	return {
		next: () => later(next),
		return: value => later(() => { if (!over) { if (!listening) listen(); end(true) } return { value, done: true } }),
		throw: e => later(() => { if (!over) { if (!listening) listen(); end(true) } throw e }),
		[asyncIterator]() { return this },
	}
}
const iteratorOf = v => typeof v[asyncIterator] === 'function' ? v[asyncIterator]() : v[Symbol.iterator]()
// each calls f with each value, until f returns true.
async function each(v, f) {
	const it = iteratorOf(v)
	for (;;) {
		const r = await it.next()
		if (r.done) return r.value
		let stop = true
		try { stop = await f(await r.value) } finally { if (stop && it.return) await it.return() }
		if (stop) return undefined
	}
}

Readable.from = (iterable, options) => from(iterable, options)
function from(iterable, options) {
	if (typeof iterable === 'string' || iterable instanceof Buffer) {
		return new Readable({ objectMode: true, ...options, read() { this.push(iterable); this.push(null) } })
	}
	if (!iterable || !iterable[asyncIterator] && !iterable[Symbol.iterator]) throw go.invalidType('iterable', 'instance of Iterable', iterable)
	const it = iteratorOf(iterable)
	let reading = false
	const s = new Readable({ objectMode: true, highWaterMark: 1, ...options })
	s._read = async () => {
		if (reading) return
		reading = true
		try {
			for (;;) {
				let r = it.next()
				if (r && typeof r.then === 'function') r = await r
				if (r.done) { s.push(null); break }
				const value = r.value && typeof r.value.then === 'function' ? await r.value : r.value
				if (value === null) throw fail('ERR_STREAM_NULL_VALUES', 'May not write null values to stream', TypeError)
				if (!s.push(value)) break
			}
		} catch (e) { s.destroy(e) }
		reading = false
	}
	s._destroy = (e, callback) => {
		const close = async () => {
			if (e && typeof it.throw === 'function') { const r = await it.throw(e); await r.value; if (r.done) return }
			if (typeof it.return === 'function') await (await it.return()).value
		}
		close().then(() => nextTick(callback, e), e2 => nextTick(callback, e || e2))
	}
	return s
}

// The helpers of iterators. Those that make a stream call f for up to concurrency chunks at once.
function through(s, options, f) {
	const { signal, concurrency = 1 } = options || {}
	const source = iteratorOf(s), waiting = []
	let over = false
	const out = from({ [asyncIterator]: () => ({
		async next() {
			for (;;) {
				while (!over && waiting.length < concurrency) waiting.push(source.next().then(async r => { if (r.done) { over = true; return r } return { values: await f(await r.value), done: false } }))
				if (waiting.length === 0) return { value: undefined, done: true }
				const r = await waiting.shift()
				if (r.done) { over = true; continue }
				if (r.values.end) { await this.return(); return { value: undefined, done: true } }
				if (r.values.length) return { value: r.values[0], done: false }
			}
		},
		async return() { over = true; waiting.length = 0; if (source.return) await source.return(); return { value: undefined, done: true } },
	}) })
	if (signal) addAbortSignal(signal, out)
	return out
}
const needFunction = f => { if (typeof f !== 'function') throw go.invalidType('fn', 'function', f); return f }
const found = async (s, f, want, otherwise, result) => { let r = otherwise; await each(s, async v => { if (Boolean(await f(v)) === want) { r = result(v); return true } }); return r }
define(Readable, {
	map(f, o) { needFunction(f); return through(this, o, async v => [await f(v, { signal: o && o.signal })]) },
	filter(f, o) { needFunction(f); return through(this, o, async v => await f(v) ? [v] : []) },
	async forEach(f) { needFunction(f); await each(this, async v => { await f(v) }) },
	async toArray() { const all = []; await each(this, v => { all.push(v) }); return all },
	async some(f) { return found(this, needFunction(f), true, false, () => true) },
	async every(f) { return found(this, needFunction(f), false, true, () => false) },
	async find(f) { return found(this, needFunction(f), true, undefined, v => v) },
	async reduce(f, ...rest) {
		let has = rest.length > 0, v = rest[0]
		await each(this, async x => { v = has ? await f(v, x) : x; has = true })
		if (!has) throw Object.assign(new TypeError('Reduce of an empty stream requires an initial value'), { code: 'ERR_MISSING_ARGS' })
		return v
	},
	take(n) { let i = 0; return n > 0 ? through(this, undefined, v => i++ < n ? [v] : { end: true }) : from([]) },
	drop(n) { let i = 0; return through(this, undefined, v => i++ < n ? [] : [v]) },
	flatMap(f) {
		const source = iteratorOf(this)
		let inner = null
		return from({ [asyncIterator]: () => ({
			async next() {
				for (;;) {
					if (inner === null) {
						const r = await source.next()
						if (r.done) return r
						inner = iteratorOf(await f(r.value))
					}
					const r = await inner.next()
					if (!r.done) return { value: await r.value, done: false }
					inner = null
				}
			},
			async return() { if (source.return) await source.return(); return { value: undefined, done: true } },
		}) })
	},
})

// Writable.

function WritableState(options, stream, duplex) {
	commonState(this, options, 'writable', duplex)
	Object.assign(this, {
		finalCalled: false, needDrain: false, ending: false, finished: false, decodeStrings: !options || options.decodeStrings !== false, writing: false,
		corked: 0, bufferProcessing: false, writecb: null, writelen: 0, afterWrite: null, buffered: new Queue(), pendingcb: 0, prefinished: false, onFinished: [],
	})
	this.onwrite = e => onWrite(stream, this, e)
}
WritableState.prototype.getBuffer = function () { return [...this.buffered] }
function Writable(options) {
	const duplex = typeof Duplex === 'function' && this instanceof Duplex
	if (!duplex && !(this instanceof Writable)) return new Writable(options)
	this._writableState = new WritableState(options, this, duplex)
	Stream.call(this, options)
	if (!duplex) begin(this, options, ['write', 'writev', 'final'])
}
inherit(Writable, Stream)
Writable.WritableState = WritableState
Object.defineProperty(Writable, Symbol.hasInstance, { value(o) {
	return Function.prototype[Symbol.hasInstance].call(this, o) || this === Writable && Boolean(o) && o._writableState instanceof WritableState
} })

function write(s, chunk, encoding, callback) {
	const w = s._writableState
	if (typeof encoding === 'function') [callback, encoding] = [encoding, undefined]
	if (!encoding) encoding = w.defaultEncoding
	else if (encoding !== 'buffer' && !Buffer.isEncoding(encoding)) throw fail('ERR_UNKNOWN_ENCODING', `Unknown encoding: ${encoding}`, TypeError)
	if (typeof callback !== 'function') callback = nop
	if (chunk === null) throw fail('ERR_STREAM_NULL_VALUES', 'May not write null values to stream', TypeError)
	if (!w.objectMode) {
		if (typeof chunk === 'string') {
			if (w.decodeStrings) { chunk = Buffer.from(chunk, encoding); encoding = 'buffer' }
		} else if (chunk instanceof Uint8Array) {
			if (!(chunk instanceof Buffer)) chunk = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
			encoding = 'buffer'
		} else {
			throw go.invalidType('chunk', 'string or an instance of Buffer or Uint8Array', chunk)
		}
	}
	const e = w.ending ? fail('ERR_STREAM_WRITE_AFTER_END', 'write after end') : w.destroyed ? destroyedError('write') : undefined
	if (e) {
		nextTick(callback, e)
		errorOrDestroy(s, e, true)
		return e
	}
	w.pendingcb++
	const length = w.objectMode ? 1 : chunk.length
	w.length += length
	const more = w.length < w.highWaterMark
	if (!more) w.needDrain = true
	if (w.writing || w.corked || w.errored || !w.constructed) w.buffered.push({ chunk, encoding, callback })
	else doWrite(s, w, length, callback, () => s._write(chunk, encoding, w.onwrite))
	return more && !w.errored && !w.destroyed
}
function doWrite(s, w, length, callback, f) {
	w.writelen = length
	w.writecb = callback
	w.writing = w.sync = true
	if (w.destroyed) w.onwrite(destroyedError('write'))
	else f()
	w.sync = false
}
function onWrite(s, w, e) {
	const { sync, writecb } = w
	if (typeof writecb !== 'function') return errorOrDestroy(s, fail('ERR_MULTIPLE_CALLBACK', 'Callback called multiple times'))
	w.writing = false
	w.writecb = null
	w.length -= w.writelen
	w.writelen = 0
	if (e) {
		note(s, e)
		const failed = () => { w.pendingcb--; writecb(e); errorBuffer(w); errorOrDestroy(s, e) }
		return sync ? nextTick(failed) : failed()
	}
	if (w.buffered.length > 0) clearBuffer(s, w)
	if (!sync) return afterWrite(s, w, 1, writecb)
	// Writes without a callback share a tick.
	if (w.afterWrite !== null && w.afterWrite.callback === writecb) return void w.afterWrite.count++
	const mine = w.afterWrite = { count: 1, callback: writecb }
	nextTick(() => { w.afterWrite = null; afterWrite(s, w, mine.count, writecb) })
}
function afterWrite(s, w, count, callback) {
	if (!w.ending && !s.destroyed && w.length === 0 && w.needDrain) {
		w.needDrain = false
		s.emit('drain')
	}
	while (count-- > 0) { w.pendingcb--; callback(null) }
	if (w.destroyed) errorBuffer(w)
	finishMaybe(s, w)
}
function errorBuffer(w) {
	if (w.writing) return
	while (w.buffered.length > 0) {
		const { chunk, callback } = w.buffered.shift()
		w.length -= w.objectMode ? 1 : chunk.length
		callback(w.errored || destroyedError('write'))
	}
	for (const f of w.onFinished.splice(0)) f(w.errored || destroyedError('end'))
}
function clearBuffer(s, w) {
	if (w.corked || w.bufferProcessing || w.destroyed || !w.constructed || w.buffered.length === 0) return
	w.bufferProcessing = true
	if (w.buffered.length > 1 && s._writev) {
		const all = [...w.buffered]
		w.buffered.clear()
		w.pendingcb -= all.length - 1
		const callback = all.every(b => b.callback === nop) ? nop : e => { for (const b of all) b.callback(e) }
		all.allBuffers = all.every(b => b.encoding === 'buffer')
		doWrite(s, w, w.length, callback, () => s._writev(all, w.onwrite))
	} else {
		while (w.buffered.length > 0 && !w.writing) {
			const { chunk, encoding, callback } = w.buffered.shift()
			doWrite(s, w, w.objectMode ? 1 : chunk.length, callback, () => s._write(chunk, encoding, w.onwrite))
		}
	}
	w.bufferProcessing = false
}
const mayFinish = w => w.ending && !w.destroyed && w.constructed && w.length === 0 && !w.errored && w.buffered.length === 0 && !w.finished && !w.writing && !w.errorEmitted && !w.closeEmitted
function finishMaybe(s, w, sync) {
	if (!mayFinish(w)) return
	if (!w.prefinished && !w.finalCalled) {
		if (typeof s._final === 'function' && !w.destroyed) { w.finalCalled = true; callFinal(s, w) }
		else { w.prefinished = true; s.emit('prefinish') }
	}
	if (w.pendingcb !== 0) return
	if (sync) {
		w.pendingcb++
		nextTick(() => mayFinish(w) ? finish(s, w) : w.pendingcb--)
	} else if (mayFinish(w)) {
		w.pendingcb++
		finish(s, w)
	}
}
function callFinal(s, w) {
	let called = false
	w.pendingcb++
	const done = e => {
		if (called) return errorOrDestroy(s, e || fail('ERR_MULTIPLE_CALLBACK', 'Callback called multiple times'))
		called = true
		w.pendingcb--
		if (e) {
			for (const f of w.onFinished.splice(0)) f(e)
			errorOrDestroy(s, e, w.sync)
		} else if (mayFinish(w)) {
			w.prefinished = true
			s.emit('prefinish')
			w.pendingcb++
			nextTick(finish, s, w)
		}
	}
	w.sync = true
	try { s._final(done) } catch (e) { done(e) }
	w.sync = false
}
function finish(s, w) {
	w.pendingcb--
	w.finished = true
	for (const f of w.onFinished.splice(0)) f()
	s.emit('finish')
	const r = s._readableState
	if (w.autoDestroy && (!r || r.autoDestroy && (r.endEmitted || r.readable === false))) s.destroy()
}
const writableSide = {
	write(chunk, encoding, callback) { return write(this, chunk, encoding, callback) === true },
	_write(chunk, encoding, callback) {
		if (!this._writev) throw fail('ERR_METHOD_NOT_IMPLEMENTED', 'The _write() method is not implemented')
		this._writev([{ chunk, encoding }], callback)
	},
	end(chunk, encoding, callback) {
		const w = this._writableState
		if (typeof chunk === 'function') [callback, chunk, encoding] = [chunk, undefined, undefined]
		else if (typeof encoding === 'function') [callback, encoding] = [encoding, undefined]
		let e
		if (chunk !== undefined && chunk !== null) {
			const r = write(this, chunk, encoding)
			if (r instanceof Error) e = r
		}
		if (w.corked) { w.corked = 1; this.uncork() }
		if (!e) {
			if (!w.errored && !w.ending) { w.ending = true; finishMaybe(this, w, true); w.ended = true }
			else if (w.finished) e = fail('ERR_STREAM_ALREADY_FINISHED', 'Cannot call end after a stream was finished')
			else if (w.destroyed) e = destroyedError('end')
		}
		if (typeof callback === 'function') {
			if (e) nextTick(callback, e)
			else if (w.finished) nextTick(callback)
			else w.onFinished.push(callback)
		}
		return this
	},
	cork() { this._writableState.corked++ },
	uncork() {
		const w = this._writableState
		if (w.corked > 0 && --w.corked === 0 && !w.writing) clearBuffer(this, w)
	},
	setDefaultEncoding(encoding) {
		if (!Buffer.isEncoding(encoding)) throw fail('ERR_UNKNOWN_ENCODING', `Unknown encoding: ${encoding}`, TypeError)
		this._writableState.defaultEncoding = encoding.toLowerCase()
		return this
	},
	destroy(e, callback) {
		const w = this._writableState
		if (!w.destroyed && (w.buffered.length > 0 || w.onFinished.length > 0)) nextTick(errorBuffer, w)
		return destroy.call(this, e, callback)
	},
	get writable() { const w = this._writableState; return Boolean(w) && w.writable !== false && !w.destroyed && !w.errored && !w.ending && !w.ended },
	set writable(v) { if (this._writableState) this._writableState.writable = Boolean(v) },
	get writableBuffer() { return this._writableState.getBuffer() },
	get writableNeedDrain() { const w = this._writableState; return !w.destroyed && !w.ending && w.needDrain },
	get writableAborted() { const w = this._writableState; return w.writable !== false && (w.destroyed || Boolean(w.errored)) && !w.finished },
}
define(Writable, common)
define(Writable, { pipe() { errorOrDestroy(this, fail('ERR_STREAM_CANNOT_PIPE', 'Cannot pipe, not readable')) } })
define(Writable, writableSide)

function Duplex(options) {
	if (!(this instanceof Duplex)) return new Duplex(options)
	Readable.call(this, options)
	Writable.call(this, options)
	this.allowHalfOpen = !options || options.allowHalfOpen !== false
	if (options && options.readable === false) Object.assign(this._readableState, { readable: false, ended: true, endEmitted: true })
	if (options && options.writable === false) Object.assign(this._writableState, { writable: false, ending: true, ended: true, finished: true })
	begin(this, options, ['read', 'write', 'writev', 'final', 'transform', 'flush'])
}
inherit(Duplex, Readable)
define(Duplex, writableSide)
for (const C of [Writable, Duplex]) {
	told(C, '_writableState', { writableFinished: 'finished', writableObjectMode: 'objectMode', writableEnded: 'ending', writableHighWaterMark: 'highWaterMark',
		writableCorked: 'corked', writableLength: 'length' })
}

const held = Symbol('callback of a transformed chunk')
function Transform(options) {
	if (!(this instanceof Transform)) return new Transform(options)
	Duplex.call(this, options)
	this._readableState.sync = false
	this[held] = null
	this.on('prefinish', function () { if (this._final !== final) final.call(this) })
}
inherit(Transform, Duplex)
function final(callback) {
	const done = e => { if (e) callback ? callback(e) : this.destroy(e); else { this.push(null); if (callback) callback() } }
	if (typeof this._flush !== 'function' || this.destroyed) return done()
	this._flush((e, data) => {
		if (!e && data !== undefined && data !== null) this.push(data)
		done(e)
	})
}
define(Transform, {
	_final: final,
	_transform() { throw fail('ERR_METHOD_NOT_IMPLEMENTED', 'The _transform() method is not implemented') },
	_write(chunk, encoding, callback) {
		const r = this._readableState, before = r.length
		this._transform(chunk, encoding, (e, value) => {
			if (e) return callback(e)
			if (value !== undefined && value !== null) this.push(value)
			if (this._writableState.ended || before === r.length || r.length < r.highWaterMark) callback()
			else this[held] = callback
		})
	},
	_read() {
		const f = this[held]
		this[held] = null
		if (f) f()
	},
})
function PassThrough(options) {
	if (!(this instanceof PassThrough)) return new PassThrough(options)
	Transform.call(this, options)
}
inherit(PassThrough, Transform)
define(PassThrough, { _transform(chunk, encoding, callback) { callback(null, chunk) } })

// finished, pipeline, and what they ask of streams.

const isStream = s => Boolean(s) && typeof s === 'object' && typeof s.on === 'function' && (typeof s.pipe === 'function' || typeof s.write === 'function')
const reads = s => Boolean(s) && typeof s.pipe === 'function' && typeof s.on === 'function' && (!s._writableState || Boolean(s._readableState) && s._readableState.readable !== false)
const writes = s => Boolean(s) && typeof s.write === 'function' && typeof s.on === 'function' && (!s._readableState || Boolean(s._writableState) && s._writableState.writable !== false)
const hasEnded = s => { const r = s._readableState; return r ? r.errored ? false : r.endEmitted || r.ended && r.length === 0 && s.readableEnded : s.readableEnded }
const hasFinished = s => { const w = s._writableState; return s.writableFinished === true || Boolean(w) && !w.errored && w.finished }
const hasClosed = s => { const all = states(s); return all.length > 0 ? all.every(x => x.closed) : s.closed === true || s._closed === true }
function finished(s, options, callback) {
	if (typeof options === 'function') [callback, options] = [options, {}]
	options = options || {}
	if (typeof callback !== 'function') throw go.invalidType('callback', 'function', callback)
	if (s && typeof s.getReader === 'function') throw fail('ERR_METHOD_NOT_IMPLEMENTED', 'finished() of a web stream is not implemented: use its reader\'s closed')
	if (!isStream(s)) throw go.invalidType('stream', 'instance of ReadableStream, WritableStream, or Stream', s)
	const readable = options.readable === undefined ? reads(s) : options.readable, writable = options.writable === undefined ? writes(s) : options.writable
	const all = states(s)
	let closes = all.length > 0 && all.every(x => x.autoDestroy && x.emitClose && x.closed === false) && reads(s) === readable && writes(s) === writable
	let ended = hasEnded(s), done = hasFinished(s), called = false
	const call = e => { if (!called) { called = true; e === undefined ? callback.call(s) : callback.call(s, e) } }
	const onFinish = () => {
		done = true
		if (s.destroyed) closes = false
		if (closes && (!s.writable || readable)) return
		if (!readable || ended) call()
	}
	const onEnd = () => {
		ended = true
		if (s.destroyed) closes = false
		if (closes && (!s.readable || writable)) return
		if (!writable || done) call()
	}
	const onError = e => call(e)
	const onClose = () => {
		const e = s.errored || all.reduce((e, x) => e || x.errored, null)
		if (e) call(e)
		else if (readable && !ended && reads(s) && !hasEnded(s) || writable && !done && !hasFinished(s)) call(premature())
		else call()
	}
	const listeners = [['end', onEnd], ['finish', onFinish], ['close', onClose]]
	if (options.error !== false) listeners.push(['error', onError])
	const request = typeof s.setHeader === 'function' && typeof s.abort === 'function'
	if (request) listeners.push(['complete', onFinish], ['abort', onClose])
	else if (writable && !s._writableState) listeners.push(['end', () => { s.writable = false; onFinish() }])
	for (const [name, f] of listeners) s.on(name, f)
	if (hasClosed(s)) nextTick(onClose)
	else if (all.some(x => x.errorEmitted)) { if (!closes) nextTick(onClose) }
	else if (!readable && (!closes || s.readable) && (done || s.writable === false) || !writable && (!closes || s.writable) && (ended || s.readable === false)) nextTick(onClose)
	const clear = () => {
		called = true
		for (const [name, f] of listeners) s.removeListener(name, f)
		if (options.signal) options.signal.removeEventListener('abort', abort)
	}
	const abort = () => { const f = callback; clear(); f.call(s, aborted(options.signal)) }
	if (options.signal) options.signal.aborted ? nextTick(abort) : options.signal.addEventListener('abort', abort)
	return clear
}

function destroyer(s, e) {
	if (!s || s.destroyed && states(s).length > 0) return
	if (typeof s.setHeader === 'function' && typeof s.abort === 'function') s.abort()
	else if (typeof s.destroy === 'function') s.destroy(e)
	else if (typeof s.close === 'function') s.close()
}

function pipeline(...streams) {
	const callback = streams.pop()
	if (typeof callback !== 'function') throw go.invalidType('streams[stream.length - 1]', 'function', callback)
	return connect(streams, callback)
}
function connect(streams, callback, options = {}) {
	if (streams.length === 1 && Array.isArray(streams[0])) streams = streams[0]
	if (streams.length < 2) throw fail('ERR_MISSING_ARGS', 'The "streams" argument must be specified', TypeError)
	const controller = new AbortController(), ends = options.end !== false, last = streams.length - 1
	let open = 0, error, value, called = false
	const destroys = []
	const finish = e => {
		open--
		if (e && (!error || error.code === 'ERR_STREAM_PREMATURE_CLOSE')) error = e
		if (!error && open > 0) return
		for (const f of destroys.splice(0)) f(error)
		if (error) controller.abort()
		if (open <= 0 && !called) {
			called = true
			if (options.signal) options.signal.removeEventListener('abort', stop)
			nextTick(callback, error, value)
		}
	}
	const stop = () => { open++; finish(aborted(options.signal)) }
	const watch = (s, i) => {
		let over = false
		const clear = finished(s, { readable: i < last, writable: i > 0 }, e => { over = !e })
		destroys.push(e => {
			if (!over) { over = true; destroyer(s, e || destroyedError('pipe')) }
			clear()
		})
		// What comes late must not be uncaught.
		s.on('error', e => { if (e && e.name !== 'AbortError' && e.code !== 'ERR_STREAM_PREMATURE_CLOSE' && !called && i === last) { open++; finish(e) } })
	}
	let at
	for (let i = 0; i <= last; i++) {
		let s = streams[i]
		if (typeof s === 'function') {
			const made = i === 0 ? s({ signal: controller.signal }) : s(at, { signal: controller.signal })
			if (i === last && (!made || !made[asyncIterator])) {
				if (!made || typeof made.then !== 'function') throw fail('ERR_INVALID_RETURN_VALUE', `Expected AsyncIterable or Promise to be returned from the "${i === 0 ? 'source' : 'transform'}" function but got ${made === null ? 'null' : 'type ' + typeof made}.`, TypeError)
				open++
				made.then(v => { value = v; finish() }, finish)
				return at
			}
			if (!made || !made[asyncIterator] && !made[Symbol.iterator]) throw fail('ERR_INVALID_RETURN_VALUE', `Expected Iterable, AsyncIterable or Stream to be returned from the "${i === 0 ? 'source' : 'transform'}" function but got ${made === null ? 'null' : 'type ' + typeof made}.`, TypeError)
			at = isStream(made) ? made : from(made)
			if (i === last) { at = new PassThrough({ objectMode: true }).wrap(at); open++; finished(at, finish) }
			continue
		}
		if (!isStream(s)) {
			if (s && typeof s.getReader === 'function') s = fromWeb(s)
			else if (i === 0 && s && (s[asyncIterator] || s[Symbol.iterator])) s = from(s)
			else throw go.invalidType(`streams[${i}]`, 'function or an instance of Stream, Iterable, AsyncIterable, ReadableStream, WritableStream, or TransformStream', s)
		}
		if (i < last || ends) watch(s, i)
		if (i > 0) { open += 2; pipe(at, s, finish, ends || i < last) }
		at = s
	}
	if (options.signal) options.signal.aborted ? stop() : options.signal.addEventListener('abort', stop)
	return at
}
function pipe(from, to, finish, ends) {
	let ended = false
	to.on('close', () => { if (!ended) { ended = true; finishOnce(premature()) } })
	let first = true
	const finishOnce = e => { if (first) { first = false; finish(e) } }
	from.pipe(to, { end: false })
	if (ends) {
		const end = () => { ended = true; to.end() }
		if (hasEnded(from)) nextTick(end)
		else from.once('end', end)
	} else {
		from.once('end', () => { ended = true })
	}
	let sourceOver = false
	const source = e => { if (!sourceOver) { sourceOver = true; finish(e) } }
	finished(from, { readable: true, writable: false }, e => {
		const r = from._readableState
		if (e && e.code === 'ERR_STREAM_PREMATURE_CLOSE' && r && r.ended && !r.errored && !r.errorEmitted) from.once('end', () => source()).once('error', source)
		else source(e)
	})
	if (ends) finished(to, { readable: false, writable: true }, finishOnce)
	else finished(from, { readable: true, writable: false }, finishOnce)
}

function addAbortSignal(signal, s) {
	if (!signal || typeof signal !== 'object' || !('aborted' in signal)) throw go.invalidType('signal', 'instance of AbortSignal', signal)
	const stop = () => s.destroy(aborted(signal))
	if (signal.aborted) { stop(); return s }
	signal.addEventListener('abort', stop)
	finished(s, () => signal.removeEventListener('abort', stop))
	return s
}

function fromWeb(stream, options) {
	const reader = stream.getReader()
	let over = false
	return new Readable({
		...options,
		read() { reader.read().then(r => { if (r.done) over = true; this.push(r.done ? null : r.value) }, e => { over = true; this.destroy(e) }) },
		destroy(e, callback) { if (over) return callback(e); over = true; reader.cancel(e || undefined).then(() => callback(e), e2 => callback(e || e2)) },
	})
}
function toWeb(s) {
	let controller
	finished(s, { writable: false }, e => { try { e ? controller.error(e) : controller.close() } catch (_) { /* it was canceled */ } })
	s.pause()
	return new ReadableStream({
		start(c) { controller = c; s.on('data', chunk => { c.enqueue(chunk instanceof Buffer ? new Uint8Array(chunk) : chunk); if (c.desiredSize <= 0) s.pause() }); s.pause() },
		pull() { s.resume() },
		cancel(reason) { s.destroy(reason) },
	}, { highWaterMark: 1 })
}
Readable.fromWeb = fromWeb
Readable.toWeb = toWeb

// compose makes one Duplex of streams and functions: what is written to it goes into the first, and what comes out of the last is read.
function compose(...parts) {
	if (parts.length === 0) throw fail('ERR_MISSING_ARGS', 'The "streams" argument must be specified', TypeError)
	const streams = parts.map((s, i) => isStream(s) ? s : typeof s === 'function' ? Duplex.from(s) : from(s))
	const first = streams[0], last = streams[streams.length - 1], writable = writes(first), readable = reads(last)
	let done, wait
	const whole = new Duplex({
		writableObjectMode: writable && first.writableObjectMode, readableObjectMode: readable && last.readableObjectMode, readable, writable,
		write(chunk, encoding, callback) { if (first.write(chunk, encoding)) callback(); else first.once('drain', callback) },
		final(callback) { first.end(); done = callback; if (!readable) last.once('finish', () => callback()) },
		read() { if (wait) { const f = wait; wait = undefined; f() } else pump() },
		destroy(e, callback) { destroyer(first, e); destroyer(last, e); callback(e) },
	})
	const pump = () => {
		for (let chunk; (chunk = last.read()) !== null;) if (!whole.push(chunk)) { wait = pump; return }
	}
	if (readable) {
		last.on('readable', pump)
		last.on('end', () => { whole.push(null); if (done) done() })
	}
	if (streams.length > 1) connect(streams, e => { if (e) whole.destroy(e) })
	else first.on('error', e => whole.destroy(e))
	return whole
}
Duplex.from = body => {
	if (body instanceof Duplex) return body
	if (typeof body === 'function') {
		const input = new PassThrough({ objectMode: true }), made = body(input)
		if (!made || !made[asyncIterator]) return Object.assign(new Duplex({ objectMode: true, readable: false, write(c, e, f) { input.write(c, e, f) }, final(f) { input.end(); Promise.resolve(made).then(() => f(), f) } }))
		const output = from(made)
		return compose2(input, output)
	}
	if (body && (body.readable || body.writable) && !isStream(body)) return compose2(body.writable, body.readable)
	if (isStream(body)) return compose2(writes(body) ? body : undefined, reads(body) ? body : undefined)
	return compose2(undefined, body && typeof body.then === 'function' ? from((async function () { return [await body] })()) : from(body))
}
// compose2 makes a Duplex of a stream to write to and one to read from.
function compose2(to, of) {
	const d = new Duplex({
		objectMode: true, readable: Boolean(of), writable: Boolean(to),
		write(chunk, encoding, callback) { to.write(chunk, encoding, callback) },
		final(callback) { to.end(callback) },
		read() { of.resume() },
		destroy(e, callback) { destroyer(to, e); destroyer(of, e); callback(e) },
	})
	if (of) { of.on('data', chunk => { if (!d.push(chunk)) of.pause() }).on('end', () => d.push(null)).on('error', e => d.destroy(e)); of.pause() }
	if (to) to.on('error', e => d.destroy(e))
	return d
}
// duplexPair makes two streams, each of which reads what is written to the other one.
function duplexPair(options) {
	const side = other => new Duplex({
		...options,
		read() { const f = this.held; this.held = undefined; if (f) f() },
		write(chunk, encoding, callback) { const o = other(); if (chunk.length === 0) nextTick(callback); else { o.push(chunk); o.held = callback } },
		final(callback) { const o = other(); o.on('end', callback); o.push(null) },
	})
	const a = side(() => b), b = side(() => a)
	return [a, b]
}
define(Readable, { compose(s, options) { const d = compose(this, s); if (options && options.signal) addAbortSignal(options.signal, d); return d } })

const promises = {
	finished: (s, options) => new Promise((resolve, reject) => finished(s, options, e => e ? reject(e) : resolve())),
	pipeline: (...streams) => new Promise((resolve, reject) => {
		const l = streams[streams.length - 1], options = l && typeof l === 'object' && !isStream(l) && !l[asyncIterator] && !l[Symbol.iterator] && !l.getReader ? streams.pop() : {}
		connect(streams, (e, v) => e ? reject(e) : resolve(v), options)
	}),
}
const custom = Symbol.for('nodejs.util.promisify.custom')
Object.defineProperty(finished, custom, { get: () => promises.finished })
Object.defineProperty(pipeline, custom, { get: () => promises.pipeline })
const isErrored = s => Boolean(s && s.errored), isDisturbed = s => Boolean(s && (s.readableDidRead || s.readableAborted || s.locked))
Object.assign(Stream, {
	Stream, Readable, Writable, Duplex, Transform, PassThrough, finished, pipeline, compose, duplexPair, promises, isDestroyed: s => isStream(s) ? Boolean(s.destroyed) : null, addAbortSignal, destroy: (s, e) => { destroyer(s, e); return s }, isErrored, isDisturbed,
	isReadable: s => Boolean(s) && s.readable === true && !s.destroyed, isWritable: s => Boolean(s) && s.writable === true && !s.destroyed,
	getDefaultHighWaterMark: objects => objects ? marks.objects : marks.bytes, setDefaultHighWaterMark(objects, n) { marks[objects ? 'objects' : 'bytes'] = n },
	_isUint8Array: v => v instanceof Uint8Array, _uint8ArrayToBuffer: v => Buffer.from(v.buffer, v.byteOffset, v.byteLength),
})
Readable.isDisturbed = isDisturbed
return Stream
})
