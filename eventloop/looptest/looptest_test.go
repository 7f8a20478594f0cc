// The kit held to its own promise: a correct loop passes, and each of many seeded bugs is caught by the check that is
// there for it.
package looptest_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/turnloop/turnloop/eventloop/looptest"
)

func factory(bug string) looptest.Factory {
	return func(cfg looptest.Config) (looptest.EventLoop, error) { return newReference(cfg, bug), nil }
}

func TestReference(t *testing.T) {
	looptest.Run(t, factory(""), looptest.Name("reference"), looptest.VirtualTime())
}

// TestReferenceInRealTime is for the bounds that contestants without virtual time are held to.
func TestReferenceInRealTime(t *testing.T) {
	looptest.Run(t, factory(""), looptest.Name("reference"))
}

// bugs are the seeded bugs of the reference, and the checks that must catch each of them.
var bugs = []struct {
	bug    string
	checks []string
}{
	{"waking overwrites terminating", []string{"D01_NoZombie"}},
	{"microtasks at the end of the tick", []string{"D02_DrainAfterCallback", "D02_DrainAfterTimer", "Random_Operations"}},
	{"newest microtask first", []string{"D02_MicrotaskOfMicrotask", "D10_FIFO"}},
	{"no microtask budget", []string{"D02_Budget", "D02_EndlessChain"}},
	{"sleeps with microtasks pending", []string{"D02_Budget"}},
	{"microtasks do not wake", []string{"D02_ForeignMicrotasks", "D03_LostWakeupMicrotask"}},
	{"microtasks of other goroutines go last", []string{"D02_ForeignMicrotasks"}},
	{"a tick begins with another callback", []string{"D02_ForeignFirst", "Random_Operations", "IO_ForeignFirst"}},
	{"no second look before sleep", []string{"D03_LostWakeup", "D03_LostWakeupInternal", "D03_LostWakeupConcurrent"}},
	{"internal work does not wake", []string{"D03_LostWakeupInternal"}},
	{"earlier timers do not wake", []string{"D03_LostWakeupTimer", "Timers_Foreign"}},
	{"terminating is 3", []string{"D04_StateNumbers"}},
	{"two Runs", []string{"D04_RunOnce"}},
	{"Run forgets an earlier end", []string{"D04_RunAfterEnd", "D16_EndRacesRun"}},
	{"reports panics twice", []string{"D06_PanicReport", "D06_PanicIsolation", "D06_PanicInBatch", "Random_Operations"}},
	{"panic(nil) unnoticed", []string{"D06_PanicNilLegacy"}},
	{"panics escape", []string{"D06_PanicIsolation"}},
	{"doubles a task after a panic", []string{"D06_PanicInBatch"}},
	{"a panic drops the microtasks", []string{"D06_MicrotasksAroundPanic"}},
	{"Goexit ends the loop", []string{"D06_Goexit"}},
	{"Goexit while terminating is the end", []string{"D06_AbortWhileEnding"}},
	{"one wake, one function", []string{"D07_WakeStorm"}},
	{"re-entrant Run unnoticed", []string{"D08_ReentrantRun"}},
	{"holds its lock around callbacks", []string{"D08_CallsFromCallbacks"}},
	{"Shutdown waits on the loop", []string{"D08_EndFromCallback"}},
	{"OnLoop says yes", []string{"D08_OnLoop"}},
	{"external before internal", []string{"D09_InternalFirst"}},
	{"internal refused while terminating", []string{"D09_InternalWhileTerminating", "D16_ShutdownChain"}},
	{"the limit is for internal work, too", []string{"D09_InternalUnlimited"}},
	{"runaway unnoticed", []string{"D09_Runaway"}},
	{"a seam after 128 functions", []string{"D10_FIFO", "D10_ProducerOrder"}},
	{"waits for room", []string{"D10_SubmitDoesNotWait"}},
	{"retains popped closures", []string{"D10_Retention", "D10_RetentionInBatch"}},
	{"forgets a batch only at its end", []string{"D10_RetentionInBatch"}},
	{"allocates for every function", []string{"D14_AllocSubmit", "D14_AllocInternal", "D14_AllocMicrotask"}},
	{"allocates for every timer", []string{"D14_AllocTimer"}},
	{"the clock allocates", []string{"D14_AllocClock"}},
	{"drops internal work on shutdown", []string{"D16_ShutdownChain", "D16_ShutdownDrains", "D09_InternalWhileTerminating"}},
	{"ends when the budget is spent", []string{"D16_ShutdownDrains"}},
	{"accepts while terminating", []string{"D16_ShutdownRefuses", "TerminalStates"}},
	{"timers fire while terminating", []string{"D16_ShutdownDropsTimers"}},
	{"later Shutdowns return early", []string{"D16_ShutdownTogether"}},
	{"a shutdown is called off when its context ends", []string{"D16_ShutdownContext"}},
	{"forgets work on Shutdown before Run", []string{"D16_ShutdownBeforeRun"}},
	{"the context does not wake", []string{"D16_RunContext"}},
	{"Run looks at its context last", []string{"D16_RunResult"}},
	{"never closes Done", []string{"D16_Done"}},
	{"runs the queue after Close", []string{"D16_CloseDrops", "D16_CloseDuringShutdown", "Conservation_Close"}},
	{"Close waits for the callback", []string{"D16_CloseDoesNotWait"}},
	{"every Close succeeds", []string{"D16_CloseOften", "TerminalStates"}},
	{"Close before Run is graceful", []string{"D16_CloseBeforeRun"}},
	{"Close is refused while terminating", []string{"D16_CloseDuringShutdown"}},
	{"Close does not wake", []string{"D16_CloseWhileSleeping"}},
	{"overload at every tick", []string{"D17_OverloadEpisode"}},
	{"overload although nothing remains", []string{"D17_OverloadEpisode"}},
	{"a new budget whatever was left", []string{"D17_OverloadOfSlowTasks"}},
	{"queue limit off by one", []string{"D17_QueueLimit"}},
	{"the clock goes back", []string{"D18_TickTime"}},
	{"the clock stands still", []string{"D18_TickTimeFresh"}},
	{"accepts before it locks", []string{"Conservation_Shutdown"}},
	{"touches what was released", []string{"Conservation_SubmitDuringClose"}},
	{"Run begins with empty queues", []string{"Conservation_BeforeRun"}},
	{"exits when idle", []string{"Life_IdleLoopStays"}},
	{"no tick budget", []string{"Starvation_SelfRequeue"}},
	{"LIFO timers", []string{"Timers_Order"}},
	{"fires early", []string{"Timers_NeverEarly"}},
	{"timers count from the cached time", []string{"Timers_NeverEarly"}},
	{"fires late", []string{"Timers_Punctual"}},
	{"runs a timer without delay at once", []string{"Timers_ZeroDelay", "D08_CallsFromCallbacks"}},
	{"huge delays wrap", []string{"Timers_HugeDelay"}},
	{"the clock wraps after two weeks", []string{"Timers_400Days", "Timers_HugeDelay"}},
	{"re-armed timers in the same tick", []string{"Timers_Rearm"}},
	{"delays count from Run", []string{"Timers_BeforeRun"}},
	{"unknown timers cancelled", []string{"Timers_Cancel", "Timers_CancelRace", "TerminalStates"}},
	{"cancel is not effective", []string{"Timers_Cancel"}},
	{"due timers cannot be cancelled", []string{"Timers_CancelInBatch"}},
	{"IDs are used again", []string{"Timers_IDs"}},
	{"some timers fire twice", []string{"Timers_Foreign"}},
	{"cancelled timers keep their closure", []string{"Retention_Timers"}},
	{"keeps what Close dropped", []string{"Retention_Dropped"}},
	{"a registry keeps the loop", []string{"Retention_Loop"}},
	{"nil accepted", []string{"BadInput"}},
	{"never exits by itself", []string{"AutoExit_Empty"}},
	{"exits with timers pending", []string{"AutoExit_Timers"}},
	{"unref does not wake", []string{"AutoExit_Unref", "AutoExit_Timers"}},
	{"release counts twice", []string{"AutoExit_Hold"}},
	{"exits on old news", []string{"AutoExit_Race"}},
	{"a goroutine waits for the context for ever", []string{"Leaks_Lifecycles"}},

	{"external before internal", []string{"Random_Operations"}},
	{"newest microtask first", []string{"Random_Operations", "Random_Together"}},
	{"microtasks of other goroutines go last", []string{"Random_Operations"}},
	{"a seam after 128 functions", []string{"Random_Operations", "Random_Together"}},
	{"no microtask budget", []string{"Random_Operations"}},
	{"no tick budget", []string{"Random_Operations"}},
	{"LIFO timers", []string{"Random_Operations"}},
	{"re-armed timers in the same tick", []string{"Random_Operations"}},
	{"cancel is not effective", []string{"Random_Operations", "Random_Together"}},
	{"timers fire while terminating", []string{"Random_Operations"}},
	{"accepts while terminating", []string{"Random_Operations"}},
	{"runs the queue after Close", []string{"Random_Operations"}},
	{"doubles a task after a panic", []string{"Random_Together"}},
	{"a panic drops the microtasks", []string{"Random_Operations", "Random_Together"}},
	{"drops internal work on shutdown", []string{"Random_Together", "Random_Operations"}},
	{"registers twice", []string{"Random_Registrations"}},
	{"unknown descriptors modified", []string{"Random_Registrations"}},
	{"ModifyFD is forgotten", []string{"Random_Registrations"}},
	{"reports readiness once", []string{"Random_Registrations"}},
	{"a batch goes on after UnregisterFD", []string{"Random_Registrations"}},

	{"tiers make no difference", []string{"Tiers_Order"}},
	{"background timers do not wait", []string{"Tiers_Order", "Tiers_Background"}},
	{"LIFO timers of other tiers", []string{"Tiers_Order"}},
	{"background timers wait for ever", []string{"Tiers_Background", "Tiers_Storm"}},
	{"critical timers have no bound", []string{"Tiers_Storm"}},
	{"background timers run when the others have had their share", []string{"Tiers_Storm"}},
	{"only normal timers have IDs", []string{"Tiers_Handles"}},
	{"unknown tiers accepted", []string{"Tiers_Handles"}},

	{"no tick budget", []string{"Siege_Tasks", "Siege_Bursts"}},
	{"runaway unnoticed", []string{"Siege_Internal", "Siege_Bursts"}},
	{"no microtask budget", []string{"Siege_Microtasks", "Siege_Bursts"}},
	{"re-armed timers in the same tick", []string{"Siege_Timers"}},
	{"due timers have no bound", []string{"Siege_Bursts", "Tiers_Storm"}},
	{"slow tasks have no bound", []string{"Siege_SlowTasks"}},
	{"accepts from elsewhere until it is empty", []string{"Siege_Shutdown"}},
	{"drops internal work on shutdown", []string{"Siege_Shutdown"}},
	{"runs the queue after Close", []string{"Siege_Close"}},
	{"accepts from its callbacks until it is empty", []string{"Siege_SelfFeeding"}},
	{"calls timers on goroutines of their own", []string{"Life_OneGoroutine"}},

	{"looks for work now and then", []string{"Live_Alone"}},
	{"fires late", []string{"Live_Alone"}},
	{"no tick budget", []string{"Live_Floods"}},
	{"lets others run before each callback", []string{"Live_Neighbours"}},
	{"accepts from elsewhere until it is empty", []string{"Live_Ends"}},
	{"background timers wait for ever", []string{"Live_Background"}},
	{"a signal restarts the wait", []string{"Live_Signals"}},
	{"never waits with descriptors", []string{"Live_Idle"}},

	{"calls descriptors on goroutines of their own", []string{"IO_Events"}},
	{"reading is all it knows", []string{"IO_Events", "IO_Modify", "IO_Hangup"}},
	{"reports readiness once", []string{"IO_LevelTriggered", "IO_Events"}},
	{"a panic unregisters", []string{"IO_LevelTriggered"}},
	{"ModifyFD is forgotten", []string{"IO_Modify", "IO_BeforeRun"}},
	{"ModifyFD does not wake", []string{"IO_Modify", "IO_RegisterAsleep"}},
	{"registers twice", []string{"IO_Registered"}},
	{"unknown descriptors modified", []string{"IO_Registered", "TerminalStates"}},
	{"a descriptor without a callback accepted", []string{"BadInput"}},
	{"registers on an ended loop", []string{"TerminalStates", "IO_RegisterRacesEnd"}},
	{"bad descriptors accepted", []string{"IO_Refused"}},
	{"failed registrations are remembered", []string{"IO_Refused", "AutoExit_FD"}},
	{"hang-ups for readers only", []string{"IO_Hangup"}},
	{"microtasks wait for the whole batch", []string{"IO_Microtasks"}},
	{"microtasks at the end of the tick", []string{"IO_Microtasks"}},
	{"the clock stands still", []string{"IO_TickTime"}},
	{"a batch goes on after UnregisterFD", []string{"IO_UnregisterInBatch", "IO_ReuseInBatch"}},
	{"events name numbers", []string{"IO_ReuseInBatch"}},
	{"unregisters after the callback", []string{"IO_UnregisterSelf"}},
	{"unregisters when it is awake", []string{"IO_UnregisterForeign"}},
	{"only open descriptors are unregistered", []string{"IO_CloseFirst", "IO_Dup"}},
	{"ghosts of closed descriptors", []string{"IO_Dup", "IO_CloseFirst"}},
	{"keeps unregistered callbacks", []string{"Retention_IO"}},
	{"registrations do not wake", []string{"IO_RegisterAsleep"}},
	{"a registration waits for the end of the sleep", []string{"IO_RegisterAsleep"}},
	{"Run forgets registrations", []string{"IO_BeforeRun"}},
	{"no registration in the callbacks of descriptors", []string{"IO_FromCallbacks"}},
	{"registration waits for the callback", []string{"IO_UnderLock"}},
	{"the poller is not woken", []string{"IO_LostWakeup", "IO_End"}},
	{"no second look before sleep", []string{"IO_LostWakeup"}},
	{"serves descriptors while any is ready", []string{"IO_AlwaysReady"}},
	{"asks again after a panic", []string{"IO_Panics"}},
	{"a panic begins a new tick", []string{"IO_Panics"}},
	{"never waits with descriptors", []string{"IO_Idle"}},
	{"a signal restarts the wait", []string{"IO_Signals"}},
	{"keeps its descriptors open", []string{"IO_End", "Leaks_Lifecycles"}},
	{"closes the user's descriptors", []string{"IO_End"}},
	{"closes its descriptors twice", []string{"IO_CloseOften"}},
	{"wakes through a released descriptor", []string{"IO_NewOwner"}},
	{"a child gets its descriptors", []string{"IO_CloseOnExec"}},
	{"allocates for every event", []string{"D14_AllocFD"}},
	{"exits with descriptors registered", []string{"AutoExit_FD"}},
	{"UnregisterFD does not wake", []string{"AutoExit_FD"}},

	// The callback of a descriptor is one more kind of callback, and one more lane.
	{"forgets the owner in the callbacks of descriptors", []string{"D08_OnLoop", "D08_ReentrantRun", "D08_EndFromCallback"}},
	{"descriptors wait for tasks", []string{"Starvation_SelfRequeue"}},
	{"descriptors wait for timers", []string{"Timers_Rearm"}},
	{"descriptors wait for microtasks", []string{"D02_EndlessChain"}},
	{"Run forgets registrations", []string{"Conservation_BeforeRun"}},
}

