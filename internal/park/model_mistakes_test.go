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
		cast        string
		long, eager bool
	}{
		{cast: "submit submit internal"},
		{cast: "submit submit internal shutdown"},
		{cast: "submit submit internal close"},
		{cast: "submit submit internal shutdown close"},
		{cast: "submit submit internal register", long: true},
		{cast: "submit submit internal register shutdown", long: true},
		{cast: "submit submit internal register close", long: true, eager: true},
		{cast: "submit submit internal register shutdown close", long: true, eager: true},
		{cast: "internal register shutdown close"},
		{cast: "submit submit+grow shutdown close"},
		{cast: "submit submit+grow internal shutdown close", long: true},
		{cast: "worker worker shutdown close"},
		{cast: "submit internal worker shutdown close", long: true},
		{cast: "register watch descriptor internal"},
		{cast: "register watch descriptor shutdown close"},
		{cast: "register watch descriptor internal shutdown", long: true},
		{cast: "register unregister shutdown close"},
		{cast: "register unregister watch descriptor"},
		{cast: "register unregister watch descriptor shutdown", long: true},
		{cast: "submit internal shutdown close (blocking)"},
		{cast: "submit internal register descriptor (blocking)", long: true},
		{cast: "register unregister descriptor shutdown close (blocking)", long: true},
		{cast: "submit worker shutdown close (blocking)", long: true},
		{cast: "submit submit internal shutdown close (blocking)", long: true},
		{cast: "timer alarm alarm"},
		{cast: "timer alarm shutdown close"},
		{cast: "timer alarm alarm shutdown", long: true},
		{cast: "timer internal shutdown close (blocking)", long: true},
		{cast: "release submit worker (auto-exit)"},
		{cast: "release submit worker shutdown close (auto-exit)", long: true},
		{cast: "release timer alarm (auto-exit)"},
		{cast: "release register watch descriptor (auto-exit)"},
		{cast: "register unregister (auto-exit)"},
		{cast: "register unregister watch descriptor (auto-exit)"},
		{cast: "register unregister submit close (auto-exit)", long: true},
		{cast: "release submit register close (auto-exit)", long: true},
		{cast: "release submit timer close (auto-exit)", long: true},

		{cast: "submit flood"},
		{cast: "submit flood shutdown"},
		{cast: "flood flood shutdown"},
		{cast: "flood close"},
		{cast: "flood worker shutdown"},
		{cast: "flood release (auto-exit)"},
		{cast: "internal serve shutdown"},
		{cast: "serve worker shutdown"},
		{cast: "serve flood shutdown"},
		{cast: "submit serve shutdown close", long: true},
		{cast: "submit flood worker shutdown", long: true},
		{cast: "submit flood worker shutdown close", long: true, eager: true},
		{cast: "submit internal flood shutdown close", long: true, eager: true},
		{cast: "flood flood worker shutdown", long: true},
		{cast: "flood worker shutdown (blocking)", long: true},
		{cast: "flood register watch descriptor shutdown", long: true},
		{cast: "serve flood worker shutdown", long: true},
		{cast: "serve flood worker shutdown close", long: true, eager: true},
	} {
		t.Run(c.cast, func(t *testing.T) {
			if c.long && !soak() {
				t.Skip("for make model")
			}
			p := newProtocol(castOf(c.cast), product, none)
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
	for _, c := range []struct {
		does    string
		mistake mistake
		in      string // the cast
		rescued bool   // by a Shutdown: it is caught only without
		changes func(*transitions)
	}{
		{"does not look again when it has committed to sleep", noSecondLook, "submit", true, nil},
		{"does not look again when it has committed to rest", noSecondLook, "worker shutdown", false, nil},
		{"stores Sleeping, whatever the state is", none, "shutdown", false, func(t *transitions) {
			t.sleep = func(word) (word, bool) { return word(loopapi.StateSleeping), true }
		}},
		{"stores Running when it gets up", wakeByStore, "internal shutdown", false, nil},
		{"wakes a loop at rest to Running", none, "worker shutdown", false, func(t *transitions) {
			t.wake = func(w word) (word, bool) { return word(loopapi.StateRunning), w.Sleeping() }
		}},
		{"lets an ended loop end again", none, "shutdown close", false, func(t *transitions) {
			t.terminate = func(w, cause word) (word, bool) { return word(loopapi.StateTerminating) | cause, true }
		}},
		{"rests when it is closed", none, "worker shutdown close", false, func(t *transitions) {
			t.rest = func(w word) (word, bool) { return w | park.Resting, true }
		}},
		{"leaves a loop at rest when it closes it", none, "worker shutdown close", false, func(t *transitions) {
			t.terminate = func(w, cause word) (word, bool) {
				next, ok := w.Terminate(cause)
				if w.Ending() {
					next |= w & park.Resting
				}
				return next, ok
			}
		}},
		{"loads the state before it takes the lock", checkBeforeLock, "submit", false, nil},
		{"goes by the state of before it had a chunk", stateOfBeforeGrowing, "submit+grow", false, nil},
		{"releases the lock as if nothing were there", releaseEmpty, "submit", true, nil},
		{"accepts into a sealed inbox", sealIgnored, "internal shutdown", false, nil},
		{"seals with internal work inside", sealIgnoresInternal, "internal shutdown", false, nil},
		{"does not wait for workers", sealIgnoresWorkers, "worker shutdown", false, nil},
		{"takes a lane without the lock", takeUnlocked, "submit submit", false, nil},
		{"says that there is no internal work when it has released the lock", urgentClearedLate, "internal internal", false, nil},
		{"does not look at the state before each task", closeSeenLate, "submit close", false, nil},
		{"leaves a loop that never ran to nobody", closeLeavesAwake, "submit close", false, nil},
		{"asks a sleeper for the end without a signal", endNotSignalled, "shutdown", false, nil},
		{"wakes without a claim", everybodyWakes, "submit submit", false, nil},
		{"drops a signal to a loop that is not yet parked", signalToParkedOnly, "submit", false, nil},
		{"loads where the loop sleeps before it has claimed the wake-up", placeBeforeClaim,
			"internal worker shutdown (blocking)", false, nil},
		{"rests in the channel but is signalled in the poller", restInPoller, "worker shutdown (blocking)", false, nil},
		{"closes the poller under a wake-up", closeBeforeJoin, "submit shutdown (blocking)", false, nil},
		{"registers, and tells of it too late", publishAfterLook, "register", false, nil},
		{"inserts a timer, and tells of it too late", publishAfterLook, "timer (blocking)", false, nil},
		{"rings, and tells of it too late", publishAfterLook, "timer alarm", false, nil},
		{"has events, and tells of them too late", publishAfterLook, "register watch descriptor", false, nil},
		{"forgets an event that it has not seen", readyClearedLate, "register watch descriptor", false, nil},
		{"takes an alarm that has rung for one that will", alarmLeftAlone, "timer alarm", false, nil},
		{"looks whether the alarm has rung before it has committed to sleep", rangSeenEarly, "timer alarm", false, nil},
		{"fires a timer without a look at the state behind the timers' lock", timerUnseen, "timer alarm close", false, nil},
		{"calls for an event without a look at the state behind the table's lock", eventUnseen,
			"register watch descriptor close", false, nil},
		{"does not look whether it is still needed when it has committed to sleep", noLookAtNeeds, "release (auto-exit)", true, nil},
		{"rings with a plain store", plainRang, "timer alarm", true, nil},
		{"says that there is internal work with a plain store", plainFlag, "submit internal", false, nil},
		{"looks for work in the inbox of external work only", looksAtExternalOnly, "submit internal", true, nil},
		{"looks for work in the urgent inbox only", looksAtInternalOnly, "submit internal", false, nil},
		{"goes on to the next tick while somebody has the urgent lock", doesNotWait, "internal", false, nil},
		{"takes the two locks the other way round to discard", otherWayRound, "submit internal shutdown close", false, nil},
		{"takes the two locks the other way round while the loop asks whether it is needed", otherWayRound,
			"submit release close (auto-exit)", false, nil},
		{"seals with external work inside", sealIgnoresExternal, "submit shutdown", false, nil},
		{"discards urgent work alone", discardForgetsExternal, "submit close", false, nil},
		{"discards external work alone", discardForgetsInternal, "internal close", false, nil},
		{"accepts any amount from elsewhere", takesAllFromElsewhere, "flood shutdown", false, nil},
		{"accepts any amount from its own callbacks", takesAllOfItsOwn, "serve shutdown", false, nil},
		{"renews what it accepts in each tick", renewsEachTick, "flood shutdown", false, nil},
		{"renews what it accepts whenever it has run everything", renewsBeforeSeal, "flood shutdown", false, nil},
		{"refuses what a worker brings", owesNothing, "flood worker shutdown", false, nil},
		{"submits what follows a registration behind the table's lock", followsBehindTheLock,
			"register unregister (auto-exit)", false, nil},
		{"drops what follows a registration", forgetsWhatFollows, "register unregister close", false, nil},
		{"releases the lock as if there were work when it has refused it", refusedLeavesWork, "flood shutdown", false, nil},
	} {
		t.Run(c.does, func(t *testing.T) {
			if testing.Short() && rand.IntN(4) > 0 {
				t.Skip("a short run catches some of them")
			}
			transitions := product
			if c.changes != nil {
				c.changes(&transitions)
			}
			p := newProtocol(castOf(c.in), transitions, c.mistake)
			found := explore[world](p)
			require.NotEmpty(t, found.wrong, "%v: not caught in %d states", c.in, found.states)
			t.Logf("%v: caught after %d steps: %s", c.in, len(found.trace), found.wrong)
			if c.rescued {
				p := newProtocol(castOf(c.in+" shutdown"), transitions, c.mistake)
				found := exploreSome[world](p, someStates())
				require.Empty(t, found.wrong, "%v: this was thought to hide it", p.cast)
				t.Logf("%v: not caught", p.cast)
			}
		})
	}
}
