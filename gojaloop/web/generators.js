// Async generators, which esbuild writes as functions that return an object: these get the prototypes of the language.
(function () {
'use strict'
const kind = (of, tag) => Object.create(of, { [Symbol.toStringTag]: { value: tag, configurable: true } })
const iterators = Object.defineProperty({}, Symbol.asyncIterator, { value: { [Symbol.asyncIterator]() { return this } }[Symbol.asyncIterator], writable: true, configurable: true })
const generators = kind(iterators, 'AsyncGenerator'), functions = kind(Function.prototype, 'AsyncGeneratorFunction'), own = new WeakMap()
function AsyncGeneratorFunction() { throw new EvalError('Async generators cannot be made of text') }
const define = (o, name, value) => Object.defineProperty(o, name, { value, configurable: true })
AsyncGeneratorFunction.prototype = functions
define(functions, 'constructor', AsyncGeneratorFunction)
define(functions, 'prototype', define(generators, 'constructor', functions))
for (const name of ['next', 'return', 'throw']) define(generators, name, { [name](v) { return own.get(this)[name](v) } }[name])
return {
	// mark makes a function an async generator function.
	mark(f) {
		Object.setPrototypeOf(f, functions)
		if (Object.hasOwn(f, 'prototype')) f.prototype = Object.create(generators)
		else Object.defineProperty(f, 'prototype', { value: Object.create(generators), writable: true })
		return f
	},
	// made returns the generator that has the methods of an object.
	made: methods => { const g = Object.create(generators); own.set(g, methods); return g },
}
})
