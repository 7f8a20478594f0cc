// A timer that throws and is the last that is due: what it leaves comes before immediates.
process.on('uncaughtException', e => console.log('uncaught', e))
setTimeout(() => {
	process.nextTick(() => console.log('tick'))
	Promise.resolve().then(() => console.log('promise'))
	queueMicrotask(() => console.log('microtask'))
	setImmediate(() => console.log('immediate'))
	throw 1
}, 1)
