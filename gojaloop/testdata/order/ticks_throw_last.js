// What a nextTick function leaves by throwing comes next, unless another callback of the same phase does.
const log = console.log
process.on('uncaughtException', e => log('uncaught', e))
setTimeout(() => {
	process.nextTick(() => {
		process.nextTick(() => log('tick of 1'))
		throw 1
	})
	process.nextTick(() => log('tick 2'))
	Promise.resolve().then(() => log('job'))
	setImmediate(() => {
		log('immediate')
		process.nextTick(() => log('tick of immediate'))
	})
	setImmediate(() => {
		log('last immediate')
		setImmediate(() => log('of the next turn'))
		process.nextTick(() => { throw 2 })
		process.nextTick(() => log('tick behind 2'))
	})
}, 1)
