// What ends a module is an exception, not an unhandled rejection, and promise jobs that are ready come first.
process.on('exit', code => console.log('exit', code))
process.on('unhandledRejection', () => console.log('never'))
process.on('uncaughtExceptionMonitor', (e, origin) => console.log(e.message, origin))
process.nextTick(() => console.log('never'))
setTimeout(() => console.log('never'), 1)
queueMicrotask(() => console.log('microtask'))
throw new Error('thrown')
