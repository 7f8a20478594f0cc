const path = require('path')
const names = ['C:\\a\\..\\b.txt', 'C:', 'c:x', '\\\\srv\\share\\dir\\f', '/a//b/../c.tar.gz', './x', '..', '', '.bashrc/', 'D:\\', 'a\\b/c', '//', '/']
for (const p of [path.posix, path.win32]) {
	for (const n of names) console.log(n, [p.normalize(n), p.dirname(n), p.basename(n), p.basename(n, '.txt'), p.extname(n), p.isAbsolute(n), p.parse(n), p.format(p.parse(n)), p.join(n, '..', 'x'), p.toNamespacedPath(n).includes('?')])
}
console.log(path.win32.resolve('C:\\a', '..\\b', 'c:x'), path.win32.relative('C:\\orandea\\test\\aaa', 'c:\\orandea\\impl\\bbb'), path.win32.relative('C:\\a', 'D:\\b'), path.win32.join('\\', '\\a'), path.win32.join('//a', 'b'), path.win32.sep, path.win32.delimiter)
console.log(path.posix === path, path.win32.posix === path, require('path/win32') === path.win32)
