// node:path. A flavour knows the root of a name, and what separates its parts.
(function (go) {
'use strict'
const check = (p, name = 'path') => { if (typeof p !== 'string') throw go.invalidType(name, 'string', p) }

function flavour(win) {
	const sep = win ? '\\' : '/', any = win ? /[\\/]+/ : /\/+/, last = win ? /[\\/]+$/ : /\/+$/
	const same = s => win ? s.toLowerCase() : s

	// root returns the drive or the server of a name, whether the name is absolute, and the length of both.
	function root(p) {
		let m = win && /^[\\/]{2}([^\\/]+)[\\/]+([^\\/]+)(?:[\\/]|$)/.exec(p)
		if (m) return { device: `\\\\${m[1]}\\${m[2]}`, absolute: true, length: m[0].length }
		m = (win ? /^([a-zA-Z]:)?([\\/]?)/ : /^()(\/?)/).exec(p)
		return { device: m[1] || '', absolute: m[2] !== '', length: m[0].length }
	}

	// tidy resolves "." and ".." in a name; ".." at the root of an absolute name is the root.
	function tidy(p, absolute) {
		const out = []
		for (const part of p.split(any)) {
			if (part === '' || part === '.') continue
			if (part !== '..') out.push(part)
			else if (out.length > 0 && out[out.length - 1] !== '..') out.pop()
			else if (!absolute) out.push('..')
		}
		return out.join(sep)
	}

	const path = {
		sep, delimiter: win ? ';' : ':',
		isAbsolute(p) { check(p); return root(p).absolute },
		normalize(p) {
			check(p)
			if (p === '') return '.'
			const { device, absolute, length } = root(p)
			let out = tidy(p.slice(length), absolute)
			if (out === '' && !absolute) out = '.'
			if (out !== '' && p.length > length && last.test(p)) out += sep
			const drive = win && !absolute && device === '' && (/^[a-zA-Z]:/.test(out) || /:(?:[\\/]|$)/.test(p)) // it looks like one, and is none
			return (drive ? '.\\' : '') + device + (absolute ? sep : '') + out
		},
		join(...parts) {
			for (const p of parts) check(p)
			parts = parts.filter(p => p !== '')
			if (parts.length === 0) return '.'
			// Only the first part may name a server.
			const joined = parts.join(sep)
			return path.normalize(win && !/^[\\/]{2}[^\\/]/.test(parts[0]) ? joined.replace(/^[\\/]{2,}/, sep) : joined)
		},
		resolve(...parts) {
			let device = '', at = '', absolute = false
			for (let i = parts.length - 1; i >= -1 && !(absolute && (device !== '' || !win)); i--) {
				const p = i >= 0 ? parts[i] : process.cwd()
				check(p, `paths[${i}]`)
				const r = root(p)
				if (p === '' || device !== '' && r.device !== '' && same(device) !== same(r.device)) continue
				device = device || r.device
				if (absolute) continue
				at = p.slice(r.length) + sep + at
				absolute = r.absolute
			}
			return device + (absolute ? sep : '') + tidy(at, absolute) || '.'
		},
		relative(from, to) {
			check(from, 'from')
			check(to, 'to')
			from = path.resolve(from)
			to = path.resolve(to)
			if (same(root(from).device) !== same(root(to).device)) return to
			const a = from.split(sep).filter(Boolean), b = to.split(sep).filter(Boolean)
			let n = 0
			while (n < a.length && n < b.length && same(a[n]) === same(b[n])) n++
			return [...a.slice(n).map(() => '..'), ...b.slice(n)].join(sep)
		},
		dirname(p) {
			check(p)
			const { length } = root(p), end = p.slice(length).replace(last, '')
			const i = Math.max(end.lastIndexOf('/'), win ? end.lastIndexOf('\\') : -1)
			if (i >= 0) return i === 0 && !win && length > 0 ? '//' : p.slice(0, length + i)
			return length === 0 ? '.' : p.slice(0, length)
		},
		basename(p, suffix) {
			check(p)
			if (suffix !== undefined) check(suffix, 'suffix')
			const name = (win ? p.replace(/^[a-zA-Z]:/, '') : p).replace(last, '').split(any).pop()
			return suffix !== undefined && name !== suffix && name.endsWith(suffix) ? name.slice(0, name.length - suffix.length) : name
		},
		extname(p) {
			const name = path.basename(p), i = name.lastIndexOf('.')
			return i <= 0 || name === '..' ? '' : name.slice(i)
		},
		parse(p) {
			check(p)
			const { length } = root(p), top = p.slice(0, length)
			const base = path.basename(p.slice(length)), ext = path.extname(base), dir = path.dirname(p).replace(/^\/\/$/, '/')
			return { root: top, dir: dir === '.' && !any.test(p.replace(last, '')) || p.length === length ? top : dir, base, ext, name: ext ? base.slice(0, -ext.length) : base }
		},
		format(o) {
			if (o === null || typeof o !== 'object') throw go.invalidType('pathObject', 'object', o)
			const dir = o.dir || o.root, base = o.base || (o.name || '') + (o.ext ? o.ext.replace(/^(?!\.)/, '.') : '')
			return !dir ? base : dir === o.root ? dir + base : dir + sep + base
		},
		toNamespacedPath(p) {
			if (!win || typeof p !== 'string' || p === '') return p
			const full = path.resolve(p)
			return /^[a-zA-Z]:\\/.test(full) ? '\\\\?\\' + full : /^\\\\[^?.]/.test(full) ? '\\\\?\\UNC\\' + full.slice(2) : p
		},
	}
	path._makeLong = path.toNamespacedPath
	return path
}
const posix = flavour(false), win32 = flavour(true)
for (const f of [posix, win32]) Object.assign(f, { posix, win32 })
return posix
})
