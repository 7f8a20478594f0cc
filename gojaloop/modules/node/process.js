// The part of the process object that depends on the program: arguments, standard streams, and what the system tells of the process.
(function (go, require) {
'use strict'
const about = go.about
process.argv = about.argv
process.execArgv = about.execArgv
process.argv0 = 'loopjs'
process.title = 'loopjs'
const sync = (op, ...args) => {
	const { value, failure: f } = go.fileSync(op, ...args)
	if (f) throw go.systemError(f)
	return value
}
process.chdir = dir => { if (typeof dir !== 'string') throw go.invalidType('directory', 'string', dir); sync('chdir', dir) }
process.umask = mask => sync('umask', mask === undefined ? -1 : typeof mask === 'string' ? parseInt(mask, 8) : mask)
process.abort = () => { go.kill(process.pid, 6); process.reallyExit(134) }
process.cpuUsage = before => { const { user, system } = go.usage(); return before === undefined ? { user, system } : { user: user - before.user, system: system - before.system } }
process.resourceUsage = () => { const { user, system, ...rest } = go.usage(); return { userCPUTime: user, systemCPUTime: system, ...rest } }
const memoryUsage = process.memoryUsage
process.memoryUsage = Object.assign(function memoryUsage_() { return memoryUsage.call(process) }, { rss: () => memoryUsage.call(process).rss })
Object.defineProperty(process.memoryUsage, 'name', { value: 'memoryUsage' })
process.constrainedMemory = () => undefined
process.availableMemory = () => go.machine().free
if (process.platform !== 'win32') {
	for (const name of ['getuid', 'geteuid', 'getgid', 'getegid', 'getgroups']) process[name] = () => go.ids()[name]
	for (const name of ['setuid', 'seteuid', 'setgid', 'setegid', 'setgroups', 'initgroups']) process[name] = go.refuse('process', name, 'the options uid and gid of child_process')
}
process.features = { inspector: false, debug: false, uv: false, ipv6: true, tls_alpn: false, tls_sni: false, tls_ocsp: false, tls: false, cached_builtins: true, require_module: true }
process.config = { target_defaults: {}, variables: {} }
process.moduleLoadList = []
process.report = null
process.allowedNodeEnvironmentFlags = new Set()
process.sourceMapsEnabled = true
process.setSourceMapsEnabled = () => {}
process.getActiveResourcesInfo = () => []
process.getBuiltinModule = name => go.isBuiltin(String(name)) ? require(String(name).replace(/^node:/, '')) : undefined
process.binding = process._linkedBinding = name => { throw new Error(`No such module: ${name}`) }
process.dlopen = go.refuse('process', 'dlopen', 'functions that the program around loopjs gives to scripts')
Object.setPrototypeOf(process, Object.create(require('events').prototype, { constructor: { value: function process() {}, writable: true, configurable: true } }))
process.emitWarning = (warning, options, code) => {
	if (typeof warning !== 'string' && !(warning instanceof Error)) throw go.invalidType('warning', 'string or an instance of Error', warning)
	const type = typeof options === 'string' ? options : options && options.type || 'Warning'
	const w = warning instanceof Error ? warning : Object.assign(new Error(warning), { name: type })
	code = typeof code === 'string' ? code : options && options.code
	if (code) w.code = code
	if (options && options.detail) w.detail = options.detail
	if (w.name === 'DeprecationWarning' && process.noDeprecation) return
	process.nextTick(() => {
		go.print(true, `(loopjs:${process.pid}) ${w.code ? `[${w.code}] ` : ''}${w.name}: ${w.message}\n${typeof w.detail === 'string' ? w.detail + '\n' : ''}`)
		process.emit('warning', w)
	})
}
process.kill = (pid, signal = 'SIGTERM') => {
	if (typeof pid !== 'number') throw go.invalidType('pid', 'number', pid)
	const n = typeof signal === 'number' ? signal : about.signals[signal]
	if (n === undefined) throw Object.assign(new TypeError(`Unknown signal: ${signal}`), { code: 'ERR_UNKNOWN_SIGNAL' })
	const { failure } = go.kill(pid, n)
	if (failure) throw Object.assign(new Error(`kill ${failure.code}`), { errno: failure.errno, code: failure.code, syscall: 'kill' })
	return true
}

for (const [name, fd] of [['stdout', 1], ['stderr', 2]]) {
	go.module('process').lazy(name, () => {
		const tty = require('tty'), stream = go.tty(fd).is ? new tty.WriteStream(fd) : new go.Output(fd)
		stream._isStdio = true
		stream._type = stream.isTTY ? 'tty' : 'pipe'
		stream.destroySoon = stream.destroy
		stream._destroy = (e, callback) => callback(e) // the descriptor stays: others print to it
		return stream
	})
}
go.module('process').lazy('stdin', () => {
	const tty = require('tty')
	return go.tty(0).is ? new tty.ReadStream(0) : new go.Input(0)
})
process.openStdin = () => process.stdin.resume()
return process
})