// TestSeededBugs runs each bug's checks against the reference with that bug. Where a bug shows by chance, or needs processors that
// others have, it is tried again.
func TestSeededBugs(t *testing.T) {
	const attempts = 20
	for _, b := range bugs {
		for i, check := range b.checks {
			if i > 0 && testing.Short() {
				break
			}
			t.Run(check+"/"+strings.ReplaceAll(b.bug, " ", "_"), func(t *testing.T) {
				if live[check] {
					quiet(t)
				}
				for attempt := range attempts {
					outcome, reason := looptest.RunCheck(t, check, factory(b.bug), looptest.VirtualTime(), looptest.Impatient(40))
					switch outcome {
					case "n/a":
						t.Skip(reason)
					case "fail":
						t.Logf("caught, when tried %d times: %s", attempt+1, reason)
						return
					}
				}
				t.Errorf("%s does not catch the bug %q", check, b.bug)
			})
		}
	}
}

// live has the names of the checks that RunLiveness asks.
var live = map[string]bool{}

func init() {
	for _, c := range looptest.Checks() {
		live[c.Name] = c.Liveness
	}
}

// quiet skips a test that compares times, as HoldLiveness does.
func quiet(t *testing.T) {
	if os.Getenv("TURNLOOP_LIVENESS") == "" {
		t.Skip(`it compares times: "make liveness" runs it`)
	}
}

