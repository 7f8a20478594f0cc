package gojaloop

// The JavaScript of the host: what has to be on goja's call stack, or is simply said best in JavaScript.

import "github.com/dop251/goja"

// internalFile is the name of this source. Stack traces that users see leave it out.
const internalFile = "gojaloop:internal"

var prelude = goja.MustCompile(internalFile, `(function (next) {
	'use strict'
	// The frame keeps the call stack from being empty, so that goja does not run promise jobs before ticks. next runs Go
	// callbacks itself; it returns a function for a tick, an object for a timer or an immediate, and undefined when goja is to run
	// promise jobs. It is told of what nobody has caught.
	return function frame() {
		for (;;) {
			try {
				for (;;) {
					const f = next()
					if (typeof f === 'function') f()
					else if (f === undefined) return
					else f._onTimeout()
				}
			} catch (e) {
				next(e)
			}
		}
	}
})`, true)

var microtaskPrelude = goja.MustCompile(internalFile, `(function (fail, invalid, resolved) {
	'use strict'
	return function queueMicrotask(callback) {
		if (typeof callback !== 'function') throw invalid(callback)
		const job = () => {
			try {
				callback()
			} catch (e) {
				fail(e)
			}
		}
		resolved.then(job)
	}
})`, true)
