// Modules of Node that loopjs has in name only: they can be required, since many packages ask for them and never use them. What they make throws an
// error that names what to use instead; what can be told without them is true.
(function (go, require) {
'use strict'
const EventEmitter = require('events')
const instead = {
	http: 'fetch, for requests', https: 'fetch, for requests', http2: 'fetch, for requests', net: 'functions that the program around loopjs gives to scripts',
	vm: 'eval and new Function', worker_threads: 'child_process', cluster: 'child_process', inspector: 'loopjs --stall', repl: 'loopjs without a file', test: 'assert',
	v8: 'structuredClone, for copies', domain: 'async_hooks', wasi: 'child_process', trace_events: 'loopjs --trace-alive',
}
for (const n of ['tls', 'dns', 'dgram', 'dns/promises']) instead[n] = instead.net
function refuse(module, name) {
	// A class may be extended and its prototype looked at; making one throws.
	const f = { [name]: function () {
		throw Object.assign(new Error(`${module}.${name}: loopjs has no module ${module}; there ${/^functions|^eval/.test(instead[module]) ? 'are' : 'is'} ${instead[module]}`), { code: 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM' })
	} }[name]
	if (/^[A-Z]/.test(name)) Object.setPrototypeOf(f.prototype, (/Socket|Stream|Message|Request|Response/.test(name) ? require('stream').Duplex : EventEmitter).prototype)
	return f
}
const names = {
	http: 'Agent ClientRequest IncomingMessage OutgoingMessage Server ServerResponse createServer get request setMaxIdleHTTPParsers',
	https: 'Agent Server createServer get request',
	http2: 'connect createServer createSecureServer getDefaultSettings getPackedSettings getUnpackedSettings performServerHandshake Http2ServerRequest Http2ServerResponse',
	net: 'BlockList SocketAddress connect createConnection createServer Server Socket Stream',
	tls: 'getCiphers checkServerIdentity createSecureContext SecureContext TLSSocket Server createServer connect createSecurePair',
	dns: 'lookup lookupService Resolver getDefaultResultOrder setDefaultResultOrder setServers getServers resolve resolve4 resolve6 resolveAny resolveCaa resolveCname resolveMx resolveNaptr resolveNs resolvePtr resolveSoa resolveSrv resolveTxt reverse',
	dgram: 'createSocket Socket', cluster: 'Worker fork disconnect setupPrimary setupMaster',
	vm: 'createContext runInContext runInNewContext compileFunction measureMemory SourceTextModule SyntheticModule',
	worker_threads: 'Worker markAsUntransferable moveMessagePortToContext receiveMessageOnPort setEnvironmentData getEnvironmentData BroadcastChannel',
	v8: 'getHeapSnapshot getHeapSpaceStatistics getHeapCodeStatistics Serializer Deserializer DefaultSerializer DefaultDeserializer deserialize serialize takeCoverage stopCoverage writeHeapSnapshot setFlagsFromString',
	inspector: 'open waitForDebugger Session', repl: 'start REPLServer Recoverable', domain: 'Domain create createDomain', trace_events: 'createTracing', wasi: 'WASI',
	test: 'after afterEach before beforeEach describe it run suite test',
}
names['dns/promises'] = names.dns
const codes = `100 Continue,101 Switching Protocols,102 Processing,103 Early Hints,200 OK,201 Created,202 Accepted,203 Non-Authoritative Information,204 No Content,205 Reset Content,206 Partial Content,207 Multi-Status,208 Already Reported,226 IM Used,300 Multiple Choices,301 Moved Permanently,302 Found,303 See Other,304 Not Modified,305 Use Proxy,307 Temporary Redirect,308 Permanent Redirect,400 Bad Request,401 Unauthorized,402 Payment Required,403 Forbidden,404 Not Found,405 Method Not Allowed,406 Not Acceptable,407 Proxy Authentication Required,408 Request Timeout,409 Conflict,410 Gone,411 Length Required,412 Precondition Failed,413 Payload Too Large,414 URI Too Long,415 Unsupported Media Type,416 Range Not Satisfiable,417 Expectation Failed,418 I'm a Teapot,421 Misdirected Request,422 Unprocessable Entity,423 Locked,424 Failed Dependency,425 Too Early,426 Upgrade Required,428 Precondition Required,429 Too Many Requests,431 Request Header Fields Too Large,451 Unavailable For Legal Reasons,500 Internal Server Error,501 Not Implemented,502 Bad Gateway,503 Service Unavailable,504 Gateway Timeout,505 HTTP Version Not Supported,506 Variant Also Negotiates,507 Insufficient Storage,508 Loop Detected,509 Bandwidth Limit Exceeded,510 Not Extended,511 Network Authentication Required`
const methods = 'ACL BIND CHECKOUT CONNECT COPY DELETE GET HEAD LINK LOCK M-SEARCH MERGE MKACTIVITY MKCALENDAR MKCOL MOVE NOTIFY OPTIONS PATCH POST PROPFIND PROPPATCH PURGE PUT QUERY REBIND REPORT SEARCH SOURCE SUBSCRIBE TRACE UNBIND UNLINK UNLOCK UNSUBSCRIBE'
const isIPv4 = s => /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/.test(String(s))
const isIPv6 = s => {
	s = String(s).replace(/%[0-9a-zA-Z.-]+$/, '')
	const m = /^(.*:)([\d.]+)$/.exec(s)
	if (m && m[2].includes('.')) { if (!isIPv4(m[2])) return false; s = m[1] + '0:0' }
	const halves = s.split('::')
	if (halves.length > 2) return false
	const groups = halves.flatMap(h => h === '' ? [] : h.split(':'))
	return groups.every(g => /^[0-9a-f]{1,4}$/i.test(g)) && (halves.length === 2 ? groups.length < 8 : groups.length === 8)
}
const dnsCodes = Object.fromEntries('NODATA FORMERR SERVFAIL NOTFOUND NOTIMP REFUSED BADQUERY BADNAME BADFAMILY BADRESP CONNREFUSED TIMEOUT FILE NOMEM DESTRUCTION BADSTR BADFLAGS NONAME BADHINTS NOTINITIALIZED CANCELLED'.split(' ').map(n => [n, 'E' + n]))
const header = name => { if (typeof name !== 'string' || !/^[\^_`a-zA-Z\-0-9!#$%&'*+.|~]+$/.test(name)) throw Object.assign(new TypeError(`Header name must be a valid HTTP token ["${name}"]`), { code: 'ERR_INVALID_HTTP_TOKEN' }) }
// A script of vm runs in this program's own global scope, as eval does when it is called by another name.
const run = (code, options) => go.evaluate(String(code), typeof options === 'string' ? options : options && options.filename || 'evalmachine.<anonymous>')
class Script {
	constructor(code, options) { Object.defineProperty(this, 'code', { value: String(code) }); Object.defineProperty(this, 'options', { value: options }); go.evaluate(this.code, typeof options === 'string' ? options : options && options.filename || 'evalmachine.<anonymous>', true) }
	runInThisContext() { return run(this.code, this.options) }
}
for (const n of ['runInContext', 'runInNewContext', 'createCachedData']) Script.prototype[n] = refuse('vm', n)
const more = {
	http: m => ({ METHODS: methods.split(' '), STATUS_CODES: Object.fromEntries(codes.split(',').map(c => [c.slice(0, 3), c.slice(4)])), maxHeaderSize: 16384, globalAgent: agent(m, 'http:', 80), validateHeaderName: header, validateHeaderValue() {} }),
	https: m => ({ globalAgent: agent(m, 'https:', 443) }),
	http2: () => ({ constants: {} }),
	net: () => ({ isIP: s => isIPv4(s) ? 4 : isIPv6(s) ? 6 : 0, isIPv4, isIPv6, getDefaultAutoSelectFamily: () => true, setDefaultAutoSelectFamily() {} }),
	tls: () => ({ DEFAULT_MIN_VERSION: 'TLSv1.2', DEFAULT_MAX_VERSION: 'TLSv1.3', DEFAULT_ECDH_CURVE: 'auto', DEFAULT_CIPHERS: '', rootCertificates: [] }),
	dns: () => ({ ADDRCONFIG: 32, ALL: 16, V4MAPPED: 8, ...dnsCodes, get promises() { return require('dns/promises') } }),
	'dns/promises': () => dnsCodes,
	vm: () => ({ Script, createScript: (code, options) => new Script(code, options), runInThisContext: run, isContext: () => false, constants: {} }),
	worker_threads: () => ({ isMainThread: true, parentPort: null, workerData: null, threadId: 0, resourceLimits: {}, SHARE_ENV: Symbol.for('nodejs.worker_threads.SHARE_ENV'), MessageChannel, MessagePort }),
	cluster: () => Object.assign(new EventEmitter(), { isMaster: true, isPrimary: true, isWorker: false, workers: {}, settings: {}, SCHED_NONE: 1, SCHED_RR: 2, schedulingPolicy: 2 }),
	v8: () => ({ getHeapStatistics: () => { const m = process.memoryUsage(); return { total_heap_size: m.heapTotal, used_heap_size: m.heapUsed, heap_size_limit: m.heapTotal, total_physical_size: m.rss, malloced_memory: 0, number_of_native_contexts: 1, number_of_detached_contexts: 0 } }, cachedDataVersionTag: () => 0 }),
	inspector: () => ({ url: () => undefined, close() {}, console }), repl: () => ({ builtinModules: go.builtins }), domain: () => ({ active: null }), trace_events: () => ({ getEnabledCategories: () => undefined }),
}
const agent = (m, protocol, defaultPort) => Object.assign(Object.create(m.Agent.prototype), { protocol, defaultPort, options: {}, requests: {}, sockets: {}, freeSockets: {}, maxSockets: Infinity, maxFreeSockets: 256 })
const made = {}
return name => {
	if (made[name]) return made[name]
	const m = Object.fromEntries(names[name].split(' ').map(n => [n, refuse(name, n)]))
	const extra = more[name] ? more[name](m) : {}
	return made[name] = extra instanceof EventEmitter ? Object.assign(extra, m) : name === 'test' ? Object.assign(m.test, m) : Object.defineProperties(m, Object.getOwnPropertyDescriptors(extra))
}
})
