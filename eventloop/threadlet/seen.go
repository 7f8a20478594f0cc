package threadlet

// What the loop tells of its threadlets: how many there are, and, if somebody wants to know, where each comes from, what
// it is doing, and on which goroutine it blocks the loop.

import (
	"sync/atomic"

	"github.com/turnloop/turnloop/internal/guest"
)

// seen is told what happens to the threadlets of a scheduler, and tells the loop. The loop's alone, but for n.
type seen struct {
	host   guest.Host
	turns  bool // no two threadlets share a turn
	places bool // where they come from is noted, and what they do
	stacks bool // which goroutine runs is noted
	n      *atomic.Int64
}

func look(h guest.Host) seen {
	wanted := h.Looks()
	return seen{h, wanted.Turns, wanted.Places, wanted.Stacks, new(atomic.Int64)}
}

// Count is how many there are that have not ended.
func (s *scheduler) Count() int { return int(s.seen.n.Load()) }

// most is how many threadlets may share a turn with the first, of n.
func (s *seen) most(n int) int {
	if s.turns {
		return 0
	}
	return n
}

func (s *seen) entered(t *Threadlet) {
	guest.Publish(s.n, int64(t.s.count))
	if s.places {
		s.host.Note(t.serial, s.host.Here(), phases[fresh])
	}
}

// from has a threadlet enter that was made elsewhere: here.
func (s *seen) from(t *Threadlet) (enter func()) {
	here := s.host.Here()
	return func() {
		t.s.enter(t)
		s.host.Note(t.serial, here, phases[fresh])
	}
}

func (s *seen) left(t *Threadlet) {
	guest.Publish(s.n, int64(t.s.count))
	if s.places {
		s.host.Forget(t.serial)
	}
}

func (s *seen) goesOn(t *Threadlet) {
	if s.places {
		s.host.Note(t.serial, nil, phases[running])
		s.host.Runs(t.serial)
	}
}

func (s *seen) waits(t *Threadlet) {
	if s.places {
		s.host.Note(t.serial, nil, "waits for "+reasons[t.reason])
	}
}

func (s *seen) isReady(t *Threadlet) {
	if s.places {
		s.host.Note(t.serial, nil, phases[ready])
	}
}

// begins is told by a coroutine that has just begun.
func (s *seen) begins(c *coroutine) {
	if s.stacks {
		c.no = s.host.Number()
		s.host.Switch(c.no)
	}
}

// enter is told of the coroutine that goes on, and back when the one before does.
func (s *seen) enter(c *coroutine) (before uint64) {
	if s.stacks {
		before = s.host.Switch(c.no)
	}
	return before
}

func (s *seen) back(before uint64) {
	if s.stacks {
		s.host.Switch(before)
	}
}
