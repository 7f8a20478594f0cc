package main

// The mutants of the host for goja.

var gojaMutants = faults{
	"gojaloop/context.go": {
		{"goja-ended-call-goes-on", "what awaits goes on when its call has ended", "^TestCallsEndAlone$",
			"if o.over() && t.host.inJobs {", "if false {"},
		{"goja-interrupt-leaves-a-frame", "the end of one call, behind an await, breaks the runtime for all", "^TestCallsEndAlone$",
			"if h.tries.Len() > n {", "if h.tries.Len() > n+9 {"},
	},
	"gojaloop/entry.go": {
		{"goja-jobs-wait-for-the-turn", "promise jobs run behind timers and immediates that they come before", "^TestOrder$",
			"\t\tif h.jobsWait() {\n", "\t\tif h.follows && h.jobsWait() {\n"},
		{"goja-functions-keep-timers-waiting", "a flood of functions from Go keeps timers and immediates waiting",
			"^TestManyFunctionsLetOthersRun$", "if h.phase == polling { //", "if false { //"},
	},
	"gojaloop/errors.go": {
		{"goja-exception-without-empty-immediate", "after an exception ticks run in another order than Node's", "^TestRandomPrograms$",
			"\t\th.immediates.addEmpty()\n\t\treturn\n", "\t\treturn\n"},
		{"goja-exit-is-told-twice", "listeners of 'exit' hear again of the end that one of them has thrown at", "^TestExitIsToldOnce$",
			"if !h.exiting {", "{"},
	},
	"gojaloop/fetch.go": {
		{"goja-redirect-tells-secrets", "another server gets the credentials that a request had for the one that redirects",
			"^TestFetch$", "to.Scheme != from.Scheme || to.Host != from.Host", "to.Scheme != from.Scheme"},
	},
	"gojaloop/host.go": {
		{"goja-silent-when-closed", "an exception behind the call that has closed the loop is lost", "^TestNeverSilentAtClose$",
			"\t\t\th.lost = e\n", ""},
	},
	"gojaloop/inbox.go": {
		{"goja-producer-gives-no-way", "a goroutine that submits without end keeps the loop from a single processor",
			"^TestProducersGiveWay$", "if ahead >= yieldAhead && ", "if false && "},
		{"goja-end-tells-no-caller", "a call of Do waits for a host that has ended", "^TestEndTellsWaitingCallers$",
			"for own := c.own >> c.at << c.at; own != 0;", "for own := uint64(0); own != 0;"},
	},
	"gojaloop/internal/compile/compile.go": {
		{"goja-surplus-arguments", "variables of a function begin as surplus arguments", "^TestMended$",
			"!simple || !f.eval && !(f.arguments && f.closures)", "!simple || !f.eval"},
	},
	"gojaloop/internal/compile/regexp.go": {
		{"goja-surrogates-share-a-set", "a regular expression for pairs of surrogates matches nothing", "^TestMended$",
			"p.large || negated || size < tagSize", "negated || size < tagSize"},
	},
	"gojaloop/interrupt.go": {
		{"goja-interrupt-stays", "the deadline of one call ends the next", "^TestLateInterruptHitsNobody$",
			"!(entry == 0 || g.entry.Load() != entry || callback", "!(entry == 0 || callback"},
		{"goja-limit-is-silent", "a callback that takes too long is ended, and nobody hears of it", "^TestCallbackLimit$",
			"\t} else if h.guard.interruptCause() == ErrCallbackLimit && !h.entry.told {\n\t\th.overLimit()\n", ""},
		{"goja-watch-never-rests", "a host at rest looks at the heap for ever", "^TestMemoryWatchRests$",
			"if now.entry == 0 && last.entry == 0 {", "if false {"},
	},
	"gojaloop/lazy.go": {
		{"goja-global-comes-back", "a global that a script has deleted is there again", "^TestDeclaredGlobals$",
			"\tg.gone[key] = true\n\tflag", "\tflag"},
	},
	"gojaloop/memory.go": {
		{"goja-json-counts-what-was-closed", "JSON that is long and not deep is refused", "^TestDeepJSON$",
			"\t\tcase ']', '}':\n\t\t\topen--\n", ""},
	},
	"gojaloop/natives.go": {
		{"goja-listener-is-silent", "what a listener throws vanishes", "^TestListenersThatThrow$",
			"\t\th.ticks.push(tick{fn: throw})\n", "\t\t_ = throw\n"},
	},
	"gojaloop/promise.go": {
		{"goja-run-does-not-wait", "Run returns while Go works for the script", "^TestPromise$",
			"\th.hold(1)\n\th.here(p)", "\th.here(p)"},
	},
	"gojaloop/rejections.go": {
		{"goja-handled-is-told", "a rejection that was handled in time ends the program", "^TestOrder$",
			"if r.remove(p) && h.endErr == nil && !ended {", "if h.endErr == nil && !ended {"},
	},
	"gojaloop/timers.go": {
		{"goja-timer-early", "timers fire early", "^TestTimersAreNeverEarlyAndKeepTogether$",
			"\tdue := start + int64(delay)\n", "\tdue := start + int64(delay) - int64(time.Millisecond)\n"},
		{"goja-cleared-lists-stay", "each delay of a cleared timer takes memory until the timer would have been due",
			"^TestBurstsLeaveNoPlaces$", "ts.empty <= slim.Keep || ", "true || "},
		{"goja-list-lost-by-sweeping", "after many timers were cleared, others fire late", "^TestSweptTimersKeepTheirOrder$",
			"for i := len(ts.order)/2 - 1; i >= 0; i-- {", "for range 0 {\n\t\ti := 0"},
	},
}
