package alternatethree

// The state: one atomic word, and all its transitions.

import (
	"sync/atomic"

	"github.com/turnloop/turnloop/internal/loopapi"
)

// The transitions:
//
//	          Run            nothing to do
//	Awake ──────────▶ Running ─────────────▶ Sleeping
//	  │                 │  ▲                  │  │
//	  │                 │  └───── wake ───────┘  │
//	  ▼                 ▼                        ▼
//	  └────────────▶ Terminating ◀───────────────┘
//	                     │
//	                     ▼
//	                 Terminated
//
// Each is a compare-and-swap, so none can overwrite a transition that it did not see: a loop that wakes up
// and finds Terminating leaves it alone.

// stateWord holds the state. Any goroutine reads it. The loop writes it (start, sleep, terminated), and so do goroutines
// that wake the loop (wake) or ask for its end (terminate, under the ingress's lock).
type stateWord struct{ v atomic.Int32 }

func (s *stateWord) load() loopapi.State { return loopapi.State(s.v.Load()) }

func (s *stateWord) swap(from, to loopapi.State) bool {
	return s.v.CompareAndSwap(int32(from), int32(to))
}

// start claims the loop for one Run.
func (s *stateWord) start() bool { return s.swap(loopapi.StateAwake, loopapi.StateRunning) }

// sleep commits the loop to sleep.
func (s *stateWord) sleep() bool { return s.swap(loopapi.StateRunning, loopapi.StateSleeping) }

// wake ends a sleep. Of several callers one gets true.
func (s *stateWord) wake() bool { return s.swap(loopapi.StateSleeping, loopapi.StateRunning) }

// terminate moves a loop that is not ending yet towards its end, and returns the state that it found.
func (s *stateWord) terminate() (from loopapi.State, first bool) {
	for {
		switch from = s.load(); from {
		case loopapi.StateTerminating, loopapi.StateTerminated:
			return from, false
		}
		if s.swap(from, loopapi.StateTerminating) {
			return from, true
		}
	}
}

// terminated is the last transition.
func (s *stateWord) terminated() { s.swap(loopapi.StateTerminating, loopapi.StateTerminated) }

// ending tells whether the end was asked for, or has come.
func (s *stateWord) ending() bool {
	from := s.load()
	return from == loopapi.StateTerminating || from == loopapi.StateTerminated
}
