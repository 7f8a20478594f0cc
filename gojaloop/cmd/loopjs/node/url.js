// node:url
(function (go, require) {
'use strict'
const path = require('path')
const fileURLToPath = u => {
	if (typeof u === 'string') u = new URL(u)
	if (!(u instanceof URL)) throw go.invalidType('path', 'string or an instance of URL', u)
	if (u.protocol !== 'file:') throw Object.assign(new TypeError('The URL must be of scheme file'), { code: 'ERR_INVALID_URL_SCHEME' })
	return go.fromURLPath(decodeURIComponent(u.pathname))
}
const pathToFileURL = p => new URL(go.toURL(path.resolve(p) + (p.endsWith('/') && !/^\/$/.test(p) ? '/' : '')))
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
