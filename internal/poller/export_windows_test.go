package poller

// What the tests on Windows need of the package.

import (
	"testing"

	"golang.org/x/sys/windows"
)

// Batch is the most sockets that one Wait looks at.
const Batch = batch

// Handles returns the poller's own handles.
func (p *Poller) Handles() []int { return []int{int(p.port), int(p.afd)} }

// Polls returns the number of sockets that are being polled.
func (p *Poller) Polls() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.polls
}

// Slots returns the number of slots.
func (p *Poller) Slots() int { return len(p.slots) }

// Crowd makes n sockets ready without a Wait, as a watch may, and returns those that the next Wait looks at first.
func (p *Poller) Crowd(t *testing.T, n int) (first []int) {
	for c := new(completions); len(p.ready) < n; {
		if err := p.block(c, nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range p.ready[:batch] {
		first = append(first, s.fd)
	}
	return first
}

// FailPoll makes the poll of the only socket fail.
func (p *Poller) FailPoll(t *testing.T, fd int) {
	s := p.sockets[fd]
	s.cancel(p.afd)
	if err := p.raw.wait(p.port, -1); err != nil {
		t.Fatal(err)
	}
	s.status.Internal = uintptr(windows.STATUS_UNSUCCESSFUL)
	p.processEnds(&p.raw)
}
