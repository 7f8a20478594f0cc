const { Buffer } = require('buffer'); const util = require('util'); const { EventEmitter } = require('events'); const crypto = require('crypto'); const { StringDecoder } = require('string_decoder'); const qs = require('querystring');
class Queue extends EventEmitter {
  #tail = Promise.resolve(); size = 0;
  add(fn) { this.size++; const p = this.#tail.then(() => fn()); this.#tail = p.then(() => {}, () => {}).finally(() => { if (--this.size === 0) this.emit('drain'); }); return p; }
}
const q = new Queue(); q.once('drain', () => console.log('drained'));
const order = []; for (const n of [3, 1, 2]) q.add(() => new Promise(r => setTimeout(r, n)).then(() => order.push(n)));
q.add(() => { throw new Error('in queue'); }).catch(e => console.log(e.message)); q.add(() => console.log(order));
setImmediate(() => console.log('immediate')); process.nextTick(() => console.log('tick')); queueMicrotask(() => console.log('micro')); Promise.resolve().then(() => console.log('promise')); console.log('sync');
const b = Buffer.concat([Buffer.from('héllo'), Buffer.from([1, 2, 255]), Buffer.alloc(2, 'a')]); console.log(b, b.toString('hex'), b.toString('base64'), b.length, b.slice(0, 3), Buffer.byteLength('é'), b.indexOf(255), b.includes('llo'), Buffer.compare(Buffer.from('a'), Buffer.from('b')), b.readUInt16BE(0), b.equals(Buffer.from(b)), JSON.stringify(Buffer.from('a')), Buffer.isBuffer(b), b instanceof Uint8Array, Buffer.from('aGk', 'base64').toString(), Buffer.from('ff0', 'hex'), b.subarray(1, 3).toString('latin1'), Buffer.from('x').toString('base64url'), [...Buffer.from('ab').entries()], b.write('zz', 1), b.fill(0, 0, 2)[0]);
const w = Buffer.alloc(16); w.writeInt32LE(-5, 0); w.writeDoubleBE(1.5, 4); w.writeBigUInt64LE?.(7n, 8); console.log(w.readInt32LE(0), w.readUInt8(0), w.swap16().length, w.toJSON().data.length);
console.log(crypto.createHash('md5').update('a').digest('hex'), crypto.createHash('sha1').update('a').update(Buffer.from('b')).digest('base64'), crypto.randomBytes(4).length, crypto.randomUUID().length, crypto.createHmac('sha256', 'k').update('d').digest('hex'), crypto.randomInt(5) < 5, crypto.timingSafeEqual(Buffer.from('a'), Buffer.from('a')));
const d = new StringDecoder('utf8'); console.log(d.write(Buffer.from([0xc3])), d.write(Buffer.from([0xa9])), d.end()); console.log(qs.parse('a=1&b=2&a=3'), qs.stringify({ x: [1, 2], y: 'z w' }), qs.escape('é'));
console.log(q.size, util.types.isRegExp(/a/), util.isArray?.([]), util.inspect.custom.toString(), util.inspect({ [util.inspect.custom]: () => 'CUSTOM' }), util.stripVTControlCharacters('\x1b[31mx\x1b[0m'), util.toUSVString('a\ud800'), util.styleText ? 'style' : 'no');
console.log(new TextDecoder().decode(new TextEncoder().encode('€')), btoa('a'), atob('YQ=='), structuredClone(new Map([[1, new Date(0)]])), typeof performance.now());
