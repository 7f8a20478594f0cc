// node:punycode, by RFC 3492.
(function () {
'use strict'
const base = 36, low = 1, high = 26
const adapt = (delta, points, first) => {
	delta = first ? Math.floor(delta / 700) : delta >> 1
	delta += Math.floor(delta / points)
	let k = 0
	for (; delta > (base - low) * high >> 1; k += base) delta = Math.floor(delta / (base - low))
	return Math.floor(k + (base - low + 1) * delta / (delta + 38))
}
const threshold = (k, bias) => k <= bias ? low : k >= bias + high ? high : k - bias
const fail = what => { throw new RangeError(what) }
const digit = n => String.fromCharCode(n + (n < 26 ? 97 : 22)), valueOf = c => /[a-z]/i.test(c) ? c.toLowerCase().charCodeAt(0) - 97 : /\d/.test(c) ? c.charCodeAt(0) - 22 : base
const ucs2 = { decode: s => Array.from(s, c => c.codePointAt(0)), encode: points => String.fromCodePoint(...points) }
function encode(text) {
	const points = ucs2.decode(text), plain = points.filter(p => p < 128)
	let out = String.fromCodePoint(...plain), n = 128, delta = 0, bias = 72, done = plain.length
	if (plain.length > 0) out += '-'
	for (; done < points.length; delta++, n++) {
		const next = Math.min(...points.filter(p => p >= n))
		delta += (next - n) * (done + 1)
		n = next
		for (const p of points) {
			if (p < n) delta++
			if (p !== n) continue
			let q = delta
			for (let k = base; ; k += base) {
				const t = threshold(k, bias)
				if (q < t) break
				out += digit(t + (q - t) % (base - t))
				q = Math.floor((q - t) / (base - t))
			}
			out += digit(q)
			bias = adapt(delta, done + 1, done === plain.length)
			delta = 0
			done++
		}
	}
	return out
}
function decode(text) {
	const at = Math.max(text.lastIndexOf('-'), 0), out = Array.from(text.slice(0, at), c => c.charCodeAt(0) < 128 ? c.charCodeAt(0) : fail('Illegal input >= 0x80 (not a basic code point)'))
	let n = 128, i = 0, bias = 72
	for (let index = at > 0 ? at + 1 : 0; index < text.length;) {
		const before = i
		for (let w = 1, k = base; ; k += base) {
			if (index >= text.length) fail('Invalid input')
			const d = valueOf(text[index++])
			if (d >= base) fail('Invalid input')
			i += d * w
			if (i > 2147483647) fail('Overflow: input needs wider integers to process')
			const t = threshold(k, bias)
			if (d < t) break
			w *= base - t
		}
		bias = adapt(i - before, out.length + 1, before === 0)
		n += Math.floor(i / (out.length + 1))
		i %= out.length + 1
		out.splice(i++, 0, n)
	}
	return String.fromCodePoint(...out)
}
const labels = (text, f) => {
	const at = text.lastIndexOf('@')
	return text.slice(0, at + 1) + text.slice(at + 1).replace(/[\u3002\uff0e\uff61]/g, '.').split('.').map(f).join('.')
}
return {
	version: '2.1.0', ucs2, encode, decode,
	toASCII: text => labels(text, l => /[^\0-\x7f]/.test(l) ? 'xn--' + encode(l) : l), toUnicode: text => labels(text, l => l.startsWith('xn--') ? decode(l.slice(4).toLowerCase()) : l),
}
})
