// "for await" that fails, is tried again, is left early, and is followed by others.
async function* source(n) {
	try {
		for (let i = 1; i <= 3; i++) {
			if (i === n) throw new Error('fails at ' + i)
			yield i
		}
		yield* [Promise.resolve(4), 5]
	} finally {
		console.log('closed')
	}
}
for (let attempt = 1; attempt <= 3; attempt++) {
	try {
		for await (const v of source(attempt + 1)) console.log(attempt, v)
		console.log('whole')
	} catch (e) {
		console.log(attempt, e.message)
	}
}
try { for await (const v of source(1)) console.log(v) } catch (e) { console.log(e.message) }
for await (const v of [Promise.resolve('a'), 'b']) console.log(v)
for await (const v of source()) if (v === 2) break
const all = async (...sources) => {
	const out = []
	for (const s of sources) {
		try {
			for await (const v of s) out.push(v)
		} catch (e) {
			out.push(e.message)
		}
	}
	return out
}
console.log(await all(source(2), source(), [1], source(3)))
const g = source()
console.log(await Promise.all([g.next(), g.next(), g.return('r'), g.next()]))
