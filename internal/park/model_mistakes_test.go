package park_test

// The explorations: the protocol as it is, with everybody who may take part, and with one mistake each.

import (
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/park"
	"github.com/turnloop/turnloop/internal/race"
)

// With and without Shutdown, because one can rescue a loop that has missed its wake-up, and with and without Close, which
// may drop what the loop has lost. Those that take long are for "make model"; the largest are eager, for want of memory.
func TestModel(t *testing.T) {
	for _, c := range []struct {
		cast
		long, eager bool
	}{
		{cast: cast{kinds: []kind{submitter, submitter, insider}}},
		{cast: cast{kinds: []kind{submitter, submitter, insider, ender}}},
		{cast: cast{kinds: []kind{submitter, submitter, insider, closer}}},
		{cast: cast{kinds: []kind{submitter, submitter, insider, ender, closer}}},
		{cast: cast{kinds: []kind{submitter, submitter, insider, registrar}}, long: true},
		{cast: cast{kinds: []kind{submitter, submitter, insider, registrar, ender}}, long: true},
		{cast: cast{kinds: []kind{submitter, submitter, insider, registrar, closer}}, long: true, eager: true},
		{cast: cast{kinds: []kind{submitter, submitter, insider, registrar, ender, closer}}, long: true, eager: true},
		{cast: cast{kinds: []kind{insider, registrar, ender, closer}}},
		{cast: cast{kinds: []kind{submitter, grower, ender, closer}}},
		{cast: cast{kinds: []kind{submitter, grower, insider, ender, closer}}, long: true},
		{cast: cast{kinds: []kind{worker, worker, ender, closer}}},
		{cast: cast{kinds: []kind{submitter, insider, worker, ender, closer}}, long: true},
		{cast: cast{kinds: []kind{registrar, watcher, descriptor, insider}}},
		{cast: cast{kinds: []kind{registrar, watcher, descriptor, ender, closer}}},
		{cast: cast{kinds: []kind{registrar, watcher, descriptor, insider, ender}}, long: true},
		{cast: cast{kinds: []kind{registrar, leaver, ender, closer}}},
		{cast: cast{kinds: []kind{registrar, leaver, watcher, descriptor}}},
		{cast: cast{kinds: []kind{registrar, leaver, watcher, descriptor, ender}}, long: true},
		{cast: cast{kinds: []kind{submitter, insider, ender, closer}, blocking: true}},
		{cast: cast{kinds: []kind{submitter, insider, registrar, descriptor}, blocking: true}, long: true},
		{cast: cast{kinds: []kind{registrar, leaver, descriptor, ender, closer}, blocking: true}, long: true},
		{cast: cast{kinds: []kind{submitter, worker, ender, closer}, blocking: true}, long: true},
		{cast: cast{kinds: []kind{submitter, submitter, insider, ender, closer}, blocking: true}, long: true},
		{cast: cast{kinds: []kind{scheduler, ringer, ringer}}},
		{cast: cast{kinds: []kind{scheduler, ringer, ender, closer}}},
		{cast: cast{kinds: []kind{scheduler, ringer, ringer, ender}}, long: true},
		{cast: cast{kinds: []kind{scheduler, insider, ender, closer}, blocking: true}, long: true},
		{cast: cast{kinds: []kind{holder, submitter, worker}, autoExit: true}},
		{cast: cast{kinds: []kind{holder, submitter, worker, ender, closer}, autoExit: true}, long: true},
		{cast: cast{kinds: []kind{holder, scheduler, ringer}, autoExit: true}},
		{cast: cast{kinds: []kind{holder, registrar, watcher, descriptor}, autoExit: true}},
		{cast: cast{kinds: []kind{registrar, leaver}, autoExit: true}},
		{cast: cast{kinds: []kind{registrar, leaver, watcher, descriptor}, autoExit: true}},
		{cast: cast{kinds: []kind{registrar, leaver, submitter, closer}, autoExit: true}, long: true},
		{cast: cast{kinds: []kind{holder, submitter, registrar, closer}, autoExit: true}, long: true},
		{cast: cast{kinds: []kind{holder, submitter, scheduler, closer}, autoExit: true}, long: true},

		{cast: cast{kinds: []kind{submitter, flooder}}},
		{cast: cast{kinds: []kind{submitter, flooder, ender}}},
		{cast: cast{kinds: []kind{flooder, flooder, ender}}},
		{cast: cast{kinds: []kind{flooder, closer}}},
		{cast: cast{kinds: []kind{flooder, worker, ender}}},
		{cast: cast{kinds: []kind{flooder, holder}, autoExit: true}},
		{cast: cast{kinds: []kind{insider, server, ender}}},
		{cast: cast{kinds: []kind{server, worker, ender}}},
		{cast: cast{kinds: []kind{server, flooder, ender}}},
		{cast: cast{kinds: []kind{submitter, server, ender, closer}}, long: true},
		{cast: cast{kinds: []kind{submitter, flooder, worker, ender}}, long: true},
		{cast: cast{kinds: []kind{submitter, flooder, worker, ender, closer}}, long: true, eager: true},
		{cast: cast{kinds: []kind{submitter, insider, flooder, ender, closer}}, long: true, eager: true},
		{cast: cast{kinds: []kind{flooder, flooder, worker, ender}}, long: true},
		{cast: cast{kinds: []kind{flooder, worker, ender}, blocking: true}, long: true},
		{cast: cast{kinds: []kind{flooder, registrar, watcher, descriptor, ender}}, long: true},
		{cast: cast{kinds: []kind{server, flooder, worker, ender}}, long: true},
		{cast: cast{kinds: []kind{server, flooder, worker, ender, closer}}, long: true, eager: true},
	} {
		t.Run(c.cast.String(), func(t *testing.T) {
			if c.long && !soak() {
				t.Skip("for make model")
			}
			p := newProtocol(c.cast, product, none)
			p.eager = c.eager
			found := exploreSome[world](p, someStates())
			require.Empty(t, found.wrong, "%v", stringer(func() string { return "\n" + report[world](p, found) }))
			t.Logf("%d states, of which %d are ends", found.states, found.ends)
		})
	}
}

