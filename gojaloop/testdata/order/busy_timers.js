const wait = ms => { const t = Date.now(); while (Date.now() - t < ms); }
setTimeout(() => { console.log('a'); setImmediate(() => console.log('immediate of a')); wait(20) }, 1)
setTimeout(() => { console.log('b'); Promise.resolve().then(() => console.log('promise of b')) }, 1)
setTimeout(() => console.log('c'), 2)
wait(5)
// Timers of one delay that are due run one behind the other, although one of another delay was due between them.
setTimeout(() => {
	const t = setTimeout(() => console.log('2 ms, first'), 2)
	wait(6)
	setTimeout(() => console.log('1 ms'), 1)
	wait(4)
	setTimeout(() => { console.log('2 ms, second'); t.refresh() }, 2)
	wait(6)
}, 60)
