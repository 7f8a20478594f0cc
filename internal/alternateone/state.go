package alternateone

// The loop's state, and the table of all its transitions.

import (
	"fmt"
	"sync/atomic"

	"github.com/turnloop/turnloop/internal/loopapi"
)

const (
	awake       = loopapi.StateAwake
	terminated  = loopapi.StateTerminated
	sleeping    = loopapi.StateSleeping
	running     = loopapi.StateRunning
	terminating = loopapi.StateTerminating
)

// legal has a row for each state, with a bit for each state that may follow it:
//
//	Awake ───▶ Running ◀──▶ Sleeping
//	  │           │             │
//	  └───────────┴──────┬──────┘
//	                     ▼
//	                Terminating ───▶ Terminated
var legal = [...]uint8{
	awake:       1<<running | 1<<terminating,
	running:     1<<sleeping | 1<<terminating,
	sleeping:    1<<running | 1<<terminating,
	terminating: 1 << terminated,
	terminated:  0,
}

// stateWord is the state. Its writers hold mu, so a failed compare-and-swap means a writer without the lock: a violated
// invariant. Readers need no lock, but the state may change at once unless they hold it.
type stateWord struct{ w atomic.Int32 }

func (s *stateWord) load() loopapi.State { return loopapi.State(s.w.Load()) }

// move changes the state from one to another, if the table has this transition and the state still is from. The caller
// holds mu.
func (s *stateWord) move(from, to loopapi.State) error {
	if from < 0 || int(from) >= len(legal) || to < 0 || legal[from]&(1<<to) == 0 {
		return fmt.Errorf("no transition leads from %v to %v", from, to)
	}
	if !s.w.CompareAndSwap(int32(from), int32(to)) {
		return fmt.Errorf("the state was changed without the lock, from %v to %v", from, s.load())
	}
	return nil
}

// transition moves the loop to a state, and panics if the table has no such transition. The caller holds mu.
func (l *Loop) transition(op string, to loopapi.State) {
	if err := l.state.move(l.state.load(), to); err != nil {
		l.violated(op, err)
	}
}
