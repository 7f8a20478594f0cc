Promise.resolve().then(() => {
	console.log('p1')
	process.nextTick(() => console.log('tick of p1'))
	Promise.resolve().then(() => console.log('p of p1'))
}).then(() => console.log('p2'))
process.nextTick((a, b) => {
	console.log('t1', a, b)
	Promise.resolve().then(() => console.log('p of t1'))
	process.nextTick(() => console.log('t of t1'))
}, 1, 'two')
process.nextTick(() => console.log('t2'))
queueMicrotask(() => {
	console.log('m1')
	queueMicrotask(() => console.log('m of m1'))
	process.nextTick(() => console.log('t of m1'))
})
