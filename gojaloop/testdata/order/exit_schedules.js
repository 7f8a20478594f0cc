// What listeners of 'exit' leave: promise jobs run when nothing is left to do, and nothing else does; 'exit' comes once.
process.on('exit', () => {
	console.log('exit')
	process.nextTick(() => console.log('never: tick'))
	setImmediate(() => console.log('never: immediate'))
	setTimeout(() => console.log('never: timer'), 1)
	t.refresh()
	Promise.resolve().then(() => {
		console.log('promise')
		process.nextTick(() => console.log('never: tick'))
	})
})
const t = setTimeout(() => console.log('timer'), 1)
