process.on('exit', c => console.log('exit', c))
setTimeout(() => {
	Promise.resolve().then(() => console.log('never: promise'))
	throw new TypeError('end')
}, 1)
setTimeout(() => console.log('never: timer'), 3)
console.log('main')
