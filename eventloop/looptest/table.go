package looptest

// The table of checks: one row for each requirement, with the reason.

// check is one requirement.
type check struct {
	name  string
	rule  string // printed when the check fails: the rule, and why it matters
	needs need   // capabilities without which the check does not apply
	timed bool   // runs on virtual time if the contestant declares VirtualTime
	run   func(t *trial)
}

// wall and bubble are the values of check.timed.
const wall, bubble = false, true

// checks are all requirements in the order of the checks. The codes are those of docs/requirements.md.
var checks = []check{
	{"D01_NoZombie", "A wake-up never moves a loop that terminates back to life: states only change by " +
		"compare-and-swap. A loop whose Terminating is overwritten runs for ever, and Shutdown hangs.",
		needState, wall, zombie},

	{"D02_DrainAfterCallback", "The microtask queue is drained after every task and every internal task. Microtasks " +
		"complete the callback that queued them; when the next one runs first it sees half-finished state.",
		needMicrotasks, bubble, played(";s8(m)i8(m)", ".s3(m)i3(m)")},
	{"D02_DrainAfterTimer", "The microtask queue is drained after every timer callback, also between timers that are " +
		"due together, for the same reason as after tasks.",
		needMicrotasks | needTimers, bubble, played(".t0(m(m))t0(m(m))t0(m(m))", ".t4(m(m))t4(m(m))")},
	{"D02_MicrotaskOfMicrotask", "A microtask queued by a microtask runs in the same drain, after those queued before " +
		"it: chains of reactions finish before the next task.",
		needMicrotasks, bubble, played(".s(m2(m2(m)))s(m(m(m(m(m(m(m(m))))))))s")},
	{"D02_Budget", "A drain runs at most the budget (1024 by default); the rest keeps its order for the next tick, or until " +
		"many callbacks have run, ErrMicrotaskBudget is reported, and the loop does not sleep over it. Without the bound one chain freezes the loop.",
		needMicrotasks, wall, microtaskBudget},
	{"D02_EndlessChain", "Tasks, internal tasks and timers progress under an endless chain of microtasks.",
		needMicrotasks, wall, besideEndless(microtask, 1, 20, lanes[microtask].name)},
	{"D02_ForeignMicrotasks", "ScheduleMicrotask may be called from any goroutine: the loop wakes, nothing is lost, and the " +
		"order is that of the calls, whether they come from the loop or from elsewhere.",
		needMicrotasks, wall, foreignMicrotasks},
	{"D02_ForeignFirst", "A microtask of another goroutine starts before any callback that starts after its acceptance, also on " +
		"a loop that was asleep: what its goroutine submits behind it relies on what it has done.",
		needMicrotasks, wall, foreignFirst},

	{"D03_LostWakeup", "A task submitted while the loop goes to sleep is seen or wakes it: commit to sleep, verify all " +
		"sources, then sleep; producers write, then check. A lost wake-up hangs the program until something else happens.",
		0, wall, pingPong(external)},
	{"D03_LostWakeupInternal", "The re-check before sleep covers the internal queue.", 0, wall, pingPong(internal)},
	{"D03_LostWakeupMicrotask", "The re-check before sleep covers the microtask queue.", needMicrotasks, wall, pingPong(microtask)},
	{"D03_LostWakeupConcurrent", "One wake serves many producers, and no producer may rely on a wake that was already " +
		"consumed.", 0, wall, pingPongMany},
	{"D03_LostWakeupTimer", "A timer from another goroutine that becomes the earliest wakes a sleeping loop, or is seen " +
		"before it sleeps; else it fires when the loop wakes for the old deadline.",
		needTimers, wall, earlierTimer},

	{"D04_StateNumbers", "The states are awake 0, terminated 1, sleeping 2, running 4, terminating 5: the numbers appear " +
		"in logs and dumps.", needState, wall, stateNumbers},
	{"D04_RunOnce", "One Run wins, every other gets ErrLoopAlreadyRunning: two goroutines in one loop race over all of " +
		"its state.", 0, wall, runOnce},
	{"D04_RunAfterEnd", "Terminated is final: Run returns ErrLoopTerminated, whatever ended the loop.", 0, wall, runAfterEnd},

	{"D06_PanicReport", "A panic is reported once, as *PanicError with the value, the panicking stack, and Unwrap for " +
		"errors; panic(nil) counts. A panic that nobody hears of is a bug that nobody finds.",
		0, wall, panicReport},
	{"D06_PanicNilLegacy", "Under GODEBUG=panicnil=1 recover returns nil for panic(nil); it is a panic with the value nil " +
		"all the same.", 0, wall, panicNilLegacy},
	{"D06_PanicIsolation", "A panic in any kind of callback, the handlers included, leaves the loop serving: one bad " +
		"callback must not take down the others.", 0, wall, panicIsolation},
	{"D06_PanicInBatch", "Panics in the midst of a batch neither lose nor repeat nor reorder the rest of it, and each is reported.",
		0, bubble, played(everyThird("s"), everyThird("i"), everyThird("m"), ";s8(p)s8", ";i8i8(p)i8", ";m8(p)m8")},
	{"D06_MicrotasksAroundPanic", "Microtasks queued before a panic run before the next task, and a microtask that panics " +
		"does not end the drain.", needMicrotasks, bubble, played(";s(mm(mp)mp)s", ";s(mm(mg)mg)s")},
	{"D06_Goexit", "runtime.Goexit in any kind of callback (t.FailNow does it) ends the goroutine, not the loop: it is " +
		"reported once as ErrGoexit, the next callback runs, Shutdown works, Done tells the end. Otherwise all waiters hang.",
		0, wall, goexit},
	{"D06_AbortWhileEnding", "Panics and Goexit during the end lose none of the remaining work and do not stop the end.",
		0, bubble, played(";s5(p)i5(p)m5(p)S", ";s5(g)i5(g)m5(g)S", "s5(mp)i5(mp)S", "s5(mg)i5(mg)S")},

	{"D07_WakeStorm", "Concurrent producers that fall upon a sleeping loop cause a wake that none of them misses.",
		0, wall, wakeStorm},

	{"D08_ReentrantRun", "Run from one of the loop's own callbacks returns ErrReentrantRun; anything else deadlocks or " +
		"nests.", 0, wall, reentrantRun},
	{"D08_CallsFromCallbacks", "Every submission is allowed from every kind of callback, returns at once, and runs later: " +
		"a lock held around callbacks, or a nested call, breaks users who cannot see it.", 0, wall, callsFromCallbacks},
	{"D08_EndFromCallback", "Shutdown and Close from a callback only ask for the end and return nil at once; waiting " +
		"for the end on the loop itself would last for ever.", 0, wall, endFromCallback},
	{"D08_OnLoop", "OnLoop is true in every callback and false everywhere else, also in goroutines that callbacks start.",
		needOwner, wall, onLoop},

	{"D09_InternalFirst", "No external task starts while internal work waits, also work that came during the same tick: " +
		"completions overtake new load.", 0, wall, played(";s2(i(i))i2", ".s2(i(i))i2s2", ":s2(i2(i))")},
	{"D09_InternalWhileTerminating", "Internal work is accepted while terminating, and runs: what was accepted may need it " +
		"to finish.", 0, bubble, played(";sSi4(i)")},
	{"D09_InternalUnlimited", "SubmitInternal is never refused for load: a completion that is refused is lost.",
		0, wall, internalUnlimited},
	{"D09_Runaway", "More than 100,000 internal tasks in one tick are reported once, and timers get their turn before it " +
		"goes on; external tasks still wait.", needTimers, wall, runaway},

	{"D10_FIFO", "Every queue keeps the order of submission, for any length: chunks, rings and overflows turn over " +
		"without a seam.", 0, wall, fifo},
	{"D10_ProducerOrder", "Each producer's functions run in its own order, however many producers there are.",
		0, wall, producerOrder},
	{"D10_SubmitDoesNotWait", "Submit does not wait for the consumer: a full buffer that blocks its producer deadlocks as " +
		"soon as a callback waits for that producer.", 0, wall, submitDoesNotWait},
	{"D10_Retention", "Nothing popped stays reachable from a queue: a finished callback's captures are collectable " +
		"although the loop lives on. An idle loop must not pin the memory of its last burst.", 0, wall, retention},
	{"D10_RetentionInBatch", "A finished callback's captures are collectable while later ones of the same batch still run: " +
		"a long callback must not pin what came before it.", 0, wall, retentionInBatch},

	{"D14_AllocSubmit", "Submit does not allocate in steady state.", 0, wall, allocLane(external)},
	{"D14_AllocInternal", "SubmitInternal does not allocate in steady state.", 0, wall, allocLane(internal)},
	{"D14_AllocMicrotask", "ScheduleMicrotask on the loop does not allocate in steady state.", needMicrotasks, wall, allocates("microtask", allocBatch/2, allocMicrotask)},
	{"D14_AllocTimer", "Re-arming, and scheduling and cancelling, timers on the loop does not allocate in steady state.",
		needTimers, wall, allocates("timer re-arm, and schedule and cancel", allocBatch, allocTimer)},
	{"D14_AllocFD", "Calling a descriptor's callback does not allocate in steady state.", needFDs, wall, allocates("event of a descriptor", allocBatch, allocIO)},
	{"D14_AllocClock", "CurrentTickTime does not allocate.", needClock, wall, allocates("CurrentTickTime", allocBatch, allocClock)},

	{"D16_ShutdownChain", "Shutdown runs what was accepted and whatever internal work and microtasks that brings, until " +
		"all are empty. A drain in the wrong order loses the end of the chain.", 0, bubble, played(";s(i(m(i))i(i))S")},
	{"D16_ShutdownDrains", "Everything accepted has run when Shutdown returns, beyond all budgets, and on Run's goroutine: " +
		"state without locks has one owner until the end.", 0, bubble, played(";s9i9m9S", "s9(m)i9(m)S")},
	{"D16_ShutdownRefuses", "From Terminating on Submit and ScheduleTimer return ErrLoopTerminated, SubmitInternal from the " +
		"end on: accepting what will not run is a lie.", 0, bubble, played(";s(st0)Sst0")},
	{"D16_ShutdownDropsTimers", "Pending timers are dropped by Shutdown: neither fired early nor waited for.",
		needTimers, bubble, shutdownDropsTimers},
	{"D16_ShutdownTogether", "The Shutdown that brings about the end returns nil; concurrent and later ones wait, too, and " +
		"return ErrLoopTerminated. One that returns early lets its caller release what callbacks still use.",
		0, wall, shutdownTogether},
	{"D16_ShutdownContext", "Shutdown returns its context's error when that ends first, and the shutdown itself goes on.",
		0, bubble, played(";s3Ss", ";s3SSs")},
	{"D16_ShutdownBeforeRun", "Shutdown of a loop that never ran runs what was accepted, on a goroutine of its own, and " +
		"returns: it neither hangs nor forgets.", 0, wall, all(played("S", "s(i(m(i)))s9i9(m)t0t8S"), shutdownBeforeRun)},
	{"D16_EndRacesRun", "Shutdown and Close at the moment at which Run begins are not forgotten.", 0, wall, shutdownRacesRun},
	{"D16_RunContext", "The end of Run's context is a graceful shutdown, and Run returns the context's error.",
		0, wall, runContext},
	{"D16_RunResult", "Run returns nil after Shutdown, ErrLoopTerminated after Close, the context's error when its end " +
		"ended the loop; what came second does not change that, but Close overtakes Shutdown.", 0, wall, runResult},
	{"D16_Done", "Done closes when nothing will run any more: not while a callback runs, and no later than Run returns.",
		needDone, wall, doneChannel},
	{"D16_CloseDrops", "After Close nothing that is queued starts, in no lane; only the callback that runs may finish.",
		0, bubble, played(";s8i8m8t0C", ".ms8i8m8t0Csimt0")},
	{"D16_CloseDoesNotWait", "Close does not wait for the running callback, which may want a lock that the caller of Close " +
		"holds.", 0, wall, closeUnderLock},
	{"D16_CloseOften", "Of all calls of Close and Shutdown, one returns nil, the others ErrLoopTerminated; none panics by " +
		"releasing something twice.", 0, wall, closeOften},
	{"D16_CloseDuringShutdown", "Close overtakes a Shutdown that is under way: the queue is dropped, and that Shutdown " +
		"returns ErrLoopTerminated.", 0, wall, closeDuringShutdown},
	{"D16_CloseBeforeRun", "Close of a loop that never ran drops what it accepted.", 0, bubble, played("s4i4m4t0C")},
	{"D16_CloseWhileSleeping", "Close wakes a sleeping loop, so that Run returns.", 0, wall, played(":C", "t9:C", "r0:C")},

	{"D17_OverloadEpisode", "When the tick budget is spent and tasks remain, OnOverload(ErrLoopOverloaded) is called: once " +
		"per episode, and not when nothing remains. An alarm that cries at each tick is switched off.",
		needState, wall, overloadEpisode},
	{"D17_OverloadOfSlowTasks", "It is called also if the tasks take so long that the tick ends before its budget is spent: a loop " +
		"that falls behind is overloaded whether its tasks are many or long.", needState, bubble, overloadOfSlowTasks},
	{"D17_QueueLimit", "With a queue limit Submit returns ErrLoopOverloaded exactly at the limit, never for internal work, " +
		"and accepts again when there is room.", needState, wall, queueLimit},

	{"D18_TickTime", "CurrentTickTime is never zero, never goes back, and is never torn, from any goroutine.",
		needClock, wall, tickTime},
	{"D18_TickTimeFresh", "Inside callbacks CurrentTickTime is the time at which the tick began: the cache is refreshed " +
		"after every sleep, before timers run.", needClock | needState, bubble, tickTimeFresh},

	{"Conservation_Shutdown", "A function whose submission returned nil runs exactly once on the loop, and never after the " +
		"end; one that was refused never runs. Acceptance and the end are decided under one lock.", 0, wall, conserveShutdown},
	{"Conservation_Close", "What a closed loop ran was accepted, ran once, and, but for one that it was about " +
		"to call, did not start after Close had returned.", 0, wall, conserveClose},
	{"Conservation_SubmitDuringClose", "Every method stays safe while the loop is being closed: it returns nil or the " +
		"documented error, and touches nothing that is released.", 0, wall, submitDuringClose},
	{"Conservation_BeforeRun", "What is accepted before Run runs after it, in every lane.", 0, wall, conserveBeforeRun},
	{"Life_OneGoroutine", "Callbacks of all kinds run one at a time, on the goroutine that called Run: what they touch needs no lock.",
		0, wall, oneGoroutine},
	{"Life_IdleLoopStays", "A loop without work stays until it is asked to end.", 0, wall, lifeWithoutWork},
	{"Random_Operations", "Programs of random operations, from callbacks and from elsewhere, do what a sequential reference " +
		"does: each accepted function runs once, in its turn, or is dropped by Close, and each call returns what it should.",
		0, bubble, randomOperations},
	{"Random_Registrations", "Programs of random operations with descriptors do what a sequential reference does.",
		needFDs, wall, randomRegistrations},
	{"Random_Together", "Programs of random operations that several goroutines play at once lose, double and reorder nothing.",
		0, wall, randomTogether},
	{"Starvation_SelfRequeue", "Tasks that submit themselves for ever starve neither other tasks nor timers nor " +
		"microtasks.", 0, wall, besideEndless(external, 3, 50)},

	{"Siege_Tasks", "Goroutines that submit without end keep neither internal tasks nor microtasks nor timers nor descriptors " +
		"from their turn: a loop that serves one source and no other is down.", 0, wall, siege(external)},
	{"Siege_Internal", "Goroutines that submit internal tasks without end keep neither microtasks nor timers nor descriptors " +
		"from their turn. External tasks do wait.", 0, wall, siege(internal)},
	{"Siege_Microtasks", "Goroutines that schedule microtasks without end keep nothing else from its turn.",
		needMicrotasks, wall, siege(microtask)},
	{"Siege_Timers", "Goroutines that schedule timers that are due at once, without end, keep nothing else from its turn.",
		needTimers, wall, siege(timerLane)},
	{"Siege_Bursts", "A tick is bounded, however much waits: a timer has its turn in the midst of a long burst of anything, and " +
		"everything has in the midst of many timers that are due together.", needTimers, wall, siegeBursts},
	{"Siege_SlowTasks", "A tick is bounded in time too: timers have their turn in the midst of tasks that are slow, however few " +
		"these are.", needTimers, bubble, slowTasks},
	{"Siege_Shutdown", "Shutdown, and the end of Run's context, come although goroutines go on to submit: from then on the loop " +
		"accepts only so much from elsewhere. What was accepted has run, the rest is refused.", 0, wall, siegeShutdown},
	{"Siege_Close", "Close comes although goroutines go on to submit, and nothing starts after it.", 0, wall, siegeClose},
	{"Siege_SelfFeeding", "Callbacks that begin anew whatever happens do not keep a loop from its end: what they bring while it " +
		"ends is refused by and by. A server that accepts again and again is an ordinary program.", 0, wall, selfFeeding},

	{"Timers_Order", "Timers fire in order of deadline, equal deadlines in order of scheduling.", needTimers, bubble, timerOrder},
	{"Timers_NeverEarly", "A timer never fires before its delay has passed, counted from the call and not from a cached " +
		"time.", needTimers, bubble, neverEarly},
	{"Timers_Punctual", "On an idle loop that nothing else delays a timer fires within a millisecond of its deadline.",
		needTimers, bubble, punctual},
	{"Timers_ZeroDelay", "Zero and negative delays mean now, in a later tick: never inside the call, never before the " +
		"microtasks of the caller.", needTimers, bubble, played(".t0m", ".t1m", ":t0", ":t1", ";t0", ".s(t0m)", ".i(t1m)")},
	{"Timers_HugeDelay", "Huge delays never fire and never wrap around, and hide no other timer.", needTimers, bubble, hugeDelay},
	{"Timers_400Days", "Timers work over more than a year: no counter of the clock wraps.", needTimers, bubble, fourHundredDays},
	{"Timers_Rearm", "A timer that re-arms itself at zero delay starves nothing: a whole tick lies between two firings.",
		needTimers, wall, all(besideEndless(timerLane, 3, 50), played(".t0(st0(st0(st0(st0(s)))))"))},
	{"Timers_BeforeRun", "Timers may be scheduled and cancelled before Run; the delay counts from the call.",
		needTimers, bubble, timersBeforeRun},
	{"Timers_Cancel", "A cancelled timer does not fire; what has fired, was cancelled, was dropped or never was is " +
		"ErrTimerNotFound.", needTimers, bubble, played(":t4c0c0t6", ".t4c0c0t0c0c0t6", ";t4c0t5c0t6", "t4c0c0t6", ":t0c0", ".t4(c0t0c1c0)", ":t4(t0(c1c0))t6")},
	{"Timers_CancelInBatch", "A timer that is cancelled by another one due at the same time does not fire any more.",
		needTimers, bubble, played(".t0(c0c1c2)t0t0t0", ".t4(c2c1c0)t4t4t4", "t0(c0c1)t0t0t0")},
	{"Timers_CancelRace", "Of firing and a successful cancel exactly one happens, however close they are.",
		needTimers, wall, cancelRace},
	{"Timers_IDs", "An ID is never zero and names one timer only: a stale one must not cancel its successor.",
		needTimers, bubble, timerIDs},
	{"Timers_Foreign", "Timers may be scheduled from any goroutine; each fires once.", needTimers, wall, foreignTimers},

	{"Tiers_Order", "Of the timers that are due critical ones fire first, then normal ones; background ones when nothing else is to " +
		"be done. Within a tier the order is that of deadlines.", needTiers, bubble, tierOrder},
	{"Tiers_Background", "Background timers fire on time on a loop that has nothing else to do, and about a second late on one that " +
		"always has: what can wait may not wait for ever.", needTiers, bubble, tierBackground},
	{"Tiers_Storm", "Timers of one tier that take all the time there is starve neither those of another nor anything else, and keep " +
		"their order.", needTiers, bubble, tierStorm},
	{"Tiers_Handles", "Timers of every tier are cancelled, ref'd and unref'd by their ID; an unknown tier is an error.",
		needTiers | needTimers, bubble, tierHandles},

	{"IO_Events", "The callback of a registered descriptor is called on the loop's goroutine, with the events that " +
		"it was registered for and that are there, and not without any.", needFDs, wall, ioEvents},
	{"IO_LevelTriggered", "A descriptor is reported as long as it is ready, whether or not its callback took all " +
		"there was, and whether or not it panicked. Who reads one message per call must not lose the next.",
		needFDs, wall, played(";r0w0w0w0", ";r0(p)w0w0w0")},
	{"IO_Modify", "ModifyFD takes effect from the loop and from elsewhere, to no events and back: nothing else may " +
		"have to wake the loop for it.", needFDs, wall, ioModify},
	{"IO_Registered", "A second registration is ErrFDAlreadyRegistered and changes nothing, an unknown descriptor " +
		"ErrFDNotRegistered.", needFDs, wall, played("u0d0r0r0(s)d0d0u0u0d0r1r1:w1", ":u0d0r0r0(s)d0d0u0u0d0r1r1w1",
		".u0d0r0r0(s)d0d0u0u0d0r1r1w1", ":r2(u0d0r0r0(s)d0d0u0u0d0r1r1w1)w2")},
	{"IO_Refused", "A descriptor that the system cannot watch is the system's error, wrapped. The loop neither " +
		"remembers it nor goes round and round over it, and the number registers when there is something behind it.",
		needFDs, wall, ioRefused},
	{"IO_Hangup", "Hang-up and error are delivered whatever a descriptor is watched for: a writer whose reader is " +
		"gone would wait for ever.", needFDs, wall, ioHangup},
	{"IO_Microtasks", "There is a microtask checkpoint at the latest after 64 callbacks of descriptors, and after " +
		"the last of them, before the next task.", needFDs | needMicrotasks, wall, ioMicrotasks},
	{"IO_TickTime", "In the callback of a descriptor that ended a sleep CurrentTickTime is not from before it.",
		needFDs | needClock | needState, wall, ioTickTime},

	{"IO_UnregisterInBatch", "A callback unregisters others that are ready in the same batch of events: they are " +
		"not called. What a callback has released must not be used by the next one.",
		needFDs, wall, played(";"+others("u%d")+atOnce, ";"+others("u%du%[1]d")+atOnce, ":r0(u0u1)r1(u0u1)w0w1")},
	{"IO_ReuseInBatch", "A number that was closed, used again and registered in the midst of a batch gets no event " +
		"of its predecessor, and its own: an event names a registration, not a number.",
		needFDs, wall, played(";"+others("x%dr%[1]d")+atOnce+":w0w1w2w3", ";"+others("X%dr%[1]d")+atOnce+":w0w1w2w3")},
	{"IO_UnregisterSelf", "A callback may end its own registration, begin another there, and close its descriptor.",
		needFDs, wall, played(":r0(u0)w0r1w1w1", ":r0(u0r0(u0))w0w0r1w1", ":w0r0(x0r0)w0w0r1w1", ":r0(u0x0r0(X0))w0w0r1w1")},
	{"IO_UnregisterForeign", "When UnregisterFD has returned, what becomes ready is not reported any more, from " +
		"whatever goroutine it was called: the caller will free what the callback uses.",
		needFDs, wall, ioUnregisterForeign},
	{"IO_CloseFirst", "A descriptor that is closed before it is unregistered is forgotten all the same, and its " +
		"number works again. The system may not know it any more.", needFDs, wall, ioCloseFirst},
	{"IO_Dup", "A descriptor that was closed while a duplicate of it is open may be reported for ever, and no call " +
		"can name it: the loop does not go round and round, and the number works again.", needFDs, wall, ioDup},

	{"IO_RegisterAsleep", "RegisterFD, ModifyFD and UnregisterFD from another goroutine do not wait for the end of " +
		"the loop's sleep, and take effect without it.", needFDs, wall, played(":r0w0d0w0d0u0", ":r0d0u0r0w0u0")},
	{"IO_BeforeRun", "Descriptors may be registered, modified and unregistered before Run.",
		needFDs, wall, played("r0w0", "r0r1w1:w0w0", "r0d0w0d0", "r0d0w0:d0", "r0w0u0r1:w1w1")},
	{"IO_FromCallbacks", "Every registration call is allowed from every kind of callback.",
		needFDs, wall, ioFromCallbacks},
	{"IO_UnderLock", "Registration calls do not wait for the callback that runs: the caller may hold a lock that the " +
		"callback wants.", needFDs, wall, ioUnderLock},
	{"IO_LostWakeup", "With a descriptor registered the loop is woken by tasks, internal tasks, microtasks, " +
		"earlier timers and the descriptor, as it is without: waiting for the system is one more way to sleep, " +
		"with the same races.", needFDs, wall, ioLostWakeup},
	{"IO_ForeignFirst", "A microtask of another goroutine starts before the callback of a descriptor that became ready after its " +
		"acceptance.", needFDs | needMicrotasks, wall, ioForeignFirst},
	{"IO_AlwaysReady", "Descriptors that are always ready starve neither each other nor tasks nor timers nor " +
		"microtasks, and do not keep the loop from ending.", needFDs, wall, ioAlwaysReady},
	{"IO_Panics", "A descriptor that is always ready, or a timer that re-arms itself, panics each time: the others, " +
		"tasks and timers get their turn, for a panic begins nothing anew.", needFDs, wall, ioPanics},
	{"IO_Idle", "A loop whose descriptors are not ready for what they are watched for sleeps.",
		needFDs, wall, ioIdle},
	{"IO_Signals", "A signal that interrupts the wait neither stretches a deadline nor shortens it: who waits anew " +
		"with the whole delay never gets there.", needFDs | needTimers, wall, ioSignals},

	{"IO_End", "Shutdown, Close and the end of the context wake a loop that waits for descriptors. Then no " +
		"callback is called, the loop's own descriptors are released, and the user's are open and work.",
		needFDs, wall, ioEnd},
	{"IO_RegisterRacesEnd", "A registration that races with the end takes place or is ErrLoopTerminated, and " +
		"leaves nothing behind.", needFDs, wall, ioRegisterRacesEnd},
	{"IO_CloseOften", "However many end the loop, each of its descriptors is closed once: the second time it would " +
		"be someone else's.", needFDs, wall, ioCloseOften},
	{"IO_NewOwner", "Nobody wakes the loop through a descriptor that it has released: the number may be someone " +
		"else's by now, who would read bytes that were not written to him.", needFDs, wall, ioNewOwner},
	{"IO_CloseOnExec", "The loop's own descriptors are closed on exec: a child process that gets them keeps them " +
		"open, and can steal wake-ups.", needFDs, wall, ioCloseOnExec},

	{"Retention_Timers", "The closure of a fired or cancelled timer is collectable at once, whatever else is pending.",
		needTimers, wall, retentionTimers},
	{"Retention_IO", "The callback of an unregistered descriptor is collectable at once.",
		needFDs, wall, retentionIO},
	{"Retention_Dropped", "What Close dropped is collectable although the loop is still referred to.", 0, wall, retentionDropped},
	{"Retention_Loop", "A loop that has ended is collectable: no goroutine, timer or table keeps it.", 0, wall, retentionOfLoop},

	{"TerminalStates", "Every method returns the documented error in every state.", 0, wall, terminalStates},
	{"BadInput", "A nil callback is ErrNilCallback in every state: found where it is made, not where it runs.", 0, wall, badInput},

	{"AutoExit_Empty", "With auto-exit Run returns nil when nothing can happen any more, and not before the work is done.",
		0, wall, exitEmpty},
	{"AutoExit_Timers", "Pending timers keep an auto-exit loop alive; the last one's end lets it go, also while it sleeps.",
		needTimers, bubble, exitTimers},
	{"AutoExit_Unref", "Only ref'd timers keep an auto-exit loop alive, and the references are counted exactly.",
		needTimers | needRefs, bubble, exitUnref},
	{"AutoExit_Hold", "A hold keeps an auto-exit loop alive until its release, which is idempotent.", needHold, bubble, exitHold},
	{"AutoExit_FD", "A registered descriptor keeps an auto-exit loop alive, a failed registration does not.",
		needFDs, wall, exitDescriptor},
	{"AutoExit_Race", "Work that arrives while an auto-exit loop leaves is run or refused, never accepted and lost.",
		0, wall, exitRace},

	{"Leaks_Lifecycles", "Many lives leave no goroutine and no descriptor behind, however they end.", 0, wall, leaks},
}

