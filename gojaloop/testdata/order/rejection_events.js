process.on('unhandledRejection', (r, p) => {
	console.log('unhandled', r, p instanceof Promise)
	process.nextTick(() => console.log('tick of handler', r))
})
process.on('rejectionHandled', p => console.log('handled late', p === late))
const late = Promise.reject('late')
Promise.reject('lost')
setTimeout(() => late.catch(() => console.log('caught late')), 2)
setTimeout(() => console.log('end'), 10)
