setTimeout(() => {
	setImmediate(() => {
		console.log('immediate of a timer')
		setImmediate(() => console.log('immediate of an immediate'))
		process.nextTick(() => console.log('tick of an immediate'))
	})
	setTimeout(() => console.log('timer of a timer'), 60)
	console.log('timer')
}, 1)
