package main

// Tests of node:stream, zlib, child_process, async_hooks and the streams of files.

import "testing"

// streamCases print what Node prints.
var streamCases = []struct{ name, code, stdout string }{
	{"order of events", `
const { Readable, Writable, Transform } = require('stream'), log = []
const r = new Readable({ read() {} }), w = new Writable({ write(c, e, cb) { log.push('write ' + c); setImmediate(cb) }, final(cb) { log.push('final'); cb() } })
for (const n of ['end', 'close', 'pause', 'resume', 'readable']) r.on(n, () => log.push('r ' + n))
for (const n of ['pipe', 'finish', 'close', 'drain', 'unpipe', 'prefinish']) w.on(n, () => log.push('w ' + n))
r.removeAllListeners('readable')
r.pipe(w); r.push('a'); r.push('b'); r.push(null)
w.on('close', () => console.log(log.join(', ')))`,
		"w pipe, r resume, write a, r end, r close, write b, final, w prefinish, w finish, r pause, w unpipe, w close\n"},
	{"backpressure", `
const { Writable } = require('stream')
const w = new Writable({ highWaterMark: 3, write(c, e, cb) { setTimeout(cb, 1) } })
console.log(w.write('ab'), w.write('c'), w.writableLength, w.writableNeedDrain)
w.on('drain', () => { console.log('drain', w.writableLength); w.end('x', () => console.log('ended', w.writableFinished)) })`,
		"true false 3 true\ndrain 0\nended true\n"},
	{"errors", `
const { Readable, Writable, Transform, pipeline, finished } = require('stream')
const w = new Writable({ write(c, e, cb) { cb(new Error('mine')) } })
w.on('error', e => console.log('error', e.message, w.destroyed)).on('close', () => console.log('close'))
w.write('a', e => console.log('callback', e.message))
const r = new Readable({ read() {} }); r.on('error', e => console.log(e.code)); r.push(null); r.push('x')
pipeline(Readable.from(['a']), new Transform({ transform(c, e, cb) { cb(new Error('of a part')) } }), new Writable({ write(c, e, cb) { cb() } }), e => console.log('pipeline', e.message))
const t = new Readable({ read() {} }); finished(t, e => console.log('finished', e.code)); t.destroy()
const late = new Writable({ write(c, e, cb) { cb() } }); late.on('error', e => console.log(e.code)); late.end(); late.write('x')`,
		"callback mine\nERR_STREAM_PUSH_AFTER_EOF\nfinished ERR_STREAM_PREMATURE_CLOSE\nERR_STREAM_WRITE_AFTER_END\nerror mine true\nclose\npipeline of a part\n"},
	{"iteration", `
const { Readable, PassThrough } = require('stream'), { pipeline } = require('stream/promises')
const all = async s => { const out = []; for await (const c of s) out.push(String(c)); return out }
async function main() {
  console.log(await all(Readable.from([1, 2, 3]).map(x => x * 2)), await Readable.from([1, 2, 3, 4]).filter(x => x % 2).toArray(), await Readable.from([1, 2]).reduce((a, b) => a + b))
  const r = Readable.from(['x', 'y']); for await (const c of r) { console.log(c, r.destroyed); break } console.log(r.destroyed)
  const p = new PassThrough(); setTimeout(() => p.destroy(new Error('broken')), 1)
  await all(p).catch(e => console.log(e.message))
  const q = new PassThrough(); const got = all(q)
  await pipeline(Readable.from(['a', 'b']), async function* (s) { for await (const c of s) yield String(c).toUpperCase() }, q); console.log(await got)
  console.log(await Readable.from([1, 2, 3, 4]).drop(1).take(2).toArray(), await Readable.from([1, 2]).some(x => x > 1))
}
main()`, "[ '2', '4', '6' ] [ 1, 3 ] 3\nx false\ntrue\nbroken\n[ 'AB' ]\n[ 2, 3 ] true\n"},
	{"bytes and text", `
const { Readable } = require('stream'), r = new Readable({ read() {} })
r.push(Buffer.from([0xe2, 0x82])); r.push(Buffer.from([0xac, 0x41])); r.push(null)
r.setEncoding('utf8'); r.on('readable', () => { let c; while ((c = r.read(1)) !== null) console.log(c) })
const s = new Readable({ read() {} }); s.push('abcdef'); console.log(String(s.read(2)), s.read(9), String(s.read())); s.unshift('x'); console.log(String(s.read()))
const { StringDecoder } = require('string_decoder'), d = new StringDecoder('base64'); console.log(d.write(Buffer.from('ab')) + '|' + d.end(Buffer.from('cd')))`,
		"ab null cdef\nx\n|YWJjZA==\n€\nA\n"},
	{"old style", `
const { Readable, Writable, Transform } = require('stream'), util = require('util')
function Up(o) { if (!(this instanceof Up)) return new Up(o); Transform.call(this, o) }
util.inherits(Up, Transform)
Up.prototype._transform = function (c, e, cb) { this.push(String(c).toUpperCase()); cb() }
Up.prototype._flush = function (cb) { this.push('!'); cb() }
const u = Up(); u.on('data', d => console.log(String(d))); u.end('abc')
const o = new Transform({ objectMode: true, transform(c, e, cb) { cb(null, { n: c.n + 1 }) } }); o.on('data', d => console.log(d)); o.write({ n: 1 })`, "ABC\n!\n{ n: 2 }\n"},
	{"zlib", `
const zlib = require('zlib'), { Readable } = require('stream')
for (const [a, b] of [['gzip', 'gunzip'], ['deflate', 'inflate'], ['deflateRaw', 'inflateRaw'], ['gzip', 'unzip']]) console.log(String(zlib[b + 'Sync'](zlib[a + 'Sync']('text of ' + a))))
const two = Buffer.concat([zlib.gzipSync('one '), zlib.gzipSync('two'), Buffer.alloc(3)]); console.log(String(zlib.gunzipSync(two)))
for (const bad of ['', 'nonsense', zlib.gzipSync('cut').subarray(0, 12)]) try { zlib.gunzipSync(Buffer.from(bad)) } catch (e) { console.log(e.code, e.errno, e.message) }
try { zlib.inflateSync(zlib.deflateSync('x'.repeat(1e6)), { maxOutputLength: 1000 }) } catch (e) { console.log(e.code) }
const whole = zlib.gzipSync('piece by piece'), g = zlib.createGunzip(); let out = ''
g.on('data', d => { out += d }).on('end', () => console.log(out) || zlib.gzip('async', (e, z) => zlib.gunzip(z, (e, t) => console.log(String(t))))); for (const b of whole) g.write(Buffer.from([b])); g.end()
const d = zlib.createDeflate({ dictionary: Buffer.from('word') }); d.flush(() => {})`,
		"text of gzip\ntext of deflate\ntext of deflateRaw\ntext of gzip\none two\nZ_BUF_ERROR -5 unexpected end of file\nZ_DATA_ERROR -3 incorrect header check\nZ_BUF_ERROR -5 unexpected end of file\nERR_BUFFER_TOO_LARGE\npiece by piece\nasync\n"},
	{"contexts of asynchronous work", `
const { AsyncLocalStorage, AsyncResource } = require('async_hooks'), a = new AsyncLocalStorage(), b = new AsyncLocalStorage()
a.run('A', async () => {
  await null; console.log(a.getStore(), b.getStore())
  setImmediate(() => console.log('immediate', a.getStore()) || require('fs').readFile('none', () => console.log('file', a.getStore()) || setTimeout(() => console.log('timer', a.getStore()), 1))); process.nextTick(() => console.log('tick', a.getStore()))
  b.run('B', () => Promise.resolve().then(() => console.log('then', a.getStore(), b.getStore())))
  const r = new AsyncResource('X'); a.run('other', () => r.runInAsyncScope(() => console.log('resource', a.getStore())))
  a.exit(() => console.log('out', a.getStore()))
})
console.log(a.getStore())`, "undefined\nA undefined\nresource A\nout undefined\nthen A B\ntick A\nimmediate A\nfile A\ntimer A\n"},
	{"files", `
const fs = require('fs')
const w = fs.createWriteStream('out.txt'); w.on('open', fd => console.log('open', typeof fd)).write('hello '); w.end('world')
w.on('close', () => {
  console.log(w.bytesWritten, w.pending)
  fs.createReadStream('out.txt', { start: 2, end: 7, encoding: 'utf8', highWaterMark: 4 }).on('data', d => console.log(d)).on('close', () => {
    fs.createReadStream('none').on('error', e => console.log(e.code)).on('close', () => {
      fs.copyFileSync('out.txt', 'two.txt'); try { fs.copyFileSync('out.txt', 'two.txt', fs.constants.COPYFILE_EXCL) } catch (e) { console.log(e.code, e.dest) }
      fs.writeFileSync('two.txt', 'mine'); fs.cpSync('out.txt', 'two.txt', { force: false }); console.log(fs.readFileSync('two.txt', 'utf8'))
      try { fs.cpSync('out.txt', 'two.txt', { force: false, errorOnExist: true }) } catch (e) { console.log(e.code) }
      fs.mkdirSync('d', { mode: 0o700 }); console.log((fs.statSync('d').mode & 0o777).toString(8), fs.statSync('out.txt', { bigint: true }).size)
      try { fs.cpSync('.', 'd/copy', { recursive: true }) } catch (e) { console.log(e.code) }
      fs.mkdirSync('e'); fs.writeFileSync('e/a', ''); fs.writeFileSync('e/b', ''); fs.cpSync('e', 'd/copy', { recursive: true, filter: f => !/a$/.test(f) }); console.log(fs.readdirSync('d/copy'))
      const dir = fs.opendirSync('d'); console.log(dir.readSync().name, dir.readSync()); dir.closeSync()
      try { fs.writeFileSync('none', 'x', { flag: 'r+' }) } catch (e) { console.log(e.code) }
    })
  })
})`, "open number\n11 true\nllo \nwo\nENOENT\nEEXIST two.txt\nmine\nERR_FS_CP_EEXIST\n700 11n\nERR_FS_CP_EINVAL\n[ 'b' ]\ncopy null\nENOENT\n"},
}

func TestStreams(t *testing.T) {
	for _, c := range streamCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			stdout, stderr, code := run(t, loopjs(t, folder(t, files{"main.js": c.code}), "main.js"))
			if stdout != c.stdout || code != 0 {
				t.Errorf("exit code %d\n%s\nwant\n%s\n%s", code, stdout, c.stdout, stderr)
			}
		})
	}
}
