// EventEmitter beyond on and emit, and the process as one.
const EventEmitter = require('events')
const e = new EventEmitter()
e.on('removeListener', name => console.log('removed', name))
e.on(EventEmitter.errorMonitor, x => console.log('monitor', x.message))
try { e.emit('error', new Error('nobody listens')) } catch (x) { console.log(x.message) }
EventEmitter.once(e, 'a').catch(x => console.log('rejected', x.message))
e.emit('error', new Error('instead'))
const f = () => {}
e.on('b', f).once('b', f)
console.log(e.listenerCount('b', f), EventEmitter.getEventListeners(e, 'b').length)
EventEmitter.setMaxListeners(5, e)
console.log(e.getMaxListeners())

class Capturing extends EventEmitter {
	constructor() { super({ captureRejections: true }) }
}
const c = new Capturing()
c.on('error', async x => { console.log('captured', x.message); throw new Error('of the error listener') })
c.on('work', async n => { throw new Error('work ' + n) })
c.emit('work', 1)
class Own extends Capturing {
	[Symbol.for('nodejs.rejection')](x, name, ...args) { console.log('own', x.message, name, args) }
}
const o = new Own()
o.on('work', async () => { throw new Error('late') })
o.emit('work', 2, 3)
e.on('work', async () => { throw new Error('not captured') })
e.emit('work')
process.on('unhandledRejection', x => console.log('unhandled', x.message))

console.log(process instanceof EventEmitter, process.getMaxListeners(), process.setMaxListeners(0) === process)
process.on('warning', w => console.log(w.name, w.code, w.message, w.detail))
process.emitWarning('careful', { type: 'Custom', code: 'C1', detail: 'more' })
