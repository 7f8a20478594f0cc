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
const parse = text => {
	try {
		const u = new URL(text)
		return { protocol: u.protocol, host: u.host, port: u.port || null, hostname: u.hostname, hash: u.hash || null, search: u.search || null,
			query: u.search ? u.search.slice(1) : null, pathname: u.pathname, path: u.pathname + u.search, href: u.href }
	} catch (_) {
		const [, pathname, search, hash] = /^([^?#]*)(\?[^#]*)?(#.*)?$/.exec(text)
		return { protocol: null, host: null, port: null, hostname: null, hash: hash || null, search: search || null, query: search ? search.slice(1) : null,
			pathname, path: pathname + (search || ''), href: text }
	}
}
return { URL, URLSearchParams, fileURLToPath, pathToFileURL, parse, format(u) {
	if (typeof u === 'string' || u instanceof URL) return String(u)
	const protocol = u.protocol ? u.protocol.replace(/:?$/, ':') : '', host = u.host || (u.hostname ? u.hostname + (u.port ? ':' + u.port : '') : '')
	const search = u.search || (u.query && typeof u.query === 'object' ? '?' + require('querystring').stringify(u.query) : '')
	return protocol + (u.slashes || host ? '//' : '') + (u.auth ? u.auth + '@' : '') + host + (u.pathname || '') + search.replace(/^(?!\?|$)/, '?') + (u.hash || '').replace(/^(?!#|$)/, '#')
}, resolve: (from, to) => new URL(to, new URL(from, 'resolve://')).href.replace(/^resolve:\/\//, '') }
})
