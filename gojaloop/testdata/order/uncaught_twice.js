process.on('exit', c => console.log('exit', c))
process.on('uncaughtException', e => {
	console.log('caught', e.message)
	throw new Error('in the handler')
})
setTimeout(() => console.log('never'), 100)
setTimeout(() => { throw new Error('first') }, 1)
