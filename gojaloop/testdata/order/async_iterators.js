// Iterators as "for await" uses them, by hand.
const counter = end => ({
	n: 0,
	next() { const value = ++this.n; return value > end ? Promise.reject(new Error('too far')) : Promise.resolve({ value, done: false }) },
	return(v) { console.log('return', this.n); return Promise.resolve({ value: v, done: true }) },
})
async function each(it, f) {
	let ended = true
	try {
		for (;;) {
			ended = true
			const { value, done } = await it.next()
			if (done) return
			ended = false
			await f(value)
		}
	} finally {
		if (!ended) await it.return()
	}
}
each(counter(2), v => console.log('a', v)).catch(e => console.log('a', e.message))
each(counter(9), v => { console.log('b', v); if (v === 2) throw new Error('enough') }).catch(e => console.log('b', e.message)).finally(() => console.log('b ended'))
process.nextTick(() => console.log('tick'))
Promise.resolve().then(() => console.log('1')).then(() => console.log('2')).then(() => console.log('3')).then(() => console.log('4'))