// soak tells whether all of it is asked for.
func soak() bool { return os.Getenv("TURNLOOP_SOAK") != "" }

// someStates are so many that a short run has seen everybody take part. An exploration finds the same each time: to do
// the whole of it again and again shows nothing, and one goroutine shows the race detector nothing.
func someStates() int {
	if race.Enabled || testing.Short() && !soak() {
		return 500
	}
	return math.MaxInt
}

type stringer func() string

func (s stringer) String() string { return s() }

// mistake is what the model does wrong on purpose.
type mistake uint8

const (
	none mistake = iota
	noSecondLook
	checkBeforeLock
	stateOfBeforeGrowing
	releaseEmpty
	sealIgnored
	sealIgnoresInternal
	sealIgnoresWorkers
	takeUnlocked
	urgentClearedLate
	closeSeenLate
	closeLeavesAwake
	endNotSignalled
	everybodyWakes
	wakeByStore
	signalToParkedOnly
	placeBeforeClaim
	restInPoller
	closeBeforeJoin
	publishAfterLook
	readyClearedLate
	alarmLeftAlone
	rangSeenEarly
	timerUnseen
	eventUnseen
	noLookAtNeeds
	plainRang
	plainFlag
	looksAtExternalOnly
	looksAtInternalOnly
	doesNotWait
	otherWayRound
	sealIgnoresExternal
	discardForgetsExternal
	discardForgetsInternal
	takesAllFromElsewhere
	takesAllOfItsOwn
	renewsEachTick
	renewsBeforeSeal
	owesNothing
	refusedLeavesWork
	followsBehindTheLock
	forgetsWhatFollows
)

