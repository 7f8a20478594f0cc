// The timer is due before the listener returns, and yet the event comes again behind it.
let n = 0
process.on('beforeExit', () => {
	console.log('beforeExit', ++n)
	if (n > 2) return
	setTimeout(() => console.log('more', n), 1)
	for (const begin = Date.now(); Date.now() - begin < 5;);
})
process.on('exit', () => console.log('exit'))
