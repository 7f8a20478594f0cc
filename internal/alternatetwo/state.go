package alternatetwo

// The state: one padded compare-and-swap word. Nothing validates a transition; the few callers are right.

import (
	"sync/atomic"

	"github.com/turnloop/turnloop/internal/loopapi"
)

// The states as numbers in the word, with the causes of the end beside them. Both states of the end are odd, and no
// other is.
const (
	awake       = uint32(loopapi.StateAwake)
	terminated  = uint32(loopapi.StateTerminated)
	sleeping    = uint32(loopapi.StateSleeping)
	running     = uint32(loopapi.StateRunning)
	terminating = uint32(loopapi.StateTerminating)

	endBit       = 1      // of terminating and terminated
	closeCause   = 1 << 8 // Close: nothing that is queued starts any more
	contextCause = 1 << 9 // the end of Run's context came first
	causes       = closeCause | contextCause
)

// state is written by the loop (start, sleep, wake, end) and by callers of terminate; producers read it with each
// submission. It has cache lines of its own, so that no other write makes producers fetch it again.
type state struct {
	_    [64]byte
	word atomic.Uint32
	_    [60]byte
}

func (s *state) load() uint32              { return s.word.Load() }
func (s *state) ending() bool              { return s.word.Load()&endBit != 0 }
func (s *state) closing() bool             { return s.word.Load()&closeCause != 0 }
func (s *state) swap(from, to uint32) bool { return s.word.CompareAndSwap(from, to) }

// terminate asks for the end and returns the word that it found. ok reports whether it changed anything: a loop that is
// ending accepts only a Close, and a loop that has ended accepts nothing.
func (s *state) terminate(cause uint32) (from uint32, ok bool) {
	for {
		from = s.load()
		if from&endBit != 0 && (cause != closeCause || from&closeCause != 0 || from&^causes == terminated) {
			return from, false
		}
		if s.swap(from, from&causes|terminating|cause) {
			return from, true
		}
	}
}

// end is the last step. The causes stay readable.
func (s *state) end() {
	for from := s.load(); !s.swap(from, from&causes|terminated); from = s.load() {
	}
}
