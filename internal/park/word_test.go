package park_test

// Tests of the state's numbers and transitions.

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/park"
)

var states = []loopapi.State{
	loopapi.StateAwake, loopapi.StateTerminated, loopapi.StateSleeping, loopapi.StateRunning, loopapi.StateTerminating,
}

// The numbers appear in logs and dumps, so they are part of the interface.
func TestStateNumbersAreFixed(t *testing.T) {
	require.Equal(t, []loopapi.State{0, 1, 2, 4, 5}, states)
}

// Every word and every way to ask for the end: a loop never moves backwards, an end's cause is never forgotten or swapped
// for another, and only Close adds to an end that has begun.
func TestTerminateFromEveryWord(t *testing.T) {
	for _, state := range states {
		for _, causes := range []park.Word{0, park.CauseClose, park.CauseContext, park.CauseClose | park.CauseContext} {
			for _, cause := range []park.Word{0, park.CauseClose, park.CauseContext} {
				from := park.Word(state) | causes
				if causes != 0 && !from.Ending() {
					continue // no such word: a cause comes with the end
				}
				next, ok := from.Terminate(cause)
				switch {
				case state == loopapi.StateTerminated:
					require.False(t, ok, "%v is final", state)
				case state != loopapi.StateTerminating:
					require.True(t, ok)
					require.Equal(t, park.Word(loopapi.StateTerminating)|cause, next)
				case cause == park.CauseClose && !from.Closing():
					require.True(t, ok, "Close overtakes a graceful shutdown")
					require.Equal(t, from|park.CauseClose, next)
				default:
					require.False(t, ok, "asking again changes nothing")
				}
				if !ok {
					require.Equal(t, from, next)
				}
			}
		}
	}
}

// What the bits of a word tell, for every state and cause; and that rest is Terminating to all but those who wake.
func TestWords(t *testing.T) {
	for _, state := range states {
		ends := state == loopapi.StateTerminating || state == loopapi.StateTerminated
		for _, causes := range []park.Word{0, park.CauseContext, park.CauseClose} {
			if w := park.Word(state) | causes; causes == 0 || ends {
				require.Equal(t, state, w.State())
				require.Equal(t, ends, w.Ending())
				require.Equal(t, state == loopapi.StateSleeping, w.Sleeping())
			}
		}
	}
	for _, causes := range []park.Word{0, park.CauseContext} {
		w := park.Word(loopapi.StateTerminating) | park.Resting | causes
		require.Equal(t, loopapi.StateTerminating, w.State())
		require.True(t, w.Ending())
		require.True(t, w.Sleeping())
		next, ok := w.Terminate(0)
		require.False(t, ok)
		require.Equal(t, w, next)
		next, ok = w.Terminate(park.CauseClose)
		require.True(t, ok, "Close ends a rest")
		require.Equal(t, park.Word(loopapi.StateTerminating)|causes|park.CauseClose, next)
	}
}
