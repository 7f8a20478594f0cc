process.on('unhandledRejection', r => console.log('unhandled', r.message))
async function f() { throw new Error('async') }
f()
const g = f()
setTimeout(async () => {
	try { await g } catch (e) { console.log('late', e.message) }
}, 60)
setImmediate(() => { f() })
