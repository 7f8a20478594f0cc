// node:url
(function (go, require) {
'use strict'
const path = require('path')
const wrong = (code, message) => Object.assign(new TypeError(message), { code })
const fileURLToPath = u => {
	if (typeof u === 'string') u = new URL(u)
	else if (!u || !u.href || !u.protocol || u.auth !== undefined || u.path !== undefined) throw go.invalidType('path', 'string or an instance of URL', u)
	if (u.protocol !== 'file:') throw wrong('ERR_INVALID_URL_SCHEME', 'The URL must be of scheme file')
	if (process.platform !== 'win32' && u.hostname) throw wrong('ERR_INVALID_FILE_URL_HOST', `File URL host must be "localhost" or empty on ${process.platform}`)
	if (/%2f/i.test(u.pathname) || process.platform === 'win32' && /%5c/i.test(u.pathname)) throw wrong('ERR_INVALID_FILE_URL_PATH', 'File URL path must not include encoded / characters')
	return go.fromURLPath(decodeURIComponent(u.pathname))
}
const pathToFileURL = p => {
	if (typeof p !== 'string') throw go.invalidType('path', 'string', p)
	const full = path.resolve(p) + (/.[/]$/.test(p) ? '/' : '')
	if (process.platform === 'win32') return new URL(go.toURL(full))
	return new URL('file://' + full.replace(/[%\\\n\r\t?#~[\]|^]/g, c => '%' + c.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')))
}
// The old interface, whose URLs are objects with the parts as they were written.
class Url {
	constructor() { for (const k of ['protocol', 'slashes', 'auth', 'host', 'port', 'hostname', 'hash', 'search', 'query', 'pathname', 'path', 'href']) this[k] = null }
	parse(text, parseQuery, slashesDenoteHost) { return fill(this, text, parseQuery, slashesDenoteHost) }
	format() { return format(this) }
	resolve(to) { return this.resolveObject(to).format() }
	resolveObject(to) { return parse(resolve(this.href, to instanceof Url ? to.href : to)) }
}
const slashed = /^(?:https?|ftp|gopher|file|wss?):$/
const escapes = c => c === "'" ? '%27' : encodeURIComponent(c)
function fill(u, text, parseQuery, slashesDenoteHost) {
	if (typeof text !== 'string') throw go.invalidType('url', 'string', text)
	let rest = text.trim().replace(/^[^?#]*/, s => s.replace(/\\/g, '/'))
	const [, proto = ''] = /^([a-z0-9.+-]+:)?/i.exec(rest), protocol = proto.toLowerCase(), script = protocol === 'javascript:'
	u.protocol = protocol || null
	rest = rest.slice(proto.length)
	if ((slashesDenoteHost || proto || /^\/\/[^@/]+@[^@/]+/.test(rest)) && rest.startsWith('//') && !script) {
		rest = rest.slice(2)
		u.slashes = true
	}
	if (!script && (u.slashes || proto && !slashed.test(protocol))) {
		const [whole] = /^[^/?#]*/.exec(rest), at = whole.lastIndexOf('@')
		if (at >= 0) u.auth = decodeURIComponent(whole.slice(0, at))
		const [host] = /^[^\t\n\r "%'();<>\\^`{|}]*/.exec(whole.slice(at + 1)), [, name, port] = /^(.*?)(?::(\d*))?$/.exec(host)
		if (/[\x00-\x1f]/.test(host)) throw Object.assign(wrong('ERR_INVALID_URL', 'Invalid URL'), { input: text })
		rest = rest.slice(at + 1 + host.length)
		if (port) u.port = port
		const six = /^\[.*\]$/.test(name), [valid] = six ? [name] : /^[\w.+\-\x80-\uffff]*/.exec(name)
		if (valid !== name) rest = '/' + name.slice(valid.length) + rest
		u.hostname = six ? name.slice(1, -1).toLowerCase() : /[^\x00-\x7f]/.test(valid) ? domainToASCII(valid) : valid.toLowerCase()
		u.host = (six ? `[${u.hostname}]` : u.hostname) + (port ? ':' + port : '')
	}
	if (!script) rest = rest.replace(/[\t\n\r "'<>\\^`{|}]/g, escapes)
	const [, pathname, search, hash] = /^([^?#]*)(\?[^#]*)?(#[^]*)?$/.exec(rest)
	u.hash = hash || null
	u.search = search || null
	u.query = parseQuery ? require('querystring').parse((search || '').slice(1)) : search ? search.slice(1) : null
	u.pathname = pathname || (slashed.test(protocol) && u.hostname ? '/' : null)
	if (u.pathname || u.search) u.path = (u.pathname || '') + (u.search || '')
	if (search === '?' && !parseQuery) u.query = ''
	u.href = format(u)
	return u
}
const parse = (text, parseQuery, slashesDenoteHost) => text instanceof Url ? text : fill(new Url(), text, parseQuery, slashesDenoteHost)
function format(u, options) {
	if (u instanceof URL) {
		if (!options) return u.href
		const c = new URL(u.href), { auth = true, fragment = true, search = true, unicode = false } = options
		if (!auth) c.username = c.password = ''
		if (!fragment) c.hash = ''
		if (!search) c.search = ''
		return unicode && c.hostname ? c.href.replace(c.hostname, domainToUnicode(c.hostname)) : c.href
	}
	if (typeof u === 'string') u = parse(u)
	else if (u === null || typeof u !== 'object') throw go.invalidType('urlObject', 'object or one of type string', u)
	const protocol = u.protocol ? u.protocol.replace(/:?$/, ':') : '', auth = u.auth ? encodeURIComponent(u.auth).replace(/%3A/i, ':') + '@' : ''
	let host = u.host ? auth + u.host : u.hostname ? auth + (u.hostname.includes(':') && !/^\[.*\]$/.test(u.hostname) ? `[${u.hostname}]` : u.hostname) + (u.port ? ':' + u.port : '') : ''
	let pathname = u.pathname || '', search = u.search || (u.query !== null && typeof u.query === 'object' && Object.keys(u.query).length > 0 ? '?' + require('querystring').stringify(u.query) : '')
	if (u.slashes || slashed.test(protocol) && (host !== '' || protocol === 'file:')) {
		host = '//' + host
		pathname = pathname.replace(/^(?!\/|$)/, '/')
	}
	return protocol + host + pathname.replace(/[?#]/g, encodeURIComponent) + search.replace(/^(?!\?|$)/, '?').replace(/#/g, '%23') + (u.hash || '').replace(/^(?!#|$)/, '#')
}
const resolve = (from, to) => new URL(to, new URL(from, 'resolve://')).href.replace(/^[a-z+.-]+:|^[/?#]/i.test(from) || from === '' || to.startsWith('/') ? /^resolve:\/\// : /^resolve:\/\/\/?/, '')
const domainToASCII = name => { try { return new URL('ws://' + name).hostname } catch (_) { return '' } }
const domainToUnicode = name => require('punycode').toUnicode(domainToASCII(name))
return {
	URL, URLSearchParams, Url, fileURLToPath, pathToFileURL, parse, format, resolve, domainToASCII, domainToUnicode,
	resolveObject: (from, to) => parse(from).resolveObject(to),
	urlToHttpOptions(u) {
		const o = { __proto__: null, ...u, protocol: u.protocol, hostname: u.hostname.replace(/^\[(.*)\]$/, '$1'), hash: u.hash, search: u.search, pathname: u.pathname, path: (u.pathname || '') + (u.search || ''), href: u.href }
		if (u.port !== '') o.port = Number(u.port)
		if (u.username || u.password) o.auth = decodeURIComponent(u.username) + ':' + decodeURIComponent(u.password)
		return o
	},
}
})
