package park

// The state: one atomic word that only the methods below change.

import (
	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/sched/atomic"
)

// Word is a State together with the causes of the loop's end. They are bits of one word, so no reader sees a transition
// without its cause.
type Word uint32

// The causes of the end, and what else a word has.
const (
	CauseClose   Word = 1 << (8 + iota) // nothing that is queued may start any more
	CauseContext                        // the end of Run's context has begun the loop's end
	causeMask    = CauseClose | CauseContext

	// Resting is added to Terminating while an ending loop waits for workers: it sleeps then, too. Of the states' numbers
	// only that of Sleeping has this bit. endingBit is in the numbers of Terminating and Terminated, and in no other.
	Resting   = sleeping
	endingBit = terminated
)

// The states as words, without a cause.
const (
	awake       = Word(loopapi.StateAwake)
	terminated  = Word(loopapi.StateTerminated)
	sleeping    = Word(loopapi.StateSleeping)
	running     = Word(loopapi.StateRunning)
	terminating = Word(loopapi.StateTerminating)
)

// State returns the state, which at rest is Terminating.
func (w Word) State() loopapi.State {
	if w&endingBit != 0 {
		w &^= Resting
	}
	return loopapi.State(w &^ causeMask)
}

// Closing tells whether nothing that is queued may start any more.
func (w Word) Closing() bool { return w&CauseClose != 0 }

// Sleeping tells whether the loop needs a wake-up to see new work.
func (w Word) Sleeping() bool { return w&Resting != 0 }

// Ending tells whether external work is refused.
func (w Word) Ending() bool { return w&endingBit != 0 }

// The transitions. Each returns the next word, and whether this step may be taken from w; the model (model_test.go)
// explores the protocol with them.

// Start is the step of Run, which is taken once.
func (w Word) Start() (next Word, ok bool) { return running, w == awake }

// Sleep commits the loop to sleep; it may not be taken once the loop is ending.
func (w Word) Sleep() (next Word, ok bool) { return sleeping, w == running }

// Rest commits an ending loop to sleep; it may not be taken once the loop is closed.
func (w Word) Rest() (next Word, ok bool) { return w | Resting, !w.Closing() }

// Wake ends a sleep or a rest.
func (w Word) Wake() (next Word, ok bool) {
	next = w &^ Resting
	if w == sleeping {
		next = running
	}
	return next, w.Sleeping()
}

// Exit is the step of a loop that ends by itself.
func (w Word) Exit() (next Word, ok bool) { return terminating, w == running }

// Terminate is the step of a caller that asks for the end. On a loop that is ending, only Close may take it, until the
// loop has ended: it adds its cause, and ends the loop's rest.
func (w Word) Terminate(cause Word) (next Word, ok bool) {
	switch {
	case !w.Ending():
		return terminating | cause, true
	case w.State() == loopapi.StateTerminating && cause == CauseClose && !w.Closing():
		return w&^Resting | CauseClose, true
	}
	return w, false
}

// Terminated is the last step. The causes stay readable.
func (w Word) Terminated() Word { return w&causeMask | terminated }

// StateWord is the word that producers, the loop, and callers of Shutdown and Close share. Writers: the loop (Start,
// Sleep, Rest, Wake, Exit, Terminated), a producer that claims the one wake-up of a sleep (Wake), and any goroutine that
// asks for the end (Terminate; Terminated, if the loop never ran). The protocol in park.go says what each access pairs with.
type StateWord struct {
	w atomic.Uint32
}

// Load returns the word at some moment during the call.
func (s *StateWord) Load() Word { return Word(s.w.Load()) }

// take takes a step, if it may be taken and no other is taken meanwhile. It tells whether it did.
func (s *StateWord) take(step func(Word) (Word, bool)) bool {
	from := s.Load()
	next, ok := step(from)
	return ok && s.w.CompareAndSwap(uint32(from), uint32(next))
}

// Start claims the loop for the one Run.
func (s *StateWord) Start() bool { return s.take(Word.Start) }

// Sleep commits the loop to sleep; it fails when the loop is ending.
func (s *StateWord) Sleep() bool { return s.take(Word.Sleep) }

// Rest commits an ending loop to sleep; it fails when the loop is closed.
func (s *StateWord) Rest() bool { return s.take(Word.Rest) }

// Wake claims the wake-up of a sleeping loop: of all callers one succeeds. If another step is taken meanwhile, it has ended the
// sleep: so does every step that others take.
func (s *StateWord) Wake() bool { return s.take(Word.Wake) }

// Exit ends a loop that nothing keeps alive; it fails when another caller has ended it.
func (s *StateWord) Exit() bool { return s.take(Word.Exit) }

// Terminate asks for the end and returns the word that it found. ok tells whether this call took the step.
func (s *StateWord) Terminate(cause Word) (from Word, ok bool) {
	for {
		from = s.Load()
		next, ok := from.Terminate(cause)
		if !ok {
			return from, false
		}
		if s.w.CompareAndSwap(uint32(from), uint32(next)) {
			return from, true
		}
	}
}

// Terminated ends the loop. Only the owner of an ending loop calls it. It tries again if a Close comes in between.
func (s *StateWord) Terminated() {
	for {
		if from := s.Load(); s.w.CompareAndSwap(uint32(from), uint32(from.Terminated())) {
			return
		}
	}
}
