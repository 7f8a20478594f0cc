// fetch with its classes, as the Fetch standard has them. The requests themselves are made in Go.
(function (host, use) {
'use strict'
const { DOMException, AbortSignal, AbortController, idl, need, dictionary, addAlgorithm, removeAlgorithm } = use('events')
const { ReadableStream, Blob, File, bytesOf, isBuffer, concat, contentOf, blobOf, isDisturbed } = use('streams')
const { replaced } = use('lists')
const { Headers, token, pairsOf, fill, lock } = use('headers')

class FormData {
	#list = []
	constructor(form) { if (form !== undefined) throw new TypeError('FormData: there are no forms here') }
	#entry(name, value, filename, given) {
		name = `${name}`
		if (value instanceof Blob) {
			if (!(value instanceof File) || given) {
				value = new File([value], given ? `${filename}` : 'blob', { type: value.type, lastModified: value instanceof File ? value.lastModified : undefined })
			}
		} else if (given) {
			throw new TypeError('FormData: a filename needs a Blob')
		} else {
			value = `${value}`
		}
		return [name, value]
	}
	append(name, value, filename) {
		need(arguments, 2, 'append')
		this.#list.push(this.#entry(name, value, filename, arguments.length > 2))
	}
	delete(name) { need(arguments, 1, 'delete'); name = `${name}`; this.#list = this.#list.filter(p => p[0] !== name) }
	get(name) { need(arguments, 1, 'get'); name = `${name}`; const p = this.#list.find(p => p[0] === name); return p ? p[1] : null }
	getAll(name) { need(arguments, 1, 'getAll'); name = `${name}`; return this.#list.filter(p => p[0] === name).map(p => p[1]) }
	has(name) { need(arguments, 1, 'has'); name = `${name}`; return this.#list.some(p => p[0] === name) }
	set(name, value, filename) {
		need(arguments, 2, 'set')
		this.#list = replaced(this.#list, this.#entry(name, value, filename, arguments.length > 2))
	}
	*entries() { for (let i = 0; i < this.#list.length; i++) yield [...this.#list[i]] }
	*keys() { for (const p of this.entries()) yield p[0] }
	*values() { for (const p of this.entries()) yield p[1] }
	forEach(callback, thisArg) {
		if (typeof callback !== 'function') throw new TypeError('FormData.forEach: the callback is no function')
		for (const [k, v] of this.entries()) callback.call(thisArg, v, k, this)
	}
}
idl(FormData)
Object.defineProperty(FormData.prototype, Symbol.iterator, { value: FormData.prototype.entries, writable: true, configurable: true })

const encode = s => new Uint8Array(host.encode(s))

function multipart(form) {
	const boundary = '----formdata-' + host.uuid()
	const chunks = []
	const esc = s => s.replace(/\n/g, '%0A').replace(/\r/g, '%0D').replace(/"/g, '%22')
	for (const [name, value] of form) {
		const head = `--${boundary}\r\nContent-Disposition: form-data; name="${esc(name.replace(/\r?\n|\r/g, '\r\n'))}"`
		if (typeof value === 'string') {
			chunks.push(encode(`${head}\r\n\r\n${value.replace(/\r?\n|\r/g, '\r\n')}\r\n`))
		} else {
			chunks.push(encode(`${head}; filename="${esc(value.name)}"\r\nContent-Type: ${value.type || 'application/octet-stream'}\r\n\r\n`), contentOf(value), encode('\r\n'))
		}
	}
	chunks.push(encode(`--${boundary}--\r\n`))
	return { bytes: concat(chunks), type: `multipart/form-data; boundary=${boundary}` }
}

// extract makes a body of a script's value.
function extract(v) {
	if (v instanceof ReadableStream) {
		if (v.locked) throw new TypeError('The body is a stream that is locked')
		return { stream: v, type: null }
	}
	if (v instanceof Blob) return { bytes: contentOf(v), type: v.type || null }
	if (v instanceof FormData) return multipart(v)
	if (typeof URLSearchParams === 'function' && v instanceof URLSearchParams) return { bytes: encode(v.toString()), type: 'application/x-www-form-urlencoded;charset=UTF-8' }
	if (v !== null && typeof v === 'object' && isBuffer(v)) return { bytes: bytesOf(v), type: null }
	return { bytes: encode(`${v}`), type: 'text/plain;charset=UTF-8' }
}

function drain(stream) {
	const reader = stream.getReader()
	const chunks = []
	const next = ({ value, done }) => {
		if (done) return concat(chunks)
		if (!(ArrayBuffer.isView(value) && host.classOf(value.buffer) === 'ArrayBuffer')) throw new TypeError('A chunk of the body is no Uint8Array')
		chunks.push(value)
		return reader.read().then(next)
	}
	return reader.read().then(next)
}

// Body is the part that requests and responses have in common.
let setBody, takeBody, cloneBody
class Body {
	#bytes = null // the content, unless it is a stream
	#stream = null
	#used = false
	static {
		setBody = (b, { bytes = null, stream = null }) => { b.#bytes = bytes; b.#stream = stream }
		takeBody = b => {
			if (b.bodyUsed || b.#stream && b.#stream.locked) throw new TypeError('Body is unusable: Body has already been read')
			if (b.#bytes === null && b.#stream === null) return null
			b.#used = true
			return b.#stream === null ? b.#bytes : b.#stream
		}
		cloneBody = (from, to) => {
			if (from.bodyUsed || from.#stream && from.#stream.locked) throw new TypeError('Body is unusable: Body has already been read')
			if (from.#stream) {
				const [a, b] = from.#stream.tee()
				from.#stream = a
				to.#stream = b
			} else {
				to.#bytes = from.#bytes
			}
		}
	}
	get body() {
		if (this.#stream === null && this.#bytes !== null) {
			this.#stream = blobOf(this.#bytes, '').stream()
			this.#bytes = null
		}
		return this.#stream
	}
	get bodyUsed() { return this.#used || this.#stream !== null && isDisturbed(this.#stream) }
	#consume() {
		let b
		try {
			b = takeBody(this)
		} catch (e) {
			return Promise.reject(e)
		}
		if (b === null) return Promise.resolve(new Uint8Array(0))
		return b instanceof ReadableStream ? drain(b) : Promise.resolve(b)
	}
	text() { return this.#consume().then(b => host.decode(b)) }
	json() { return this.#consume().then(b => JSON.parse(host.decode(b))) }
	arrayBuffer() { return this.#consume().then(b => b.slice().buffer) }
	bytes() { return this.#consume().then(b => b.slice()) }
	blob() { return this.#consume().then(b => blobOf(b, this.headers.get('content-type') || '')) }
	formData() {
		const type = this.headers.get('content-type') || ''
		return this.#consume().then(b => {
			const form = new FormData()
			if (/^application\/x-www-form-urlencoded\b/i.test(type)) {
				for (const [k, v] of new URLSearchParams(host.decode(b))) form.append(k, v)
				return form
			}
			const parts = /^multipart\/form-data\b/i.test(type) && host.multipart(type, b.buffer.slice(b.byteOffset, b.byteOffset + b.byteLength))
			if (!parts) throw new TypeError('The body is no form')
			for (const p of parts) {
				if (p.file) form.append(p.name, new File([p.data], p.filename, { type: p.type }))
				else form.append(p.name, host.decode(new Uint8Array(p.data)))
			}
			return form
		})
	}
}
idl(Body)

const methods = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT']
let partsOf
class Request extends Body {
	#url; #method = 'GET'; #headers; #signal; #redirect = 'follow'; #init = {}
	static { partsOf = r => ({ url: r.#url, method: r.#method, headers: r.#headers, signal: r.#signal, redirect: r.#redirect }) }
	constructor(input, init) {
		need(arguments, 1, 'Request')
		super()
		init = dictionary(init, 'Request: the init')
		let signal = null
		const from = input instanceof Request ? input : null
		if (from) {
			this.#url = from.#url
			this.#method = from.#method
			this.#redirect = from.#redirect
			this.#init = from.#init
			signal = from.#signal
		} else {
			let u
			try {
				u = new URL(`${input}`)
			} catch (_) {
				throw new TypeError(`Failed to parse URL from ${input}`)
			}
			if (u.username || u.password) throw new TypeError(`Request cannot be constructed from a URL that includes credentials: ${input}`)
			this.#url = u.href
		}
		if (init.method !== undefined) {
			const m = `${init.method}`
			if (!token.test(m) || /^(connect|trace|track)$/i.test(m)) throw new TypeError(`'${m}' is not a valid HTTP method.`)
			this.#method = methods.includes(m.toUpperCase()) && m.toUpperCase() !== 'PATCH' ? m.toUpperCase() : m
		}
		if (init.redirect !== undefined) {
			if (!['follow', 'error', 'manual'].includes(`${init.redirect}`)) throw new TypeError('redirect is neither "follow", "error" nor "manual"')
			this.#redirect = `${init.redirect}`
		}
		if (init.signal !== undefined) {
			if (init.signal !== null && !(init.signal instanceof AbortSignal)) throw new TypeError('signal is not an AbortSignal')
			signal = init.signal
		}
		this.#init = { ...this.#init }
		for (const k of ['cache', 'credentials', 'integrity', 'keepalive', 'mode', 'referrer', 'referrerPolicy']) if (init[k] !== undefined) this.#init[k] = init[k]
		this.#signal = signal ? AbortSignal.any([signal]) : new AbortController().signal
		this.#headers = new Headers(init.headers !== undefined ? init.headers : from ? from.#headers : undefined)
		if (init.body !== undefined && init.body !== null) {
			if (this.#method === 'GET' || this.#method === 'HEAD') throw new TypeError('Request with GET/HEAD method cannot have body.')
			const body = extract(init.body)
			if (body.stream && init.duplex !== 'half') throw new TypeError('RequestInit: duplex option is required when sending a body.')
			if (body.type && !this.#headers.has('content-type')) this.#headers.set('content-type', body.type)
			setBody(this, body)
		} else if (from) {
			const b = takeBody(from)
			if (b !== null) {
				if (this.#method === 'GET' || this.#method === 'HEAD') throw new TypeError('Request with GET/HEAD method cannot have body.')
				setBody(this, b instanceof ReadableStream ? { stream: b } : { bytes: b })
			}
		}
	}
	get method() { return this.#method }
	get url() { return this.#url }
	get headers() { return this.#headers }
	get signal() { return this.#signal }
	get redirect() { return this.#redirect }
	get destination() { return '' }
	get cache() { return this.#init.cache || 'default' }
	get credentials() { return this.#init.credentials || 'same-origin' }
	get integrity() { return this.#init.integrity || '' }
	get keepalive() { return !!this.#init.keepalive }
	get mode() { return this.#init.mode || 'cors' }
	get referrer() { return this.#init.referrer === undefined ? 'about:client' : this.#init.referrer }
	get referrerPolicy() { return this.#init.referrerPolicy || '' }
	get duplex() { return 'half' }
	clone() {
		const r = new Request(this.#url, { method: this.#method, headers: this.#headers, signal: this.#signal, redirect: this.#redirect, ...this.#init })
		cloneBody(this, r)
		return r
	}
}
idl(Request)

const nullBody = [101, 103, 204, 205, 304]
let respond
class Response extends Body {
	#status = 200; #text = ''; #headers; #url = ''; #redirected = false; #type = 'default'
	static {
		respond = ({ status, statusText, headers, url, redirected, body, type = 'basic' }) => {
			const r = new Response(null)
			r.#status = status
			r.#text = statusText
			r.#url = url
			r.#redirected = redirected
			r.#type = type
			r.#headers = new Headers()
			fill(r.#headers, headers)
			lock(r.#headers)
			if (body) setBody(r, { stream: body })
			return r
		}
	}
	constructor(body = null, init) {
		super()
		init = dictionary(init, 'Response: the init')
		if (init.status !== undefined) {
			const n = Math.trunc(Number(init.status))
			if (!(n >= 200 && n <= 599)) throw new RangeError('init["status"] must be in the range of 200 to 599, inclusive.')
			this.#status = n
		}
		if (init.statusText !== undefined) {
			const t = `${init.statusText}`
			if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(t)) throw new TypeError('Invalid statusText')
			this.#text = t
		}
		this.#headers = new Headers(init.headers)
		if (body !== null && body !== undefined) {
			if (nullBody.includes(this.#status)) throw new TypeError(`Response constructor: Invalid response status code ${this.#status}`)
			const b = extract(body)
			if (b.type && !this.#headers.has('content-type')) this.#headers.set('content-type', b.type)
			setBody(this, b)
		}
	}
	get type() { return this.#type }
	get url() { return this.#url }
	get redirected() { return this.#redirected }
	get status() { return this.#status }
	get ok() { return this.#status >= 200 && this.#status <= 299 }
	get statusText() { return this.#text }
	get headers() { return this.#headers }
	clone() {
		const r = respond({ status: this.#status, statusText: this.#text, headers: pairsOf(this.#headers), url: this.#url, redirected: this.#redirected, type: this.#type })
		if (this.#type === 'default') r.#headers = new Headers(this.#headers)
		cloneBody(this, r)
		return r
	}
	static error() {
		return respond({ status: 0, statusText: '', headers: [], url: '', redirected: false, type: 'error' })
	}
	static redirect(url, status = 302) {
		need(arguments, 1, 'redirect')
		const u = new URL(`${url}`)
		if (![301, 302, 303, 307, 308].includes(Number(status))) throw new RangeError(`Invalid status code ${status}`)
		const r = new Response(null)
		r.#status = Number(status)
		r.#headers.set('location', u.href)
		lock(r.#headers)
		return r
	}
	static json(data, init) {
		need(arguments, 1, 'json')
		const text = JSON.stringify(data)
		if (text === undefined) throw new TypeError('The data cannot be made JSON')
		const headers = new Headers(dictionary(init).headers)
		if (!headers.has('content-type')) headers.set('content-type', 'application/json')
		return new Response(encode(text), { ...dictionary(init), headers })
	}
}
idl(Response)

function dataURL(url) {
	const m = /^data:([^,]*),(.*)$/s.exec(url.replace(/#.*$/s, ''))
	if (!m) return null
	let type = m[1].trim(), bytes = host.unescape(m[2])
	if (/;\s*base64$/i.test(type)) {
		type = type.replace(/;\s*base64$/i, '')
		bytes = host.unbase64(host.decode(new Uint8Array(bytes)))
	}
	if (type.startsWith(';')) type = 'text/plain' + type
	return { bytes: new Uint8Array(bytes), type: type || 'text/plain;charset=US-ASCII' }
}

// watchAbort ends an exchange when its signal is aborted. A signal may live long: it keeps neither the exchange, whose
// connection is released when nobody can read it any more, nor the body.
function watchAbort(signal, end) {
	let controller = () => undefined
	const abort = () => {
		end()
		const c = controller()
		if (c) c.error(signal.reason)
	}
	addAlgorithm(signal, abort)
	return { over() { removeAlgorithm(signal, abort) }, errors(c) { controller = host.weak(c) } }
}

async function fetch(input, init) {
	need(arguments, 1, 'fetch')
	const request = new Request(input, init)
	const { url, method, headers, signal, redirect } = partsOf(request)
	if (signal.aborted) throw signal.reason
	if (url.startsWith('data:')) {
		const d = dataURL(url)
		if (!d) throw failed(new Error('the data URL is malformed'))
		return respond({ status: 200, statusText: 'OK', headers: [['content-type', d.type]], url, redirected: false, body: blobOf(d.bytes, '').stream() })
	}
	if (!/^https?:/.test(url)) throw failed(new Error(`there is no scheme ${url.slice(0, url.indexOf(':') + 1)}`))
	let body = takeBody(request)
	const streamed = body instanceof ReadableStream
	if (streamed) body = await drain(body)
	if (signal.aborted) throw signal.reason
	const pairs = pairsOf(headers)
	if (!headers.has('accept')) pairs.push(['accept', '*/*'])
	if (!headers.has('accept-language')) pairs.push(['accept-language', '*'])
	if (!headers.has('accept-encoding')) pairs.push(['accept-encoding', url.startsWith('https:') ? 'br, gzip, deflate' : 'gzip, deflate'])
	const x = host.request(method, url, pairs, body === null ? null : body.buffer.slice(body.byteOffset, body.byteOffset + body.byteLength), redirect, streamed)
	const watch = watchAbort(signal, x.abort)
	let r
	try {
		r = await x.response
	} catch (e) {
		watch.over()
		throw signal.aborted ? signal.reason : failed(e)
	}
	let stream = null
	if (method === 'HEAD' || nullBody.includes(r.status)) {
		watch.over()
		x.abort()
	} else {
		stream = new ReadableStream({
			type: 'bytes',
			start(c) { watch.errors(c) },
			async pull(c) {
				let chunk
				try {
					chunk = await x.read()
				} catch (e) {
					watch.over()
					throw signal.aborted ? signal.reason : new TypeError('terminated', { cause: e })
				}
				if (chunk === null) {
					watch.over()
					if (!signal.aborted) c.close()
				} else if (!signal.aborted) {
					c.enqueue(new Uint8Array(chunk))
				}
			},
			cancel() { watch.over(); x.abort() },
		}, { highWaterMark: 0 })
	}
	return respond({ ...r, body: stream })
}

function failed(cause) {
	const e = new TypeError('fetch failed')
	const code = host.errorCode(cause)
	if (code !== '') cause.code = code
	Object.defineProperty(e, 'cause', { value: cause, configurable: true, writable: true })
	return e
}

return { Headers, FormData, Request, Response, fetch }
})
