const say = (...a) => console.log(...a)
process.on('newListener', (name, f) => say('new', name, typeof f))
process.on('removeListener', (name, f) => say('removed', name, typeof f))
const f = function (...args) { say('f', this === process, ...args) }
process.on('x', f)
process.prependListener('x', () => say('before'))
process.once('x', () => say('once'))
say(process.emit('x', 1, 2), process.emit('y'), process.listenerCount('x'), process.rawListeners('x').length)
process.off('x', f)
process.off('x', f)
say(process.emit('x'))
for (const v of ['x', 1.5, NaN, true, {}, '', '7', 8]) {
	try {
		process.exitCode = v
		say(process.exitCode)
	} catch (e) {
		say(e.name, e.code, e.message)
	}
}
