package threadlet

// The scheduler of a loop's threadlets: who is ready, who is there, and the end.

import (
	"time"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/internal/guest"
	"github.com/turnloop/turnloop/internal/sched/atomic"
)

// scheduler is the guest of a loop. The loop alone touches it.
type scheduler struct {
	loop  *eventloop.Loop
	host  guest.Host
	owner *atomic.Uintptr // the loop's

	first, last    *Threadlet // that are ready, in the order in which they became so
	eldest, newest *Threadlet // all that have not ended
	blank          []Threadlet
	serial         uint64 // of the newest
	count          int    // of all

	idle      *coroutine // those that have nothing to run
	idles     int
	unused    int  // the fewest that there were since relieve
	relieving bool // relief is to be called

	ops   int // system calls of the running threadlet since it was resumed
	spare int // threadlets that may still begin, or be resumed, in this turn

	driver *coroutine // resumes others although it is none's turn but its own; nil if the loop does
	asked  bool       // the driver is to say where it is

	fault     *eventloop.PanicError // of a threadlet, not yet reported
	over      bool                  // the loop ends, and nobody waits any more
	left      int                   // turns that an ending loop still has while it waits for that
	descs     descs                 // anybody's
	known     int                   // descriptors that are registered
	wanted    int                   // waits for descriptors, and connections that are idle
	drains    int                   // threadlets that the end waits for
	onDrained []func()              // called when there are none
	closing   bool                  // the loop is about to end
	tracing   bool                  // a threadlet is resumed to say where it is
	trace     []byte
	seen      seen
	culprit   uint64 // whose the fault is
}

const (
	mostIdle  = 256     // coroutines that are kept; their stacks are as large as they have had to be
	fewIdle   = 8       // that are kept although nobody has needed them for a while
	mostSpare = 8       // threadlets that begin or are resumed in one turn besides the first
	mostTurns = 1 << 14 // of an ending loop that finds no end

	reliefPause = time.Second
)

func schedulerOf(l *eventloop.Loop) *scheduler {
	return guest.Seat(l, newScheduler).(*scheduler)
}

func newScheduler(l any, h guest.Host) guest.Guest {
	return &scheduler{loop: l.(*eventloop.Loop), host: h, owner: h.Owner(), left: mostTurns, seen: look(h)}
}

// make returns a new threadlet. To ask for the memory of several at once costs a fraction.
func (s *scheduler) make() *Threadlet {
	if len(s.blank) == 0 {
		s.blank = make([]Threadlet, 4)
	}
	t := &s.blank[0]
	s.blank = s.blank[1:]
	t.s = s
	return t
}

// enter takes a new threadlet in.
func (s *scheduler) enter(t *Threadlet) {
	s.serial++
	s.count++
	t.serial, t.since = s.serial, s.host.Tick()
	t.elder = s.newest
	if t.elder == nil {
		s.eldest = t
	} else {
		t.elder.younger = t
	}
	s.newest = t
	s.seen.entered(t)
	s.queue(t)
}

// forget takes out one that has ended.
func (s *scheduler) forget(t *Threadlet) {
	s.count--
	s.seen.left(t)
	if t.elder == nil {
		s.eldest = t.younger
	} else {
		t.elder.younger = t.younger
	}
	if t.younger == nil {
		s.newest = t.elder
	} else {
		t.younger.elder = t.elder
	}
	t.elder, t.younger = nil, nil
}

// resumeLater gives a threadlet its next turn when it is the turn of all that are ready now.
func (s *scheduler) resumeLater(t *Threadlet) {
	t.phase = ready
	s.seen.isReady(t)
	s.queue(t)
}

func (s *scheduler) queue(t *Threadlet) {
	if s.last == nil {
		s.first = t
	} else {
		s.last.next = t
	}
	s.last = t
}

func (s *scheduler) take() *Threadlet {
	t := s.first
	if s.first = t.next; s.first == nil {
		s.last = nil
	}
	t.next = nil
	return t
}

// Ready tells whether a threadlet is ready.
func (s *scheduler) Ready() bool { return s.first != nil }