// Each mistake is caught. A model that does not catch them proves nothing. It catches the same each time, so a short run
// tries a few.
func TestModelCatchesMistakes(t *testing.T) {
	changed := func(change func(*transitions)) *transitions {
		t := product
		change(&t)
		return &t
	}
	for _, c := range []struct {
		does        string
		mistake     mistake
		transitions *transitions
		in          cast
		rescued     bool // by a Shutdown: it is caught only without
	}{
		{does: "does not look again when it has committed to sleep", mistake: noSecondLook,
			in: cast{kinds: []kind{submitter}}, rescued: true},
		{does: "does not look again when it has committed to rest", mistake: noSecondLook,
			in: cast{kinds: []kind{worker, ender}}},
		{does: "stores Sleeping, whatever the state is",
			transitions: changed(func(t *transitions) {
				t.sleep = func(word) (word, bool) { return word(loopapi.StateSleeping), true }
			}),
			in: cast{kinds: []kind{ender}}},
		{does: "stores Running when it gets up", mistake: wakeByStore, in: cast{kinds: []kind{insider, ender}}},
		{does: "wakes a loop at rest to Running",
			transitions: changed(func(t *transitions) {
				t.wake = func(w word) (word, bool) { return word(loopapi.StateRunning), w.Sleeping() }
			}),
			in: cast{kinds: []kind{worker, ender}}},
		{does: "lets an ended loop end again",
			transitions: changed(func(t *transitions) {
				t.terminate = func(w, cause word) (word, bool) { return word(loopapi.StateTerminating) | cause, true }
			}),
			in: cast{kinds: []kind{ender, closer}}},
		{does: "rests when it is closed",
			transitions: changed(func(t *transitions) {
				t.rest = func(w word) (word, bool) { return w | park.Resting, true }
			}),
			in: cast{kinds: []kind{worker, ender, closer}}},
		{does: "leaves a loop at rest when it closes it",
			transitions: changed(func(t *transitions) {
				t.terminate = func(w, cause word) (word, bool) {
					next, ok := w.Terminate(cause)
					if w.Ending() {
						next |= w & park.Resting
					}
					return next, ok
				}
			}),
			in: cast{kinds: []kind{worker, ender, closer}}},
		{does: "loads the state before it takes the lock", mistake: checkBeforeLock,
			in: cast{kinds: []kind{submitter}}},
		{does: "goes by the state of before it had a chunk", mistake: stateOfBeforeGrowing,
			in: cast{kinds: []kind{grower}}},
		{does: "releases the lock as if nothing were there", mistake: releaseEmpty,
			in: cast{kinds: []kind{submitter}}, rescued: true},
		{does: "accepts into a sealed inbox", mistake: sealIgnored, in: cast{kinds: []kind{insider, ender}}},
		{does: "seals with internal work inside", mistake: sealIgnoresInternal,
			in: cast{kinds: []kind{insider, ender}}},
		{does: "does not wait for workers", mistake: sealIgnoresWorkers, in: cast{kinds: []kind{worker, ender}}},
		{does: "takes a lane without the lock", mistake: takeUnlocked, in: cast{kinds: []kind{submitter, submitter}}},
		{does: "says that there is no internal work when it has released the lock", mistake: urgentClearedLate,
			in: cast{kinds: []kind{insider, insider}}},
		{does: "does not look at the state before each task", mistake: closeSeenLate,
			in: cast{kinds: []kind{submitter, closer}}},
		{does: "leaves a loop that never ran to nobody", mistake: closeLeavesAwake,
			in: cast{kinds: []kind{submitter, closer}}},
		{does: "asks a sleeper for the end without a signal", mistake: endNotSignalled,
			in: cast{kinds: []kind{ender}}},
		{does: "wakes without a claim", mistake: everybodyWakes, in: cast{kinds: []kind{submitter, submitter}}},
		{does: "drops a signal to a loop that is not yet parked", mistake: signalToParkedOnly,
			in: cast{kinds: []kind{submitter}}},
		{does: "loads where the loop sleeps before it has claimed the wake-up", mistake: placeBeforeClaim,
			in: cast{kinds: []kind{insider, worker, ender}, blocking: true}},
		{does: "rests in the channel but is signalled in the poller", mistake: restInPoller,
			in: cast{kinds: []kind{worker, ender}, blocking: true}},
		{does: "closes the poller under a wake-up", mistake: closeBeforeJoin,
			in: cast{kinds: []kind{submitter, ender}, blocking: true}},
		{does: "registers, and tells of it too late", mistake: publishAfterLook, in: cast{kinds: []kind{registrar}}},
		{does: "inserts a timer, and tells of it too late", mistake: publishAfterLook,
			in: cast{kinds: []kind{scheduler}, blocking: true}},
		{does: "rings, and tells of it too late", mistake: publishAfterLook,
			in: cast{kinds: []kind{scheduler, ringer}}},
		{does: "has events, and tells of them too late", mistake: publishAfterLook,
			in: cast{kinds: []kind{registrar, watcher, descriptor}}},
		{does: "forgets an event that it has not seen", mistake: readyClearedLate,
			in: cast{kinds: []kind{registrar, watcher, descriptor}}},
		{does: "takes an alarm that has rung for one that will", mistake: alarmLeftAlone,
			in: cast{kinds: []kind{scheduler, ringer}}},
		{does: "looks whether the alarm has rung before it has committed to sleep", mistake: rangSeenEarly,
			in: cast{kinds: []kind{scheduler, ringer}}},
		{does: "fires a timer without a look at the state behind the timers' lock", mistake: timerUnseen,
			in: cast{kinds: []kind{scheduler, ringer, closer}}},
		{does: "calls for an event without a look at the state behind the table's lock", mistake: eventUnseen,
			in: cast{kinds: []kind{registrar, watcher, descriptor, closer}}},
		{does: "does not look whether it is still needed when it has committed to sleep", mistake: noLookAtNeeds,
			in: cast{kinds: []kind{holder}, autoExit: true}, rescued: true},
		{does: "rings with a plain store", mistake: plainRang,
			in: cast{kinds: []kind{scheduler, ringer}}, rescued: true},
		{does: "says that there is internal work with a plain store", mistake: plainFlag,
			in: cast{kinds: []kind{submitter, insider}}},
		{does: "looks for work in the inbox of external work only", mistake: looksAtExternalOnly,
			in: cast{kinds: []kind{submitter, insider}}, rescued: true},
		{does: "looks for work in the urgent inbox only", mistake: looksAtInternalOnly,
			in: cast{kinds: []kind{submitter, insider}}},
		{does: "goes on to the next tick while somebody has the urgent lock", mistake: doesNotWait,
			in: cast{kinds: []kind{insider}}},
		{does: "takes the two locks the other way round to discard", mistake: otherWayRound,
			in: cast{kinds: []kind{submitter, insider, ender, closer}}},
		{does: "takes the two locks the other way round while the loop asks whether it is needed", mistake: otherWayRound,
			in: cast{kinds: []kind{submitter, holder, closer}, autoExit: true}},
		{does: "seals with external work inside", mistake: sealIgnoresExternal,
			in: cast{kinds: []kind{submitter, ender}}},
		{does: "discards urgent work alone", mistake: discardForgetsExternal, in: cast{kinds: []kind{submitter, closer}}},
		{does: "discards external work alone", mistake: discardForgetsInternal, in: cast{kinds: []kind{insider, closer}}},
		{does: "accepts any amount from elsewhere", mistake: takesAllFromElsewhere,
			in: cast{kinds: []kind{flooder, ender}}},
		{does: "accepts any amount from its own callbacks", mistake: takesAllOfItsOwn,
			in: cast{kinds: []kind{server, ender}}},
		{does: "renews what it accepts in each tick", mistake: renewsEachTick, in: cast{kinds: []kind{flooder, ender}}},
		{does: "renews what it accepts whenever it has run everything", mistake: renewsBeforeSeal,
			in: cast{kinds: []kind{flooder, ender}}},
		{does: "refuses what a worker brings", mistake: owesNothing, in: cast{kinds: []kind{flooder, worker, ender}}},
		{does: "submits what follows a registration behind the table's lock", mistake: followsBehindTheLock,
			in: cast{kinds: []kind{registrar, leaver}, autoExit: true}},
		{does: "drops what follows a registration", mistake: forgetsWhatFollows,
			in: cast{kinds: []kind{registrar, leaver, closer}}},
		{does: "releases the lock as if there were work when it has refused it", mistake: refusedLeavesWork,
			in: cast{kinds: []kind{flooder, ender}}},
	} {
		t.Run(c.does, func(t *testing.T) {
			if testing.Short() && rand.IntN(4) > 0 {
				t.Skip("a short run catches some of them")
			}
			transitions := product
			if c.transitions != nil {
				transitions = *c.transitions
			}
			p := newProtocol(c.in, transitions, c.mistake)
			found := explore[world](p)
			require.NotEmpty(t, found.wrong, "%v: not caught in %d states", c.in, found.states)
			t.Logf("%v: caught after %d steps: %s", c.in, len(found.trace), found.wrong)
			if c.rescued {
				c.in.kinds = append(c.in.kinds, ender)
				p := newProtocol(c.in, transitions, c.mistake)
				found := exploreSome[world](p, someStates())
				require.Empty(t, found.wrong, "%v: this was thought to hide it", p.cast)
				t.Logf("%v: not caught", p.cast)
			}
		})
	}
}
