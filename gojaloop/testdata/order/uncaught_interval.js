let n = 0
process.on('uncaughtException', e => console.log('caught', e.message))
const i = setInterval(() => {
	if (++n === 3) clearInterval(i)
	throw new Error('run ' + n)
}, 1)
