const wait = ms => { const t = Date.now(); while (Date.now() - t < ms); }
setTimeout(() => { console.log('a'); setImmediate(() => console.log('immediate of a')); wait(20) }, 1)
setTimeout(() => { console.log('b'); Promise.resolve().then(() => console.log('promise of b')) }, 1)
setTimeout(() => console.log('c'), 2)
wait(5)
