package main

// The mutants of the rivals, of the conformance kit and of the tournament.

var rivalMutants = faults{
	"eventloop/looptest/looptest.go": {
		{"kit-patient-for-ever", "who enters a loop that loses callbacks waits for its verdict half an hour",
			"^TestVerdictOnALossyLoopComesSoon$", "\t\t\ts.beats = min(s.beats, hurried)\n", ""},
		{"kit-gate-declared", "a loop that reorders tasks is ranked because it says so", "^TestOutcomes$",
			"v.outcome == outcomeFail && gate[c.name] != \"\"", "v.outcome == \"\""},
	},
	"eventloop/looptest/trial.go": {
		{"kit-counts-time", "a check that goes on, on a machine that is busy, fails a good loop", "^TestWatchdog$",
			"\t\t\tsilent, steps = 0, t.steps.Load()\n", ""},
		{"kit-never-gives-up", "a loop that hangs fails without a word of what was waited for", "^TestWatchdog$",
			"\t\t\tt.giveUp()\n", ""},
	},
	"internal/alternateone/loop.go": {
		{"one-accepts-while-ending", "Submit is accepted during Shutdown", "^TestConformance$/^impl=alternateone$/^D01_NoZombie$",
			", kind == KindTask && l.ending():", ":"},
		{"one-does-not-wake", "a sleeping loop sleeps through what is submitted", "^TestWakes$",
			"return l.state.load() == sleeping, nil", "return false, nil"},
	},
	"internal/alternatethree/loop.go": {
		{"three-runs-after-close", "tasks run after Close has returned", "",
			"if l.closing.Load() { // the last look", "if false { // the last look"},
		{"three-budget-endless", "tasks that submit tasks starve timers",
			"^TestConformance$/^impl=alternatethree$/^D06_PanicIsolation$", "\t\tl.externalLeft--\n", ""},
	},
	"internal/alternatethree/microtask.go": {
		{"three-overtakes-microtasks", "the loop's own microtasks overtake those of other goroutines",
			"^TestConformance$/^impl=alternatethree$/^D02_ForeignMicrotasks$", "if l.in.urgent.Load() {\n\t\tl.collect() // micro",
			"if false {\n\t\tl.collect() // micro"},
	},
	"internal/alternatethree/wait.go": {
		{"three-late-time", "a microtask that ends a sleep sees the time of the tick before it",
			"^TestConformance$/^impl=alternatethree$/^D18_TickTimeFresh$", "if timeout != 0 || len(events) > 0 {", "if len(events) > 0 {"},
	},
	"internal/alternatetwo/loop.go": {
		{"two-limit-not-given-back", "a loop with a queue limit refuses everything after a while",
			"^TestConformance$/^impl=alternatetwo$/^D17_QueueLimit$", "\t\t\tl.waiting.Add(-1)\n", ""},
		{"two-runs-after-close", "tasks run after Close has returned", "^TestConformance$/^impl=alternatetwo$/^D08_EndFromCallback$",
			"\t\tif l.state.closing() {\n\t\t\treturn\n\t\t}\n", ""},
	},
	"internal/alternatetwo/microtask.go": {
		{"two-overtakes-microtasks", "the loop's own microtasks overtake those of other goroutines",
			"^TestConformance$/^impl=alternatetwo$/^D02_ForeignMicrotasks$", "if !l.foreign.empty() {\n\t\tl.adopt()",
			"if false {\n\t\tl.adopt()"},
	},
	"internal/rival/rival.go": {
		{"rivals-wake-is-lost", "a wake-up that fails once is never tried again", "^TestWake$",
			"b.retrying.Store(false); b.Wake(p, func(error) {})", "b.retrying.Store(false)"},
	},
	"internal/tournament/bench/output.go": {
		{"bad-values-pass", "a value that no machine can have given is in the report", "^TestSane$",
			"case value > longest:", "case value > longest && false:"},
	},
	"internal/tournament/histogram.go": {
		{"clock-is-charged", "latencies contain the reading of the clock", "^TestClockIsTakenOff$",
			"ns-float64(clock)", "ns-0*float64(clock)"},
	},
	"internal/tournament/record/record.go": {
		{"tournament-gate-declared-away", "a loop that reorders is ranked because it says so", "^TestGate$",
			"case want.Gate && c.Checks[i].Outcome == bench.Diverges:", "case false:"},
		{"tournament-crash-passes", "what a crash kept the suite from reaching counts as met", "^TestGate$",
			"case i < 0:\n", "case i < 0 && false:\n"},
	},
	"internal/tournament/record/seal.go": {
		{"tournament-foreign-results-reported", "a report takes in a result that was put in afterwards",
			"^TestReadRefusesWhatIsNotWhole$", "case seen[done]:", "case false:"},
	},
	"internal/tournament/report/gallery.go": {
		{"overview-stays-old", "the overview is older than what it links", "^TestOverviewIsRenewed$",
			"return WriteGallery(file, dirs)", "_ = dirs\n\treturn nil"},
	},
	"internal/tournament/report/page.go": {
		{"colour-of-its-own", "the page colours what the run does not tell", "^TestOneSet$",
			"case v.Above() && far:", "case v.Ratio > 2:"},
	},
	"internal/tournament/report/report.go": {
		{"failure-is-not-told", "a program whose values were refused is not in the report", "^TestVerdicts$",
			"if failed > 0 {", "if failed < 0 {"},
	},
	"internal/tournament/runner/cells.go": {
		{"program-ends-the-run", "an entrant that does not start loses the whole run", "^TestStrangers$",
			"if err != nil { // the run goes on without it", "if err != nil {\n\t\t\treturn err"},
	},
	"internal/tournament/runner/program.go": {
		{"program-counts-as-it-likes", "a program's figure is that of another count than the others'", "^TestProgramFaults$",
			"if out.Iters != count {", "if false {"},
		{"program-forges", "a program says that an echo takes it half a nanosecond", "^TestProgramFaults$",
			"says > wall || says < added/4", "says > wall"},
	},
	"internal/tournament/runner/run.go": {
		{"rounds-are-cut", "a slow machine makes a run that can tell nothing", "^TestRounds$",
			"min(max(int(left/max(r.ahead(0), 1)), least), mostRounds)", "min(int(left/max(r.ahead(0), 1)), mostRounds)"},
	},
	"internal/tournament/stats/analysis.go": {
		{"tournament-ranks-of-nothing", "loops have ranks that nothing separates", "^TestRanks$",
			"case i == 0, a.Loops[i-1].To[impl].Told:", "case true:"},
	},
	"internal/tournament/stats/compare.go": {
		{"tournament-machine-blamed", "a busy machine is taken for slower code", "^TestCompareSees$",
			"oldLogs, newLogs := a.over(x), b.over(y)", "_, _ = x, y\n\t\toldLogs, newLogs := logarithms(a), logarithms(b)"},
	},
	"internal/tournament/stats/judge.go": {
		{"tournament-cut-of-one", "of a hundred comparisons of the same, five are claimed", "^TestNothingIsToldOfTheSame$",
			"j.P <= float64(i+1)*each", "j.P <= rate"},
		{"tournament-rounds-remove-all", "a program is told apart from itself by where its code lies", "^TestNothingIsToldOfTheSame$",
			"variance/e.Size + e.Runs*systematic*systematic", "variance/e.Size"},
		{"tournament-interval-of-its-own", "an interval excludes 1 where nothing is told", "^TestToldIsWhatExcludesOne$",
			"cut := float64(max(told, 1)) * each", "cut := rate"},
		{"tournament-few-rounds-silent", "tenfold differences are not told", "^TestPower$",
			"df = p.df + e.DF\n", "df = 1\n"},
	},
}