// Turn resumes the first threadlet that is ready.
func (s *scheduler) Turn() {
	if s.host.Ending() && !s.over {
		if s.left--; s.left < 0 {
			s.Reject()
		}
	}
	s.spare = s.seen.most(mostSpare)
	s.resume(s.take())
	if s.idles > mostIdle {
		s.trim(mostIdle)
	}
	if s.fault != nil {
		s.report()
	}
}

// resume resumes a threadlet that was ready, or begins it.
func (s *scheduler) resume(t *Threadlet) {
	if t.phase == fresh {
		s.begin(t, s.takeIdle())
	}
	t.phase = running
	s.ops = 0
	s.seen.goesOn(t)
	t.co.resume()
}

// drive does on the coroutine of t, which is about to hand over to the loop, what the loop would do then: it resumes who is
// ready. If it comes to be the turn of t itself that is true, and two switches of four were saved. What goes before
// threadlets, and what only the loop can do, ends it.
func (s *scheduler) drive(t *Threadlet) bool {
	if s.driver != nil || s.first == t {
		return false
	}
	s.driver = t.co
	mine := false
	for !mine && s.spare > 0 && s.fault == nil && s.Ready() && !s.host.Pressed() {
		next := s.first
		if next.phase == fresh && s.idle == nil {
			break // a new coroutine inherits the labels of the goroutine that makes it
		}
		s.spare--
		s.take()
		if mine = next == t; !mine {
			s.resume(next)
		}
	}
	s.driver = nil
	if mine {
		t.phase = running
		s.ops = 0
		s.seen.goesOn(t)
	}
	return mine
}

// begin has a coroutine run a threadlet when it is resumed.
func (s *scheduler) begin(t *Threadlet, c *coroutine) { t.phase, t.co, c.t = running, c, t }

// nextFresh returns a threadlet that a coroutine may begin at once.
func (s *scheduler) nextFresh(c *coroutine) *Threadlet {
	if t := s.first; t == nil || t.phase != fresh || s.spare == 0 || s.host.Pressed() {
		return nil
	}
	s.spare--
	t := s.take()
	s.begin(t, c)
	return t
}

func (s *scheduler) takeIdle() *coroutine {
	c := s.idle
	if c == nil {
		return s.newCoroutine()
	}
	s.idle, c.rest = c.rest, nil
	s.idles--
	s.unused = min(s.unused, s.idles)
	return c
}

// putIdle is called by a coroutine that is about to rest.
func (s *scheduler) putIdle(c *coroutine) {
	c.rest = s.idle
	s.idle = c
	if s.idles++; s.idles > fewIdle && !s.relieving {
		s.relieve()
	}
}

// relieve has those ended, but for a few, that nobody has needed from one look to the next. When only few are left nobody
// looks any more, so a loop that has nothing to do comes to rest.
func (s *scheduler) relieve() {
	s.unused = s.idles
	id, err := s.loop.ScheduleTimerAs(eventloop.TimerBackground, reliefPause, s.relief)
	if s.relieving = err == nil; s.relieving {
		_ = s.loop.UnrefTimer(id)
	}
}

func (s *scheduler) relief() {
	s.relieving = false
	if s.trim(max(s.idles-s.unused, fewIdle)); s.idles > fewIdle {
		s.relieve()
	}
}

// trim ends idle coroutines until only so many are left.
func (s *scheduler) trim(to int) {
	for s.idles > to {
		s.takeIdle().end()
	}
}

// Reject tells all who wait that the loop ends.
func (s *scheduler) Reject() bool {
	s.over = true
	for t := s.eldest; t != nil; t = t.younger {
		t.wake(eventloop.ErrLoopTerminated)
	}
	return s.Ready()
}

// Leave runs every threadlet to its end; those that have not begun do not begin any more.
func (s *scheduler) Leave() {
	s.Reject()
	for s.Ready() {
		if t := s.first; t.phase == fresh {
			s.take().finish(eventloop.ErrLoopTerminated)
			continue
		}
		s.Turn()
	}
	s.trim(0)
}

// Unneeded returns how many registered descriptors there are if nobody waits for any, and otherwise 0.
func (s *scheduler) Unneeded() int {
	if s.wanted > 0 {
		return 0
	}
	return s.known
}

// End releases what the loop held.
func (s *scheduler) End() { s.descs.end() }