// liveness are the requirements that RunLiveness asks for. Here "soon" is what twice the same takes of the Go runtime, at the same
// moment, and a part of a second more.
var liveness = []check{
	{"Live_Alone", "An idle loop runs what it is given soon, in all lanes, and a timer soon after its deadline: it is woken by the work itself, " +
		"and not when it looks the next time.", 0, wall, liveAlone},
	{"Live_Floods", "In a flood of one lane the others are served soon.", 0, wall, liveFloods},
	{"Live_Neighbours", "Beside goroutines that compute timers are about as late as the runtime's own, and tasks wait hardly longer " +
		"than functions that a goroutine takes from a channel: a loop that waits for its turn again and again has hiccups.",
		0, wall, liveNeighbours},
	{"Live_Ends", "The end that is asked for comes soon, although goroutines go on to submit.", 0, wall, liveEnds},
	{"Live_Background", "On a loop that always has something else to do background timers fire about a second late.",
		needTiers, wall, liveBackground},
	{"Live_Signals", "Signals that interrupt the wait do not make a timer late.", needFDs | needTimers, wall, liveSignals},
	{"Live_Idle", "Loops with nothing to do use no processor time.", needState, wall, liveIdle},
}

// gate has the checks without which a loop is no loop, and what each is about; see Check.Gate.
var gate = map[string]string{
	"D10_FIFO":          "order",
	"D10_ProducerOrder": "order",

	"D03_LostWakeup":                 "conservation",
	"D03_LostWakeupInternal":         "conservation",
	"D03_LostWakeupConcurrent":       "conservation",
	"D07_WakeStorm":                  "conservation",
	"Conservation_Shutdown":          "conservation",
	"Conservation_SubmitDuringClose": "conservation",
	"Conservation_BeforeRun":         "conservation",
	"Random_Together":                "conservation",

	"Life_OneGoroutine": "one goroutine",

	"D01_NoZombie":           "end",
	"D04_RunAfterEnd":        "end",
	"D16_ShutdownTogether":   "end",
	"D16_EndRacesRun":        "end",
	"D16_CloseOften":         "end",
	"D16_CloseWhileSleeping": "end",
}
