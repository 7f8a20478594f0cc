const t = setTimeout(function () {
	console.log('timeout', this === t, this.constructor.name)
}, 60)
const i = setImmediate(function () {
	'use strict'
	console.log('immediate', this === i, this.constructor.name)
})
process.nextTick(function () {
	'use strict'
	console.log('tick', this === undefined || this === globalThis || typeof this)
})
queueMicrotask(function () {
	'use strict'
	console.log('microtask', this)
})
const v = setInterval(function () {
	console.log('interval', this === v)
	clearInterval(this)
}, 100)
