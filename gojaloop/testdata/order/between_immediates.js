for (const i of [1, 2, 3]) setImmediate(() => {
	console.log('immediate', i)
	Promise.resolve().then(() => console.log('promise', i))
	process.nextTick(() => console.log('tick', i))
	setImmediate(() => console.log('next turn', i))
})
