package eventloop_test

// Tests of UnregisterFDThen.

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
)

// parting is a descriptor whose callback a test may hold, and what UnregisterFDThen has to say about it.
type parting struct {
	near, far    int
	inside, hold chan struct{} // the callback has begun; it may return
	running      atomic.Bool   // the callback runs
	gone         atomic.Bool   // what follows has begun
	followed     chan bool     // what follows has run; whether on the loop
	loop         *eventloop.Loop
	t            *testing.T
}

func newParting(t *testing.T, l *eventloop.Loop) *parting {
	p := &parting{inside: make(chan struct{}, 1), hold: make(chan struct{}), followed: make(chan bool, 2), loop: l, t: t}
	p.near, p.far = newPair(t)
	require.NoError(t, l.RegisterFD(p.near, eventloop.EventRead, p.callback))
	return p
}

func (p *parting) callback(eventloop.IOEvents) {
	p.running.Store(true)
	if p.gone.Load() {
		p.t.Error("the callback begins after what follows it")
	}
	p.inside <- struct{}{}
	<-p.hold
	p.running.Store(false)
}

func (p *parting) then() {
	if p.running.Load() || p.gone.Swap(true) {
		p.t.Error("what follows the callback runs beside it, or twice")
	}
	p.followed <- p.loop.OnLoop()
}

func (p *parting) unregister() error { return p.loop.UnregisterFDThen(p.near, p.then) }

// begun has the loop call the callback, which is held.
func (p *parting) begun() {
	send(p.far, 1)
	<-p.inside
}

// deeds are what is done with a loop and a parting; a row of the test names some of them, in their order.
var deeds = map[string]func(t *testing.T, l *eventloop.Loop, p *parting) error{
	"unregister": func(_ *testing.T, _ *eventloop.Loop, p *parting) error { return p.unregister() },
	"within a callback": func(t *testing.T, l *eventloop.Loop, p *parting) error {
		return onLoop(t, l, func() error {
			p.running.Store(true)
			defer p.running.Store(false)
			return p.unregister()
		})
	},
	"UnregisterFD": func(_ *testing.T, l *eventloop.Loop, p *parting) error { return l.UnregisterFD(p.near) },
	"nil": func(_ *testing.T, l *eventloop.Loop, p *parting) error {
		return errors.Join(l.UnregisterFDThen(p.near, nil), l.ModifyFD(p.near, 0))
	},
	"run": func(_ *testing.T, l *eventloop.Loop, _ *parting) error {
		go l.Run(context.Background())
		return nil
	},
	"asleep": func(t *testing.T, l *eventloop.Loop, _ *parting) error {
		eventually(t, asleep(l), "the loop sleeps")
		return nil
	},
	"the system refuses": func(*testing.T, *eventloop.Loop, *parting) error { return nil }, // see broken
	"called":             func(_ *testing.T, _ *eventloop.Loop, p *parting) error { p.begun(); return nil },
	"returns":            func(_ *testing.T, _ *eventloop.Loop, p *parting) error { close(p.hold); return nil },
	"Close":              func(_ *testing.T, l *eventloop.Loop, _ *parting) error { return l.Close() },
	"Shutdown":           func(_ *testing.T, l *eventloop.Loop, _ *parting) error { return l.Shutdown(context.Background()) },
	"Shutdown is asked for": func(_ *testing.T, l *eventloop.Loop, _ *parting) error {
		over, cancel := context.WithCancel(context.Background())
		cancel() // asks for the end, and does not wait
		return is(l.Shutdown(over), context.Canceled)
	},
}

