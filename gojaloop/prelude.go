package gojaloop

// The host's own JavaScript: functions that must be on goja's call stack, or that are simplest in JavaScript.

import "github.com/dop251/goja"

// internalFile is the name of this source. Stack traces that users see leave it out.
const internalFile = "gojaloop:internal"

var prelude = goja.MustCompile(internalFile, `(function (next) {
	'use strict'
	// While the frame runs, the call stack is not empty, so goja does not run promise jobs before nextTick functions. next runs
	// Go callbacks itself. It returns a nextTick function, an object for a timer or an immediate, and undefined when goja is to run
	// promise jobs. An exception that no script has caught is its argument.
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

var microtaskPrelude = goja.MustCompile(internalFile, `(function (report, invalid, resolved) {
	'use strict'
	return function queueMicrotask(callback) {
		if (typeof callback !== 'function') throw invalid(callback)
		const job = () => {
			try {
				callback()
			} catch (e) {
				report(e)
			}
		}
		resolved.then(job)
	}
})`, true)
