// An immediate that throws and is the last of its phase: new immediates run at once, before what it leaves and before timers.
process.on('uncaughtException', e => console.log('uncaught', e))
setImmediate(() => {
	Promise.resolve().then(() => console.log('promise'))
	setImmediate(() => console.log('immediate'))
	setTimeout(() => console.log('timer'), 1)
	for (const from = Date.now(); Date.now() < from + 5;);
	throw 1
})
