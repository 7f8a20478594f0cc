for (const i of [1, 2, 3]) setTimeout(() => {
	console.log('timer', i)
	Promise.resolve().then(() => {
		console.log('promise', i)
		process.nextTick(() => console.log('tick of promise', i))
	})
	process.nextTick(() => console.log('tick', i))
	setImmediate(() => console.log('immediate', i))
}, 2)
