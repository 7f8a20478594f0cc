process.on('exit', c => {
	console.log('exit', c)
	process.nextTick(() => console.log('never: tick of exit'))
	setTimeout(() => console.log('never: timer of exit'), 0)
})
process.nextTick(() => {
	console.log('tick')
	process.exit(3)
	console.log('never')
})
Promise.resolve().then(() => console.log('never: promise'))
