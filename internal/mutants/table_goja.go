package main

// The mutants of the host for goja.
var gojaMutants = []mutant{
	{"goja-jobs-wait-for-the-turn", "gojaloop/entry.go",
		"\t\tif h.jobsWait() {\n\t\t\tbreak\n\t\t}\n", "",
		"promise jobs run behind timers and immediates that they come before", "^TestOrder$"},
	{"goja-timer-early", "gojaloop/timers.go",
		"\tdue := start + int64(delay)\n", "\tdue := start + int64(delay) - int64(time.Millisecond)\n",
		"timers fire early", "^TestTimersAreNeverEarlyAndKeepTogether$"},
	{"goja-interrupt-stays", "gojaloop/interrupt.go",
		"if entry == 0 || g.entry.Load() != entry {", "if entry == 0 {",
		"the deadline of one call ends the next", "^TestLateInterruptHitsNobody$"},
	{"goja-handled-is-told", "gojaloop/rejections.go",
		"if r.remove(p) && h.over == nil {", "if h.over == nil {",
		"a rejection that was handled in time ends the program", "^TestOrder$"},
	{"goja-run-does-not-wait", "gojaloop/promise.go",
		"\th.hold(1)\n\th.here(p)", "\th.here(p)",
		"Run returns while Go works for the script", "^TestPromise$"},
	{"goja-exception-without-empty-immediate", "gojaloop/errors.go",
		"\t\th.immediates.addEmpty()\n\t\treturn\n", "\t\treturn\n",
		"after an exception ticks run in another order than Node's", "^TestRandomPrograms$"},
	{"goja-global-comes-back", "gojaloop/lazy.go",
		"\tg.gone[key] = true\n\tflag", "\tflag",
		"a global that a script has deleted is there again", "^TestDeclaredGlobals$"},
	{"goja-listener-is-silent", "gojaloop/natives.go",
		"\t\th.ticks.push(tick{fn: throw})\n", "\t\t_ = throw\n",
		"what a listener throws vanishes", "^TestListenersThatThrow$"},
}
