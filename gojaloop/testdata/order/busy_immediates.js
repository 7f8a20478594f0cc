const wait = ms => { const t = Date.now(); while (Date.now() - t < ms); }
for (let i = 0; i < 4; i++) setImmediate(() => { console.log('immediate', i); wait(6) })
setImmediate(() => setTimeout(() => console.log('timer of an immediate'), 60))
setImmediate(() => setImmediate(() => console.log('next turn')))