// TestLiveness: the reference is as prompt as a loop has to be, also one that is known by its five methods only.
func TestLiveness(t *testing.T) {
	looptest.HoldLiveness(t, looptest.Entry{Name: "reference", New: factory("")})
	looptest.HoldLiveness(t, looptest.Entry{Name: "plain", New: plainFactory})
}

// TestEveryCheckCanFail wants a seeded bug for each check.
func TestEveryCheckCanFail(t *testing.T) {
	covered := map[string]bool{}
	for _, b := range bugs {
		for _, check := range b.checks {
			covered[check] = true
		}
	}
	for _, c := range looptest.Checks() {
		if !covered[c.Name] {
			t.Errorf("no seeded bug shows that %s can fail", c.Name)
		}
		delete(covered, c.Name)
	}
	for name := range covered {
		t.Errorf("a seeded bug names the check %s, which does not exist", name)
	}
}

// TestGate: all that the gate is about has checks, which exist.
func TestGate(t *testing.T) {
	of := map[string]int{}
	for _, c := range looptest.Checks() {
		if of[c.Gate]++; c.Gate != "" && c.Liveness {
			t.Errorf("%s is of the gate, and not asked by Run", c.Name)
		}
	}
	if of["order"] != 2 || of["conservation"] != 8 || of["one goroutine"] != 1 || of["end"] != 6 || len(of) != 5 {
		t.Errorf("checks of the gate: %v", of)
	}
}

