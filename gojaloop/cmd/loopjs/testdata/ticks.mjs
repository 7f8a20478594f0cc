// An ES module runs in a promise job: its promise jobs come before nextTick functions.
process.on('exit', code => console.log('exit', code))
process.on('uncaughtException', (e, origin) => console.log(e.message, origin))
process.nextTick(() => console.log('tick'))
Promise.resolve().then(() => console.log('job')).then(() => console.log('job of job'))
queueMicrotask(() => {
	console.log('microtask')
	process.nextTick(() => console.log('tick of microtask'))
})
await null
console.log('awaited')
process.nextTick(() => console.log('another tick'))
await new Promise(resolve => setTimeout(resolve, 1))
process.nextTick(() => console.log('tick of a timer'))
Promise.resolve().then(() => console.log('job of a timer'))
await new Promise(resolve => process.nextTick(resolve))
console.log('behind a tick')
throw new Error('thrown by the module')
