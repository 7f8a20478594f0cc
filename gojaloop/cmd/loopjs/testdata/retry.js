const { setTimeout: sleep } = require('node:timers/promises');
const { performance } = require('perf_hooks');
class RetryError extends AggregateError { constructor(errors, message) { super(errors, message); this.name = 'RetryError'; } }
async function retry(fn, { attempts = 4, base = 5, factor = 2, signal, onRetry } = {}) {
  const errors = [];
  for (let i = 0; ; i++) {
    try { return await fn(i); } catch (e) {
      errors.push(e);
      if (i + 1 >= attempts) throw new RetryError(errors, `gave up after ${i + 1} attempts`, { cause: e });
      const delay = base * factor ** i; onRetry?.(e, i, delay); await sleep(delay, undefined, { signal });
    }
  }
}
(async () => {
  const t = performance.now();
  console.log(await retry(i => { if (i < 2) throw new Error('fail ' + i); return 'ok ' + i; }, { onRetry: (e, i, d) => console.log('retry', i, e.message, d) }));
  console.log(performance.now() - t >= 14);
  try { await retry(async () => { throw new TypeError('always'); }, { attempts: 2 }); } catch (e) { console.log(e.name, e.message, e.errors.map(String), e instanceof AggregateError); }
  const ac = new AbortController(); setTimeout(() => ac.abort(new Error('stop')), 10);
  try { await retry(() => { throw 1; }, { base: 1000, signal: ac.signal }); } catch (e) { console.log(e.name, e.code, e.message, e.cause && e.cause.message); }
  const wrapped = new Error('outer', { cause: new Error('inner') }); console.log(wrapped.cause.message);
  const err = new RetryError([new Error('x')], 'm'); console.log(Object.prototype.toString.call(err), err.stack.split('\n')[0]);
  console.log(await Promise.race([sleep(1000, 'late', { ref: false }), sleep(1, 'soon')]));
  throw Object.assign(new Error('final'), { code: 'EFINAL' });
})().catch(e => { console.error('Fatal:', e.message); process.exitCode = 3; });
