let n = 0
const t = setTimeout(() => {
	console.log('t', ++n)
	if (n < 3) t.refresh()
}, 2)
const u = setTimeout(() => console.log('u: refreshed, so behind v'), 300)
setTimeout(() => u.refresh(), 150)
setTimeout(() => console.log('v'), 360)
const c = setTimeout(() => console.log('never'), 2)
c.close()
c.refresh()
