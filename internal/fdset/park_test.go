package fdset

// Tests of what the owner does with events, on a poller of the test's own.

import (
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/internal/loopapi"
	"github.com/turnloop/turnloop/internal/poller"
)

// host is a loop that is never woken, since the tests are the owner.
type host struct{ t *testing.T }

func (host) Ending() bool { return false }
func (host) Wake()        {}
func (h host) Log(_ slog.Level, msg string, err error, _ ...any) {
	h.t.Errorf("%s: %v", msg, err)
}

// readyPoller reports everything that was added to it as ready, always.
type readyPoller struct {
	added  map[int]uint32 // tags
	resets int
}

func (p *readyPoller) Add(fd int, _ loopapi.IOEvents, tag uint32) error {
	p.added[fd] = tag
	return nil
}
func (p *readyPoller) Modify(int, loopapi.IOEvents, loopapi.IOEvents, uint32) error { return nil }
func (p *readyPoller) Remove(fd int, _ loopapi.IOEvents) error                      { delete(p.added, fd); return nil }
func (p *readyPoller) Watch(func(error)) (func(), error)                            { return func() {}, nil }
func (p *readyPoller) Wake() error                                                  { return nil }
func (p *readyPoller) Close() error                                                 { return nil }
func (p *readyPoller) Reset() error {
	p.resets++
	clear(p.added)
	return nil
}
func (p *readyPoller) Wait(time.Duration) (all []poller.Event, err error) {
	for fd, tag := range p.added {
		all = append(all, poller.Event{FD: fd, Tag: tag, Events: loopapi.EventRead})
	}
	return all, nil
}

// Two that are always ready unregister each other, and register each other anew: each batch has an event that is nobody's,
// and the owner does not remember all of them.
func TestUnknownTagsAreNotKept(t *testing.T) {
	p := &readyPoller{added: map[int]uint32{}}
	var s Set
	s.Init(host{t}, func() (Poller, error) { return p, nil })
	register := func(fd int) {
		require.NoError(t, s.Register(fd, loopapi.EventRead, func(loopapi.IOEvents) {}, nil))
	}
	register(0)
	register(1)
	calls := 0
	for range 3 * MostEarlier {
		asked, err := s.Collect(0, true)
		require.NoError(t, err)
		require.True(t, asked)
		for s.Collected() {
			if r, events := s.Next(); events != 0 {
				calls++
				require.NoError(t, s.Unregister(1-r.FD, nil))
				register(1 - r.FD)
			}
			require.LessOrEqual(t, len(s.earlier)+len(s.unknown), MostEarlier+4)
		}
	}
	require.GreaterOrEqual(t, calls, 3*MostEarlier)
	require.NotZero(t, p.resets)
	require.Equal(t, 2, s.Len())
}

// An owner that has work asks for events from time to time, also where the watch reports none: its goroutine may find no processor.
func TestOwnerAsksBesideTheWatch(t *testing.T) {
	p := &readyPoller{added: map[int]uint32{}}
	var s Set
	s.Init(host{t}, func() (Poller, error) { return p, nil })
	require.NoError(t, s.Register(0, loopapi.EventRead, func(loopapi.IOEvents) {}, nil))
	clear(p.added) // nothing is ready
	for _, tick := range []struct {
		now  int64
		asks bool
	}{{0, true}, {askAfter - 1, false}, {askAfter, true}, {askAfter + 1, false}, {2 * askAfter, true}} {
		asked, err := s.Collect(tick.now, false)
		require.NoError(t, err)
		require.Equal(t, tick.asks, asked, "at %d ns", tick.now)
	}
}

// What a registration's end has queued is queued while the registration is locked; behind Close nothing is registered.
func TestUnregister(t *testing.T) {
	var s Set
	s.Init(host{t}, func() (Poller, error) { return &readyPoller{added: map[int]uint32{}}, nil })
	require.NoError(t, s.Register(0, loopapi.EventRead, func(loopapi.IOEvents) {}, nil))
	calls := 0
	require.NoError(t, s.Unregister(0, func() {
		calls++
		require.False(t, s.mu.TryLock())
	}))
	require.Equal(t, 1, calls)
	require.ErrorIs(t, s.Unregister(0, func() { calls++ }), loopapi.ErrFDNotRegistered)
	require.Equal(t, 1, calls)
	require.NoError(t, s.Close())
	require.ErrorIs(t, s.Unregister(0, nil), loopapi.ErrLoopTerminated)
	require.ErrorIs(t, s.Modify(0, 0), loopapi.ErrLoopTerminated)
}
