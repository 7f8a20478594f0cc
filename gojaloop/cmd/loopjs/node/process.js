// The part of the process object that depends on the program: arguments, standard input, and terminals.
(function (go, require) {
'use strict'
process.argv = go.about.argv
process.execArgv = go.about.execArgv
process.argv0 = 'loopjs'
process.title = 'loopjs'
process.chdir = dir => { const r = go.fileSync('chdir', String(dir)); if (r.failure) throw Object.assign(new Error(`${r.failure.code}: ${r.failure.message}, chdir '${dir}'`), { code: r.failure.code }) }
process.abort = () => process.exit(134)
process.umask = () => 0o22
process.cpuUsage = () => ({ user: Math.round(process.uptime() * 1e6), system: 0 })
process.features = {}
Object.setPrototypeOf(process, Object.create(require('events').prototype, { constructor: { value: function process() {}, writable: true, configurable: true } }))
process.config = { variables: {} }
process.emitWarning = (warning, options, code) => {
	if (typeof warning !== 'string' && !(warning instanceof Error)) throw go.invalidType('warning', 'string or an instance of Error', warning)
	const type = typeof options === 'string' ? options : options && options.type || 'Warning'
	const w = warning instanceof Error ? warning : Object.assign(new Error(warning), { name: type })
	code = typeof code === 'string' ? code : options && options.code
	if (code) w.code = code
	if (options && options.detail) w.detail = options.detail
	process.nextTick(() => {
		go.print(true, `(loopjs:${process.pid}) ${w.code ? `[${w.code}] ` : ''}${w.name}: ${w.message}\n${typeof w.detail === 'string' ? w.detail + '\n' : ''}`)
		process.emit('warning', w)
	})
}
const numbers = { SIGHUP: 1, SIGINT: 2, SIGQUIT: 3, SIGKILL: 9, SIGUSR1: 10, SIGUSR2: 12, SIGTERM: 15 }
process.kill = (pid, signal = 'SIGTERM') => {
	const n = typeof signal === 'number' ? signal : numbers[signal]
	if (n === undefined) throw Object.assign(new TypeError(`Unknown signal: ${signal}`), { code: 'ERR_UNKNOWN_SIGNAL' })
	const { failure } = go.kill(pid, n)
	if (failure) throw Object.assign(new Error(`kill ${failure.code}`), { errno: failure.errno, code: failure.code, syscall: 'kill' })
	return true
}

for (const [name, fd] of [['stdout', 1], ['stderr', 2]]) {
	const make = () => {
		const d = Object.getOwnPropertyDescriptor(shape, name)
		const stream = d.get.call(process)
		const tty = go.tty(fd)
		stream.isTTY = tty.is || undefined
		if (tty.is) Object.defineProperty(stream, 'columns', { get: () => go.tty(fd).columns || 80, configurable: true })
		else delete stream.columns
		stream.getWindowSize = () => [go.tty(fd).columns || 80, 24]
		stream.hasColors = () => false
		stream.getColorDepth = () => 1
		stream.emit = () => false
		stream.off = stream.removeListener = stream.removeAllListeners = stream.cork = stream.uncork = () => stream
		stream.write = (chunk, encoding, callback) => {
			if (typeof chunk === 'string') go.print(fd === 2, chunk)
			else if (ArrayBuffer.isView(chunk)) go.write(fd === 2, new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength))
			else throw go.invalidType('chunk', 'string or an instance of Buffer or Uint8Array', chunk)
			const f = typeof encoding === 'function' ? encoding : callback
			if (typeof f === 'function') process.nextTick(f)
			return true
		}
		const end = stream.end
		stream.end = (chunk, ...rest) => { if (typeof chunk === 'string' || chunk instanceof Uint8Array) stream.write(chunk); const f = rest.pop() || chunk; if (typeof f === 'function') process.nextTick(f); return end.call(stream) }
		return stream
	}
	const shape = { __proto__: null }
	Object.defineProperty(shape, name, Object.getOwnPropertyDescriptor(process, name))
	Object.defineProperty(process, name, { configurable: true, enumerable: true, get() {
		const v = make()
		Object.defineProperty(process, name, { value: v, writable: true, enumerable: true, configurable: true })
		return v
	} })
}

// The standard input: an emitter that begins to read when it has listeners, and an async iterator.
function makeStdin() {
	const EventEmitter = require('events'), { Buffer } = require('buffer')
	const stdin = new EventEmitter()
	let reading = false, over = false, paused = false, decoder
	const queue = []
	const give = async () => {
		if (reading || over) return
		reading = true
		while (!over && !paused) {
			const r = await go.file('stdin')
			const b = r.failure ? { byteLength: 0 } : r.value
			if (b.byteLength === 0) {
				over = true
				const rest = decoder ? decoder.decode() : ''
				if (rest) stdin.emit('data', rest)
				stdin.readableEnded = true
				stdin.emit('end')
				stdin.emit('close')
				break
			}
			const chunk = decoder ? decoder.decode(new Uint8Array(b), { stream: true }) : Buffer.from(b)
			if (paused) queue.push(chunk)
			else if (chunk.length > 0) stdin.emit('data', chunk)
		}
		reading = false
	}
	const on = stdin.on
	stdin.on = stdin.addListener = function (name, f) {
		on.call(stdin, name, f)
		if (name === 'data' && !paused) process.nextTick(give)
		if (name === 'readable' || name === 'end') process.nextTick(() => { if (stdin.listenerCount('data') > 0) give() })
		return stdin
	}
	Object.assign(stdin, {
		fd: 0, isTTY: go.tty(0).is, readable: true, readableEnded: false,
		setEncoding(e) { decoder = new TextDecoder(e); return stdin },
		setRawMode() { return stdin },
		pause() { paused = true; return stdin },
		resume() {
			paused = false
			while (queue.length > 0) stdin.emit('data', queue.shift())
			process.nextTick(give)
			return stdin
		},
		isPaused: () => paused, ref: () => stdin, unref: () => stdin, destroy() { over = true; return stdin },
		pipe(to) { stdin.on('data', c => to.write(c)); return to },
	})
	stdin[go.asyncIterator] = () => {
		const chunks = EventEmitter.on(stdin, 'data')
		stdin.once('end', () => process.nextTick(() => chunks.return()))
		return { next: () => chunks.next().then(r => r.done ? r : { value: r.value[0], done: false }), return: () => { over = true; return chunks.return() } }
	}
	return stdin
}
let stdin
Object.defineProperty(process, 'stdin', { configurable: true, enumerable: true, get: () => stdin || (stdin = makeStdin()) })
return process
})
