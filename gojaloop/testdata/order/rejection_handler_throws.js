process.on('exit', code => console.log('exit', code))
process.on('unhandledRejection', reason => {
	console.log('unhandled', reason)
	process.nextTick(() => console.log('tick'))
	throw new Error('of the handler')
})
process.on('uncaughtException', (e, origin) => {
	console.log(e.message, origin)
	Promise.resolve().then(() => console.log('job'))
})
Promise.reject(1)
setTimeout(() => { process.exitCode = 3; Promise.reject(3) }, 5)
