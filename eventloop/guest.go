package eventloop

// The guest: a scheduler that is built on the loop, and has turns of its own. What the two know of each other is in
// package guest.

import (
	"context"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/turnloop/turnloop/internal/guest"
	"github.com/turnloop/turnloop/internal/sched"
	"github.com/turnloop/turnloop/internal/sched/atomic"
)

func init() {
	guest.Seat = func(loop any, take func(any, guest.Host) guest.Guest) guest.Guest {
		l := loop.(*Loop)
		return l.guest.seat(l, take)
	}
}

// guestSeat is where the guest sits: set once, by any goroutine, and read by the loop.
type guestSeat struct {
	taken atomic.Pointer[guest.Guest]
}

func (s *guestSeat) seat(l *Loop, take func(any, guest.Host) guest.Guest) guest.Guest {
	if g := s.taken.Load(); g != nil {
		return *g
	}
	g := take(l, (*host)(l))
	s.taken.CompareAndSwap(nil, &g)
	return *s.taken.Load()
}

// ready tells whether the guest wants a turn.
func (s *guestSeat) ready() bool {
	g := s.taken.Load()
	return g != nil && (*g).Ready()
}

// reject tells the guest that everything else has run, and whether it wants turns for that.
func (s *guestSeat) reject() bool {
	g := s.taken.Load()
	return g != nil && (*g).Reject()
}

// drain has the guest bring what it serves to an end, and waits for that until ctx ends. A loop that does not run serves
// nothing; and the loop itself cannot wait.
func (s *guestSeat) drain(ctx context.Context, l *Loop) {
	g := s.taken.Load()
	if g == nil || l.State() == StateAwake || l.state.load().ending() || l.OnLoop() {
		return
	}
	drained := make(chan struct{})
	if l.SubmitInternal(func() { (*g).Drain(func() { close(drained) }) }) != nil {
		return
	}
	sched.Await(drained, ctx.Done(), l.done)
	select {
	case <-drained:
	case <-ctx.Done():
	case <-l.done:
	}
}

// unneeded returns how many of the registered descriptors keep no loop alive.
func (s *guestSeat) unneeded() int {
	if g := s.taken.Load(); g != nil {
		return (*g).Unneeded()
	}
	return 0
}

// leave lets what the guest has come to its end, as one callback if there is any.
func (s *guestSeat) leave(l *Loop) {
	g := s.taken.Load()
	if g == nil {
		return
	}
	if p := l.probe; p != nil && (*g).Count() > 0 {
		p.begin(aThreadlet, mark{})
		defer p.end()
	}
	l.calling = calling{kind: aThreadlet}
	(*g).Leave()
}

// count is how many the guest has that have not ended.
func (s *guestSeat) count() int {
	if g := s.taken.Load(); g != nil {
		return (*g).Count()
	}
	return 0
}

func (s *guestSeat) end() {
	if g := s.taken.Load(); g != nil {
		(*g).End()
	}
}

func (s *guestSeat) stuck() {
	if g := s.taken.Load(); g != nil {
		(*g).Stuck()
	}
}

// guestTurns is how many turns a tick has for the guest.
const guestTurns = 64

// runGuest gives the guest its turns, with internal tasks and microtasks before each as before any other callback.
func (l *Loop) runGuest() {
	if !l.guest.ready() {
		return
	}
	g := *l.guest.taken.Load()
	t := &l.bounds
	for g.Ready() {
		if l.microtasksDue() {
			l.checkpoint()
		}
		switch {
		case l.state.load().closing(), l.internalWaiting():
			return
		case t.turns == guestTurns, t.crowded, t.turned.over(l):
			t.full = true
			return
		}
		t.turns++
		if l.calling = (calling{kind: aThreadlet}); l.probe == nil {
			g.Turn()
			continue
		}
		l.probe.begin(aThreadlet, mark{})
		g.Turn()
		l.probe.end()
	}
}

// host is the loop as its guest sees it.
type host Loop

func (h *host) Owner() *atomic.Uintptr { return &h.owner }

func (h *host) Pressed() bool {
	l := (*Loop)(h)
	return l.state.load().closing() || l.microtasksDue() || l.internalWaiting()
}

func (h *host) Ending() bool              { return h.state.load().ending() }
func (h *host) Tick() int64               { return h.tickTime.Load() }
func (h *host) When(tick int64) time.Time { return h.anchor.Add(time.Duration(tick)) }
func (h *host) Log() *slog.Logger         { return h.log() }

func (h *host) Looks() guest.Looks {
	return guest.Looks{Turns: h.probe != nil, Places: h.debug, Stacks: h.onStall != nil}
}

func (h *host) Here() any { return (*Loop)(h).here() }

func (h *host) Note(serial uint64, from any, doing string) {
	l := (*Loop)(h)
	place, _ := from.(*place)
	l.notes.tell(threadletID(serial), l.now(), place, doing)
}

func (h *host) Runs(serial uint64) {
	_, from := h.notes.get(threadletID(serial))
	h.probe.place.Store(from)
}

func (h *host) Forget(serial uint64) { h.notes.drop(threadletID(serial)) }

func (h *host) Switch(goroutine uint64) uint64 { return h.probe.goroutine.Swap(goroutine) }
func (h *host) Number() uint64                 { return goroutineID() }

// faultOf is what a callback that panicked is reported as. A guest has caught the panic where the stack was.
func faultOf(value any) *PanicError {
	if f, ok := value.(guest.Fault); ok {
		return f.PanicError
	}
	return &PanicError{Value: value, Stack: debug.Stack()}
}