// What follows a registration runs once its callback is over, on the loop or, when that has ended without it, elsewhere;
// and where it is refused it does not run.
func TestUnregisterThen(t *testing.T) {
	needDescriptors(t)
	for does, c := range map[string]struct {
		err             error // of all deeds together
		follows, onLoop bool
		broken          bool // the system refuses
	}{
		"run, asleep, unregister":                                 {follows: true, onLoop: true},
		"run, called, unregister, returns":                        {follows: true, onLoop: true},
		"run, within a callback":                                  {follows: true, onLoop: true},
		"unregister, run":                                         {follows: true, onLoop: true},
		"unregister, Shutdown":                                    {follows: true, onLoop: true},
		"unregister, Close":                                       {follows: true},
		"run, called, unregister, Close, returns":                 {follows: true},
		"run, called, Close, unregister, returns":                 {follows: true},
		"run, called, Shutdown is asked for, unregister, returns": {follows: true, onLoop: true},
		"Close, unregister":                                       {err: eventloop.ErrLoopTerminated},
		"run, unregister, unregister":                             {err: eventloop.ErrFDNotRegistered, follows: true, onLoop: true},
		"run, UnregisterFD, unregister":                           {err: eventloop.ErrFDNotRegistered},
		"run, nil":                                                {err: eventloop.ErrNilCallback},
		"run, asleep, the system refuses, unregister":             {err: errnos[4], follows: true, onLoop: true, broken: true},
	} {
		t.Run(does, func(t *testing.T) {
			f := &fakePoller{parks: true}
			if c.broken {
				f.broken, f.err, f.every = opRemove, c.err, 1
			}
			l, err := eventloop.New(eventloop.WithPoller(f.open))
			require.NoError(t, err)
			p := newParting(t, l)
			for deed := range strings.SplitSeq(does, ", ") {
				err = errors.Join(err, deeds[deed](t, l, p))
			}
			require.ErrorIs(t, err, c.err)
			if c.follows {
				eventually(t, func() bool { return len(p.followed) > 0 }, "nothing follows")
				require.Equal(t, c.onLoop, <-p.followed, "on the loop")
			}
			_ = l.Shutdown(context.Background())
			<-l.Done()
			require.Empty(t, p.followed)
			require.Equal(t, c.follows, p.gone.Load())
		})
	}
}

// What follows and fails is reported, and keeps nothing else from following: neither on the loop nor when that has ended.
func TestUnregisterThenThatFails(t *testing.T) {
	needDescriptors(t)
	for _, end := range []bool{false, true} {
		log, handled := &journal{}, 0
		l := made(t, eventloop.WithLogger(slog.New(log)), eventloop.WithPanicHandler(func(*eventloop.PanicError) { handled++ }))
		var order []int // no lock: one follows the other
		done := make(chan struct{}, 1)
		for i, then := range []func(){func() { panic("first") }, runtime.Goexit, func() { done <- struct{}{} }} {
			near, _ := newPair(t)
			require.NoError(t, l.RegisterFD(near, 0, func(eventloop.IOEvents) {}))
			require.NoError(t, l.UnregisterFDThen(near, func() {
				order = append(order, i)
				then()
			}))
		}
		if end {
			require.NoError(t, l.Close())
		} else {
			require.NoError(t, l.Shutdown(context.Background()))
		}
		eventually(t, func() bool { return len(done) > 0 }, "what follows keeps what is behind it from it: %v", log)
		<-done
		require.Equal(t, []int{0, 1, 2}, order)
		if end {
			eventually(t, func() bool { return log.count("callback panicked", "first") == 1 }, "a panic is logged: %v", log)
			eventually(t, func() bool { return log.count("callback panicked", "runtime.Goexit") == 1 }, "so is a Goexit: %v", log)
			require.Zero(t, handled)
		} else {
			require.Equal(t, 2, handled)
		}
	}
}

// A registration that the system will not end has ended for the loop: it does not stay for it.
func TestRefusedUnregistrationEndsAutoExitLoops(t *testing.T) {
	near, _ := newPair(t)
	f := &fakePoller{broken: opRemove, err: errors.New("no Remove"), every: 1}
	l, err := eventloop.New(eventloop.WithAutoExit(true), eventloop.WithPoller(f.open))
	require.NoError(t, err)
	require.NoError(t, l.RegisterFD(near, 0, func(eventloop.IOEvents) {}))
	go l.Run(context.Background())
	eventually(t, asleep(l), "the loop sleeps")
	require.ErrorIs(t, l.UnregisterFD(near), f.err)
	eventually(t, func() bool { return l.State() == eventloop.StateTerminated }, "the loop sleeps on")
}
