// The part of node:fs that is about descriptors: opened files, by number and as FileHandles.
(function (go) {
'use strict'
return (fs, promises, { error, pathOf, modeOf, bytesOf, text, optionsOf, Stats, Buffer }) => {
	const sync = (op, ...args) => { const r = go.fileSync(op, ...args); if (r.failure) throw error(r.failure); return r.value }
	const later = async (op, ...args) => { const r = await go.file(op, ...args); if (r.failure) throw error(r.failure); return r.value }
	const numberOf = fd => { if (typeof fd !== 'number') throw go.invalidType('fd', 'number', fd); return fd }
	const at = position => typeof position === 'number' || typeof position === 'bigint' ? Number(position) : -1

	// where returns the part of a buffer that a call names, in either of Node's forms.
	function where(buffer, offset, length, position) {
		if (typeof offset === 'object' && offset !== null) ({ offset, length, position } = offset)
		if (!ArrayBuffer.isView(buffer)) throw go.invalidType('buffer', 'instance of Buffer, TypedArray, or DataView', buffer)
		offset = offset || 0
		if (length === undefined || length === null) length = buffer.byteLength - offset
		if (offset < 0 || length < 0 || offset + length > buffer.byteLength) throw Object.assign(new RangeError(`The value of "length" is out of range. It must be <= ${buffer.byteLength - offset}. Received ${length}`), { code: 'ERR_OUT_OF_RANGE' })
		return { bytes: new Uint8Array(buffer.buffer, buffer.byteOffset + offset, length), position: at(position) }
	}
	const fill = (w, read) => { w.bytes.set(new Uint8Array(read)); return read.byteLength }
	function written(data, offset, length, position) {
		if (typeof data === 'string') return { data: bytesOf(data, length), position: at(offset) }
		const w = where(data, offset, length, position)
		return { data: w.bytes.slice().buffer, position: w.position }
	}
	function print(fd, data) {
		go.write(fd === 2, new Uint8Array(data))
		return data.byteLength
	}

	fs.openSync = (path, flags = 'r', mode) => sync('fopen', pathOf(path), String(flags), modeOf(mode))
	fs.closeSync = fd => void sync('fclose', numberOf(fd))
	fs.fstatSync = fd => new Stats(sync('fstat', numberOf(fd)))
	fs.ftruncateSync = (fd, n) => void sync('ftruncate', numberOf(fd), n || 0)
	fs.fsyncSync = fs.fdatasyncSync = fd => void sync('fsync', numberOf(fd))
	fs.readSync = (fd, buffer, offset, length, position) => {
		const w = where(buffer, offset, length, position)
		return fill(w, sync('fread', numberOf(fd), w.bytes.length, w.position))
	}
	fs.writeSync = (fd, data, offset, length, position) => {
		const w = written(data, offset, length, position)
		return fd === 1 || fd === 2 ? print(fd, w.data) : sync('fwrite', numberOf(fd), w.data, w.position)
	}

	async function everything(fd, options) {
		const parts = []
		for (;;) {
			const b = await later('fread', fd, 65536, -1)
			if (b.byteLength === 0) return text(Buffer.concat(parts), optionsOf(options))
			parts.push(Buffer.from(b))
		}
	}
	class FileHandle {
		constructor(fd) { this.fd = fd }
		async read(buffer, ...rest) {
			if (!ArrayBuffer.isView(buffer)) [buffer, rest] = [buffer && buffer.buffer || Buffer.alloc(16384), [buffer || {}]]
			const w = where(buffer, ...rest)
			return { bytesRead: fill(w, await later('fread', this.fd, w.bytes.length, w.position)), buffer }
		}
		async write(data, ...rest) {
			const w = written(data, ...rest)
			return { bytesWritten: await later('fwrite', this.fd, w.data, w.position), buffer: data }
		}
		readFile(options) { return everything(this.fd, options) }
		async writeFile(data, options) { await later('fwrite', this.fd, bytesOf(data, optionsOf(options).encoding), -1) }
		appendFile(data, options) { return this.writeFile(data, options) }
		async stat() { return new Stats(await later('fstat', this.fd)) }
		async truncate(n) { await later('ftruncate', this.fd, n || 0) }
		async sync() { await later('fsync', this.fd) }
		datasync() { return this.sync() }
		readLines(options) {
			const decoder = new TextDecoder(optionsOf(options).encoding || 'utf8')
			let lines = [], rest = '', over = false
			const iterator = {
				next: async () => {
					while (lines.length === 0 && !over) {
						const b = await later('fread', this.fd, 65536, -1)
						over = b.byteLength === 0
						lines = (rest + decoder.decode(b, { stream: !over })).split(/\r?\n/)
						rest = lines.pop()
						if (over && rest !== '') lines.push(rest)
					}
					if (lines.length > 0) return { value: lines.shift(), done: false }
					return iterator.return()
				},
				return: async () => { lines = []; over = true; await this.close(); return { value: undefined, done: true } },
			}
			iterator[go.asyncIterator] = () => iterator
			return iterator
		}
		async close() {
			if (this.fd < 0) return
			const fd = this.fd
			this.fd = -1
			await later('fclose', fd)
		}
		[Symbol.for('Symbol.asyncDispose')]() { return this.close() }
	}
	promises.open = async (path, flags = 'r', mode) => new FileHandle(await later('fopen', pathOf(path), String(flags), modeOf(mode)))

	const callbacks = {
		open: async (...args) => { const h = await promises.open(...args); return [h.fd] },
		close: async fd => { await later('fclose', numberOf(fd)); return [] },
		fstat: async fd => [new Stats(await later('fstat', numberOf(fd)))],
		read: async (fd, buffer, ...rest) => { const r = await new FileHandle(numberOf(fd)).read(buffer, ...rest); return [r.bytesRead, r.buffer] },
		write: async (fd, data, ...rest) => {
			if (fd === 1 || fd === 2) return [print(fd, written(data, ...rest).data), data]
			const r = await new FileHandle(numberOf(fd)).write(data, ...rest)
			return [r.bytesWritten, data]
		},
	}
	for (const [name, f] of Object.entries(callbacks)) {
		fs[name] = Object.defineProperty((...args) => {
			const callback = args.pop()
			if (typeof callback !== 'function') throw go.invalidType('cb', 'function', callback)
			f(...args).then(values => process.nextTick(callback, null, ...values), e => process.nextTick(callback, e))
		}, 'name', { value: name, configurable: true })
	}
}
})
