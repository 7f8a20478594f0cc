process.on('uncaughtException', e => console.log('caught', e.message))
const both = (name, fail) => () => {
	process.nextTick(() => console.log('tick of', name))
	Promise.resolve().then(() => console.log('promise of', name))
	console.log(name)
	if (fail) throw new Error(name)
}
setTimeout(() => {
	setImmediate(both('i1', true))
	setImmediate(both('i2', true))
	setImmediate(both('i3'))
	setImmediate(both('i4', true))
	console.log('timer')
}, 1)
setTimeout(() => {
	for (let i = 1; i <= 5; i++) setTimeout(both('t' + i, i % 2 == 0), 1)
}, 60)
