package threadlet

// The scheduler of a loop's threadlets: the queue of the ready ones, the list of all, idle coroutines, and the end.

import (
	plain "sync/atomic"
	"time"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/internal/guest"
	"github.com/turnloop/turnloop/internal/sched/atomic"
)

// scheduler is the guest of a loop (package guest). Only code on the loop touches it, except descs and seen.n, which any
// goroutine may use.
type scheduler struct {
	loop  *eventloop.Loop
	host  guest.Host
	owner *atomic.Uintptr // identity of the goroutine that runs the loop; see guest.SetOwner

	first, last    *Threadlet  // the queue: ready and fresh threadlets, in the order in which they are resumed
	eldest, newest *Threadlet  // the list of the threadlets that have not ended
	blank          []Threadlet // allocated, not used yet
	serial         uint64      // serial number of the newest threadlet
	count          int         // threadlets that have not ended

	made        *coroutine                // the newest coroutine, whose body begins by looking here for itself
	body        func(func(struct{}) bool) // the function of every coroutine; nil before the first
	idle        []*coroutine              // the coroutines without a threadlet; the last one is used next
	unused      int                       // the least number of them since scheduleTrim: so many were not needed
	trimPending bool                      // the timer of trimUnused is pending

	base    uintptr    // identity of the loop's goroutine while it has handed over to a coroutine
	quitter *coroutine // the coroutine that is to end
	spent   *coroutine // the coroutine whose threadlet has called runtime.Goexit; it ends its goroutine, and the one that resumes it

	ops int // operations of the running threadlet since it was resumed; see countOperation

	driver     *coroutine // the coroutine that resumes others in the loop's place, see suspend; nil while the loop does
	wantsTrace bool       // a coroutine hands back to have its driver trace the driver's own stack; see stackOf

	fault       *eventloop.PanicError // the panic of a threadlet that is not reported yet
	terminated  bool                  // Reject was called: every wait ends with ErrLoopTerminated
	descs       descs                 // the open descriptors
	known       int                   // how many descriptors are registered
	deferred    []*desc               // descriptors with deferred work, in this turn
	wanted      int                   // waits for descriptors, plus idle connections
	drainers    int                   // threadlets that Shutdown waits for
	onDrained   []func()              // called when drainers is 0
	draining    bool                  // Drain was called: the loop is about to end
	tracing     bool                  // a threadlet is being resumed only to trace its stack
	trace       []byte                // the stack that was traced
	seen        seen
	told        plain.Bool // of a caller elsewhere; set by any goroutine
	faultSerial uint64     // serial of the threadlet of fault
}

const (
	mostIdle  = 256         // the most idle coroutines that are kept; each has a stack
	fewIdle   = 8           // how many idle coroutines are kept even if none was needed for a while
	trimPause = time.Second // how long a coroutine must be idle before trimUnused ends it
)

func schedulerOf(l *eventloop.Loop) *scheduler {
	return guest.Seat(l, newScheduler).(*scheduler)
}

func newScheduler(l any, h guest.Host) guest.Guest {
	return &scheduler{loop: l.(*eventloop.Loop), host: h, owner: h.Owner(), seen: look(h)}
}

// make returns a new threadlet. It allocates several at once, which costs a fraction for each.
func (s *scheduler) make() *Threadlet {
	if len(s.blank) == 0 {
		s.blank = make([]Threadlet, 4)
	}
	t := &s.blank[0]
	s.blank = s.blank[1:]
	t.s = s
	return t
}

// enter adds a new threadlet to the list of all and to the queue.
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

// forget takes a threadlet that has ended out of the list of all.
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

// resumeLater makes a threadlet ready, behind all that are ready now.
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

// Turn resumes the first threadlet of the queue, whose coroutine may resume others (see suspend). It panics with a
// guest.Fault if one of them has panicked.
func (s *scheduler) Turn() {
	s.resume(s.take())
	s.runDeferred()
	if len(s.idle) > mostIdle {
		s.trim(mostIdle)
	}
	if s.fault != nil {
		s.report()
	}
}

// resume switches to a threadlet, ready or fresh, and returns when its coroutine hands back.
func (s *scheduler) resume(t *Threadlet) {
	if t.phase == fresh {
		s.begin(t, s.takeIdle())
	}
	s.goesOn(t)
	s.switchTo(t.co)
}

func (s *scheduler) goesOn(t *Threadlet) {
	t.phase = running
	s.ops = 0
	if s.seen.places {
		s.seen.goesOn(t)
	}
}

// begin gives a fresh threadlet to a coroutine, which runs it when it is resumed.
func (s *scheduler) begin(t *Threadlet, c *coroutine) { t.phase, t.co, c.t = running, c, t }

// nextFresh gives the first threadlet of the queue to c, which runs it without a switch. It returns nil if that threadlet is
// not fresh, or the turn must end.
func (s *scheduler) nextFresh(c *coroutine) *Threadlet {
	if t := s.first; t == nil || t.phase != fresh || s.seen.turns || !s.host.Another() {
		return nil
	}
	t := s.take()
	s.begin(t, c)
	return t
}

func (s *scheduler) takeIdle() *coroutine {
	n := len(s.idle) - 1
	if n < 0 {
		return s.newCoroutine()
	}
	c := s.idle[n]
	s.idle[n] = nil
	s.idle = s.idle[:n]
	s.unused = min(s.unused, n)
	return c
}

// putIdle adds c to the idle coroutines. c calls it before it hands back.
func (s *scheduler) putIdle(c *coroutine) {
	s.idle = append(s.idle, c)
	if len(s.idle) > fewIdle && !s.trimPending {
		s.scheduleTrim()
	}
}

// scheduleTrim starts a timer for trimUnused, which ends the idle coroutines that were not needed meanwhile, except fewIdle
// of them. When only these are left, no other timer is started, so a loop without work comes to rest.
func (s *scheduler) scheduleTrim() {
	s.unused = len(s.idle)
	id, err := s.loop.ScheduleTimerAs(eventloop.TimerBackground, trimPause, s.trimUnused)
	s.trimPending = err == nil
	_ = s.loop.UnrefTimer(id)
}

func (s *scheduler) trimUnused() {
	s.trimPending = false
	if s.trim(max(len(s.idle)-s.unused, fewIdle)); len(s.idle) > fewIdle {
		s.scheduleTrim()
	}
}

// trim ends idle coroutines until at most `to` are left.
func (s *scheduler) trim(to int) {
	for len(s.idle) > to {
		s.end(s.takeIdle())
	}
}

// Reject ends every wait with ErrLoopTerminated, the current ones and all that follow. It tells whether a threadlet is ready.
func (s *scheduler) Reject() bool {
	s.terminated = true
	for t := s.eldest; t != nil; t = t.younger {
		t.wake(eventloop.ErrLoopTerminated)
	}
	return s.Ready()
}

// Leave runs every threadlet that has begun to its end, and ends the fresh ones without running them. If Turn panics in it,
// the loop calls Leave again.
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

// Unneeded returns the number of registered descriptors if nothing waits for any of them, and otherwise 0.
func (s *scheduler) Unneeded() int {
	if s.wanted > 0 {
		return 0
	}
	return s.known
}

// End closes the descriptors that are still open.
func (s *scheduler) End() {
	s.descs.end()
}
