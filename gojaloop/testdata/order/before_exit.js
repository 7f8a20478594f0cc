let n = 0
process.on('beforeExit', () => {
	console.log('beforeExit', ++n)
	if (n < 3) setTimeout(() => console.log('more', n), 1)
})
process.on('exit', () => console.log('exit'))
