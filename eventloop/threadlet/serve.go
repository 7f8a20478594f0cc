package threadlet

// Serving: a threadlet for each connection, on one loop or on all loops of a group.

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"sync/atomic"
	"time"

	"github.com/turnloop/turnloop/eventloop"
)

// ServeOption is an option of [Serve] and [ServeGroup].
type ServeOption func(*service)

// MaxConns limits the connections that are open at once, idle ones included; others wait for Accept in the system's queue.
// There is no limit without it, or with 0.
func MaxConns(n int) ServeOption { return func(sv *service) { sv.most = int64(n) } }

// OnPause has fn called when an attempt to accept has failed and will be repeated, for the first of several in a row.
// Without it, or with nil, the loop's logger is told. fn is called in the threadlet that accepts.
func OnPause(fn func(error)) ServeOption { return func(sv *service) { sv.onPause = fn } }

// service is what the acceptors of one Serve share. A nil one, as that of a plain Accept, has no rules.
type service struct {
	handle func(net.Conn)
	fits   func(net.Conn) bool // tells whether handle takes such a connection

	most    int64
	onPause func(error)

	acceptors []*listener  // one for each loop; none if somebody else's listener accepts
	waits     *Threadlet   // waits for room, where somebody else's listener accepts; touched on the loop alone
	open      atomic.Int64 // connections, and attempts to accept one; counted if there is a limit
	failed    atomic.Pointer[error]
}

func newService[C net.Conn](handle func(C), opts []ServeOption) (*service, error) {
	if handle == nil {
		return nil, eventloop.ErrNilCallback
	}
	sv := &service{handle: func(c net.Conn) { handle(c.(C)) }, fits: func(c net.Conn) bool {
		_, is := c.(C)
		return is
	}}
	for _, opt := range opts {
		opt(sv)
	}
	return sv, nil
}

// Serve accepts connections and calls handle for each in a threadlet of its own, until the listener is closed or fails; then it
// returns Accept's error. A listener that fails is closed, and the loop's logger is told. A connection is closed when handle
// has returned or panicked, unless handle has called [Conn.Idle] or [Shared]. Serve is for threadlets of the listener's loop.
//
// The connections of this package's listeners are of the type *[Conn]. A listener of another type will do if it accepts from
// one of these and waits for nothing else; its connections may be of another type, too. Serve returns errors.ErrUnsupported
// for a connection that handle does not take, and eventloop.ErrNilCallback for a nil handle.
func Serve[C net.Conn](ln net.Listener, handle func(C), opts ...ServeOption) error {
	sv, err := newService(handle, opts)
	if err != nil {
		return err
	}
	own, is := ln.(*listener)
	if !is {
		return sv.serveOther(ln)
	}
	sv.acceptors = []*listener{own}
	return own.serve(sv)
}

// ServeGroup is Serve for a server on all loops of a group. Each loop accepts, and has the connections that it has accepted;
// handle runs there. So a loop that computes keeps nobody from the others. A loop with more connections than another leaves
// the next one to that other, but waits only about a millisecond for it to come. The listener must be of this package. Its
// socket is closed when all loops have heard of that.
func ServeGroup[C net.Conn](g *eventloop.Group, ln net.Listener, handle func(C), opts ...ServeOption) error {
	sv, err := newService(handle, opts)
	if err != nil {
		return err
	}
	own, is := ln.(*listener)
	if !is {
		return fmt.Errorf("threadlet: ServeGroup on a %T: %w", ln, errors.ErrUnsupported)
	}
	_, err = own.caller(&own.in)
	for i := 0; i < g.Len() && err == nil; i++ {
		a := own
		if s := schedulerOf(g.Loop(i)); s != own.s {
			if a, err = own.again(s); err != nil {
				break
			}
			defer a.close()
		}
		sv.acceptors = append(sv.acceptors, a)
	}
	if err != nil {
		return own.opError("accept", err)
	}
	for _, a := range sv.acceptors {
		if a == own {
			continue
		}
		_, _ = Go(a.s.loop, func() { // refused only by a loop that has ended
			if err := a.serve(sv); !ends(err) {
				sv.failed.CompareAndSwap(nil, &err)
				_ = own.close()
			}
		})
	}
	if slices.Contains(sv.acceptors, own) {
		err = own.serve(sv)
	} else { // the listener's loop is none of the group
		err = own.opError("accept", own.awaitEnd())
	}
	if failed := sv.failed.Load(); failed != nil {
		return *failed
	}
	return err
}

