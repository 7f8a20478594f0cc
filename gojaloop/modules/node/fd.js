// The part of node:fs that is about descriptors: opened files, by number and as FileHandles, and streams of files.
(function (go, require) {
'use strict'
return (fs, promises, { error, pathOf, modeOf, timeOf, idOf, bytesOf, text, optionsOf, flagOf, statsOf, Dirent, Buffer, collect, named }) => {
	const EventEmitter = require('events')
	const sync = (op, ...args) => { const r = go.fileSync(op, ...args); if (r.failure) throw error(r.failure); return r.value }
	const later = async (op, ...args) => { const r = await go.file(op, ...args); if (r.failure) throw error(r.failure); return r.value }
	const numberOf = fd => {
		if (typeof fd !== 'number') throw go.invalidType('fd', 'number', fd)
		if (!Number.isInteger(fd) || fd < 0 || fd > 2147483647) throw Object.assign(new RangeError(`The value of "fd" is out of range. It must be >= 0 && <= 2147483647. Received ${fd}`), { code: 'ERR_OUT_OF_RANGE' })
		return fd
	}
	const at = position => typeof position === 'number' || typeof position === 'bigint' ? Number(position) : -1
	const flags = f => f === undefined || f === null ? 'r' : typeof f === 'number' ? f : String(f)

	// where returns the part of a buffer that a call names, in either of Node's forms.
	function where(buffer, offset, length, position) {
		if (typeof offset === 'object' && offset !== null) ({ offset, length, position } = offset)
		if (!ArrayBuffer.isView(buffer)) throw go.invalidType('buffer', 'instance of Buffer, TypedArray, or DataView', buffer)
		offset = offset || 0
		if (length === undefined || length === null) length = buffer.byteLength - offset
		if (offset < 0 || offset > buffer.byteLength) throw Object.assign(new RangeError(`The value of "offset" is out of range. It must be >= 0 && <= ${buffer.byteLength}. Received ${offset}`), { code: 'ERR_OUT_OF_RANGE' })
		if (length < 0 || offset + length > buffer.byteLength) throw Object.assign(new RangeError(`The value of "length" is out of range. It must be <= ${buffer.byteLength - offset}. Received ${length}`), { code: 'ERR_OUT_OF_RANGE' })
		return { bytes: new Uint8Array(buffer.buffer, buffer.byteOffset + offset, length), position: at(position) }
	}
	const fill = (w, read) => { w.bytes.set(new Uint8Array(read)); return read.byteLength }
	function written(data, offset, length, position) {
		if (typeof data === 'string') return { data: bytesOf(data, length), position: at(offset) }
		const w = where(data, offset, length, position)
		return { data: w.bytes.slice().buffer, position: w.position }
	}
	const print = (fd, data) => { go.write(fd === 2, new Uint8Array(data)); return data.byteLength }
	const write = (fd, data, position) => fd === 1 || fd === 2 ? print(fd, data) : sync('fwrite', fd, data, position)
	const writeLater = async (fd, data, position) => fd === 1 || fd === 2 ? print(fd, data) : later('fwrite', fd, data, position)

	// Each operation on a descriptor, in three forms: its name in Go, its arguments, and its result.
	const same = () => undefined
	for (const [name, [op, before, after]] of Object.entries({
		close: ['fclose', fd => [numberOf(fd)], same],
		fchmod: ['fchmod', (fd, mode) => [numberOf(fd), modeOf(mode)], same],
		fchown: ['fchown', (fd, u, g) => [numberOf(fd), idOf(u, 'uid'), idOf(g, 'gid')], same],
		fdatasync: ['fsync', fd => [numberOf(fd)], same],
		fstat: ['fstat', fd => [numberOf(fd)], (s, fd, o) => statsOf(s, o)],
		fsync: ['fsync', fd => [numberOf(fd)], same],
		ftruncate: ['ftruncate', (fd, n) => [numberOf(fd), n || 0], same],
		futimes: ['futimes', (fd, a, m) => [numberOf(fd), timeOf(a), timeOf(m)], same],
		open: ['fopen', (p, f, mode) => [pathOf(p), flags(f), modeOf(mode, 0o666)], fd => fd],
	})) {
		fs[name + 'Sync'] = named(name + 'Sync', (...args) => after(sync(op, ...before(...args)), ...args))
		fs[name] = named(name, (...args) => {
			let callback = args.pop()
			if (name === 'close' && typeof callback === 'number') [callback, args] = [e => { if (e) throw e }, [callback]]
			if (typeof callback !== 'function') throw go.invalidType('cb', 'function', callback)
			later(op, ...before(...args)).then(v => { const r = after(v, ...args); process.nextTick(callback, null, ...(r === undefined ? [] : [r])) }, e => process.nextTick(callback, e))
		})
	}
	fs.readSync = (fd, buffer, offset, length, position) => {
		const w = where(buffer, offset, length, position)
		return fill(w, sync('fread', numberOf(fd), w.bytes.length, w.position))
	}
	fs.writeSync = (fd, data, offset, length, position) => {
		const w = written(data, offset, length, position)
		return write(numberOf(fd), w.data, w.position)
	}
	const readMany = read => function (buffers, position) {
		let n = 0
		const more = i => {
			if (i === buffers.length || buffers[i].byteLength === 0 && ++i === buffers.length) return n
			const got = r => { n += r; return r < buffers[i].byteLength ? n : more(i + 1) }
			const r = read(buffers[i], at(position) < 0 ? null : at(position) + n)
			return typeof r === 'number' ? got(r) : r.then(got)
		}
		return more(0)
	}
	fs.readvSync = (fd, buffers, position) => readMany((b, p) => fs.readSync(fd, b, 0, b.byteLength, p))(buffers, position)
	fs.writevSync = (fd, buffers, position) => fs.writeSync(fd, Buffer.concat(buffers.map(b => Buffer.from(b.buffer, b.byteOffset, b.byteLength))), 0, undefined, position)

	const everything = fd => {
		const parts = []
		for (;;) {
			const b = sync('fread', fd, 65536, -1)
			if (b.byteLength === 0) return Buffer.concat(parts)
			parts.push(Buffer.from(b))
		}
	}
	async function everythingLater(fd, signal) {
		const parts = []
		for (;;) {
			if (signal && signal.aborted) throw go.aborted(signal)
			const b = await later('fread', fd, 65536, -1)
			if (b.byteLength === 0) return Buffer.concat(parts)
			parts.push(Buffer.from(b))
		}
	}
	const all = (write, fd, b) => { // a descriptor may take a part only
		const more = n => n >= b.byteLength ? undefined : then(write(fd, b.slice(n), -1), m => more(n + m))
		const then = (v, f) => typeof v === 'number' ? f(v) : v.then(f)
		return b.byteLength === 0 ? undefined : more(0)
	}
	Object.defineProperty(fs, 'opened', { value: {
		readFileSync: (fd, o) => text(everything(numberOf(fd)), optionsOf(o)),
		readFile: async (fd, o) => text(await everythingLater(numberOf(fd), optionsOf(o).signal), optionsOf(o)),
		writeFileSync: (fd, data, o) => void all(write, numberOf(fd), bytesOf(data, optionsOf(o).encoding)),
		writeFile: async (fd, data, o) => {
			const { encoding } = optionsOf(o)
			if (data !== null && typeof data === 'object' && !ArrayBuffer.isView(data) && (data[go.asyncIterator] || data[Symbol.iterator])) {
				for (const x of await collect(data)) await all(writeLater, fd, bytesOf(x, encoding))
			} else {
				await all(writeLater, numberOf(fd), bytesOf(data, encoding))
			}
		},
	} })
	fs.opened.appendFileSync = fs.opened.writeFileSync
	fs.opened.appendFile = fs.opened.writeFile

	class FileHandle extends EventEmitter {
		constructor(fd) { super(); this.fd = fd }
		async read(buffer, ...rest) {
			if (!ArrayBuffer.isView(buffer)) [buffer, rest] = [buffer && buffer.buffer || Buffer.alloc(16384), [buffer || {}]]
			const w = where(buffer, ...rest)
			return { bytesRead: fill(w, await later('fread', this.fd, w.bytes.length, w.position)), buffer }
		}
		async write(data, ...rest) {
			const w = written(data, ...rest)
			return { bytesWritten: await writeLater(this.fd, w.data, w.position), buffer: data }
		}
		async readv(buffers, position) { return { bytesRead: await readMany((b, p) => this.read(b, 0, b.byteLength, p).then(r => r.bytesRead))(buffers, position), buffers } }
		async writev(buffers, position) { return { bytesWritten: (await this.write(Buffer.concat(buffers.map(b => Buffer.from(b.buffer, b.byteOffset, b.byteLength))), 0, undefined, position)).bytesWritten, buffers } }
		readFile(options) { return fs.opened.readFile(this.fd, options) }
		writeFile(data, options) { return fs.opened.writeFile(this.fd, data, options) }
		appendFile(data, options) { return this.writeFile(data, options) }
		async stat(options) { return statsOf(await later('fstat', this.fd), options) }
		async chmod(mode) { await later('fchmod', this.fd, modeOf(mode)) }
		async chown(u, g) { await later('fchown', this.fd, u, g) }
		async utimes(a, m) { await later('futimes', this.fd, timeOf(a), timeOf(m)) }
		async truncate(n) { await later('ftruncate', this.fd, n || 0) }
		async sync() { await later('fsync', this.fd) }
		datasync() { return this.sync() }
		createReadStream(options) { return new ReadStream(undefined, { ...options, fd: this }) }
		createWriteStream(options) { return new WriteStream(undefined, { ...options, fd: this }) }
		readLines(options) {
			const rl = require('readline').createInterface({ input: this.createReadStream(options), crlfDelay: Infinity })
			return rl[go.asyncIterator]()
		}
		async close() {
			if (this.fd < 0) return
			const fd = this.fd
			this.fd = -1
			await later('fclose', fd)
			this.emit('close')
		}
		[Symbol.for('Symbol.asyncDispose')]() { return this.close() }
	}
	promises.open = async (path, flag, mode) => new FileHandle(await later('fopen', pathOf(path), flags(flag), modeOf(mode, 0o666)))

	for (const [name, f] of Object.entries({
		read: async (fd, buffer, ...rest) => { const r = await new FileHandle(numberOf(fd)).read(buffer, ...rest); return [r.bytesRead, r.buffer] },
		write: async (fd, data, ...rest) => { const r = await new FileHandle(numberOf(fd)).write(data, ...rest); return [r.bytesWritten, data] },
		readv: async (fd, buffers, position) => { const r = await new FileHandle(numberOf(fd)).readv(buffers, position); return [r.bytesRead, buffers] },
		writev: async (fd, buffers, position) => { const r = await new FileHandle(numberOf(fd)).writev(buffers, position); return [r.bytesWritten, buffers] },
	})) {
		fs[name] = named(name, (...args) => {
			const callback = args.pop()
			if (typeof callback !== 'function') throw go.invalidType('cb', 'function', callback)
			numberOf(args[0])
			f(...args).then(values => process.nextTick(callback, null, ...values), e => process.nextTick(callback, e))
		})
		const [count, what] = { read: ['bytesRead', 'buffer'], write: ['bytesWritten', 'buffer'], readv: ['bytesRead', 'buffers'], writev: ['bytesWritten', 'buffers'] }[name]
		Object.defineProperty(fs[name], Symbol.for('nodejs.util.promisify.custom'), { value: (...args) => f(...args).then(r => ({ [count]: r[0], [what]: r[1] })) })
	}

	class Dir {
		#entries
		#open = true
		constructor(path, entries) { this.path = path; this.#entries = entries }
		#check() { if (!this.#open) throw Object.assign(new Error('Directory handle was closed'), { code: 'ERR_DIR_CLOSED' }) }
		readSync() { this.#check(); const e = this.#entries.shift(); return e === undefined ? null : new Dirent(e) }
		closeSync() { this.#check(); this.#open = false }
		#later(f, callback) {
			if (callback === undefined) return new Promise(resolve => resolve(f()))
			let v
			try { v = f() } catch (e) { return void process.nextTick(callback, e) }
			process.nextTick(callback, null, v)
		}
		read(callback) { return this.#later(() => this.readSync(), callback) }
		close(callback) { return this.#later(() => this.closeSync(), callback) }
		entries() { return this[go.asyncIterator]() }
		[go.asyncIterator]() {
			const close = () => { if (this.#open) this.closeSync() }
			return {
				next: async () => { const value = this.#open ? this.readSync() : null; if (value === null) { close(); return { value: undefined, done: true } } return { value, done: false } },
				return: async () => { close(); return { value: undefined, done: true } },
				[go.asyncIterator]() { return this },
			}
		}
	}
	fs.opendirSync = (p, o) => new Dir(pathOf(p), sync('opendir', pathOf(p), Boolean(o && o.recursive)))
	promises.opendir = async (p, o) => new Dir(pathOf(p), await later('opendir', pathOf(p), Boolean(o && o.recursive)))
	fs.opendir = (p, o, callback) => {
		if (typeof o === 'function') [callback, o] = [o, undefined]
		if (typeof callback !== 'function') throw go.invalidType('cb', 'function', callback)
		promises.opendir(p, o).then(d => process.nextTick(callback, null, d), e => process.nextTick(callback, e))
	}
	fs.Dir = Dir

	// Streams of files. Their classes are made when they are asked for, since they need node:stream.
	let ReadStream, WriteStream
	const makeStreams = () => {
		const { Readable, Writable } = require('stream')
		const position = (o, name) => { const n = o[name]; if (n !== undefined && typeof n !== 'number') throw go.invalidType(name, 'number', n); if (n !== undefined && !(n >= 0)) throw Object.assign(new RangeError(`The value of "${name}" is out of range. It must be >= 0. Received ${n}`), { code: 'ERR_OUT_OF_RANGE' }); return n }
		function prepare(s, path, o, flag) {
			for (const n of ['fs']) if (o[n]) throw Object.assign(new Error(`fs: the option ${n} of streams is not implemented`), { code: 'ERR_METHOD_NOT_IMPLEMENTED' })
			const handle = o.fd !== undefined && o.fd !== null && typeof o.fd === 'object' ? o.fd : undefined
			s.fd = handle ? handle.fd : o.fd === undefined ? null : o.fd
			s.path = s.fd === null || path !== undefined && path !== null ? pathOf(path) : undefined
			s.flags = o.flags === undefined ? flag : o.flags
			s.mode = o.mode === undefined ? 0o666 : modeOf(o.mode)
			s.autoClose = o.autoClose !== false
			Object.defineProperty(s, 'handle', { value: handle, writable: true })
			s.start = position(o, 'start')
			s.pos = s.start
		}
		const common = {
			_construct(callback) {
				if (this.fd !== null) return callback()
				fs.open(this.path, this.flags, this.mode, (e, fd) => {
					if (e) return callback(e)
					this.fd = fd
					callback()
					this.emit('open', fd)
					this.emit('ready')
				})
			},
			_destroy(e, callback) {
				const fd = this.fd, h = this.handle
				if (fd === null || fd <= 2 && !this.path) return callback(e)
				this.fd = null
				if (h) return void h.close().then(() => callback(e), e2 => callback(e || e2))
				fs.close(fd, e2 => callback(e || e2))
			},
			close(callback) { if (callback) this.closed ? process.nextTick(callback) : this.once('close', callback); if (this.end) this.end(); else this.destroy() },
			open() {},
		}
		ReadStream = function ReadStream(path, options) {
			if (!(this instanceof ReadStream)) return new ReadStream(path, options)
			const o = typeof options === 'string' ? { encoding: options } : { ...optionsOf(options) }
			prepare(this, path, o, 'r')
			this.end = position(o, 'end')
			if (this.end === undefined) this.end = Infinity
			if (this.start !== undefined && this.start > this.end) throw Object.assign(new RangeError(`The value of "start" is out of range. It must be <= "end" (here: ${this.end}). Received ${this.start}`), { code: 'ERR_OUT_OF_RANGE' })
			if (this.start === undefined && this.end !== Infinity) this.pos = this.start = 0
			this.bytesRead = 0
			Readable.call(this, { highWaterMark: o.highWaterMark === undefined ? 65536 : o.highWaterMark, encoding: o.encoding, emitClose: o.emitClose, autoDestroy: this.autoClose, signal: o.signal })
		}
		WriteStream = function WriteStream(path, options) {
			if (!(this instanceof WriteStream)) return new WriteStream(path, options)
			const o = typeof options === 'string' ? { encoding: options } : { ...optionsOf(options) }
			prepare(this, path, o, 'w')
			this.bytesWritten = 0
			Writable.call(this, { highWaterMark: o.highWaterMark, decodeStrings: true, defaultEncoding: o.encoding, emitClose: o.emitClose, autoDestroy: this.autoClose, signal: o.signal })
		}
		for (const [C, P] of [[ReadStream, Readable], [WriteStream, Writable]]) {
			go.inherit(C, P)
			Object.assign(C.prototype, common)
			Object.defineProperty(C.prototype, 'pending', { configurable: true, get() { return this.fd === null } })
		}
		// The end of a part is a number, so a reader's close only destroys.
		ReadStream.prototype.close = function (callback) { if (callback) this.closed ? process.nextTick(callback) : this.once('close', callback); this.destroy() }
		ReadStream.prototype._read = function (n) {
			n = Math.min(n, this.pos === undefined ? this.end - this.bytesRead + 1 : this.end - this.pos + 1)
			if (n <= 0) return void this.push(null)
			const got = r => {
				if (r.failure) return void this.destroy(this.destroyed ? undefined : error(r.failure))
				if (this.destroyed || r.value === null) return
				this.bytesRead += r.value.byteLength
				if (this.pos !== undefined) this.pos += r.value.byteLength
				this.push(r.value.byteLength === 0 ? null : Buffer.from(r.value))
			}
			if (this.fd === 0) go.begin('input', got, 0)
			else go.file('fread', this.fd, n, this.pos === undefined ? -1 : this.pos).then(got)
		}
		WriteStream.prototype._write = function (chunk, encoding, callback) {
			const b = bytesOf(chunk), more = (n = 0) => {
				writeLater(this.fd, n === 0 ? b : b.slice(n), this.pos === undefined ? -1 : this.pos).then(m => {
					this.bytesWritten += m
					if (this.pos !== undefined) this.pos += m
					if (n + m < b.byteLength) more(n + m)
					else callback()
				}, callback)
			}
			more()
		}
		WriteStream.prototype._writev = function (chunks, callback) { this._write(Buffer.concat(chunks.map(c => c.chunk)), 'buffer', callback) }
		WriteStream.prototype.destroySoon = WriteStream.prototype.end
	}
	for (const n of ['ReadStream', 'WriteStream']) {
		const get = () => { if (!ReadStream) makeStreams(); return n === 'ReadStream' ? ReadStream : WriteStream }
		for (const name of [n, 'File' + n]) Object.defineProperty(fs, name, { enumerable: true, configurable: true, get, set(v) { if (n === 'ReadStream') { get(); ReadStream = v } else { get(); WriteStream = v } } })
		fs['create' + n] = named('create' + n, (path, options) => new (get())(path, options))
	}
}
})
