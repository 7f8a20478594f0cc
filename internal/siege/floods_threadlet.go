//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

// The floods of threadlets: calls from other goroutines, and threadlets that never stop.

import (
	"context"
	"errors"
	"net"
	"os"
	"time"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/eventloop/threadlet"
)

var threadlets = []flood{
	{name: "threadlet.Go", like: makes, law: exactly, own: set(taskProbe),
		begin: each(func(s *site, t *tally) error { _, err := threadlet.Go(s.own, t.next()); return err })},
	// All but the first signal of a wait cost an atomic operation.
	{name: "threadlet Signal", like: nudges, own: set(internalProbe), free: set(taskProbe), begin: signaled},
	{name: "threadlet.Threadlets", like: makes, own: set(internalProbe), free: set(taskProbe),
		begin: asks(func(s *site) { threadlet.Threadlets(s.own) })},
	{name: "Conn Signal", like: nudges, own: set(internalProbe), free: set(taskProbe), begin: reading(func(c *threadlet.Conn) { c.Signal() })},
	{name: "Conn deadlines", like: alarms, own: set(internalProbe), free: set(taskProbe), begin: reading(func(c *threadlet.Conn) {
		at := time.Now().Add(idleTimer)
		_ = c.SetDeadline(at)
		_ = c.SetReadDeadline(time.Time{})
		_ = c.SetWriteDeadline(at)
	})},
	{name: "threadlets that yield", like: feeds, feeds: true, begin: plays(func(*eventloop.Loop) func() error { return threadlet.Yield })},
	{name: "threadlets with Do", like: feeds, feeds: true, begin: plays(func(*eventloop.Loop) func() error {
		return func() error { return threadlet.Do(context.Background(), func(context.Context) error { return nil }) }
	})},
	{name: "threadlets with a Chan", like: feeds, feeds: true, begin: plays(passing)},
	{name: "threadlets with a Cond", like: feeds, feeds: true, begin: plays(waking)},
	{name: "threadlets with a Conn", like: feeds, feeds: true, begin: plays(echoing)},
}

// plays starts a threadlet that makes one call after the other, until one fails: the end of the loop fails all that wait.
func plays(prepare func(l *eventloop.Loop) func() error) func(s *site, t *tally) flooder {
	return func(s *site, t *tally) flooder {
		_, err := threadlet.Go(s.own, func() {
			s.enter() // not after each call: one that succeeds before Close may return after it
			call := prepare(s.own)
			for !s.stop.Load() {
				t.begun.Add(1)
				if call() != nil {
					return
				}
				t.accepted.Add(1)
				t.calls.Add(1)
			}
		})
		if err != nil {
			s.fault("no threadlet: " + err.Error())
		}
		return flooder{}
	}
}

// passing sends, and another threadlet receives.
func passing(l *eventloop.Loop) func() error {
	c := threadlet.NewChan[int](l, 0)
	_, err := threadlet.Go(l, func() {
		for {
			if _, err := c.Receive(); err != nil {
				return
			}
		}
	})
	return func() error {
		if err != nil {
			return err
		}
		return c.Send(0)
	}
}

// waking waits until another threadlet has had its turn, with the lock of both.
func waking(l *eventloop.Loop) func() error {
	var mu threadlet.Mutex
	turn, mine := threadlet.NewCond(&mu), true
	take := func(who bool) error {
		if err := mu.Lock(); err != nil {
			return err
		}
		defer mu.Unlock()
		for mine != who {
			if err := turn.Wait(); err != nil {
				return err
			}
		}
		mine = !who
		turn.Broadcast()
		return nil
	}
	_, err := threadlet.Go(l, func() {
		for take(false) == nil {
		}
	})
	return func() error {
		if err != nil {
			return err
		}
		return take(true)
	}
}

// echoing writes to a connection and reads the answer of another threadlet.
func echoing(l *eventloop.Loop) func() error {
	near, far, err := connections(l)
	if err == nil {
		_, err = threadlet.Go(l, func() {
			defer far.Close()
			for buf := make([]byte, 1); ; {
				if _, err := far.Read(buf); err != nil {
					return
				}
				if _, err := far.Write(buf); err != nil {
					return
				}
			}
		})
	}
	buf := make([]byte, 1)
	return func() error {
		if err != nil {
			return err
		}
		if _, err := near.Write(buf); err != nil {
			return err
		}
		_, err := near.Read(buf)
		return err
	}
}

// connections returns the two ends of a connection. The loop's end closes them.
func connections(l *eventloop.Loop) (near, far *threadlet.Conn, err error) {
	fd, file, err := pair()
	if err != nil {
		return nil, nil, err
	}
	wrap := func(f *os.File) (*threadlet.Conn, error) {
		defer f.Close()
		c, err := net.FileConn(f)
		if err != nil {
			return nil, err
		}
		return threadlet.Wrap(l, c)
	}
	near, err = wrap(os.NewFile(uintptr(fd), "near end"))
	if err != nil {
		_ = file.Close()
		return nil, nil, err
	}
	far, err = wrap(file)
	return near, far, err
}

// reading makes calls to a connection from which a threadlet reads, while nothing comes.
func reading(call func(c *threadlet.Conn)) func(s *site, t *tally) flooder {
	return func(s *site, _ *tally) flooder {
		near, far, err := connections(s.own)
		if err == nil {
			_, err = threadlet.Go(s.own, func() {
				for !s.stop.Load() {
					if _, err := near.Read(make([]byte, 1)); err != nil && !errors.Is(err, threadlet.ErrSignaled) {
						return
					}
				}
			})
		}
		if err != nil {
			s.fault("nobody reads: " + err.Error())
			return flooder{}
		}
		return flooder{
			call:   func() bool { call(near); return !s.stop.Load() },
			finish: func() { _, _ = near.Close(), far.Close() },
		}
	}
}

// signaled signals a threadlet that does nothing but wait for signals.
func signaled(s *site, _ *tally) flooder {
	waits, err := threadlet.Go(s.own, func() {
		for !s.stop.Load() {
			if err := threadlet.Sleep(idleTimer); err == eventloop.ErrLoopTerminated {
				return
			}
			s.enter()
		}
	})
	if err != nil {
		s.fault("no threadlet to signal: " + err.Error())
		return flooder{}
	}
	return flooder{call: func() bool { waits.Signal(); return !s.stop.Load() }, finish: waits.Signal}
}
