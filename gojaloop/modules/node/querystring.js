// node:querystring
(function (go, require) {
'use strict'
const { Buffer } = require('buffer')
const unescape = s => {
	try { return decodeURIComponent(s) } catch (_) { return unescapeBuffer(s).toString() }
}
const unescapeBuffer = s => {
	const out = []
	for (let i = 0; i < s.length; i++) {
		const hex = s[i] === '%' && /^[0-9a-f]{2}$/i.test(s.slice(i + 1, i + 3))
		out.push(...(hex ? [parseInt(s.slice(i + 1, i + 3), 16)] : Buffer.from(s[i])))
		if (hex) i += 2
	}
	return Buffer.from(out)
}
const escape = s => {
	try {
		return encodeURIComponent(typeof s === 'object' ? String(s) : s)
	} catch (_) {
		throw Object.assign(new URIError('URI malformed'), { code: 'ERR_INVALID_URI' })
	}
}
const querystring = {
	escape, unescape, unescapeBuffer,
	parse(text, sep, eq, { maxKeys = 1000, decodeURIComponent: decode = querystring.unescape } = {}) {
		sep = sep || '&'
		eq = eq || '='
		const out = Object.create(null)
		if (typeof text !== 'string') return out
		const parts = text.split(sep), of = s => { s = s.replace(/\+/g, ' '); try { return decode(s) } catch (_) { return unescape(s) } }
		for (const p of maxKeys > 0 ? parts.slice(0, maxKeys) : parts) {
			if (p === '') continue
			const i = p.indexOf(eq), [k, v] = i < 0 ? [of(p), ''] : [of(p.slice(0, i)), of(p.slice(i + eq.length))]
			if (out[k] === undefined) out[k] = v
			else if (Array.isArray(out[k])) out[k].push(v)
			else out[k] = [out[k], v]
		}
		return out
	},
	stringify(o, sep, eq, { encodeURIComponent: encode = querystring.escape } = {}) {
		sep = sep || '&'
		eq = eq || '='
		if (o === null || typeof o !== 'object') return ''
		const text = v => typeof v === 'string' || typeof v === 'boolean' || typeof v === 'bigint' || Number.isFinite(v) ? encode(String(v)) : ''
		return Object.entries(o).flatMap(([k, v]) => (Array.isArray(v) ? v : [v]).map(x => encode(k) + eq + text(x))).join(sep)
	},
}
querystring.decode = querystring.parse
querystring.encode = querystring.stringify
return querystring
})
