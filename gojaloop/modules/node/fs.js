// node:fs and node:fs/promises: each operation in three forms.
(function (go, require) {
'use strict'
const { Buffer } = require('buffer')
const invalid = (name, v, why, C = TypeError) => Object.assign(new C(`The argument '${name}' ${why}. Received ${go.inspect(v)}`), { code: 'ERR_INVALID_ARG_VALUE' })
const error = go.systemError

function pathOf(p, name = 'path') {
	if (p instanceof URL) p = require('url').fileURLToPath(p)
	if (p instanceof Uint8Array) p = Buffer.from(p).toString()
	if (typeof p !== 'string') throw go.invalidType(name, 'string or an instance of Buffer or URL', p)
	if (p.includes('\0')) throw invalid(name, p, 'must be a string, Uint8Array, or URL without null bytes')
	return p
}
function bytesOf(data, encoding) {
	if (typeof data === 'string') data = Buffer.from(data, encoding || 'utf8')
	else if (data instanceof ArrayBuffer) return data
	else if (!ArrayBuffer.isView(data)) throw go.invalidType('data', 'string or an instance of Buffer, TypedArray, or DataView', data)
	return data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength)
}
// optionsOf returns options, which may be an encoding alone.
function optionsOf(o) {
	if (o === undefined || o === null) return {}
	if (typeof o === 'string') o = { encoding: o }
	if (typeof o !== 'object') throw go.invalidType('options', 'string or an instance of Object', o)
	if (o.encoding && o.encoding !== 'buffer' && !Buffer.isEncoding(o.encoding)) throw invalid('encoding', o.encoding, 'is invalid encoding')
	return o
}
const text = (b, o) => {
	const buffer = Buffer.from(b)
	return o.encoding && o.encoding !== 'buffer' ? buffer.toString(o.encoding) : buffer
}
const nameText = (s, o) => { const { encoding } = optionsOf(o); return !encoding || /^utf-?8$/.test(encoding) ? s : text(Buffer.from(s), { encoding }) }
const modeOf = (m, otherwise = 0) => {
	if (m === undefined || m === null) return otherwise
	if (typeof m === 'string' && /^[0-7]+$/.test(m)) return parseInt(m, 8)
	if (typeof m !== 'number') throw invalid('mode', m, 'must be a 32-bit unsigned integer or an octal string')
	return m
}
const timeOf = t => { const n = typeof t === 'string' ? +t : t; if (n instanceof Date || typeof n === 'object' && n && typeof n.getTime === 'function') return n.getTime() / 1000; if (typeof n === 'number' && Number.isFinite(n)) return n; throw go.invalidType('time', 'Date or time in seconds', t) }
const idOf = (n, name) => { if (typeof n !== 'number') throw go.invalidType(name, 'number', n); return n }
const flagOf = (o, otherwise) => o.flag === undefined || o.flag === null ? otherwise : String(o.flag)
const unsupported = (call, name) => { throw Object.assign(new Error(`${call}: the option ${name} is not implemented`), { code: 'ERR_METHOD_NOT_IMPLEMENTED' }) }

const notInto = (from, to) => {
	const { resolve, sep } = require('path'), a = resolve(pathOf(from, 'src')), b = resolve(pathOf(to, 'dest'))
	if (a === b || b.startsWith(a + sep)) throw Object.assign(new Error(a === b ? 'Invalid src or dest: cp returned EINVAL (src and dest cannot be the same) ' + to : `Invalid src or dest: cp returned EINVAL (cannot copy ${from} to a subdirectory of self ${to}) ${to}`), { code: 'ERR_FS_CP_EINVAL', errno: 22, syscall: 'cp', path: to })
}
const kinds = { 'Directory': 0o40000, 'File': 0o100000, 'BlockDevice': 0o60000, 'CharacterDevice': 0o20000, 'SymbolicLink': 0o120000, 'FIFO': 0o10000, 'Socket': 0o140000 }
function Stats() {}
function BigIntStats() {}
const fields = ['dev', 'mode', 'nlink', 'uid', 'gid', 'rdev', 'blksize', 'ino', 'size', 'blocks'], times = ['atime', 'mtime', 'ctime', 'birthtime']
function statsOf(s, o) {
	const big = Boolean(o && o.bigint), out = Object.create((big ? BigIntStats : Stats).prototype)
	for (const n of fields) out[n] = big ? BigInt(s[n]) : s[n]
	for (const n of times) out[n + 'Ms'] = big ? BigInt(s[n][0]) * 1000n + BigInt(Math.floor(s[n][1] / 1e6)) : s[n][0] * 1000 + s[n][1] / 1e6
	if (big) for (const n of times) out[n + 'Ns'] = BigInt(s[n][0]) * 1000000000n + BigInt(s[n][1])
	for (const n of times) out[n] = new Date(s[n][0] * 1000 + Math.floor(s[n][1] / 1e6))
	return out
}
class Dirent {
	constructor(e) {
		this.name = e.name
		this.parentPath = this.path = e.parent
		Object.defineProperty(this, 'mode', { value: e.mode })
	}
}
for (const C of [Stats, BigIntStats, Dirent]) {
	for (const [name, kind] of Object.entries(kinds)) Object.defineProperty(C.prototype, 'is' + name, { value() { return (Number(this.mode) & 0o170000) === kind }, writable: true, configurable: true })
}

// Each operation: its name in Go, a function that converts the arguments, and one that converts the result.
const same = () => undefined
const writes = (op, flag) => [op, (p, data, o) => [pathOf(p), bytesOf(data, optionsOf(o).encoding), flagOf(optionsOf(o), flag), modeOf(optionsOf(o).mode, 0o666), Boolean(optionsOf(o).flush)], same]
const operations = {
	access: ['access', (p, mode) => [pathOf(p), mode || 0], same],
	appendFile: writes('write', 'a'),
	chmod: ['chmod', (p, mode) => [pathOf(p), modeOf(mode)], same],
	chown: ['chown', (p, u, g) => [pathOf(p), idOf(u, 'uid'), idOf(g, 'gid')], same],
	copyFile: ['copy', (from, to, mode = 0) => { if (mode & 4) unsupported('fs.copyFile', 'COPYFILE_FICLONE_FORCE'); return [pathOf(from, 'src'), pathOf(to, 'dest'), Boolean(mode & 1)] }, same],
	cp: ['cp', (from, to, o = {}) => {
		notInto(from, to)
		for (const n of ['verbatimSymlinks', 'mode']) if (o[n]) unsupported('fs.cp', n)
		return [pathOf(from, 'src'), pathOf(to, 'dest'), Boolean(o.recursive), o.force !== false, Boolean(o.errorOnExist), Boolean(o.dereference), Boolean(o.preserveTimestamps)]
	}, same],
	lchown: ['lchown', (p, u, g) => [pathOf(p), idOf(u, 'uid'), idOf(g, 'gid')], same],
	link: ['link', (from, to) => [pathOf(from, 'existingPath'), pathOf(to, 'newPath')], same],
	lstat: ['lstat', p => [pathOf(p)], (s, p, o) => statsOf(s, o)],
	lutimes: ['lutimes', (p, a, m) => [pathOf(p), timeOf(a), timeOf(m)], same],
	mkdir: ['mkdir', (p, o) => [pathOf(p), Boolean(o && o.recursive), modeOf(o && typeof o === 'object' ? o.mode : o, 0o777)], made => made === null ? undefined : made],
	mkdtemp: ['mkdtemp', p => [pathOf(p, 'prefix')], (made, p, o) => nameText(made, o)],
	readFile: ['read', (p, o) => [pathOf(p), flagOf(optionsOf(o), 'r')], (b, p, o) => text(b, optionsOf(o))],
	readdir: ['readdir', (p, o) => { optionsOf(o); return [pathOf(p), Boolean(o && o.recursive)] }, (list, p, o) => list.map(e => o && o.withFileTypes ? new Dirent({ ...e, name: nameText(e.name, o) }) : nameText(e.relative, o))],
	readlink: ['readlink', p => [pathOf(p)], (to, p, o) => nameText(to, o)],
	realpath: ['realpath', p => [pathOf(p)], (real, p, o) => nameText(real, o)],
	rename: ['rename', (from, to) => [pathOf(from, 'oldPath'), pathOf(to, 'newPath')], same],
	rm: ['rm', (p, o) => [pathOf(p), Boolean(o && o.recursive), Boolean(o && o.force)], same],
	rmdir: ['rmdir', (p, o) => [pathOf(p), Boolean(o && o.recursive)], same],
	stat: ['stat', p => [pathOf(p)], (s, p, o) => statsOf(s, o)],
	statfs: ['statfs', p => [pathOf(p)], (s, p, o) => Object.fromEntries(Object.entries(s).map(([k, v]) => [k, o && o.bigint ? BigInt(v) : v]))],
	symlink: ['symlink', (to, p) => [pathOf(to, 'target'), pathOf(p)], same],
	truncate: ['truncate', (p, n) => [pathOf(p), n || 0], same],
	unlink: ['unlink', p => [pathOf(p)], same],
	utimes: ['utimes', (p, a, m) => [pathOf(p), timeOf(a), timeOf(m)], same],
	writeFile: writes('write', 'w'),
}

const fs = {}, promises = {}
const named = (name, f) => Object.defineProperty(f, 'name', { value: name, configurable: true })
const whole = new Set(['readFile', 'writeFile', 'appendFile']) // their file may be one that is open
for (const [name, [op, before, after]] of Object.entries(operations)) {
	fs[name + 'Sync'] = named(name + 'Sync', function (p, a, b, c) {
		if (whole.has(name) && typeof p === 'number') return fs.opened[name + 'Sync'](p, a, b)
		if ((name === 'stat' || name === 'lstat') && a && a.throwIfNoEntry === false && go.fileSync('lstat', pathOf(p)).failure) return undefined
		if (name === 'cp' && b && b.filter) { notInto(p, a); return copySync(p, a, b) }
		const r = go.fileSync(op, ...before(p, a, b, c))
		if (r.failure) throw error(r.failure)
		return after(r.value, p, a)
	})
	promises[name] = named(name, async function (p, a, b, c) {
		if (whole.has(name) && (typeof p === 'number' || p && typeof p.fd === 'number')) return fs.opened[name](typeof p === 'number' ? p : p.fd, a, b)
		const { signal } = optionsOf(name === 'readFile' ? a : whole.has(name) ? b : undefined)
		if (signal && signal.aborted) throw go.aborted(signal)
		if (name === 'cp' && b && b.filter) { notInto(p, a); return copy(p, a, b) }
		if (name !== 'readFile' && whole.has(name) && a !== null && typeof a === 'object' && !ArrayBuffer.isView(a) && (a[go.asyncIterator] || a[Symbol.iterator])) a = Buffer.concat((await collect(a)).map(x => Buffer.from(x, optionsOf(b).encoding)))
		const work = go.file(op, ...before(p, a, b, c))
		const r = await (signal ? Promise.race([work, new Promise((_, reject) => signal.addEventListener('abort', () => reject(go.aborted(signal)), { once: true }))]) : work)
		if (r.failure) throw error(r.failure)
		return after(r.value, p, a)
	})
	fs[name] = named(name, function (...args) {
		const callback = args.pop()
		if (typeof callback !== 'function') throw go.invalidType('cb', 'function', callback)
		if (!(whole.has(name) && typeof args[0] === 'number')) before(...args) // wrong arguments throw at once
		promises[name](...args).then(v => process.nextTick(callback, null, ...(v === undefined ? [] : [v])), e => process.nextTick(callback, e))
	})
}
async function collect(v) {
	const all = [], it = v[go.asyncIterator] ? v[go.asyncIterator]() : v[Symbol.iterator]()
	for (let r; !(r = await it.next()).done;) all.push(await r.value)
	return all
}
// A copy with a filter asks the script about each name.
const path = () => require('path')
function copySync(from, to, o) {
	from = pathOf(from, 'src'); to = pathOf(to, 'dest')
	if (!o.filter(from, to)) return
	const { filter, ...rest } = o, dir = (o.dereference ? fs.statSync : fs.lstatSync)(from).isDirectory()
	if (!dir || !o.recursive) return fs.cpSync(from, to, rest)
	fs.mkdirSync(to, { recursive: true })
	for (const n of fs.readdirSync(from)) copySync(path().join(from, n), path().join(to, n), o)
}
async function copy(from, to, o) {
	from = pathOf(from, 'src'); to = pathOf(to, 'dest')
	if (!await o.filter(from, to)) return
	const { filter, ...rest } = o, dir = (await (o.dereference ? promises.stat : promises.lstat)(from)).isDirectory()
	if (!dir || !o.recursive) return promises.cp(from, to, rest)
	await promises.mkdir(to, { recursive: true })
	for (const n of await promises.readdir(from)) await copy(path().join(from, n), path().join(to, n), o)
}
fs.existsSync = p => {
	try {
		return go.fileSync('exists', pathOf(p)).value
	} catch (_) {
		return false
	}
}
fs.exists = (p, callback) => {
	if (typeof callback !== 'function') throw go.invalidType('cb', 'function', callback)
	promises.access(p).then(() => process.nextTick(callback, true), () => process.nextTick(callback, false))
}
Object.defineProperty(fs.exists, Symbol.for('nodejs.util.promisify.custom'), { value: p => promises.access(p).then(() => true, () => false) })
fs.realpathSync.native = fs.realpathSync
fs.realpath.native = fs.realpath

promises.constants = fs.constants = go.about.fileConstants
for (const n of ['F_OK', 'R_OK', 'W_OK', 'X_OK']) fs[n] = fs.constants[n]
require('fd')(fs, promises, { error, pathOf, modeOf, timeOf, idOf, bytesOf, text, optionsOf, flagOf, statsOf, Dirent, Buffer, collect, named })
// Functions that loopjs lacks throw when they are called: a script may only test for them, or import them along with others.
for (const [name, instead] of Object.entries({ watch: 'fs.stat', watchFile: 'fs.stat', unwatchFile: 'fs.stat', openAsBlob: 'fs.readFile and Blob' })) fs[name] = go.refuse('fs', name, instead)
promises.watch = fs.watch
Object.assign(fs, { promises, Stats, Dirent, _toUnixTimestamp: timeOf })
return fs
})
