// URLs: what parts they have, what the setters make of them, and how URLSearchParams follow. Cases are of this project's own making.
const parts = u => [u.href, u.origin, u.protocol, u.username, u.password, u.host, u.hostname, u.port, u.pathname, u.search, u.hash].map(s => JSON.stringify(s)).join(' ')
const attempt = f => { try { return f() } catch (e) { return `${e.name} ${e.code}` } }

const alone = [
	'http://example.com', 'HTTP://EXAMPLE.com:80/', 'https://example.com:443/a', 'https://example.com:8443/a', 'http://example.com:0/', 'http://example.com:65535', 'http://example.com:65536', 'http://example.com:x',
	'http://user:pa%20ss@host/', 'http://user@host', 'http://:p@host', 'http://@host', 'http://a@b@c/', 'http://a:b:c@d/', 'http://[::1]:3000/x', 'http://[1:0::2]/', 'http://[::ffff:1.2.3.4]', 'http://[::1', 'http://[1::2::3]', 'http://[fe80::1%25en0]/',
	'http://1.2.3', 'http://0x7f.1', 'http://0377.1', 'http://256.1.1.1', 'http://4294967295', 'http://4294967296', 'http://1.2.3.4.5', 'http://1.2.3.08', 'http://a.1', 'http://1..2',
	'http://bücher.example/', 'http://xn--bcher-kva.example', 'http://EXAMPLE.Com', 'http://ex%41mple.com', 'http://exa mple.com', 'http://exa%00mple', 'http://a_b.c', 'http://a<b', 'http://a^b', 'http://a|b', 'http://%zz/', 'http://faß.de', 'http://☕.example', 'http://a.b-', 'http://-a',
	'http:example.com', 'http:/example.com', 'http:///example.com', 'http:\\\\example.com\\a\\b', 'https:', 'http://', 'http:///', '//example.com', '/a', 'a', '', '?', '#', ':', 'a:', 'a:b', 'a:/b', 'a://b', 'a:///b', 'a://b:80/c', 'a://u:p@b/c', 'a:b?c#d', 'a: b ', 'a:b ?q', 'a:b #h',
	'http://h/a/./b/../c', 'http://h/..', 'http://h/a/..', 'http://h/a/%2e%2E/b', 'http://h/a//b', 'http://h/.', 'http://h/a/.', 'http://h/%', 'http://h/%4', 'http://h/%41', 'http://h/a b', 'http://h/"<>`{}', 'http://h/é', 'http://h/\ud800x', 'http://h/a\tb\nc', ' http://h/ ', '\u0001http://h/\u001f',
	'http://h?', 'http://h?a', 'http://h/?a=b&c', "http://h/?'", 'a://h/?\'', 'http://h/?"<>#"<>`', 'http://h/?é', 'http://h#', 'http://h#é `', 'http://h/?a?b#c#d',
	'file:///a/b', 'file://host/a', 'file://localhost/a', 'file:a', 'file:/a', 'file:///C:/a', 'file:///C|/a', 'file:///c:/../d', 'file://C:/a', 'file:', 'file:\\\\a\\b', 'file://h:80/',
	'data:text/plain,hi there', 'javascript:alert(1)', 'mailto:a@b.c', 'blob:https://h:8/x', 'blob:x', 'blob:ftp://h/x', 'ws://h:80/', 'wss://h:443', 'wss://h:80', 'ftp://h:21/', 'about:blank', 'urn:a:b', 'a1+-.:b', '1a:b', 'a\u00e9:b',
	'a:/..//b', 'a:/.//b', 'a:////b', 'web+x:/.//p', 'http://h/a;b=c,d@e!$&\'()*+', 'http://h:80:90', 'http://h:/', 'http://h:  80/', 'http://h:8 0/', 'http://%E2%98%83.x', 'http://ａ.ｂ', 'http://a。b', 'http://a\u00adb', 'http://x\u200dy', 'https://h/\\a', 'https://h\\@x/', 'non-special://[::1]/', 'non-special://a b', 'non-special://A%20', 'non-special://h/\\a', 'ns:\\a',
]
for (const s of alone) console.log(JSON.stringify(s), attempt(() => parts(new URL(s))))

const bases = ['http://u:p@h:81/a/b/c?q#f', 'http://h', 'file:///C:/x/y', 'file://host/x', 'a:b', 'a:/b/c', 'a://h/b/c?d', 'https://h/x/']
const refs = ['', 'd', './d', '../d', '../../../../d', '/d', '//e/f', '///e', '?r', '#g', '?', '#', 'http:d', 'http://x/y', 'https:d', 'a:d', 'd:', ':d', '\\d', '\\\\e\\f', 'C|/z', '/C:/z', '..', '.', 'd/', 'd?r', ' d ', '%2e%2e/d', 'file:d', 'file:///d', 'mailto:x', '@', '//', 'd:80']
for (const b of bases) for (const r of refs) console.log(b, JSON.stringify(r), attempt(() => new URL(r, b).href))
for (const b of ['', 'x', '/x', undefined, null, 7]) console.log(String(b), attempt(() => new URL('http://h/x', b).href), attempt(() => new URL('x', b).href))

