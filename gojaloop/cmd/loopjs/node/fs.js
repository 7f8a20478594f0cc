// node:fs and node:fs/promises: each operation in three forms.
(function (go, require) {
'use strict'
const { Buffer } = require('buffer')

function pathOf(p, name = 'path') {
	if (typeof p === 'string') {
		if (p.includes('\0')) throw Object.assign(new TypeError(`The argument '${name}' must be a string, Uint8Array, or URL without null bytes. Received '${p}'`), { code: 'ERR_INVALID_ARG_VALUE' })
		return p
	}
	if (p instanceof URL) return require('url').fileURLToPath(p)
	if (p instanceof Uint8Array) return Buffer.from(p).toString()
	throw go.invalidType(name, 'string or an instance of Buffer or URL', p)
}

function bytesOf(data, encoding) {
	if (typeof data === 'string') data = Buffer.from(data, encoding || 'utf8')
	else if (data instanceof ArrayBuffer) return data
	else if (!ArrayBuffer.isView(data)) throw go.invalidType('data', 'string or an instance of Buffer, TypedArray, or DataView', data)
	return data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength)
}

const optionsOf = o => typeof o === 'string' ? { encoding: o } : o || {}
const text = (b, o) => {
	const buffer = Buffer.from(b)
	return o.encoding && o.encoding !== 'buffer' ? buffer.toString(o.encoding) : buffer
}

class Stats {
	constructor(s) {
		const ms = s.mtimeMs
		Object.assign(this, { mode: s.mode, size: s.size, atimeMs: ms, mtimeMs: ms, ctimeMs: ms, birthtimeMs: ms })
		Object.defineProperty(this, 'kind', { value: s.kind })
		for (const n of ['atime', 'mtime', 'ctime', 'birthtime']) this[n] = new Date(ms)
	}
}
class Dirent {
	constructor(e) {
		this.name = e.name
		this.parentPath = this.path = e.parent
		Object.defineProperty(this, 'kind', { value: e.kind })
	}
}
for (const C of [Stats, Dirent]) {
	for (const [name, kind] of [['File', 'file'], ['Directory', 'directory'], ['SymbolicLink', 'link'], ['FIFO', 'fifo'], ['Socket', 'socket'], ['CharacterDevice', 'character'], ['BlockDevice', 'block']]) {
		Object.defineProperty(C.prototype, 'is' + name, { value() { return this.kind === kind }, writable: true, configurable: true })
	}
}

function error(f) {
	const where = f.path ? ` '${f.path}'` : ''
	const e = new Error(`${f.code}: ${f.message}, ${f.syscall}${where}${f.dest ? ` -> '${f.dest}'` : ''}`)
	e.errno = f.errno
	e.code = f.code
	e.syscall = f.syscall
	if (f.path) e.path = f.path
	if (f.dest) e.dest = f.dest
	return e
}

// Each operation: its name in Go, a function that converts the arguments, and one that converts the result.
const same = () => undefined
const operations = {
	access: ['access', p => [pathOf(p)], same],
	appendFile: ['append', (p, data, o) => [pathOf(p), bytesOf(data, optionsOf(o).encoding), optionsOf(o).flag || 'a', modeOf(optionsOf(o).mode)], same],
	chmod: ['chmod', (p, mode) => [pathOf(p), modeOf(mode)], same],
	copyFile: ['copy', (from, to) => [pathOf(from, 'src'), pathOf(to, 'dest')], same],
	cp: ['cp', (from, to, o) => [pathOf(from, 'src'), pathOf(to, 'dest'), Boolean(o && o.recursive)], same],
	lstat: ['lstat', p => [pathOf(p)], s => new Stats(s)],
	mkdir: ['mkdir', (p, o) => [pathOf(p), Boolean(o && o.recursive)], made => made === null ? undefined : made],
	mkdtemp: ['mkdtemp', p => [pathOf(p, 'prefix')], made => made],
	readFile: ['read', p => [pathOf(p)], (b, p, o) => text(b, optionsOf(o))],
	readdir: ['readdir', (p, o) => [pathOf(p), Boolean(o && o.recursive)], (list, p, o) => list.map(e => o && o.withFileTypes ? new Dirent(e) : e.relative)],
	readlink: ['readlink', p => [pathOf(p)], p => p],
	realpath: ['realpath', p => [pathOf(p)], p => p],
	rename: ['rename', (from, to) => [pathOf(from, 'oldPath'), pathOf(to, 'newPath')], same],
	rm: ['rm', (p, o) => [pathOf(p), Boolean(o && o.recursive), Boolean(o && o.force)], same],
	rmdir: ['rmdir', p => [pathOf(p)], same],
	stat: ['stat', p => [pathOf(p)], s => new Stats(s)],
	symlink: ['symlink', (to, p) => [pathOf(to, 'target'), pathOf(p)], same],
	truncate: ['truncate', (p, n) => [pathOf(p), n || 0], same],
	unlink: ['unlink', p => [pathOf(p)], same],
	utimes: ['utimes', (p, a, m) => [pathOf(p), +a / (a instanceof Date ? 1000 : 1), +m / (m instanceof Date ? 1000 : 1)], same],
	writeFile: ['write', (p, data, o) => [pathOf(p), bytesOf(data, optionsOf(o).encoding), optionsOf(o).flag || 'w', modeOf(optionsOf(o).mode)], same],
}
const modeOf = m => typeof m === 'string' ? parseInt(m, 8) : m || 0

const fs = {}, promises = {}
const named = (name, f) => Object.defineProperty(f, 'name', { value: name, configurable: true })
for (const [name, [op, before, after]] of Object.entries(operations)) {
	fs[name + 'Sync'] = named(name + 'Sync', function (p, a, b) {
		if (name === 'readFile' && typeof p === 'number' && p > 2) {
			const parts = [], part = Buffer.alloc(65536)
			for (let n; (n = fs.readSync(p, part)) > 0;) parts.push(Buffer.from(part.subarray(0, n)))
			return text(Buffer.concat(parts), optionsOf(a))
		}
		if ((name === 'writeFile' || name === 'appendFile') && typeof p === 'number' && p > 2) return void fs.writeSync(p, typeof a === 'string' ? a : Buffer.from(bytesOf(a)))
		if (name === 'readFile' && p === 0) return text(readAllStdin(), optionsOf(a))
		if (name === 'writeFile' && (p === 1 || p === 2)) return void process[p === 1 ? 'stdout' : 'stderr'].write(typeof a === 'string' ? a : Buffer.from(bytesOf(a)))
		if ((name === 'stat' || name === 'lstat') && a && a.throwIfNoEntry === false && !fs.existsSync(p)) return undefined
		const r = go.fileSync(op, ...before(p, a, b))
		if (r.failure) throw error(r.failure)
		return after(r.value, p, a)
	})
	promises[name] = named(name, async function (p, a, b) {
		const r = await go.file(op, ...before(p, a, b))
		if (r.failure) throw error(r.failure)
		return after(r.value, p, a)
	})
	fs[name] = named(name, function (...args) {
		const callback = args.pop()
		if (typeof callback !== 'function') throw go.invalidType('cb', 'function', callback)
		promises[name](...args).then(v => process.nextTick(callback, null, ...(v === undefined ? [] : [v])), e => process.nextTick(callback, e))
	})
}
fs.existsSync = p => {
	try {
		return go.fileSync('exists', pathOf(p)).value
	} catch (_) {
		return false
	}
}
fs.exists = (p, callback) => { promises.access(p).then(() => callback(true), () => callback(false)) }
fs.realpathSync.native = fs.realpathSync

function readAllStdin() {
	const parts = []
	for (;;) {
		const r = go.fileSync('stdin')
		if (r.failure) throw error(r.failure)
		if (r.value.byteLength === 0) return Buffer.concat(parts)
		parts.push(Buffer.from(r.value))
	}
}

promises.constants = fs.constants = { F_OK: 0, X_OK: 1, W_OK: 2, R_OK: 4, COPYFILE_EXCL: 1 }
require('fd')(fs, promises, { error, pathOf, modeOf, bytesOf, text, optionsOf, Stats, Buffer })
// Functions that loopjs lacks throw when they are called: a script may only test for them, or import them along with others.
for (const [name, instead] of Object.entries({ createReadStream: 'fs.open and FileHandle.read', createWriteStream: 'fs.open and FileHandle.write', watch: 'fs.stat', watchFile: 'fs.stat' })) {
	fs[name] = named(name, () => {
		const what = name.startsWith('create') ? 'streams of files' : 'watching of files'
		throw Object.assign(new Error(`fs.${name}: loopjs has no ${what}; there is ${instead}`), { code: 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM' })
	})
}
fs.promises = promises
fs.Stats = Stats
fs.Dirent = Dirent
return fs
})
