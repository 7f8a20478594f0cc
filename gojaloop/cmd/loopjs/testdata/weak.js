let o = { a: 1 }; const w = new WeakRef(o); console.log(w.deref() === o, Object.prototype.toString.call(w), WeakRef.name, WeakRef.length)
try { new WeakRef(1) } catch (e) { console.log(e.name, e.message) }
const f = new FinalizationRegistry(() => {}); console.log(f.register({}, 1), f.unregister(o), Object.prototype.toString.call(f)); const t = {}; f.register({}, 2, t); console.log(f.unregister(t), f.unregister(t))
try { new FinalizationRegistry(1) } catch (e) { console.log(e.name, e.message) } try { f.register(o, o) } catch (e) { console.log(e.name, e.message) }
class D extends WeakRef { }; console.log(new D(o).deref() === o, w, f)
console.log('ab\ud800'.isWellFormed(), 'ab'.isWellFormed(), 'a\ud800c'.toWellFormed() === 'a\ufffdc', new Date(0).getYear(), new Date(0).toGMTString(), Error.stackTraceLimit)
function deep(n) { if (n === 0) throw new Error('deep'); deep(n - 1) } try { deep(30) } catch (e) { console.log(e.stack.split('\n').length) } Error.stackTraceLimit = 3; try { deep(30) } catch (e) { console.log(e.stack.split('\n').length) } Error.stackTraceLimit = 0; console.log(new Error('x').stack)
