const seen = []
const log = s => seen.push(s)
setTimeout(() => { log('t1'); process.nextTick(() => log('k1')); Promise.resolve().then(() => { log('p1'); queueMicrotask(() => log('m1')); process.nextTick(() => log('k2')) }) }, 1)
setTimeout(() => { log('t2'); setImmediate(() => { log('i1'); process.nextTick(() => log('k3')) }); setImmediate(() => log('i2')) }, 1)
setTimeout(() => console.log(seen.join(' ')), 20)