// plain hides all capabilities.
type plain struct{ looptest.EventLoop }

// TestOutcomes looks at the four outcomes of a check.
func TestOutcomes(t *testing.T) {
	correct, faulty := factory(""), factory("external before internal")
	hidden := func(cfg looptest.Config) (looptest.EventLoop, error) { return plain{newReference(cfg, "")}, nil }
	unlimited := func(cfg looptest.Config) (looptest.EventLoop, error) {
		if cfg.QueueLimit != 0 {
			return nil, fmt.Errorf("no queue limit: %w", errors.ErrUnsupported)
		}
		return newReference(cfg, ""), nil
	}
	const check = "D09_InternalFirst"
	for _, c := range []struct {
		name, check     string
		factory         looptest.Factory
		opts            []looptest.Option
		outcome, reason string
	}{
		{"a pass", check, correct, nil, "pass", ""},
		{"a failure", check, faulty, nil, "fail", `program ";s2(i(i))i2": function`},
		{"a divergence", check, faulty, []looptest.Option{looptest.Diverges(check, "one queue")}, "diverges", "one queue"},
		{"a divergence that is none", check, correct, []looptest.Option{looptest.Diverges(check, "one queue")}, "fail", "take it off the list"},
		{"a divergence at times", check, correct, []looptest.Option{looptest.MayDiverge(check, "one queue")}, "pass", ""},
		{"a divergence of the gate", "D10_FIFO", factory("a seam after 128 functions"), []looptest.Option{looptest.Diverges("D10_FIFO", "a ring")},
			"fail", "order is of the gate"},
		{"a divergence of the gate at times", "D10_FIFO", factory("a seam after 128 functions"), []looptest.Option{looptest.MayDiverge("D10_FIFO", "a ring")},
			"fail", "order is of the gate"},
		{"a divergence at times that shows", check, faulty, []looptest.Option{looptest.MayDiverge(check, "one queue")}, "diverges", "one queue"},
		{"no capability", "D02_EndlessChain", hidden, nil, "n/a", "no MicrotaskScheduler"},
		{"no descriptors", "IO_Events", hidden, nil, "n/a", "no FDRegistrar"},
		{"two capabilities missing", "AutoExit_Unref", hidden, nil, "n/a", "no TimerScheduler, TimerReferencer"},
		{"no configuration", "D17_QueueLimit", unlimited, nil, "n/a", "no queue limit"},
		{"not applicable and declared", "D17_QueueLimit", unlimited, []looptest.Option{looptest.Diverges("D17_QueueLimit", "none")}, "n/a", "no queue limit"},
	} {
		outcome, reason := looptest.RunCheck(t, c.check, c.factory, c.opts...)
		if outcome != c.outcome || !strings.Contains(reason, c.reason) {
			t.Errorf("%s: %s, %q; want %s, %q", c.name, outcome, reason, c.outcome, c.reason)
		}
	}
}

