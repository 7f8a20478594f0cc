package eventloop

// The loop's state: one atomic word that only the methods below change.

import (
	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/sched/atomic"
)

// State is a loop's state. The numbers are fixed: they appear in logs and dumps.
type State = loopapi.State

// The states of a loop, and every way from one to the next:
//
//	          Run                  nothing to do
//	Awake ─────────▶ Running ────────────────────▶ Sleeping
//	  │                 │ ▲                            │ │
//	  │                 │ └──── wake, by one waker ────┘ │
//	  │ end             │ end                            │ end
//	  └────────────────▶└────────▶ Terminating ◀─────────┘
//	                                   │ everything accepted has run, or Close
//	                                   ▼
//	                               Terminated
const (
	StateAwake       = loopapi.StateAwake
	StateTerminated  = loopapi.StateTerminated
	StateSleeping    = loopapi.StateSleeping
	StateRunning     = loopapi.StateRunning
	StateTerminating = loopapi.StateTerminating
)

// word is a State together with how the loop came to its end. The causes are bits of the same word so that a
// transition and its cause can never be seen apart.
type word uint32

const (
	causeClose   word = 1 << (8 + iota) // nothing that is queued may start any more
	causeContext                        // it was the end of Run's context that asked first
	causeMask    = causeClose | causeContext

	// resting goes with Terminating: a loop that is ending sleeps too, while it waits for workers. It is the bit that
	// Sleeping has, and no other state; those that end a loop, and no other, have the bit of Terminated.
	resting = word(StateSleeping)
	over    = word(StateTerminated)
)

func (w word) state() State {
	if w&over != 0 {
		w &^= resting
	}
	return State(w &^ causeMask)
}

func (w word) closing() bool { return w&causeClose != 0 }

// sleeping tells whether the loop needs a wake-up to see new work.
func (w word) sleeping() bool { return w&resting != 0 }

// ending tells whether external work is refused.
func (w word) ending() bool { return w&over != 0 }

// terminate is the step towards the end. It never moves a loop backwards: a loop that is ending already only takes the
// cause Close on top, and only while it has not ended; that ends its rest.
func (w word) terminate(cause word) (next word, ok bool) {
	switch {
	case !w.ending():
		return word(StateTerminating) | cause, true
	case w.state() == StateTerminating && cause == causeClose && !w.closing():
		return w&^resting | causeClose, true
	}
	return w, false
}

// stateWord is the word that producers, the loop and whoever ends it share. Writers: the loop (start, sleep, wake,
// terminated), a producer that claims the one wake-up of a sleep (wake), and anyone who asks for the end (terminate).
// The sleep protocol in wait.go says what each access pairs with.
type stateWord struct {
	w atomic.Uint32
}

func (s *stateWord) load() word { return word(s.w.Load()) }

func (s *stateWord) swap(from, to State) bool {
	return s.w.CompareAndSwap(uint32(from), uint32(to))
}

// start claims the loop for the one Run.
func (s *stateWord) start() bool { return s.swap(StateAwake, StateRunning) }

// sleep commits the loop to sleep; it fails when the loop is ending.
func (s *stateWord) sleep() bool { return s.swap(StateRunning, StateSleeping) }

// rest commits an ending loop to sleep; it fails when the loop is closed.
func (s *stateWord) rest() bool {
	from := s.load()
	return !from.closing() && s.w.CompareAndSwap(uint32(from), uint32(from|resting))
}

// wake claims the wake-up of a sleeping loop: of all who try, one succeeds.
func (s *stateWord) wake() bool {
	from := s.load()
	next := from &^ resting
	if from == word(StateSleeping) {
		next = word(StateRunning)
	}
	return from.sleeping() && s.w.CompareAndSwap(uint32(from), uint32(next)) // only who wakes it changes a sleeper's
}

// exit is the step of a loop that ends by itself.
func (s *stateWord) exit() bool { return s.swap(StateRunning, StateTerminating) }

// terminate asks for the end and returns the word that it found. ok tells whether this call made the step.
func (s *stateWord) terminate(cause word) (from word, ok bool) {
	for {
		from = s.load()
		next, ok := from.terminate(cause)
		if !ok {
			return from, false
		}
		if s.w.CompareAndSwap(uint32(from), uint32(next)) {
			return from, true
		}
	}
}

// terminated is the last step; only the owner of an ending loop takes it. The causes stay readable.
func (s *stateWord) terminated() {
	for {
		from := s.load()
		if s.w.CompareAndSwap(uint32(from), uint32(from&causeMask|word(StateTerminated))) {
			return
		}
	}
}
