// node:path, for names with slashes.
(function (go) {
'use strict'
const check = (p, name = 'path') => { if (typeof p !== 'string') throw go.invalidType(name, 'string', p) }

// tidy resolves "." and ".." in a name; ".." at the root of an absolute name is the root.
function tidy(p, absolute) {
	const out = []
	for (const part of p.split('/')) {
		if (part === '' || part === '.') continue
		if (part !== '..') out.push(part)
		else if (out.length > 0 && out[out.length - 1] !== '..') out.pop()
		else if (!absolute) out.push('..')
	}
	return out.join('/')
}

const path = {
	sep: '/', delimiter: ':',
	isAbsolute(p) { check(p); return p.startsWith('/') },
	normalize(p) {
		check(p)
		if (p === '') return '.'
		const absolute = p.startsWith('/')
		let out = tidy(p, absolute)
		if (out === '' && !absolute) out = '.'
		if (out !== '' && p.endsWith('/')) out += '/'
		return (absolute ? '/' : '') + out
	},
	join(...parts) {
		for (const p of parts) check(p)
		const joined = parts.filter(p => p !== '').join('/')
		return joined === '' ? '.' : path.normalize(joined)
	},
	resolve(...parts) {
		let at = ''
		for (let i = parts.length - 1; i >= -1 && !at.startsWith('/'); i--) {
			const p = i >= 0 ? parts[i] : process.cwd()
			check(p, `paths[${i}]`)
			if (p !== '') at = at === '' ? p : p + '/' + at
		}
		return '/' + tidy(at, true)
	},
	relative(from, to) {
		check(from, 'from')
		check(to, 'to')
		const a = path.resolve(from).split('/').filter(Boolean), b = path.resolve(to).split('/').filter(Boolean)
		let same = 0
		while (same < a.length && same < b.length && a[same] === b[same]) same++
		return [...a.slice(same).map(() => '..'), ...b.slice(same)].join('/')
	},
	dirname(p) {
		check(p)
		const end = p.replace(/\/+$/, '')
		if (end === '') return p.startsWith('/') ? '/' : '.'
		const i = end.lastIndexOf('/')
		return i < 0 ? '.' : end.slice(0, i).replace(/\/+$/, '') || '/'
	},
	basename(p, suffix) {
		check(p)
		const name = p.replace(/\/+$/, '').split('/').pop()
		return suffix !== undefined && name !== suffix && name.endsWith(suffix) ? name.slice(0, -suffix.length) : name
	},
	extname(p) {
		const name = path.basename(p), i = name.lastIndexOf('.')
		return i <= 0 || name === '..' ? '' : name.slice(i)
	},
	parse(p) {
		check(p)
		const root = p.startsWith('/') ? '/' : '', base = path.basename(p), ext = path.extname(p)
		const dir = path.dirname(p)
		return { root, dir: dir === '.' && !p.startsWith('.') ? root : dir, base, ext, name: ext ? base.slice(0, -ext.length) : base }
	},
	format(o) {
		const dir = o.dir || o.root, base = o.base || (o.name || '') + (o.ext || '')
		return !dir ? base : dir === o.root ? dir + base : dir + '/' + base
	},
	toNamespacedPath(p) { return p },
}
path.posix = path
return path
})
