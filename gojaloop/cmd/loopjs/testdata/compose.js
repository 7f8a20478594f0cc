const { compose, duplexPair, Readable, Writable, Transform, Duplex, PassThrough, isDestroyed, pipeline } = require('stream'); const ev = require('events')
const up = () => new Transform({ transform(c, e, f) { f(null, String(c).toUpperCase()) } });
(async () => {
  let s = ''; for await (const c of compose(up(), new PassThrough()).end('hello')) s += c; console.log(s)
  console.log(await Readable.from(['a', 'b']).compose(async function* (src) { for await (const c of src) yield c + c }).toArray())
  const [a, b] = duplexPair(); a.write('ping'); b.on('data', d => { console.log('b', String(d)); b.end('pong') }); a.on('data', d => console.log('a', String(d))); await ev.once(a, 'end'); a.end()
  console.log(await Duplex.from([1, 2, 3]).toArray()); const d = Duplex.from(async function* (src) { for await (const x of src) yield String(x).length }); d.write('abc'); d.end('de'); console.log(await d.toArray())
  console.log(isDestroyed(new PassThrough()), isDestroyed(5), ev.getMaxListeners(new ev())); const ac = new AbortController(); ev.addAbortListener(ac.signal, () => console.log('aborted')); ac.abort()
  const buf = Buffer.from('héllo'); console.log(buf.utf8Slice(0, 3), buf.hexSlice(), buf.latin1Slice(1, 3), buf.inspect(), Buffer.copyBytesFrom(new Uint16Array([1, 2, 3]), 1), buf.base64Slice(), Buffer.alloc(4).utf8Write, buf.parent === buf.buffer, typeof buf.offset); const w = Buffer.alloc(4); console.log(w.utf8Write('abc', 1), w, w.hexWrite('ff', 0), w)
})()
