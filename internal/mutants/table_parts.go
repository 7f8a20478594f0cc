package main

// The mutants of the parts of the loop, of what is built on it, and of the rivals.
var partMutants = []mutant{
	// internal/wheel
	{"wheel-fires-early", "internal/wheel/wheel.go",
		"if n.deadline > now || n.seq >= before {", "if n.deadline > now+1 || n.seq >= before {",
		"timers fire early", "^TestModel$"},
	{"wheel-cascade-loses", "internal/wheel/wheel.go",
		"\t\ti = n.next // before place overwrites it\n\t\tw.place(n)\n", "\t\tw.place(n)\n\t\ti = n.next\n",
		"all but one timer of a slot are lost", "^TestModel$"},

	// internal/poller
	{"epoll-timeout-rounded-down", "internal/poller/poller_epoll.go",
		"int((d + time.Millisecond - 1) / time.Millisecond)", "int(d / time.Millisecond)",
		"the last millisecond before a timer is spent spinning", "^TestMilliseconds$"},
	{"epoll-wake-not-drained", "internal/poller/poller_epoll.go",
		"\t\t\tp.drain()\n", "",
		"after one wake-up the loop never sleeps again", "^TestWake$"},
	{"epoll-wakes-closed", "internal/poller/poller_epoll.go",
		"\tif p.closed {\n\t\treturn loopapi.ErrPollerClosed\n\t}\n\tif p.parked", "\tif p.parked",
		"a late wake-up is written to a number that is somebody else's", "^TestClosed$"},

	// eventloop/promise
	{"promise-second-settlement-wins", "eventloop/promise/promise.go",
		"if s&open == 0 {", "if false {",
		"a promise is settled twice", ""},
	{"promise-reaction-is-no-handler", "eventloop/promise/promise.go",
		"\t\tisHandled = true\n", "",
		"a rejection that has a handler is reported", ""},
	{"promise-runs-at-once", "eventloop/promise/then.go",
		"p.realm.enqueue(n)\n\t\treturn", "n.run()\n\t\treturn",
		"a handler runs before Then has returned", ""},
	{"promise-waited-for-not-rejected", "eventloop/promise/registry.go",
		"for _, p := range r.waiters.promises() {", "for _, p := range r.waiters.promises()[:0] {",
		"a worker that waits for a promise keeps Shutdown waiting", "^TestRejectAll$"},

	// eventloop/js
	{"js-nested-not-clamped", "eventloop/js/delay.go",
		"if level > freeLevels {", "if false {",
		"timers that nest for ever take a processor", ""},
	{"js-interval-catches-up", "eventloop/js/delay.go",
		"if missed <= 0 {", "if true {",
		"an interval that was held up runs in a burst", ""},
	{"js-clear-inside-ignored", "eventloop/js/timer.go",
		"if j.timers[t.id] != t || t.pending != 0 {", "if t.pending != 0 {",
		"an interval that clears itself goes on", "^TestOrder$"},

	// The rivals
	{"one-accepts-while-ending", "internal/alternateone/loop.go",
		", kind == KindTask && l.ending():", ":",
		"Submit is accepted during Shutdown", "^TestConformance$/^impl=alternateone$/^D01_NoZombie$"},
	{"one-does-not-wake", "internal/alternateone/loop.go",
		"return l.state.load() == sleeping, nil", "return false, nil",
		"a sleeping loop sleeps through what is submitted", "^TestWakes$"},
	{"two-limit-not-given-back", "internal/alternatetwo/loop.go",
		"\t\t\tl.waiting.Add(-1)\n", "",
		"a loop with a queue limit refuses everything after a while",
		"^TestConformance$/^impl=alternatetwo$/^D17_QueueLimit$"},
	{"two-runs-after-close", "internal/alternatetwo/loop.go",
		"\t\tif l.state.closing() {\n\t\t\treturn\n\t\t}\n", "",
		"tasks run after Close has returned", "^TestConformance$/^impl=alternatetwo$/^D08_EndFromCallback$"},
	{"three-runs-after-close", "internal/alternatethree/loop.go",
		"if l.closing.Load() { // the last look", "if false { // the last look",
		"tasks run after Close has returned", ""},
	{"three-budget-endless", "internal/alternatethree/loop.go",
		"\t\tl.externalLeft--\n", "",
		"tasks that submit tasks starve timers", "^TestConformance$/^impl=alternatethree$/^D06_PanicIsolation$"},
}
