async function f(name) {
	console.log(name, 1)
	await null
	console.log(name, 2)
	await new Promise(r => setTimeout(r, 1))
	console.log(name, 3)
	try {
		await Promise.reject(new Error('no'))
	} catch (e) {
		console.log(name, e.message)
	}
	return name
}
f('a').then(v => console.log('done', v))
f('b').finally(() => console.log('finally b'))
process.nextTick(() => console.log('tick'))
console.log('main')
