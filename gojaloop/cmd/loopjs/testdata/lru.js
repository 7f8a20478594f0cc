const assert = require('assert');
const strict = require('assert/strict');
class LRU {
  #max; #map = new Map(); static #count = 0;
  constructor(max) { assert(max > 0, 'max must be positive'); this.#max = max; LRU.#count++; }
  get(k) { if (!this.#map.has(k)) return undefined; const v = this.#map.get(k); this.#map.delete(k); this.#map.set(k, v); return v; }
  set(k, v) { this.#map.delete(k); this.#map.set(k, v); if (this.#map.size > this.#max) this.#map.delete(this.#map.keys().next().value); return this; }
  get size() { return this.#map.size; } *[Symbol.iterator]() { yield* this.#map; } static get count() { return LRU.#count; } has(k) { return this.#map.has(k) } static { this.kind = 'lru' }
}
const c = new LRU(2).set('a', 1).set('b', 2); assert.strictEqual(c.get('a'), 1); c.set('c', 3);
assert.deepStrictEqual([...c], [['a', 1], ['c', 3]]); assert.equal(c.get('b'), undefined); assert.ok(c.has('a')); assert.notStrictEqual(1, '1'); assert.match('abc', /b/); strict.equal(LRU.kind, 'lru'); assert.doesNotThrow(() => {}); assert.ifError(null); assert.deepEqual({a:1},{a:'1'}); assert.notDeepStrictEqual({a:1},{a:'1'}); assert.doesNotMatch('a', /b/);
console.log(c, LRU.count, [...c]);
for (const f of [
  () => assert.strictEqual(1, 2), () => assert.deepStrictEqual({ a: 1, b: [1, 2] }, { a: 1, b: [1, 3] }), () => assert.ok(0, 'zero'),
  () => assert.throws(() => {}), () => assert.throws(() => { throw new Error('x') }, /y/), () => assert.throws(() => { throw new Error('x') }, TypeError), () => assert.equal('a', 'b'), () => assert.notStrictEqual(1, 1), () => assert.fail('boom'), () => assert.fail(), () => assert.match('abc', /x/), () => assert.deepStrictEqual([1, 2, 3], [1, 2, 4]), () => assert.deepEqual(new Set([1]), new Set([2])), () => assert.strictEqual('a\nb', 'a\nc'), () => assert.ifError(new Error('if')), () => assert.doesNotThrow(() => { throw new Error('dnt') }), () => assert.deepStrictEqual(new Map([[1, 2]]), new Map([[1, 3]])), () => assert.notDeepStrictEqual({ a: 1 }, { a: 1 }), () => assert.strictEqual(NaN, 0), () => assert.throws(() => { throw new Error('x') }, { message: 'y' }), () => new LRU(0),
]) { try { f(); console.log('no error'); } catch (e) { console.log(e.name, e.code, e.generatedMessage, e.operator, '|', e.message); } }
assert.rejects(async () => { throw new Error('r') }, /r/).then(() => console.log('rejects ok'));
assert.rejects(async () => 1).catch(e => console.log(e.message));
try { assert.strictEqual(1, 2) } catch (e) { console.log(e.actual, e.expected, e instanceof assert.AssertionError, e instanceof Error) }
