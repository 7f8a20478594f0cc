// Stacks as V8 has them: a text, or what Error.prepareStackTrace makes of call sites.
(function (host) {
'use strict'
class CallSite {
	#parts
	constructor(line) { this.#parts = /^at ((?:(.*) \()?(.*?)(?::(\d+):(\d+))?\)?)$/.exec(line) || [] }
	getFunctionName() { return this.#parts[2] || null }
	getFileName() { return this.isNative() ? null : this.#parts[3] }
	getScriptNameOrSourceURL() { return this.getFileName() }
	getLineNumber() { return Number(this.#parts[4]) || null }
	getColumnNumber() { return Number(this.#parts[5]) || null }
	isNative() { return this.#parts[3] === 'native' }
	toString() { return this.#parts[1] || '' }
}
for (const [value, names] of [[undefined, 'getThis getFunction getEvalOrigin'], [null, 'getMethodName getTypeName getPromiseIndex'],
	[false, 'isEval isConstructor isAsync isPromiseAll'], [true, 'isToplevel']]) {
	for (const name of names.split(' ')) CallSite.prototype[name] = () => value
}
// set gives an object its stack: the text first, so that it is there while the script prepares something else.
function set(o, head, text) {
	const { prepareStackTrace: prepare, stackTraceLimit: limit } = Error
	let lines = text === '' ? [] : text.split('\n').map(l => l.trim())
	if (limit >= 0) lines = lines.slice(0, limit)
	const put = value => Reflect.defineProperty(o, 'stack', { value, writable: true, configurable: true })
	put([head, ...lines.map(l => '    ' + l)].join('\n'))
	if (typeof prepare === 'function') put(prepare.call(Error, o, lines.map(l => new CallSite(l))))
}
return {
	set,
	// capture is Error.captureStackTrace.
	capture(o, from) {
		let lines = host.trace().split('\n').slice(1) // without the function trace
		if (typeof from === 'function') { // in goja a constructor's frame has no name
			const name = /^class\b/.test(Function.prototype.toString.call(from)) ? '' : from.name
			lines = lines.slice(1 + lines.findIndex(l => name === '' ? !l.endsWith(')') : l.startsWith(`\tat ${name} (`)))
		}
		set(o, Error.prototype.toString.call(o), lines.join('\n'))
	},
}
})