// awaitEnd waits until the listener is closed, or the wait ends otherwise.
func (ln *listener) awaitEnd() error {
	t, err := ln.caller(&ln.in)
	for err == nil {
		if err = ln.rest(t, never); err == nil {
			err = ln.usable(&ln.in)
		}
	}
	return err
}

// again returns a second listener for the same socket, on another loop.
func (ln *listener) again(s *scheduler) (*listener, error) {
	a := &listener{address: ln.address, sys: ln.sys}
	fd, err := ln.s.descs.duplicate(&ln.desc)
	if err == nil {
		err = a.start(s, fd)
	}
	return a, err
}

func (ln *listener) serve(sv *service) error {
	if !sv.fits((*Conn)(nil)) {
		return sv.misfit((*Conn)(nil))
	}
	handle := func(c *Conn) { sv.handle(c) }
	for {
		c, err := ln.accept(sv)
		if err != nil {
			return sv.end(ln.s, ln, ln.opError("accept", err))
		}
		c.begin(handle)
	}
}

// serveOther is serve for a listener of another type.
func (sv *service) serveOther(ln net.Listener) error {
	t := Current()
	if t == nil {
		return ErrNotThreadlet
	}
	for {
		err := sv.awaitRoom(t)
		var c net.Conn
		if err == nil {
			c, err = ln.Accept()
		}
		if err == nil && !sv.fits(c) {
			_ = c.Close()
			err = sv.misfit(c)
		}
		if err != nil {
			return sv.end(t.s, ln, err)
		}
		sv.open.Add(1)
		if own, is := c.(*Conn); is {
			own.service = sv
			own.begin(func(c *Conn) { sv.handle(c) })
			continue
		}
		handle := func() {
			defer sv.left()
			defer c.Close()
			sv.handle(c)
		}
		if _, err := Go(t.s.loop, handle); err != nil {
			_ = c.Close() // the loop is ending
		}
	}
}

// awaitRoom waits until another connection may be open.
func (sv *service) awaitRoom(t *Threadlet) (err error) {
	for err == nil && sv.most > 0 && sv.open.Load() >= sv.most {
		if err = t.enter(); err == nil {
			sv.waits = t
			err = t.wait(pausing)
			sv.waits = nil
		}
	}
	return err
}

func (sv *service) misfit(c net.Conn) error {
	return fmt.Errorf("threadlet: Serve of a %T: %w", c, errors.ErrUnsupported)
}

// ends tells whether err is how accepting ends where somebody wants that.
func ends(err error) bool {
	return slices.ContainsFunc([]error{net.ErrClosed, ErrSignaled, ErrDraining, ErrNotThreadlet, eventloop.ErrLoopTerminated},
		func(known error) bool { return errors.Is(err, known) })
}

// end returns err, with which accepting has ended. If nobody has asked for that, it closes the listener and logs the error:
// an open one would have clients wait.
func (sv *service) end(s *scheduler, ln net.Listener, err error) error {
	if !ends(err) {
		_ = ln.Close()
		s.host.Log().Error("accepting has failed, and the listener is closed", "kind", "threadlet", "address", ln.Addr().String(), "error", err)
	}
	return err
}

const (
	lead     = 1                // so many connections a loop must have more than another one to wait for that
	patience = time.Millisecond // how long it waits
	lot      = 16               // so many connections it may then accept at once
)

// pause returns how long an acceptor must wait before it may try. If that is 0, the attempt counts as a connection until
// left is called.
func (sv *service) pause(ln *listener) time.Duration {
	switch {
	case sv == nil:
		return 0
	case ln.may > 0:
		ln.may--
	case slices.ContainsFunc(sv.acceptors, func(a *listener) bool { return a.s.descs.n.Load()+lead <= ln.s.descs.n.Load() }):
		ln.may = lot
		return patience
	}
	for sv.most > 0 && sv.open.Add(1) > sv.most {
		if sv.open.Add(-1) >= sv.most { // otherwise a connection was closed in between, and has woken nobody
			ln.paused.Add(1)
			return never
		}
	}
	return 0
}

// left counts the end of a connection, or of an attempt that has brought none. Where there was no room, acceptors try again.
func (sv *service) left() {
	if sv == nil || sv.most <= 0 || sv.open.Add(-1) != sv.most-1 {
		return
	}
	if sv.waits != nil {
		sv.waits.wake(nil)
	}
	for _, ln := range sv.acceptors {
		again := func() { ln.out.wakeAll(nil) }
		if ln.s.loop.OnLoop() {
			again()
		} else {
			_ = ln.s.loop.SubmitInternal(again)
		}
	}
}
