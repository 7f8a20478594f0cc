package eventloop

// The loop's state: one atomic word that only the methods below change.

import (
	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/sched/atomic"
)

// State is a loop's state, an int32 whose numbers are fixed, since they appear in logs and dumps.
//
//	func (s State) String() string // as in "running"
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
	StateAwake       State = 0 // created, Run not called yet
	StateTerminated  State = 1 // ended for good
	StateSleeping    State = 2 // parked until there is work
	StateRunning     State = 4 // running callbacks, or about to decide to sleep
	StateTerminating State = 5 // the end was asked for
)

// word is a State together with the causes of the loop's end. They are bits of one word, so no reader sees a transition
// without its cause.
type word uint32

const (
	causeClose   word = 1 << (8 + iota) // nothing that is queued may start any more
	causeContext                        // the end of Run's context has begun the loop's end
	causeMask    = causeClose | causeContext

	// resting is added to Terminating while an ending loop waits for workers: it sleeps then, too. Of the states' numbers
	// only that of Sleeping has this bit. endingBit is in the numbers of Terminating and Terminated, and in no other.
	resting   = word(StateSleeping)
	endingBit = word(StateTerminated)
)

func (w word) state() State {
	if w&endingBit != 0 {
		w &^= resting
	}
	return State(w &^ causeMask)
}

func (w word) closing() bool { return w&causeClose != 0 }

// sleeping tells whether the loop needs a wake-up to see new work.
func (w word) sleeping() bool { return w&resting != 0 }

// ending tells whether external work is refused.
func (w word) ending() bool { return w&endingBit != 0 }

// The transitions. Each returns the next word, and whether this step may be taken from w; the model (model_test.go)
// explores the protocol with them.

// start is the step of Run, which is taken once.
func (w word) start() (next word, ok bool) { return word(StateRunning), w == word(StateAwake) }

// sleep commits the loop to sleep; it may not be taken once the loop is ending.
func (w word) sleep() (next word, ok bool) { return word(StateSleeping), w == word(StateRunning) }

// rest commits an ending loop to sleep; it may not be taken once the loop is closed.
func (w word) rest() (next word, ok bool) { return w | resting, !w.closing() }

// wake ends a sleep or a rest.
func (w word) wake() (next word, ok bool) {
	next = w &^ resting
	if w == word(StateSleeping) {
		next = word(StateRunning)
	}
	return next, w.sleeping()
}

// exit is the step of a loop that ends by itself.
func (w word) exit() (next word, ok bool) { return word(StateTerminating), w == word(StateRunning) }

// terminate is the step of a caller that asks for the end. On a loop that is ending, only Close may take it, until the
// loop has ended: it adds its cause, and ends the loop's rest.
func (w word) terminate(cause word) (next word, ok bool) {
	switch {
	case !w.ending():
		return word(StateTerminating) | cause, true
	case w.state() == StateTerminating && cause == causeClose && !w.closing():
		return w&^resting | causeClose, true
	}
	return w, false
}

// terminated is the last step. The causes stay readable.
func (w word) terminated() word { return w&causeMask | word(StateTerminated) }

// stateWord is the word that producers, the loop, and callers of Shutdown and Close share. Writers: the loop (start,
// sleep, rest, wake, exit, terminated), a producer that claims the one wake-up of a sleep (wake), and any goroutine that
// asks for the end (terminate; terminated, if the loop never ran). The sleep protocol in wait.go says what each access
// pairs with.
type stateWord struct {
	w atomic.Uint32
}

func (s *stateWord) load() word { return word(s.w.Load()) }

// change replaces from by next if ok allows this step and the word is still from. It tells whether it did.
func (s *stateWord) change(from, next word, ok bool) bool {
	return ok && s.w.CompareAndSwap(uint32(from), uint32(next))
}

// start claims the loop for the one Run.
func (s *stateWord) start() bool {
	from := s.load()
	next, ok := from.start()
	return s.change(from, next, ok)
}

// sleep commits the loop to sleep; it fails when the loop is ending.
func (s *stateWord) sleep() bool {
	from := s.load()
	next, ok := from.sleep()
	return s.change(from, next, ok)
}

// rest commits an ending loop to sleep; it fails when the loop is closed.
func (s *stateWord) rest() bool {
	from := s.load()
	next, ok := from.rest()
	return s.change(from, next, ok)
}

// wake claims the wake-up of a sleeping loop: of all callers one succeeds.
func (s *stateWord) wake() bool {
	from := s.load()
	next, ok := from.wake()
	return s.change(from, next, ok) // if it fails, another goroutine has claimed the wake-up, as every change of this word by others does
}

// exit ends a loop that nothing keeps alive; it fails when another caller has ended it.
func (s *stateWord) exit() bool {
	from := s.load()
	next, ok := from.exit()
	return s.change(from, next, ok)
}

// terminate asks for the end and returns the word that it found. ok tells whether this call took the step.
func (s *stateWord) terminate(cause word) (from word, ok bool) {
	for {
		from = s.load()
		next, ok := from.terminate(cause)
		if !ok {
			return from, false
		}
		if s.change(from, next, ok) {
			return from, true
		}
	}
}

// terminated ends the loop. Only the owner of an ending loop calls it. It tries again if a Close comes in between.
func (s *stateWord) terminated() {
	for {
		if from := s.load(); s.change(from, from.terminated(), true) {
			return
		}
	}
}
