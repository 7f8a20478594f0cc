package poller

// The ends of polls: collected in Wait, or by a watch.

import (
	"errors"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/windows"

	"github.com/turnloop/turnloop/internal/loopapi"
)

// processEnds handles the ends of polls, and polls again the sockets whose polls are stale or have found no wanted event.
// The caller holds mu.
func (p *Poller) processEnds(c *completions) {
	for _, e := range c.entries[:c.n] {
		if e.context == 0 {
			p.posted = false
			continue
		}
		s := p.slots[e.context-1]
		s.polled = false
		p.polls--
		found, err := s.request.found()
		closed := found&afdLocalClose != 0 || errors.Is(err, windows.WSAENOTSOCK)
		if err != nil { // the error is the socket's own; the next poll reports more, if there is more
			found = broken
		}
		switch {
		case s.removed:
			delete(p.leaving, s.base)
			p.release(s)
		case s.stale:
			p.pollAgain(s)
		case closed:
			p.forget(s)
		default:
			if s.found = found; s.ready() != 0 {
				p.ready = append(p.ready, s)
			} else {
				p.pollAgain(s)
			}
		}
	}
}

// Wait waits for events. It may return late by a step of the system's clock.
func (p *Poller) Wait(timeout time.Duration) ([]Event, error) {
	began := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.returned {
		p.pollAgain(s)
	}
	clear(p.returned)
	p.returned = p.returned[:0]
	for left := timeout; ; {
		p.raw.n = 0
		if len(p.ready) == 0 && p.failure == nil {
			if p.woken {
				left = 0
			}
			p.mu.Unlock()
			err := p.raw.wait(p.port, left)
			p.mu.Lock()
			if err != nil {
				return nil, err
			}
			p.processEnds(&p.raw)
		}
		events := p.collect()
		if timeout > 0 {
			left = max(timeout-time.Since(began), 0)
		}
		switch {
		case len(events) > 0:
		case len(p.ready) > 0: // all sockets of this batch were removed or have no wanted event any more
			continue
		case p.failure != nil:
			err := p.failure
			p.failure = nil
			return nil, err
		case p.woken, left == 0 && p.raw.n == 0:
			select {
			case p.drained <- struct{}{}:
			default:
			}
		default: // the system's clock was early, or no packet was an event
			continue
		}
		p.woken = false
		return events, nil
	}
}

// collect returns the events of a batch of ready sockets, without those that were removed or have no wanted event any
// more. The caller holds mu.
func (p *Poller) collect() []Event {
	events := p.events[:0]
	n := min(len(p.ready), batch)
	for _, s := range p.ready[:n] {
		if e := s.ready(); e != 0 && !s.removed {
			events = append(events, Event{FD: s.fd, Tag: s.tag, Events: e})
			p.returned = append(p.returned, s)
		} else {
			p.pollAgain(s)
		}
	}
	p.ready = slices.Delete(p.ready, 0, n)
	return events
}

// Watch blocks a thread at the port, and keeps the events that arrive for the next Wait. It blocks again only after a Wait
// that has found nothing: until then Wait looks at the port itself, and not all sockets are polled.
func (p *Poller) Watch(notify func(error)) (stop func(), err error) {
	stopping, ended := make(chan struct{}), make(chan struct{})
	select {
	case <-p.drained: // left from before the watch
	default:
	}
	go func() {
		defer close(ended)
		for c := new(completions); ; {
			notify(nil)
			select {
			case <-stopping:
				return
			case <-p.drained:
			}
			if err := p.block(c, stopping); err != nil {
				notify(err)
				return
			}
		}
	}()
	return func() {
		close(stopping)
		for {
			p.mu.Lock()
			_ = p.post()
			p.mu.Unlock()
			select {
			case <-ended:
				return
			case <-time.After(time.Second): // the packet could not be posted
			}
		}
	}, nil
}

// block waits until there is an event or an error for the next Wait, or the watch is to stop. It returns an error of the
// port.
func (p *Poller) block(c *completions, stopping chan struct{}) error {
	for {
		if err := c.wait(p.port, -1); err != nil {
			return err
		}
		p.mu.Lock()
		p.processEnds(c)
		something := len(p.ready) > 0 || p.failure != nil
		p.mu.Unlock()
		select {
		case <-stopping:
			return nil
		default:
			if something {
				return nil
			}
		}
	}
}

// Wake ends a Wait.
func (p *Poller) Wake() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return loopapi.ErrPollerClosed
	}
	p.woken = true
	return p.post()
}

// post sends a packet to the port, unless one is there already. The caller holds mu.
func (p *Poller) post() error {
	if p.posted {
		return nil
	}
	err := windows.PostQueuedCompletionStatus(p.port, 0, 0, nil)
	p.posted = err == nil
	return os.NewSyscallError("PostQueuedCompletionStatus", err)
}
