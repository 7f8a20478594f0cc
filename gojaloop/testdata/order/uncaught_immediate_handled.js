process.on('uncaughtException', (e, origin) => console.log('caught', e.message, origin))
setImmediate(() => {
	process.nextTick(() => console.log('tick of the immediate'))
	throw new Error('immediate')
})
setImmediate(() => console.log('next immediate'))
