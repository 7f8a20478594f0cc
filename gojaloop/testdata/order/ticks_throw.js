let n = 0
const again = () => {
	if (n++ < 3) {
		process.nextTick(again)
		Promise.resolve().then(() => console.log('job', n))
	}
}
again()
process.nextTick(console.log, 'arguments', 1)
process.nextTick(() => { throw new Error('tick') })
process.nextTick(() => console.log('after the throw'))
queueMicrotask(() => { throw new Error('job') })
process.on('uncaughtException', e => {
	console.log('uncaught', e.message)
	process.nextTick(() => console.log('tick of', e.message))
	queueMicrotask(() => console.log('job of', e.message))
})
setImmediate(() => { console.log('immediate'); process.nextTick(() => { throw new Error('tick of an immediate') }) })
setImmediate(() => console.log('another'))
