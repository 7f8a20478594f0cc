package poller

import (
	"testing"

	"golang.org/x/sys/windows"
)

// Handles are those of the poller's own.
func (p *Poller) Handles() []int { return []int{int(p.port), int(p.afd)} }

// Polls is how many sockets are being polled.
func (p *Poller) Polls() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.polls
}

// Slots is how many sockets there is room for.
func (p *Poller) Slots() int { return len(p.slots) }

// Crowd has n sockets become ready without a Wait, as a watch may, and returns those that the next Wait looks at first.
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

// FailPoll has the poll of the only socket fail.
func (p *Poller) FailPoll(t *testing.T, fd int) {
	s := p.sockets[fd]
	s.cancel(p.afd)
	if err := p.raw.wait(p.port, -1); err != nil {
		t.Fatal(err)
	}
	s.status.Internal = uintptr(windows.STATUS_UNSUCCESSFUL)
	p.settle(&p.raw)
}
