package eventloop_test

// Tests of the state's numbers and transitions.

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
)

var states = []eventloop.State{
	eventloop.StateAwake, eventloop.StateTerminated, eventloop.StateSleeping, eventloop.StateRunning, eventloop.StateTerminating,
}

// The numbers appear in logs and dumps, so they are part of the interface.
func TestStateNumbersAreFixed(t *testing.T) {
	require.Equal(t, []eventloop.State{0, 1, 2, 4, 5}, states)
}

// Every word and every way to ask for the end: a loop never moves backwards, an end's cause is never forgotten or swapped
// for another, and only Close adds to an end that has begun.
func TestTerminateFromEveryWord(t *testing.T) {
	for _, state := range states {
		for _, causes := range []eventloop.Word{0, eventloop.CauseClose, eventloop.CauseContext, eventloop.CauseClose | eventloop.CauseContext} {
			for _, cause := range []eventloop.Word{0, eventloop.CauseClose, eventloop.CauseContext} {
				from := eventloop.Word(state) | causes
				if causes != 0 && !from.Ending() {
					continue // no such word: a cause comes with the end
				}
				next, ok := from.Terminate(cause)
				switch {
				case state == eventloop.StateTerminated:
					require.False(t, ok, "%v is final", state)
				case state != eventloop.StateTerminating:
					require.True(t, ok)
					require.Equal(t, eventloop.Word(eventloop.StateTerminating)|cause, next)
				case cause == eventloop.CauseClose && !from.Closing():
					require.True(t, ok, "Close overtakes a graceful shutdown")
					require.Equal(t, from|eventloop.CauseClose, next)
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
		ends := state == eventloop.StateTerminating || state == eventloop.StateTerminated
		for _, causes := range []eventloop.Word{0, eventloop.CauseContext, eventloop.CauseClose} {
			if w := eventloop.Word(state) | causes; causes == 0 || ends {
				require.Equal(t, state, w.StateOf())
				require.Equal(t, ends, w.Ending())
				require.Equal(t, state == eventloop.StateSleeping, w.Sleeping())
			}
		}
	}
	for _, causes := range []eventloop.Word{0, eventloop.CauseContext} {
		w := eventloop.Word(eventloop.StateTerminating) | eventloop.Resting | causes
		require.Equal(t, eventloop.StateTerminating, w.StateOf())
		require.True(t, w.Ending())
		require.True(t, w.Sleeping())
		next, ok := w.Terminate(0)
		require.False(t, ok)
		require.Equal(t, w, next)
		next, ok = w.Terminate(eventloop.CauseClose)
		require.True(t, ok, "Close ends a rest")
		require.Equal(t, eventloop.Word(eventloop.StateTerminating)|causes|eventloop.CauseClose, next)
	}
}