const values = {
	protocol: ['https', 'https:', 'ftp:x', 'a', 'file', '', '1', 'ws', 'HTTPS', 'b+c'],
	username: ['', 'u', 'a:b@c', 'é /', '%'], password: ['', 'p', 'a:b@c', 'é /'],
	host: ['', 'x', 'x:90', 'x:80', 'x:', 'x/y', 'x?y', '[::2]:5', 'x:y', 'x:99999', 'bücher', 'a b', 'X', '1.2', 'x@y', '\\'], hostname: ['', 'x', 'x:90', 'x/y', '[::2]', 'a b', ':', 'É'],
	port: ['', '80', '443', '90', '090', '90x', 'x', '65536', '-1', ' 90', '9 0', '0'], pathname: ['', 'x', '/x', '//x', '\\x', '../x', '?x', '#x', 'a b', '%41', '.'],
	search: ['', '?', 'x', '?x', '??x', '#x', 'a b', "'", 'é'], hash: ['', '#', 'x', '#x', '##x', 'a b', '`'],
}
const starts = ['http://u:p@h:81/a?q#f', 'http://h/', 'https://h:8/', 'file:///a/b', 'a:b', 'a:b?q#f', 'a://h:5/b', 'mailto:x ', 'data:x ?q']
for (const s of starts) for (const name in values) console.log(s, name, values[name].map(v => { const u = new URL(s); attempt(() => { u[name] = v }); return u.href }).map(h => JSON.stringify(h)).join(' '))
for (const h of ['http://x/', 'x', '']) { const u = new URL('http://h/?a=b'); const p = u.searchParams; console.log(attempt(() => { u.href = h }), u.href, p === u.searchParams, p.toString()) }

const u = new URL('http://h:81/p?a=1&b=2#f'), p = u.searchParams
p.append('c', 'x y&z'); console.log(u.href, u.search, u.origin)
p.delete('a'); console.log(u.href)
p.set('b', 'é'); console.log(u.href)
u.search = '?n=1&n=2'; console.log(p.getAll('n').join(), p.size)
u.search = ''; console.log(p.size, u.href, p === u.searchParams)
p.append('~!*()\'', '-._ %+'); console.log(u.search)
p.sort(); p.delete('~!*()\''); console.log(u.href, String(u), JSON.stringify({ u }))
const o = new URL('a:b?x '); o.searchParams.delete('x '); o.searchParams.delete('x'); console.log(o.href)

for (const init of ['', '?', '?a', 'a=b', '?a=b&c=d', '&&a&=&=b&', 'a=b=c', 'a+b=%20%2B', '%zz=%41', 'a=%F0%9F%98%80', 'a=%ff', 'é=☃', '\ufeffa', '%EF%BB%BFa', '?%3F', '??a', undefined, null, 7, true, { a: 1, b: [1, 2] }, [['a', 'b'], ['a', 'c']], new Map([['m', 1]]), new URLSearchParams('x=y'), [['a']], [['a', 'b', 'c']], [1], ['ab'], Symbol('s'), () => {}, { [Symbol.iterator]: 5 }, '\ud800=\udc00', { '\ud800': 1 }]) {
	console.log(typeof init === 'symbol' ? 'symbol' : typeof init === 'function' ? 'function' : JSON.stringify(init), attempt(() => new URLSearchParams(init).toString()))
}
const q = new URLSearchParams('b=1&a=2&b=3&a=1&\ud83d\ude00=4&\uffee=5')
q.sort(); console.log(q.toString())
console.log(q.has('b'), q.has('b', '3'), q.has('b', '4'), q.has('b', undefined), q.get('b'), q.get('x'), q.getAll('a').join())
q.delete('b', '3'); console.log(q.toString()); q.set('a', 'z'); console.log(q.toString())
const it = q.entries(); console.log(it.next().value.join(), Object.prototype.toString.call(it), it[Symbol.iterator]() === it); q.delete('a'); console.log(JSON.stringify(it.next()))
console.log([...q.keys()].join(), [...q.values()].join(), [...q].length, q[Symbol.iterator] === q.entries)
q.forEach(function (v, k, s) { console.log(v, k, s === q, this.t) }, { t: 1 })
for (const f of [() => q.append('a'), () => q.get(), () => q.has(), () => q.set('a'), () => q.delete(), () => q.forEach(), () => URLSearchParams('a'), () => URL('a:b'), () => new URL(), () => URL.canParse(), () => URLSearchParams.prototype.get.call({}, 'a'), () => q.append(Symbol(), 1)]) console.log(attempt(f).replace('undefined', '').split(' ')[0])
console.log(URL.canParse('http://h'), URL.canParse('x'), URL.canParse('x', 'http://h'), URL.canParse('x', 'y'))
console.log(Object.keys(URL.prototype).sort().join(), Object.keys(URLSearchParams.prototype).sort().join())
console.log(URL.length, URL.canParse.length, URLSearchParams.length, Object.prototype.toString.call(new URL('a:b')), Object.prototype.toString.call(q))
const e = (() => { try { new URL('x', 'y') } catch (e) { return e } })(); console.log(e.name, e.message, e.code, e.input, e.base, e instanceof TypeError)
console.log(new URL('http://u:p@h:8/a?b=c&d=e#f')); console.log(new URLSearchParams('a=b&c=d')); console.log(new URLSearchParams(), { u: new URL('a:b') })
class Sub extends URL { get x() { return this.host + '!' } } console.log(new Sub('http://h/').x, new Sub('http://h') instanceof URL, class extends URLSearchParams {}.name)
