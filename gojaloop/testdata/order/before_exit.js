let n = 0
process.on('beforeExit', () => {
	console.log('beforeExit', ++n)
	if (n < 3) setTimeout(() => console.log('more', n), 1)
	if (n > 1) return
	setImmediate(() => console.log('behind timers that are due'))
	for (const t = Date.now(); Date.now() - t < 5;);
})
process.on('exit', () => console.log('exit'))
