//go:build schedules

package eventloop_test

// A poller whose events are events of a schedule.

import (
	"time"

	"github.com/turnloop/turnloop/eventloop"
	"github.com/turnloop/turnloop/internal/poller"
	"github.com/turnloop/turnloop/internal/sched"
)

// modelPoller is a poller as its contract wants it, with one descriptor. Goroutines of a schedule run one at a time, so
// it needs no lock.
type modelPoller struct {
	added, ready, woken, closed bool
	tag                         uint32
	notify                      func(error) // nil without a watch
	told                        bool        // the watch has told, and no Wait has found nothing since
	telling                     int         // calls of notify that have not returned
	events                      [1]poller.Event
}

func (p *modelPoller) Add(_ int, _ eventloop.IOEvents, tag uint32) error {
	sched.Point()
	if p.closed {
		return eventloop.ErrPollerClosed
	}
	p.added, p.tag = true, tag
	p.tell()
	return nil
}

func (p *modelPoller) Modify(int, eventloop.IOEvents, eventloop.IOEvents, uint32) error { return nil }

func (p *modelPoller) Remove(int, eventloop.IOEvents) error {
	sched.Point()
	p.added = false
	return nil
}

func (p *modelPoller) Wait(timeout time.Duration) ([]poller.Event, error) {
	if timeout != 0 {
		sched.Until(func() bool { return p.woken || p.added && p.ready })
	}
	sched.Point()
	p.woken = false
	if p.added && p.ready {
		p.events[0] = poller.Event{FD: 1, Tag: p.tag, Events: eventloop.EventRead}
		return p.events[:], nil
	}
	p.told = false
	return nil, nil
}

func (p *modelPoller) Watch(notify func(error)) (func(), error) {
	sched.Point()
	p.notify, p.told = notify, false
	p.tell()
	return func() {
		sched.Point()
		p.notify = nil
		sched.Until(func() bool { return p.telling == 0 })
	}, nil
}

// tell has the watch tell of what is ready, if it has to.
func (p *modelPoller) tell() {
	if p.notify == nil || p.told || !p.added || !p.ready {
		return
	}
	p.told = true
	sched.Go(func() {
		if p.notify != nil {
			p.telling++
			p.notify(nil)
			p.telling--
		}
	})
}

// event makes the descriptor ready.
func (p *modelPoller) event() {
	sched.Point()
	p.ready = true
	p.tell()
}

func (p *modelPoller) Wake() error {
	sched.Point()
	if p.closed {
		return eventloop.ErrPollerClosed
	}
	p.woken = true
	return nil
}

func (p *modelPoller) Reset() error {
	sched.Point()
	p.added = false
	return nil
}

func (p *modelPoller) Close() error {
	sched.Point()
	p.closed = true
	return nil
}