// plainFactory makes loops with the five methods only.
func plainFactory(cfg looptest.Config) (looptest.EventLoop, error) {
	if !cfg.IsZero() {
		return nil, errors.ErrUnsupported
	}
	return plain{newReference(cfg, "")}, nil
}

func TestPlainLoop(t *testing.T) { looptest.Run(t, plainFactory, looptest.Name("plain")) }

// TestReport reads what a run over a faulty loop prints, in a process of its own.
func TestReport(t *testing.T) {
	if os.Getenv("LOOPTEST_FAULTY") != "" {
		looptest.Run(t, factory("external before internal"), looptest.Name("faulty"),
			looptest.Diverges("Random_Operations", "a line\nand another"), looptest.Diverges("D99_NoSuchCheck", "a slip"))
		return
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "-test.v", "-test.run=^TestReport$/^impl=faulty$/^(D09_InternalFirst|D10_FIFO|Random_Operations|Timers_400Days)$")
	cmd.Env = append(os.Environ(), "LOOPTEST_FAULTY=1")
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Error("the run over a faulty loop succeeded")
	}
	const attr = "=== ATTR  TestReport/impl=faulty/"
	for _, line := range []string{
		attr + "D09_InternalFirst outcome fail\n",
		attr + `D09_InternalFirst reason program ";s2(i(i))i2": function`,
		attr + "D10_FIFO outcome pass\n",
		attr + "D10_FIFO reason \n",
		attr + "Random_Operations outcome diverges\n",
		attr + "Random_Operations reason a line\n",
		attr + "Timers_400Days outcome n/a\n",
		attr + "Timers_400Days reason needs virtual time\n",
		`the check "D99_NoSuchCheck", which does not exist`,
		"The rule: No external task starts while internal work waits",
		"--- SKIP: TestReport/impl=faulty/Random_Operations",
	} {
		if !strings.Contains(string(out), line) {
			t.Errorf("the output lacks %q", line)
		}
	}
	if t.Failed() {
		t.Logf("%s", out)
	}
}
