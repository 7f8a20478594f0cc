package threadlet

// What the loop's probe learns of threadlets: how many there are, and, if an option asks for it, where each was made, what
// it is doing, and on which goroutine it runs.

import (
	"sync/atomic"

	"github.com/turnloop/turnloop/internal/guest"
	"github.com/turnloop/turnloop/internal/slim"
)

// seen tells the loop what happens to the threadlets of a scheduler. Only code on the loop touches it, except n.
type seen struct {
	host   guest.Host
	turns  bool                         // each turn has one threadlet, so that it can be timed
	places bool                         // the loop wants to know where threadlets were made, and what they are doing
	stacks bool                         // the loop wants to know which goroutine runs
	nos    slim.Map[*coroutine, uint64] // the numbers of the coroutines' goroutines; none if stacks is false
	n      *atomic.Int64                // threadlets that have not ended; written on the loop, read by any goroutine
}

func look(h guest.Host) seen {
	wanted := h.Looks()
	return seen{host: h, turns: wanted.Turns, places: wanted.Places, stacks: wanted.Stacks, n: new(atomic.Int64)}
}

// Count returns how many threadlets have not ended. Any goroutine may call it.
func (s *scheduler) Count() int { return int(s.seen.n.Load()) }

func (s *seen) entered(t *Threadlet) {
	guest.Publish(s.n, int64(t.s.count))
	if s.places {
		s.host.Note(t.serial, s.host.Here(), phases[fresh])
	}
}

// from returns the task that adds t to the scheduler, if Go was called on another goroutine. The place of that call is noted
// as that of t.
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

// goesOn notes that a threadlet runs again, and suspends what it waits for. They are called only if places is set: the callers
// test that, because a call would cost more.
func (s *seen) goesOn(t *Threadlet) {
	s.host.Note(t.serial, nil, phases[running])
	s.host.Runs(t.serial)
}

func (s *seen) suspends(t *Threadlet) {
	doing := phases[ready]
	if t.phase == waiting {
		if doing = "waits for " + reasons[t.reason]; t.extra != nil {
			doing += t.extra.because
		}
	}
	s.host.Note(t.serial, nil, doing)
}

func (s *seen) isReady(t *Threadlet) {
	if s.places {
		s.host.Note(t.serial, nil, phases[ready])
	}
}

// begins gives a new coroutine a number in traces, and switches to it. The coroutine calls it, on its goroutine.
func (s *seen) begins(c *coroutine) {
	if s.stacks {
		no := s.host.Number()
		s.nos.Put(c, no)
		s.host.Switch(no)
	}
}

// ends forgets the number of a coroutine that will run no other threadlet.
func (s *seen) ends(c *coroutine) { s.nos.Delete(c) }

// enter notes a switch to c, right before it. Its result is for back, which notes the switch back.
func (s *seen) enter(c *coroutine) (before uint64) {
	if s.stacks {
		return s.host.Switch(s.nos.Of[c])
	}
	return 0
}

func (s *seen) back(before uint64) {
	if s.stacks {
		s.host.Switch(before)
	}
}
