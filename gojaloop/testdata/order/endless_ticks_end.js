let n = 0
function t() { if (++n < 5000) process.nextTick(t); else console.log('ticks', n) }
process.nextTick(t)
Promise.resolve().then(() => console.log('promise behind the ticks'))
let m = 0
function p() { if (++m < 5000) return Promise.resolve().then(p); console.log('promises', m) }
p()
setImmediate(() => console.log('immediate behind all'))
