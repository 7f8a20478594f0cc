package eventloop_test

// Tests of UnregisterFDThen.

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
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

// What follows a registration runs once its callback is over, on the loop or, when that has ended without it, elsewhere;
// and where it is refused it does not run.
func TestUnregisterThen(t *testing.T) {
	needDescriptors(t)
	shutdown := func(l *eventloop.Loop) error { return l.Shutdown(context.Background()) }
	closeIt := func(l *eventloop.Loop) error { return l.Close() }
	for _, c := range []struct {
		name    string
		act     func(t *testing.T, l *eventloop.Loop, p *parting) error // returns what UnregisterFDThen returned
		run     bool
		err     error
		follows bool
		onLoop  bool
	}{
		{name: "asleep", run: true, follows: true, onLoop: true,
			act: func(t *testing.T, l *eventloop.Loop, p *parting) error {
				eventually(t, asleep(l), "the loop sleeps")
				return p.unregister()
			}},
		{name: "beside its callback", run: true, follows: true, onLoop: true,
			act: func(t *testing.T, l *eventloop.Loop, p *parting) error {
				p.begun()
				err := p.unregister()
				close(p.hold)
				return err
			}},
		{name: "within a callback", run: true, follows: true, onLoop: true,
			act: func(t *testing.T, l *eventloop.Loop, p *parting) error {
				return onLoop(t, l, func() error {
					p.running.Store(true)
					defer p.running.Store(false)
					return p.unregister()
				})
			}},
		{name: "before Run", follows: true, onLoop: true,
			act: func(t *testing.T, l *eventloop.Loop, p *parting) error {
				err := p.unregister()
				go l.Run(context.Background())
				return err
			}},
		{name: "before Shutdown, without Run", follows: true, onLoop: true,
			act: func(t *testing.T, l *eventloop.Loop, p *parting) error {
				return errors.Join(p.unregister(), shutdown(l))
			}},
		{name: "before Close, without Run", follows: true,
			act: func(t *testing.T, l *eventloop.Loop, p *parting) error {
				return errors.Join(p.unregister(), closeIt(l))
			}},
		{name: "before Close, beside its callback", run: true, follows: true,
			act: func(t *testing.T, l *eventloop.Loop, p *parting) error {
				p.begun()
				err := errors.Join(p.unregister(), closeIt(l))
				close(p.hold)
				return err
			}},
		{name: "after Close, beside its callback", run: true, follows: true,
			act: func(t *testing.T, l *eventloop.Loop, p *parting) error {
				p.begun()
				err := errors.Join(closeIt(l), p.unregister())
				close(p.hold)
				return err
			}},
		{name: "after Shutdown, beside its callback", run: true, follows: true, onLoop: true,
			act: func(t *testing.T, l *eventloop.Loop, p *parting) error {
				p.begun()
				over, cancel := context.WithCancel(context.Background())
				cancel() // asks for the end, and does not wait
				if err := l.Shutdown(over); !errors.Is(err, context.Canceled) {
					return err
				}
				err := p.unregister()
				close(p.hold)
				return err
			}},
		{name: "after the end", err: eventloop.ErrLoopTerminated,
			act: func(t *testing.T, l *eventloop.Loop, p *parting) error {
				return errors.Join(closeIt(l), p.unregister())
			}},
		{name: "twice", run: true, err: eventloop.ErrFDNotRegistered, follows: true, onLoop: true,
			act: func(t *testing.T, l *eventloop.Loop, p *parting) error {
				return errors.Join(p.unregister(), p.unregister())
			}},
		{name: "behind UnregisterFD", run: true, err: eventloop.ErrFDNotRegistered,
			act: func(t *testing.T, l *eventloop.Loop, p *parting) error {
				return errors.Join(l.UnregisterFD(p.near), p.unregister())
			}},
		{name: "nil", run: true, err: eventloop.ErrNilCallback,
			act: func(t *testing.T, l *eventloop.Loop, p *parting) error {
				return errors.Join(l.UnregisterFDThen(p.near, nil), l.ModifyFD(p.near, 0))
			}},
		{name: "refused by the system", run: true, err: errnos[4], follows: true, onLoop: true,
			act: func(t *testing.T, l *eventloop.Loop, p *parting) error { return p.unregister() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &fakePoller{parks: true}
			if c.name == "refused by the system" {
				f.broken, f.err, f.every = opRemove, c.err, 1
			}
			l, err := eventloop.New(eventloop.WithPoller(f.open))
			require.NoError(t, err)
			p := newParting(t, l)
			if c.run {
				go l.Run(context.Background())
			}
			err = c.act(t, l, p)
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
		l, err := eventloop.New(eventloop.WithLogger(slog.New(log)), eventloop.WithPanicHandler(func(*eventloop.PanicError) { handled++ }))
		require.NoError(t, err)
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
