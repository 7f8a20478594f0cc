setTimeout((...a) => console.log('timeout', a.join()), 100, 1, 'b', true)
setImmediate((...a) => console.log('immediate', a.join()), 2, null)
let n = 0
const i = setInterval((...a) => {
	console.log('interval', a.join())
	if (++n === 2) clearInterval(i)
}, 200, 'x', 3)
