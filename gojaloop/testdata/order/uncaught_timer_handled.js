process.on('uncaughtException', (e, origin) => console.log('caught', e.message, origin))
setTimeout(() => {
	process.nextTick(() => console.log('tick of the timer'))
	Promise.resolve().then(() => console.log('promise of the timer'))
	throw new Error('timer')
}, 1)
setTimeout(() => console.log('timer behind it'), 1)
setTimeout(() => console.log('later timer'), 60)
process.on('exit', c => console.log('exit', c))
