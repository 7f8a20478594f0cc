for (const f of [setTimeout, setInterval, setImmediate, queueMicrotask, process.nextTick])
	for (const v of [undefined, null, 1, 'text', {}, [], true, Symbol('s'), 5n]) {
		try {
			f(v)
			console.log(f.name, 'took it')
		} catch (e) {
			console.log(f.name, e.name, e.code, e.message)
		}
	}
