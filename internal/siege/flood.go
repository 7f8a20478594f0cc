//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

// What a flood is, and how one is started.

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/turnloop/turnloop/eventloop"
)

// law says how often the functions that a flood's calls hand over must run.
type law int

const (
	nothing law = iota // the calls hand over none
	exactly            // a function that was accepted runs once
	wanted             // one that was handed over before the end began runs once; a later one, once at most
	pending            // one that was accepted runs once, unless the loop ends before
)

// flood is an endless series of calls.
type flood struct {
	name string
	on   maker // the loop that it needs, if that is not any
	like manner
	law  law
	// own are the probes that queue behind the flood's functions; free are those that it may keep waiting.
	own, free probeSet
	refused   bool // all calls are to be refused
	opts      []eventloop.Option
	begin     func(s *site, t *tally) flooder // for each goroutine; or for each chain, if it feeds itself
	feeds     bool                            // it feeds itself, on the loop
}

// flooder is a goroutine's part of a flood.
type flooder struct {
	call   func() (accepted bool)
	finish func() // called when the flood is over
}

// start starts a flood of so many goroutines, or chains. Each makes calls until the site's stop. join waits for
// the goroutines, and tells whether they have ended.
func (f *flood) start(s *site, goroutines int) (join func(limit time.Duration) bool) {
	var all sync.WaitGroup
	for range goroutines {
		t := s.newTally(f)
		one := f.begin(s, t)
		if one.call == nil {
			continue
		}
		all.Go(func() {
			for !s.stop.Load() {
				t.begun.Add(1)
				if one.call() {
					t.accepted.Add(1)
				}
				t.calls.Add(1)
				if s.loop.State() == eventloop.StateTerminated {
					runtime.Gosched() // lest the site learn of the end only when each flooder has had a turn
				}
			}
			if one.finish != nil {
				one.finish()
			}
		})
	}
	back := make(chan struct{})
	go func() {
		all.Wait()
		close(back)
	}()
	return func(limit time.Duration) bool {
		select {
		case <-back:
			return true
		case <-time.After(limit):
			return false
		}
	}
}

// each is a flood of one call after the other.
func each(call func(s *site, t *tally) error) func(s *site, t *tally) flooder {
	return func(s *site, t *tally) flooder {
		return flooder{call: func() bool { return call(s, t) == nil }}
	}
}

// asks is a flood of calls that only ask.
func asks(call func(s *site)) func(s *site, t *tally) flooder {
	return func(s *site, _ *tally) flooder {
		return flooder{call: func() bool { call(s); return true }}
	}
}

// chain is a function that hands itself over again each time it runs. It counts on the loop.
func chain(again func(s *site, fn func()) error) func(s *site, t *tally) flooder {
	return func(s *site, t *tally) flooder {
		var fn func()
		var hand func()
		hand = func() {
			t.begun.Add(1)
			err := again(s, fn)
			if err == nil {
				t.accepted.Add(1)
			}
			t.calls.Add(1)
			if errors.Is(err, eventloop.ErrLoopOverloaded) { // beside a flood at the limit: the next tick may have room
				_, _ = s.loop.ScheduleTimer(0, func() {
					if s.enter(); !s.stop.Load() {
						hand()
					}
				})
			}
		}
		fn = func() {
			s.enter()
			t.ran.Add(1)
			if !s.stop.Load() {
				hand()
			}
		}
		// An internal task, since no other flood keeps it waiting.
		if err := s.loop.SubmitInternal(func() { s.enter(); hand() }); err != nil {
			s.fault("a chain was not begun: " + err.Error())
		}
		return flooder{}
	}
}

var floods = slices.Concat(calls, descriptors, promises, parts, threadlets, scripts, chains, groups)

// none is no flood: it shows what the loop does by itself.
var none = flood{name: "nothing", like: quiet, feeds: true,
	begin: func(_ *site, t *tally) flooder { t.accepted.Add(1); return flooder{} }}

// microtasks are the probes that use the lane for microtasks of other goroutines.
var microtasks = set(microtaskProbe, promiseProbe)
