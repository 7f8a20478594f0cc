// node:child_process: a child is a source of events. There is no channel of messages, so no fork.
(function (go, require) {
'use strict'
const EventEmitter = require('events'), { Buffer } = require('buffer'), os = require('os')
require('tty')
const shell = process.platform === 'win32' ? process.env.comspec || 'cmd.exe' : '/bin/sh'
const signals = os.constants.signals, signalName = n => Object.keys(signals).find(s => signals[s] === n) || null
const signalNumber = s => {
	if (s === undefined || s === null) return signals.SIGTERM
	const n = typeof s === 'number' ? s : signals[String(s).toUpperCase()]
	if (n === undefined) throw Object.assign(new TypeError(`Unknown signal: ${s}`), { code: 'ERR_UNKNOWN_SIGNAL' })
	return n
}
const refuse = (o, names) => { for (const n of names) if (o[n]) throw Object.assign(new Error(`child_process: the option ${n} is not implemented`), { code: 'ERR_METHOD_NOT_IMPLEMENTED' }) }
const text = (v, name) => { if (typeof v !== 'string') throw go.invalidType(name, 'string', v); if (v.includes('\0')) throw Object.assign(new TypeError(`The argument '${name}' must be a string without null bytes. Received ${go.inspect(v)}`), { code: 'ERR_INVALID_ARG_VALUE' }); return v }
const folder = cwd => cwd === undefined || cwd === null ? '' : cwd instanceof URL ? require('url').fileURLToPath(cwd) : text(cwd, 'options.cwd')

// normal puts the arguments of all functions into one form.
function normal(file, args, options) {
	text(file, 'file')
	if (file === '') throw Object.assign(new TypeError(`The argument 'file' cannot be empty. Received ''`), { code: 'ERR_INVALID_ARG_VALUE' })
	if (args !== undefined && args !== null && !Array.isArray(args)) [options, args] = [args, []]
	args = (args || []).map((a, i) => text(String(a), `args[${i}]`))
	if (options !== undefined && (options === null || typeof options !== 'object')) throw go.invalidType('options', 'object', options)
	const o = { ...options }
	refuse(o, ['serialization'])
	if (o.shell) {
		const command = [file, ...args].join(' ')
		file = typeof o.shell === 'string' ? o.shell : shell
		args = process.platform === 'win32' && /^(?:.*\\)?cmd(?:\.exe)?$/i.test(file) ? ['/d', '/s', '/c', `"${command}"`] : ['-c', command]
	}
	const stdio = typeof o.stdio === 'string' ? [o.stdio, o.stdio, o.stdio] : [...(o.stdio || [])]
	while (stdio.length < 3) stdio.push(undefined)
	const env = Object.entries(o.env || process.env).filter(([, v]) => v !== undefined).map(([k, v]) => `${text(k, 'env')}=${text(String(v), 'env')}`)
	return { o, file, spawnargs: [o.argv0 === undefined ? file : text(o.argv0, 'options.argv0'), ...args], given: {
		file, args: [o.argv0 === undefined ? file : o.argv0, ...args], cwd: folder(o.cwd), env, detached: Boolean(o.detached), uid: o.uid === undefined ? -1 : o.uid, gid: o.gid === undefined ? -1 : o.gid,
		stdio: stdio.map((s, i) => {
			if (s === undefined || s === null) return i < 3 ? 'pipe' : 'ignore'
			if (s === 'inherit') return i
			if (s === 'pipe' || s === 'overlapped') return 'pipe'
			if (s === 'ignore') return s
			if (typeof s === 'number') return s
			if (typeof s === 'object' && typeof s.fd === 'number') return s.fd
			if (s === 'ipc') throw Object.assign(new Error('child_process: loopjs has no channels of messages (ipc)'), { code: 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM' })
			throw Object.assign(new TypeError(`The argument 'stdio' is invalid. Received ${go.inspect(s)}`), { code: 'ERR_INVALID_ARG_VALUE' })
		}),
	} }
}
const spawnError = (f, file, spawnargs) => Object.assign(new Error(`spawn ${file} ${f.code}`), { errno: f.errno, code: f.code, syscall: 'spawn ' + file, path: file, spawnargs: spawnargs.slice(1) })

class ChildProcess extends EventEmitter {
	constructor() {
		super()
		Object.assign(this, { connected: false, signalCode: null, exitCode: null, killed: false, spawnfile: null, stdin: null, stdout: null, stderr: null, stdio: [] })
	}
	kill(signal) {
		const n = signalNumber(signal)
		if (this.pid === undefined || this.exitCode !== null || this.signalCode !== null) return false
		if (go.kill(this.pid, n).failure) return false
		if (n !== 0) this.killed = true
		return true
	}
	ref() { if (this.work) this.work.ref() }
	unref() { if (this.work) this.work.unref() }
	send() { throw Object.assign(new Error('child_process: loopjs has no channels of messages'), { code: 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM' }) }
	disconnect() { return this.send() }
	[Symbol.for('Symbol.dispose')]() { if (!this.killed) this.kill() }
}

function spawn(file, args, options) {
	const { o, file: f, spawnargs, given } = normal(file, args, options), child = new ChildProcess()
	signalNumber(o.killSignal)
	const hidden = (name, value) => Object.defineProperty(child, name, { value, writable: true })
	hidden('work', null)
	child.spawnfile = f
	child.spawnargs = spawnargs
	const { value, failure } = go.spawn(given)
	if (failure) {
		for (const [i, s] of given.stdio.entries()) child.stdio[i] = s === 'pipe' ? i === 0 ? new go.Output(-1) : require('stream').Readable.from([]) : null;
		[child.stdin, child.stdout, child.stderr] = child.stdio
		process.nextTick(() => { child.exitCode = failure.errno; child.emit('error', spawnError(failure, f, spawnargs)); child.emit('close', failure.errno, null) })
		return child
	}
	child.pid = value.pid
	let open = 1
	const closed = () => { if (--open === 0) child.emit('close', child.exitCode, child.signalCode) }
	child.stdio = given.stdio.map((s, i) => {
		if (s !== 'pipe') return null
		if (i === 0) { const w = new go.Output(value.fds[i]); w.on('error', () => {}); open++; w.on('close', closed); return w }
		open++
		return new go.Input(value.fds[i]).on('close', closed)
	});
	[child.stdin, child.stdout, child.stderr] = child.stdio
	if (child.stdin) { open--; child.stdin.removeListener('close', closed) }
	child.work = go.begin('wait', r => {
		const { code, signal } = r.value
		child.work = null
		if (signal) child.signalCode = signalName(signal)
		else child.exitCode = code
		if (timer) clearTimeout(timer)
		if (o.signal) o.signal.removeEventListener('abort', stop)
		if (child.stdin) child.stdin.destroy()
		child.emit('exit', child.exitCode, child.signalCode)
		// What nobody reads is read to its end, or 'close' would never come.
		process.nextTick(() => { for (const s of child.stdio.slice(1)) if (s && s.readableFlowing === null && !s.readableListening && s.listenerCount('readable') === 0) s.resume() })
		closed()
	}, value.pid)
	let timer = null
	const stop = () => { if (child.kill(o.killSignal)) child.emit('error', go.aborted(o.signal)) }
	if (o.timeout > 0) timer = setTimeout(() => child.kill(o.killSignal), o.timeout)
	if (o.signal) o.signal.aborted ? process.nextTick(stop) : o.signal.addEventListener('abort', stop)
	process.nextTick(() => child.emit('spawn'))
	return child
}

function execFile(file, args, options, callback) {
	if (typeof args === 'function') [callback, args, options] = [args, [], {}]
	else if (args !== undefined && args !== null && !Array.isArray(args)) [callback, options, args] = [options, args, []]
	if (typeof options === 'function') [callback, options] = [options, {}]
	const o = { encoding: 'utf8', timeout: 0, maxBuffer: 1024 * 1024, killSignal: 'SIGTERM', ...options }
	const { signal, timeout, ...rest } = o
	const child = spawn(file, args, { ...rest, stdio: undefined })
	const isText = o.encoding && o.encoding !== 'buffer' && Buffer.isEncoding(o.encoding), out = { stdout: [], stderr: [] }, length = { stdout: 0, stderr: 0 }
	let error = null, over = false, timer = null, killed = false
	const kill = () => { killed = true; child.stdout.destroy(); child.stderr.destroy(); try { child.kill(o.killSignal) } catch (e) { error = error || e; end(null, null) } }
	const stop = () => { error = error || go.aborted(signal); kill() }
	const end = (code, sig) => {
		if (over) return
		over = true
		if (timer) clearTimeout(timer)
		if (signal) signal.removeEventListener('abort', stop)
		if (!callback) return
		const [stdout, stderr] = ['stdout', 'stderr'].map(n => isText ? out[n].join('') : Buffer.concat(out[n]))
		const cmd = [file, ...(args || [])].join(' ')
		if (error) error.cmd = error.cmd || cmd
		else if (code !== 0 || sig !== null) error = Object.assign(new Error(`Command failed: ${o.shell ? file : cmd}\n${stderr}`), { code: code < 0 ? signalName(-code) : code, killed: child.killed || killed, signal: sig, cmd: o.shell ? file : cmd })
		if (error) callback(Object.assign(error, { stdout, stderr }), stdout, stderr)
		else callback(null, stdout, stderr)
	}
	for (const n of ['stdout', 'stderr']) {
		const s = child[n]
		if (isText) s.setEncoding(o.encoding)
		s.on('data', chunk => {
			length[n] += chunk.length
			if (length[n] <= o.maxBuffer) return void out[n].push(chunk)
			out[n].push(chunk.slice(0, o.maxBuffer - (length[n] - chunk.length)))
			error = error || Object.assign(new RangeError(`${n} maxBuffer length exceeded`), { code: 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER' })
			kill()
		})
	}
	if (timeout > 0) timer = setTimeout(kill, timeout)
	if (signal) signal.aborted ? process.nextTick(stop) : signal.addEventListener('abort', stop)
	child.on('close', end)
	child.on('error', e => { error = e; child.stdout.destroy(); child.stderr.destroy(); end(child.exitCode, null) })
	return child
}
function exec(command, options, callback) {
	if (typeof options === 'function') [callback, options] = [options, {}]
	return execFile(command, [], { ...options, shell: options && typeof options.shell === 'string' ? options.shell : true }, callback)
}
const custom = Symbol.for('nodejs.util.promisify.custom')
for (const f of [exec, execFile]) {
	Object.defineProperty(f, custom, { value: (...args) => {
		let child
		const p = new Promise((resolve, reject) => { child = f(...args, (e, stdout, stderr) => e ? reject(e) : resolve({ stdout, stderr })) })
		p.child = child
		return p
	} })
}

// The forms that wait. They block the loop, as Node's do.
function spawnSync(file, args, options) {
	const { o, file: f, spawnargs, given } = normal(file, args, options)
	const input = o.input === undefined || o.input === null ? undefined : typeof o.input === 'string' ? Buffer.from(o.input, o.encoding && o.encoding !== 'buffer' ? o.encoding : 'utf8') : Buffer.from(o.input.buffer, o.input.byteOffset, o.input.byteLength)
	if (input) given.stdio[0] = 'pipe'
	const most = o.maxBuffer === undefined ? 1024 * 1024 : o.maxBuffer
	const { value, failure } = go.spawn(given)
	if (failure) return { error: Object.assign(new Error(`spawnSync ${f} ${failure.code}`), { errno: failure.errno, code: failure.code, syscall: 'spawnSync ' + f, path: f, spawnargs: spawnargs.slice(1) }), status: null, signal: null, output: null, pid: 0, stdout: null, stderr: null }
	const r = go.finish(value.pid, value.fds, input && input.buffer.slice(input.byteOffset, input.byteOffset + input.byteLength), o.timeout || 0, signalNumber(o.killSignal), most)
	const output = r.output.map(b => b === null ? null : o.encoding && o.encoding !== 'buffer' ? Buffer.from(b).toString(o.encoding) : Buffer.from(b))
	const out = { pid: value.pid, output, stdout: output[1], stderr: output[2], status: r.signal ? null : r.code, signal: r.signal ? signalName(r.signal) : null }
	if (r.why) out.error = Object.assign(new Error(`spawnSync ${f} ${r.why}`), { errno: r.why === 'ETIMEDOUT' ? -110 : -105, code: r.why, syscall: 'spawnSync ' + f, path: f, spawnargs: spawnargs.slice(1) })
	return out
}
const checked = (r, command, o) => {
	const e = r.error || (r.status === 0 ? undefined : new Error(`Command failed: ${command}${r.stderr && r.stderr.length > 0 ? '\n' + r.stderr : ''}`))
	if (e) throw Object.assign(e, r)
	return r.stdout
}
function execFileSync(file, args, options) {
	if (args !== undefined && args !== null && !Array.isArray(args)) [options, args] = [args, []]
	const inherits = !options || !options.stdio, r = spawnSync(file, args, inherits ? { ...options, stdio: 'pipe' } : options)
	if (inherits && r.stderr) process.stderr.write(r.stderr)
	return checked(r, [file, ...(args || [])].join(' '))
}
function execSync(command, options) {
	const inherits = !options || !options.stdio, o = { ...options, shell: options && typeof options.shell === 'string' ? options.shell : true }
	const r = spawnSync(command, [], inherits ? { ...o, stdio: 'pipe' } : o)
	if (inherits && r.stderr) process.stderr.write(r.stderr)
	return checked(r, command)
}
const fork = () => { throw Object.assign(new Error('child_process.fork: loopjs has no channels of messages; there are spawn and execFile with process.execPath'), { code: 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM' }) }
return { ChildProcess, exec, execFile, execFileSync, execSync, fork, spawn, spawnSync }
})
