process.on('exit', code => {
	console.log('first', code)
	process.exitCode = 9
	process.nextTick(() => console.log('never'))
	Promise.resolve().then(() => console.log('never'))
})
process.on('exit', code => {
	console.log('second', code, process.exitCode)
	process.exit(4)
	console.log('never')
})
process.on('exit', () => console.log('never'))
setTimeout(() => {
	Promise.resolve().then(() => {
		try {
			process.exit(2)
		} finally {
			console.log('never')
		}
	}).finally(() => console.log('never'))
	process.nextTick(() => console.log('tick'))
}, 1)
