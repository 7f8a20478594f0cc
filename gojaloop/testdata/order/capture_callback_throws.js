process.on('exit', code => console.log('exit', code))
process.setUncaughtExceptionCaptureCallback(e => { throw e })
setTimeout(() => console.log('never'), 1)
throw new Error('main')
