package main

// The mutants of the wheel, and of how a loop uses it.

var wheelMutants = []mutant{
	{"wheel-fires-early", "internal/wheel/wheel.go",
		"n.deadline <= now && n.seq() < before", "n.deadline <= now+1 && n.seq() < before",
		"timers fire early", "^TestModel$"},
	{"wheel-deals-at-once", "internal/wheel/order.go",
		"for ; next != none && most > 0; most-- {", "for ; next != none; most-- {",
		"a million timers of about one length keep the lock for a tenth of a second", "^TestSteps$"},
	{"wheel-dealing-loses", "internal/wheel/order.go",
		"\t\tnext = n.next // before place overwrites it\n\t\to.place(s, n)\n", "\t\to.place(s, n)\n\t\tnext = n.next\n",
		"all but one timer of a slot are lost", "^TestModel$"},
	{"wheel-pops-while-dealing", "internal/wheel/wheel.go",
		" && o.leads(n) {", " {",
		"timers fire before others that are due earlier", "^TestModel$"},
	{"wheel-forgets-what-it-deals", "internal/wheel/order.go",
		"\tif o.dealing == whereOf(level, i) {\n\t\to.dealing = 0\n\t}\n", "",
		"the last timer of a slot that is dealt out is cancelled, and no timer fires any more", "^TestModel$"},
	{"wheel-directory-stays", "internal/wheel/slab.go",
		"s.live == 0 && s.entries > pieceEntries", "false",
		"a burst of timers leaves a hundred kilobytes behind", "^TestMemoryFallsBack$"},
	{"wheel-generations-begin-anew", "internal/wheel/slab.go",
		"first = max(first, highest)", "_ = highest",
		"an old id cancels somebody else's timer", "^TestDirectoryBeginsAnew$"},
	{"wheel-forgets-a-tier", "internal/wheel/wheel.go",
		"next := int64(math.MaxInt64)\n\tfor i := range w.orders {\n",
		"next := int64(math.MaxInt64)\n\tfor i := range w.orders[:2] {\n",
		"a loop sleeps through its background timers", "^TestModel$"},
	{"wheel-removes-from-another-tier", "internal/wheel/wheel.go",
		"w.orders[n.tier()].remove", "w.orders[0].remove",
		"cancelling a critical timer loses another", "^TestModel$"},
	{"wheel-run-searched", "internal/wheel/near.go",
		"if steps == runSteps {", "if steps == 1<<30 {",
		"timers that come out of order take as long as there are others", "^TestNoRetention$"},

	// eventloop/timer.go
	{"timers-wake-at-the-deadline", "eventloop/timer.go",
		"soonest := t.wheel.NextOf(wheel.Tier(tier))", "soonest := deadline",
		"a loop that sleeps begins to deal a million timers out when the first is due", "^TestManyTimersWakeALoopBefore$"},
}
