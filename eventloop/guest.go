package eventloop

// The guest: a scheduler that is built on the loop, and has turns of its own. Package guest has the interfaces of the two.

import (
	"context"
	"log/slog"
	"time"

	"github.com/turnloop/turnloop/internal/guest"
	"github.com/turnloop/turnloop/internal/observe"
	"github.com/turnloop/turnloop/internal/place"
	"github.com/turnloop/turnloop/internal/quota"
	"github.com/turnloop/turnloop/internal/sched"
	"github.com/turnloop/turnloop/internal/sched/atomic"
)

func init() {
	guest.Seat = func(loop any, take func(any, guest.Host) guest.Guest) guest.Guest {
		l := loop.(*Loop)
		return l.guest.seat(l, take)
	}
}

// guestSeat has the loop's guest.
type guestSeat struct {
	taken atomic.Pointer[guest.Guest] // set once, by any goroutine; any goroutine reads it
	slept atomic.Int64                // what unneeded was when the loop went to sleep last; the loop writes it before it leaves the state Running
	told  bool                        // threadlets have used up the account of the end, and were told; only the loop's
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

// reject tells the guest that everything else has run, and returns whether the guest then wants turns.
func (s *guestSeat) reject() bool {
	g := s.taken.Load()
	return g != nil && (*g).Reject()
}

// drain has the guest finish the requests that it serves, and waits until they are finished. If ctx ends first, drain returns
// Shutdown's error. It does nothing if the loop does not run, because there are no requests then. It also does nothing in a
// callback of the loop, because a callback cannot wait.
func (s *guestSeat) drain(ctx context.Context, l *Loop) error {
	g := s.taken.Load()
	if g == nil || l.State() == StateAwake || l.state.Load().Ending() || l.OnLoop() {
		return nil
	}
	drained := make(chan struct{})
	if l.SubmitInternal(func() { (*g).Drain(func() { close(drained) }) }) != nil {
		return nil
	}
	sched.Await(drained, ctx.Done(), l.done)
	select {
	case <-drained:
	case <-ctx.Done():
		return l.unfinished(ctx.Err())
	case <-l.done:
	}
	return nil
}

// unneeded returns how many of the registered descriptors do not count as reasons to stay alive. Only the loop knows; others,
// that is for inside false, get what held when it went to sleep, which holds as long as it sleeps.
func (s *guestSeat) unneeded(inside bool) int {
	if g := s.taken.Load(); g != nil && inside {
		return (*g).Unneeded()
	}
	return int(s.slept.Load())
}

// sleeps notes what unneeded is, for a loop that is about to sleep.
func (s *guestSeat) sleeps() {
	if n := int64(s.unneeded(true)); n != s.slept.Load() {
		s.slept.Store(n)
	}
}

// leave has the guest end all its threadlets. If it has some, their ends count as one callback.
func (s *guestSeat) leave(l *Loop) {
	g := s.taken.Load()
	if g == nil {
		return
	}
	if l.current = (call{kind: observe.Threadlet}); (*g).Count() > 0 {
		l.probe.Began(observe.Threadlet, 0, nil)
		defer l.probe.Ended()
	}
	(*g).Leave()
}

// count returns how many threadlets the guest has that have not ended.
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

// runGuest gives the guest its turns. Microtasks go before each turn, as before any other callback, and internal tasks for as
// long as they may in this tick: behind these the guest does not wait without end.
func (l *Loop) runGuest() {
	if !l.guest.ready() {
		return
	}
	g := *l.guest.taken.Load()
	t := &l.bounds
	for g.Ready() {
		if l.internalWaiting() {
			l.runInternal()
		}
		if l.microtasksDue() {
			l.checkpoint()
		}
		state := l.state.Load()
		switch {
		case state.Closing():
			return
		case l.internalWaiting() && !t.stopped:
			continue
		case t.crowded, t.turns.Due() && t.turns.Spent(l.now()):
			t.full = true
			return
		}
		t.turns.Count()
		if state.Ending() && !l.starts(quota.Turns) && !l.guest.told {
			l.guest.told = true
			g.Reject()
		}
		if state.Ending() && l.Closed() {
			return
		}
		l.current = call{kind: observe.Threadlet}
		l.probe.Began(observe.Threadlet, 0, nil)
		g.Turn()
		l.probe.Ended()
	}
}

// host is the loop as its guest sees it; package guest says what the methods do.
type host Loop

func (h *host) Owner() *atomic.Uintptr { return &h.owner }

func (h *host) Another() bool {
	l := (*Loop)(h)
	if l.micro.Len()|l.ticks.Len()|l.internals.Len() != 0 || l.urgent.Raised() || l.foreign.Raised() || l.state.Load().Closing() {
		return false
	}
	t := &l.bounds.turns
	if t.Due() && t.Spent(l.now()) || l.bounds.account.Open && !l.bounds.account.Resume() {
		return false
	}
	t.Count()
	return true
}

func (h *host) Ending() bool              { return h.state.Load().Ending() }
func (h *host) Tick() int64               { return h.park.Tick.Load() }
func (h *host) When(tick int64) time.Time { return h.park.Anchor.Add(time.Duration(tick)) }
func (h *host) Log() *slog.Logger         { return h.log() }

func (h *host) Looks() guest.Looks {
	return guest.Looks{Turns: h.probe != nil, Places: h.debug, Stacks: h.onStall != nil}
}

func (h *host) Work(ctx context.Context, fn func(context.Context) (any, error), done func(any, error)) error {
	return (*Loop)(h).work(ctx, fn, done, true)
}

func (h *host) Has(p any) bool { return h.promises.Has(p.(*Promise)) }

func (h *host) Watch(p any, fn func(any, error)) (stop func()) {
	return h.promises.Watch(p.(*Promise), fn)
}

func (h *host) Here() any { return (*Loop)(h).here() }

func (h *host) Note(serial uint64, from any, doing string) {
	l := (*Loop)(h)
	at, _ := from.(*place.Place)
	l.notes.Tell(place.Threadlets, serial, l.now(), at, doing)
}

func (h *host) Runs(serial uint64) {
	(*Loop)(h).shows(h.notes.Get(place.Threadlets, serial).From)
}

func (h *host) Forget(serial uint64) { h.notes.Drop(place.Threadlets, serial) }

func (h *host) Switch(goroutine uint64) uint64 { return h.probe.Switch(goroutine) }
func (h *host) Number() uint64                 { return observe.Goroutine() }
