// A capture callback takes exceptions and rejections instead of the listeners, which hear of them again without it.
const say = (...a) => console.log(...a)
const refused = f => { try { f() } catch (e) { say(e.name, e.code, e.message) } }
process.on('uncaughtExceptionMonitor', (e, origin) => say('monitor', e.message, origin))
process.on('uncaughtException', e => say('listener', e.message))
say(process.hasUncaughtExceptionCaptureCallback())
process.setUncaughtExceptionCaptureCallback(e => {
	say('captured', e.message)
	process.nextTick(() => say('tick of', e.message))
})
say(process.hasUncaughtExceptionCaptureCallback(), process.listenerCount('uncaughtException'))
refused(() => process.setUncaughtExceptionCaptureCallback(() => {}))
refused(() => process.setUncaughtExceptionCaptureCallback(7))
setTimeout(() => { throw new Error('timer') }, 1)
setTimeout(() => Promise.reject(new Error('rejection')), 20)
setTimeout(() => {
	process.setUncaughtExceptionCaptureCallback(null)
	throw new Error('after')
}, 40)
process.nextTick(() => { throw new Error('tick') })
throw new Error('main')
