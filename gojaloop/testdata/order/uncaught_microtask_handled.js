process.on('uncaughtException', (e, origin) => console.log('caught', e.message, origin))
queueMicrotask(() => { process.nextTick(() => console.log('tick')); throw new Error('microtask') })
queueMicrotask(() => console.log('next microtask'))
Promise.resolve().then(() => console.log('promise'))
